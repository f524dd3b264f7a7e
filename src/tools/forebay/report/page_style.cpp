#include "tools/forebay/report/page_parts.hpp"

namespace forebay::report {

// Ways have the colours of Okabe and Ito, phases the light ones of Tol: both can be told apart by
// colour-blind people, and each other's are not mistaken for them.
std::string page_style() {
  return R"css(
:root{color-scheme:light dark;--paper:#fff;--ink:#1a1d21;--soft:#5c6570;--hair:#dfe3e8;--track:#f1f3f5;--link:#00558a;
--good:#00694c;--bad:#a63c00;--wrong:#9b1c1c;--wrong-paper:#fdecec;--warn-paper:#fff6e0;
--w0:#6f7782;--w1:#0072b2;--w2:#e69f00;--w3:#009e73;--w4:#cc79a7;--w5:#d55e00;--w6:#56b4e9;--w7:#4b2e83;
--compute:#dcdfe3;--open:#99ddff;--transfer:#ee8866;--metadata:#bbcc33;--flush:#eedd88;--close:#ffaabb;--tail:#77aadd}
@media (prefers-color-scheme:dark){:root{--paper:#14171b;--ink:#e6e9ed;--soft:#9aa4b0;--hair:#30363d;--track:#20252b;
--link:#6cb8ee;--good:#4fd1a5;--bad:#f0a070;--wrong:#ff8f8f;--wrong-paper:#3a1d1f;--warn-paper:#332a14;
--w0:#98a1ac;--w1:#3f9fdc;--w2:#f0b429;--w3:#2bbd92;--w4:#e097c2;--w5:#f07c3c;--w6:#8ccdf3;--w7:#a58bd6;
--compute:#3a4149;--open:#5fb3d9;--transfer:#e07a58;--metadata:#a3b32c;--flush:#d6c46c;--close:#e58fa2;--tail:#5f93c9}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","DejaVu Sans",sans-serif;overflow-wrap:anywhere}
main,footer{max-width:1040px;margin:0 auto;padding:0 20px}
h1{font-size:1.75rem;line-height:1.2;margin:2rem 0 .4rem;letter-spacing:-.01em}
h2{font-size:1.3rem;line-height:1.25;margin:2.8rem 0 .6rem;letter-spacing:-.005em}
h3{font-size:1.08rem;line-height:1.3;margin:0 0 .3rem}
p{margin:.4rem 0}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
code,kbd{font:.875em ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.lead{color:var(--soft)}
.lead code{color:var(--ink)}
.facts{display:flex;flex-wrap:wrap;gap:.1rem 1.4rem;padding:0;margin:.5rem 0;list-style:none;color:var(--soft);font-size:.9rem}
.facts b{color:var(--ink);font-weight:600}
.banner{border-left:4px solid var(--w2);background:var(--warn-paper);padding:.6rem .9rem;margin:.8rem 0;border-radius:0 4px 4px 0}
.banner.wrong{border-color:var(--wrong);background:var(--wrong-paper)}
.overall{padding-left:1.1rem;margin:.6rem 0}
.overall li{margin:.2rem 0}
section.workload,section.group{border-top:1px solid var(--hair);padding-top:1.3rem;margin-top:1.8rem}
details.workload{border-top:1px solid var(--hair);padding:.55rem 0}
details.workload>summary{font-weight:600}
details.workload>.body{padding-top:.5rem}
summary{cursor:pointer}
.about{color:var(--soft);font-size:.9rem;margin:0 0 .5rem}
.published{border-left:3px solid var(--hair);padding-left:.8rem;color:var(--soft);font-size:.93rem}
.charts{display:grid;grid-template-columns:1fr 1fr;gap:1.4rem 2.6rem;margin-top:1rem}
.wide{grid-column:1/-1}
figure{margin:0;min-width:0}
figcaption{font-weight:600;font-size:.9rem;margin-bottom:.35rem}
.bars{display:grid;grid-template-columns:minmax(5em,max-content) minmax(40px,1fr) max-content;gap:.3rem .8rem;align-items:center;font-size:.88rem}
.charts .bars{grid-template-columns:fit-content(12em) minmax(40px,1fr) minmax(5.2em,max-content)}
.bars.ratios{grid-template-columns:minmax(10em,24em) minmax(60px,1fr) minmax(7.5em,max-content);gap:0 .8rem}
.ratios .bar-label{line-height:1.25;padding:.25rem 0}
.ratios .bar{align-self:stretch;position:relative;min-height:26px}
.ratios .bar svg{position:absolute;inset:0;height:100%}
.bar svg{display:block;overflow:visible}
.bar-figure{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.note{color:var(--wrong);font-weight:600}
.chip{display:inline-flex;align-items:baseline;gap:.35em;min-width:0}
.swatch{flex:none;overflow:visible;align-self:center}
.bar-label .chip{color:inherit}
.ratios .chip{color:var(--soft);font-size:.85rem}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1rem;list-style:none;padding:0;margin:0 0 .5rem;font-size:.85rem;color:var(--soft)}
.legend li{display:inline-flex;align-items:center;gap:.4em}
.plot{padding:8px 14px 24px 44px}
.plot.fill{padding-bottom:10px}
.plot.named{padding-bottom:7px}
.x-ticks{display:flex;padding:0 14px 0 44px;font-size:.76rem;line-height:1.25;color:var(--soft);text-align:center}
.x-ticks span{flex:1 1 0;min-width:0;padding:0 2px;overflow-wrap:anywhere}
.plot svg{display:block;overflow:visible}
.y-name,.x-name{font-size:.8rem;color:var(--soft)}
.x-name{text-align:center}
.y-name .chip{color:var(--ink);font-weight:600}
.legend-used,.legend-unsaved{border-bottom:3px solid var(--used)}
.legend-unsaved{border-color:var(--w1)}
:root{--used:#a9cce6}
@media (prefers-color-scheme:dark){:root{--used:#2a506d}}
svg text.tick{font-size:11.5px;fill:var(--soft);font-variant-numeric:tabular-nums}
.grid{stroke:var(--hair);shape-rendering:crispEdges}
.one{stroke:var(--soft);shape-rendering:crispEdges}
.track{fill:var(--track)}
.whisker{stroke:var(--ink);stroke-width:1.5}
line.whisker[class*=" w"]{stroke:var(--c)}
.w0{--c:var(--w0)}.w1{--c:var(--w1)}.w2{--c:var(--w2)}.w3{--c:var(--w3)}.w4{--c:var(--w4)}.w5{--c:var(--w5)}.w6{--c:var(--w6)}.w7{--c:var(--w7)}
rect[class^=w],use{fill:var(--c)}
.line{fill:none;stroke:var(--c);stroke-width:2;vector-effect:non-scaling-stroke;stroke-linejoin:round}
.band{fill:var(--c);opacity:.15}
.used{fill:var(--used)}.unsaved{fill:var(--w1)}
.p-compute{fill:var(--compute)}.p-open{fill:var(--open)}.p-transfer{fill:var(--transfer)}.p-metadata{fill:var(--metadata)}
.p-drain{fill:var(--tail)}
.t0{--c:var(--used)}.t1{--c:var(--open)}.t2{--c:var(--close)}.t3{--c:var(--flush)}polygon.tier{fill:var(--c)}
.unsaved-line{fill:none;stroke:var(--w1);stroke-width:2;vector-effect:non-scaling-stroke}
.legend-tier{border-bottom:3px solid var(--c)}
.p-flush{fill:var(--flush)}.p-close{fill:var(--close)}.p-tail{fill:url(#hatch)}.p-other{fill:none;stroke:var(--soft);stroke-dasharray:2 2}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums;width:100%}
th{text-align:left;font-weight:600;color:var(--soft)}
td,th{padding:.22rem .8rem .32rem 0;vertical-align:top;border-bottom:1px solid var(--hair)}
td.n,th.n{text-align:right;white-space:nowrap}
.small{color:var(--soft);font-size:.8rem;display:block;white-space:nowrap}
.summary tbody th{color:var(--ink);padding-top:.9rem;border-bottom:0}
.summary tbody td{border-bottom:0}
.summary tbody tr:last-child td{border-bottom:1px solid var(--hair);padding-bottom:.8rem}
.summary td.words{width:44%}
.badge{font-weight:600;white-space:nowrap}
td b,.verdicts b{font-weight:600}
.good{color:var(--good)}.bad{color:var(--bad)}.wrong-word{color:var(--wrong)}.plain{color:var(--soft)}
.verdicts{list-style:none;padding:0;margin:.3rem 0}
.verdicts li{margin:.25rem 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.4rem 0;font-size:.88rem}
dt{color:var(--soft)}dd{margin:0;min-width:0}
dl.long{grid-template-columns:minmax(0,max-content) minmax(0,1fr)}
.fold{margin-top:.7rem;font-size:.92rem}
.fold summary{color:var(--link)}
footer{margin-top:3rem;padding-top:1rem;padding-bottom:2rem;border-top:1px solid var(--hair);color:var(--soft);font-size:.82rem}
@media (max-width:720px){
main,footer{padding:0 14px}
h1{font-size:1.4rem;margin-top:1.2rem}h2{font-size:1.15rem}
.charts{grid-template-columns:minmax(0,1fr)}
.bars.ratios,.charts .bars,.bars{grid-template-columns:minmax(0,1fr) max-content}
.bar-label{grid-column:1/-1;padding-top:.25rem}
.ratios .bar-label{padding:.5rem 0 0}
.bar-figure{min-width:5.6em}
.ratios .bar-figure{min-width:7.5em}
.plot,.x-ticks{padding-left:36px;padding-right:8px}
.summary thead{display:none}
.summary,.summary tbody,.summary tr,.summary td,.summary th{display:block;width:auto}
.summary tr{display:grid;grid-template-columns:repeat(3,minmax(0,auto));justify-content:start;gap:0 1.2rem;padding:.3rem 0}
.summary .small{font-size:.72rem}
.summary tbody th{grid-column:1/-1;padding:.8rem 0 0}
.summary td{padding:.1rem 0}
.summary td.n{text-align:left}
.summary td.words,.summary td.way{grid-column:1/-1;width:auto}
.summary tbody tr:last-child td{padding-bottom:.1rem}
.summary td[data-name]::before{content:attr(data-name);display:block;color:var(--soft);font-size:.78rem}
.summary tbody tr:last-child td{border-bottom:0}
.summary tbody{border-bottom:1px solid var(--hair);padding-bottom:.5rem}
dl,dl.long{grid-template-columns:minmax(0,1fr)}dd{margin-bottom:.35rem}
}
@media print{body{font-size:10.5pt}main,footer{max-width:none;padding:0}section,figure,tbody{break-inside:avoid}
section.workload{break-inside:auto}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}a{color:inherit}}
)css";
}

std::string page_marks() {
  return R"svg(<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>
<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<rect width="6" height="6" style="fill:var(--tail);opacity:.45"/><rect width="3" height="6" style="fill:var(--tail)"/>
</pattern>
<circle id="m-w0" r="4.5"/><rect id="m-w1" x="-4.5" y="-4.5" width="9" height="9"/>
<path id="m-w2" d="M0-6 6 0 0 6-6 0z"/><path id="m-w3" d="M0-5.5 5.5 4.5-5.5 4.5z"/>
<path id="m-w4" d="M0 5.5 5.5-4.5-5.5-4.5z"/><path id="m-w5" d="M-2-5.5H2V-2H5.5V2H2V5.5H-2V2H-5.5V-2H-2z"/>
<path id="m-w6" d="M-5.5 0 4.5-5.5 4.5 5.5z"/><path id="m-w7" d="M5.5 0-4.5-5.5-4.5 5.5z"/>
</defs></svg>
)svg";
}

}  // namespace forebay::report
