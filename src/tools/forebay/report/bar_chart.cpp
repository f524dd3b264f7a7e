#include "tools/forebay/report/bar_chart.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/format.hpp"
#include "tools/forebay/report/axis.hpp"
#include "tools/forebay/report/units.hpp"

namespace forebay::report {
namespace {

// Phases and spans of a timeline in the order in which they happen, and their styles.
constexpr std::array<std::pair<std::string_view, const char*>, 13> kPhases{{{"compute", "p-compute"},
                                                                            {"create, open", "p-open"},
                                                                            {"create", "p-open"},
                                                                            {"open", "p-open"},
                                                                            {"transfer", "p-transfer"},
                                                                            {"write", "p-transfer"},
                                                                            {"read", "p-transfer"},
                                                                            {"metadata", "p-metadata"},
                                                                            {"flush", "p-flush"},
                                                                            {"close", "p-close"},
                                                                            {"tail", "p-tail"},
                                                                            {"draining", "p-drain"},
                                                                            {"other", "p-other"}}};

std::string spread_text(const Spread& spread, std::string (*text)(double)) {
  if (spread.count == 1) return text(spread.median) + ", one round";
  return format_text("median {}, {} to {} in {} rounds", text(spread.median), text(spread.low),
                     text(spread.high), spread.count);
}

// The range from the smallest to the largest with an end at each, and `mark_markup`, in the middle of a row
// of any height.
std::string around_middle(double low, double high, const std::string& mark_markup) {
  std::string out = R"(<svg y="50%" width="100%" height="1" overflow="visible">)";
  if (low < high) {
    out += format_text(
        R"(<line class="whisker" x1="{0}" x2="{1}"/><line class="whisker" x1="{0}" x2="{0}" y1="-4" y2="4"/>)"
        R"(<line class="whisker" x1="{1}" x2="{1}" y1="-4" y2="4"/>)",
        percent(low), percent(high));
  }
  return out + mark_markup + "</svg>";
}

std::string row(const std::string& label_markup, const std::string& bar_markup,
                const std::string& figure_markup) {
  return format_text(
      R"(<div class="bar-label">{}</div><div class="bar">{}</div><div class="bar-figure">{}</div>)",
      label_markup, bar_markup, figure_markup);
}

std::string vertical_lines(const Axis& axis) {
  std::string lines;
  for (const auto tick : axis.ticks()) {
    lines += format_text(R"(<line class="{0}" x1="{1}" x2="{1}" y1="0" y2="100%"/>)",
                         tick == 1 ? "one" : "grid", percent(axis.place(tick)));
  }
  return lines;
}

}  // namespace

std::string bar_chart(const std::string& title, const std::vector<Bar>& bars, const Palette& palette,
                      std::string (*text)(double)) {
  double largest = 0;
  for (const auto& bar : bars) {
    if (bar.figure) largest = std::max(largest, bar.figure->high);
  }
  if (largest <= 0) return {};
  std::string out =
      format_text(R"(<figure class="chart"><figcaption>{}</figcaption><div class="bars">)", escape(title));
  for (const auto& bar : bars) {
    if (!bar.figure) {
      out +=
          row(palette.chip(bar.way), format_text(R"(<span class="note">{}</span>)", escape(bar.note)), "–");
      continue;
    }
    const auto& spread = *bar.figure;
    auto drawing = format_text(
        R"(<svg width="100%" height="22" aria-hidden="true"><title>{}: {}</title>)"
        R"(<rect class="track" width="100%" y="3" height="16"/><rect class="{}" width="{}" y="3" height="16"/>)",
        escape(bar.way), spread_text(spread, text), palette.class_of(bar.way),
        percent(spread.median / largest));
    drawing += around_middle(spread.low / largest, spread.high / largest, "");
    out += row(palette.chip(bar.way), drawing + "</svg>", text(spread.median));
  }
  return out + "</div></figure>";
}

std::string phase_class(std::string_view name) {
  const auto* const found = std::ranges::find(kPhases, name, [](const auto& pair) { return pair.first; });
  return found == kPhases.end() ? "p-other" : found->second;
}

std::string phase_legend(std::span<const std::string> names) {
  std::string out = R"(<ul class="legend">)";
  for (const auto& name : names) {
    out += format_text(
        R"(<li><svg class="swatch" width="12" height="12" aria-hidden="true"><rect width="12" height="12" class="{}"/></svg>{}</li>)",
        phase_class(name), escape(name));
  }
  return out + "</ul>";
}

std::string phase_chart(const std::vector<PhaseBar>& bars, const Palette& palette) {
  double longest = 0;
  std::set<std::string_view> present;
  for (const auto& bar : bars) {
    double sum = 0;
    for (const auto& phase : bar.phases) {
      sum += phase.seconds;
      present.insert(phase.name);
    }
    longest = std::max(longest, sum);
  }
  if (longest <= 0) return {};
  std::vector<std::string> names;
  for (const auto& [name, style] : kPhases) {
    if (present.contains(name)) names.emplace_back(name);
  }
  std::string out = R"(<figure class="chart wide"><figcaption>Where the time goes</figcaption>)" +
                    phase_legend(names) + R"(<div class="bars">)";
  for (const auto& bar : bars) {
    double at = 0;
    std::string words;
    std::string drawing;
    for (const auto& phase : bar.phases) {
      const auto said = format_text("{} {}", phase.name, seconds_text(phase.seconds));
      words += (words.empty() ? "" : ", ") + said;
      drawing += format_text(
          R"(<rect class="{}" x="{}" width="{}" y="1" height="24"><title>{}</title></rect>)",
          phase_class(phase.name), percent(at / longest), percent(phase.seconds / longest), escape(said));
      at += phase.seconds;
    }
    out += row(palette.chip(bar.way),
               format_text(R"(<svg width="100%" height="26" role="img" aria-label="{}: {}">{}</svg>)",
                           escape(bar.way), escape(words), drawing),
               seconds_text(bar.total ? bar.total->median : at));
  }
  return out + "</div></figure>";
}

std::string ratio_chart(const std::vector<RatioRow>& rows, const Palette& palette) {
  double smallest = 0.5;
  double largest = 2;
  for (const auto& each : rows) {
    if (!each.verdict.ratio) continue;
    smallest = std::min(smallest, each.verdict.ratio->low);
    largest = std::max(largest, each.verdict.ratio->high);
  }
  if (std::ranges::none_of(rows, [](const RatioRow& each) { return each.verdict.ratio.has_value(); }))
    return {};
  const auto axis = Axis::logarithmic(std::max(smallest, 1e-6), std::min(largest, 1e9));
  std::string out =
      R"(<figure class="chart wide"><figcaption>Speed as the program sees it (observed rate) against the baseline's: left of 1 slower, right of 1 faster</figcaption><div class="bars ratios">)";
  for (const auto& each : rows) {
    const auto label = format_text(R"(<a href="#{}">{}</a> {})", escape(each.link), escape(each.label),
                                   palette.chip(each.verdict.way));
    std::string drawing = R"(<svg width="100%" height="26" aria-hidden="true">)" + vertical_lines(axis);
    if (const auto& ratio = each.verdict.ratio) {
      const auto name = palette.class_of(each.verdict.way);
      drawing += around_middle(axis.place(ratio->low), axis.place(ratio->high),
                               format_text(R"(<use href="#m-{0}" class="{0}" x="{1}"/>)", name,
                                           percent(axis.place(ratio->value))));
    }
    out += row(label, drawing + "</svg>", escape(each.verdict.brief));
  }
  std::string ticks = R"(<svg width="100%" height="18" aria-hidden="true">)";
  for (const auto tick : axis.ticks()) {
    ticks += format_text(R"(<text class="tick" text-anchor="middle" x="{}" y="13">{}</text>)",
                         percent(axis.place(tick)), tick_text(tick));
  }
  return out + row("", ticks + "</svg>", "") + "</div></figure>";
}

}  // namespace forebay::report
