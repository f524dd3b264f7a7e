#include "tools/forebay/report/page.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "tools/forebay/report/page_parts.hpp"

namespace forebay::report {
namespace {

std::string value_of(const Pairs& pairs, std::string_view name) {
  const auto found = std::ranges::find(pairs, name, &std::pair<std::string, std::string>::first);
  return found == pairs.end() ? "" : found->second;
}

std::vector<Judged> judged_of(const Run& run, std::size_t number) {
  std::vector<Judged> all;
  for (const auto& workload : run.workloads) {
    auto ways = figures_of(workload);
    auto verdicts = judge(ways);
    all.push_back(
        {&workload, format_text("r{}w{}", number, all.size() + 1), std::move(ways), std::move(verdicts)});
  }
  return all;
}

std::string fact(const char* name, const std::string& value) {
  return value.empty() ? "" : format_text("<li>{} <b>{}</b></li>", name, escape(value));
}

std::string banner(const Run& run) {
  switch (run.completeness) {
    case Completeness::Complete:
      return {};
    case Completeness::Interrupted:
      return R"(<p class="banner">This run was interrupted: what it had done until then is shown, and what is missing is named.</p>)";
    case Completeness::CutOff:
      return R"(<p class="banner">This file has no end: whoever wrote it died or is still at work. What is in it is shown.</p>)";
  }
  return {};
}

std::string wrong_banner(const std::vector<Judged>& workloads) {
  std::string list;
  for (const auto& each : workloads) {
    for (const auto& verdict : each.verdicts) {
      if (verdict.judgement != Judgement::Wrong) continue;
      list += format_text(R"({}<a href="#{}">{}</a> ({}))", list.empty() ? "" : "; ", each.id,
                          escape(each.workload->title), escape(verdict.way));
    }
  }
  if (list.empty()) return {};
  return format_text(
      R"(<p class="banner wrong"><b>Wrong bytes</b> were returned or left at home in: {}. No figure of these is shown.</p>)",
      list);
}

std::string heading(const Run& run) {
  auto home = value_of(run.home, "file system");
  for (const auto* limit : {"write bandwidth", "read bandwidth", "latency"}) {
    if (const auto value = value_of(run.home, limit); !value.empty()) {
      home += format_text("{}{} {}", home.empty() ? "" : ", ", limit, value);
    }
  }
  std::string software;
  for (const auto& [name, value] : run.software) {
    software += format_text("{}{} {}", software.empty() ? "" : ", ", name, value);
  }
  auto machine = value_of(run.machine, "cpu");
  for (const auto* name : {"cores", "memory"}) {
    const auto value = value_of(run.machine, name);
    if (value.empty()) continue;
    machine += format_text("{}{} {}", machine.empty() ? "" : ", ", value, name);
  }
  std::string out =
      run.command.empty() ? "" : format_text(R"(<p class="lead"><code>{}</code></p>)", escape(run.command));
  return out + R"(<ul class="facts">)" + fact("started", run.started) + fact("finished", run.finished) +
         fact("host", value_of(run.machine, "host")) + fact("machine", machine) + fact("home", home) +
         fact("software", software) + fact("version", run.version) + fact("commit", run.commit) + "</ul>" +
         banner(run);
}

std::string environment(const Run& run) {
  Pairs about{{"results file", run.file}, {"command", run.command}, {"started", run.started},
              {"finished", run.finished}, {"version", run.version}, {"commit", run.commit}};
  std::erase_if(about, [](const auto& pair) { return pair.second.empty(); });
  const auto part = [](const char* title, const Pairs& pairs) {
    return pairs.empty() ? "" : format_text("<h3>{}</h3>{}", title, pairs_list(pairs));
  };
  return "<h2>Environment</h2>" + part("Run", about) + part("Machine", run.machine) + part("Home", run.home) +
         part("Software", run.software);
}

std::string run_part(const Run& run, std::size_t number, std::size_t of, const Palette& palette) {
  const auto workloads = judged_of(run, number);
  std::string out;
  if (of > 1) out += format_text("<h2>Run {} of {}: {}</h2>", number, of, escape(run.file));
  out += heading(run) + wrong_banner(workloads);
  if (workloads.empty()) return out + "<p>There are no results in it.</p>" + environment(run);
  std::vector<std::vector<Verdict>> verdicts;
  for (const auto& each : workloads) verdicts.push_back(each.verdicts);
  if (const auto lines = overall(verdicts); !lines.empty()) {
    out += R"(<ul class="overall">)";
    for (const auto& line : lines) out += format_text("<li>{}</li>", escape(line));
    out += "</ul>";
  }
  out += summary_part(workloads, palette) + group_parts(workloads, palette) + "<h2>Each workload</h2>";
  for (const auto& each : workloads) out += workload_part(each, palette);
  return out + environment(run);
}

}  // namespace

std::string report_page(std::span<const Run> runs, const std::string& made_by) {
  Palette palette;
  for (const auto& run : runs) {
    for (const auto& workload : run.workloads) palette.add(workload.ways);
  }
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      // Were anything of a results file to get past escape(), it could still neither run nor load.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">"
      "<title>Forebay: benchmark report</title><style>" +
      page_style() + "</style></head><body>" + page_marks() + "<main><h1>Forebay: benchmark report</h1>";
  for (std::size_t i = 0; i < runs.size(); ++i) out += run_part(runs[i], i + 1, runs.size(), palette);
  return out +
         format_text(
             R"(</main><footer><p>Bars and lines are medians of the rounds; thin lines reach from the smallest to the largest round. Two ways differ only where these ranges do not meet. Observed is what the program waited: create, open, transfers, flush and close; total is from the beginning until every byte is home, with the drain tail after the last close. 1 MB is 10<sup>6</sup> bytes.</p><p>Made by {} from results of <code>forebay bench</code>.</p></footer></body></html>)",
             escape(made_by)) +
         "\n";
}

}  // namespace forebay::report
