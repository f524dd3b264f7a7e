#include "tools/forebay/report/markdown.hpp"

#include <algorithm>
#include <vector>

#include "base/format.hpp"
#include "tools/forebay/report/figures.hpp"
#include "tools/forebay/report/units.hpp"
#include "tools/forebay/report/verdict.hpp"

namespace forebay::report {
namespace {

// On one line, and nothing in it is markup of Markdown's tables or of HTML.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_' || c == '`' || c == '\\' || c == '[') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string cell(const Figure& figure, std::string (*text)(double)) {
  if (!figure) return "–";
  if (figure->count == 1) return text(figure->median);
  return format_text("{} ({})", text(figure->median), range_text(text(figure->low), text(figure->high)));
}

std::string rows_of(const Workload& workload) {
  const auto ways = figures_of(workload);
  const auto verdicts = judge(ways);
  std::string out;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (ways[i].is_null()) continue;
    const bool shown = ways[i].trusted();
    out +=
        format_text("| {} | {} | {} | {} | {} | {} |\n",
                    i == 0 ? plain(workload.x.empty() ? workload.title : workload.x) : "", plain(ways[i].way),
                    cell(shown ? ways[i].observed_rate : Figure(), rate_text),
                    cell(shown ? ways[i].time("observed") : Figure(), seconds_text),
                    cell(shown ? ways[i].time("whole") : Figure(), seconds_text), plain(verdicts[i].brief));
  }
  return out;
}

std::string table_of(const std::string& title, const std::vector<const Workload*>& members) {
  std::string published;
  std::string rows;
  std::string x_name;
  for (const auto* workload : members) {
    if (const auto words = plain(workload->published); !words.empty() && !published.contains(words)) {
      published += format_text("Published: {}.\n\n", words);
    }
    if (!workload->x.empty()) x_name = workload->x_name;
    rows += rows_of(*workload);
  }
  return format_text(
      "### {}\n\n{}| {} | way | observed rate | program waited | total, until home | |\n| --- | --- | --- | "
      "--- | --- | --- "
      "|\n{}\n",
      plain(title), published, plain(x_name), rows);
}

std::string tables_of(const Run& run) {
  std::string out;
  std::vector<std::string> told;
  for (const auto& workload : run.workloads) {
    std::vector<const Workload*> members;
    if (workload.group.empty()) {
      members.push_back(&workload);
    } else if (!std::ranges::contains(told, workload.group)) {
      told.push_back(workload.group);
      for (const auto& other : run.workloads) {
        if (other.group == workload.group) members.push_back(&other);
      }
    }
    if (!members.empty()) out += table_of(workload.group.empty() ? workload.title : workload.group, members);
  }
  return out;
}

std::string line_of(const char* name, const Pairs& pairs) {
  std::string words;
  for (const auto& [key, value] : pairs) {
    if (key == "path" || key == "host") continue;
    words += format_text("{}{} {}", words.empty() ? "" : ", ", plain(key), plain(value));
  }
  return words.empty() ? "" : format_text("- {}: {}\n", name, words);
}

}  // namespace

std::string report_markdown(std::span<const Run> runs) {
  std::string out;
  for (const auto& run : runs) {
    if (run.completeness != Completeness::Complete) {
      out += "**This run did not come to its end**: what it had done until then is shown.\n\n";
    }
    std::vector<std::vector<Verdict>> verdicts;
    for (const auto& workload : run.workloads) verdicts.push_back(judge(figures_of(workload)));
    for (const auto& line : overall(verdicts)) out += format_text("- {}\n", plain(line));
    out += line_of("machine", run.machine) + line_of("software", run.software) + line_of("home", run.home);
    out += format_text("- {}, version {}, commit {}\n\n", plain(run.started), plain(run.version),
                       plain(run.commit));
    out += tables_of(run);
  }
  return out;
}

}  // namespace forebay::report
