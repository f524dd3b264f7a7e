#include <algorithm>
#include <functional>
#include <set>

#include "base/format.hpp"
#include "tools/forebay/report/bar_chart.hpp"
#include "tools/forebay/report/line_chart.hpp"
#include "tools/forebay/report/page_parts.hpp"
#include "tools/forebay/report/timeline_chart.hpp"
#include "tools/forebay/report/units.hpp"

namespace forebay::report {
namespace {

std::string why_none(const WayFigures& way) {
  if (way.wrong) return "wrong bytes";
  return way.good == 0 ? "no result" : "not measured";
}

template <class Get>
std::vector<Bar> bars_of(const std::vector<WayFigures>& ways, Get get) {
  std::vector<Bar> bars;
  for (const auto& way : ways) {
    if (way.is_null()) continue;
    bars.push_back({way.way, way.trusted() ? std::invoke(get, way) : Figure(), why_none(way)});
  }
  return bars;
}

std::string iteration_chart(const std::vector<WayFigures>& ways, const Palette& palette) {
  std::size_t longest = 0;
  const WayFigures* named = nullptr;
  for (const auto& way : ways) {
    if (!way.trusted() || way.is_null() || way.iterations.size() <= longest) continue;
    longest = way.iterations.size();
    named = &way;
  }
  if (longest < 2) return {};
  LineChart chart{"Rate of each iteration", "iteration", {}, true};
  for (const auto& way : ways) {
    if (!way.trusted() || way.is_null() || way.iterations.empty()) continue;
    Line line{way.way, {}};
    for (std::size_t i = 0; i < longest; ++i) {
      line.points.push_back({named->iterations[i].name, {}, {}});
      if (i < way.iterations.size()) line.points.back().rate = way.iterations[i].rate;
    }
    chart.lines.push_back(std::move(line));
  }
  return line_chart(chart, palette);
}

// What else was measured: a row for each figure that is not 0 for all, a column for each way.
class FigureTable {
 public:
  explicit FigureTable(const std::vector<WayFigures>& ways) : ways_(ways) {}

  template <class Get>
  void add(const char* name, Get get, std::string (*text)(double)) {
    std::string cells;
    bool any = false;
    for (const auto& way : ways_) {
      if (way.is_null()) continue;
      const auto figure = way.trusted() ? std::invoke(get, way) : Figure();
      any = any || (figure && figure->high > 0);
      cells += format_text(R"(<td class="n">{}</td>)", figure ? text(figure->median) : "–");
    }
    if (any) rows_ += format_text("<tr><td>{}</td>{}</tr>", name, cells);
  }

  [[nodiscard]] std::string markup(const Palette& palette) const {
    if (rows_.empty()) return {};
    std::string head;
    for (const auto& way : ways_) {
      if (!way.is_null()) head += format_text(R"(<th class="n">{}</th>)", palette.chip(way.way));
    }
    return format_text(
        R"(<div class="wide scroll"><table><thead><tr><th>median of the rounds</th>{}</tr></thead><tbody>{}</tbody></table></div>)",
        head, rows_);
  }

 private:
  const std::vector<WayFigures>& ways_;
  std::string rows_;
};

std::string figure_table(const std::vector<WayFigures>& ways, const Palette& palette) {
  FigureTable table(ways);
  table.add("bytes", &WayFigures::bytes, bytes_text);
  table.add("operations", &WayFigures::operations, count_text);
  table.add("raw rate", &WayFigures::raw_rate, rate_text);
  table.add("metadata time", [](const WayFigures& way) { return way.time("metadata"); }, seconds_text);
  table.add(
      "drain tail after the last close", [](const WayFigures& way) { return way.time("tail"); },
      seconds_text);
  table.add("read requests at home", &WayFigures::home_reads, count_text);
  table.add("write requests at home", &WayFigures::home_writes, count_text);
  table.add("other requests at home (open, lookup ...)", &WayFigures::home_others, count_text);
  table.add("read from home", &WayFigures::home_read_bytes, bytes_text);
  table.add("written home", &WayFigures::home_written_bytes, bytes_text);
  table.add("staged", &WayFigures::staged_bytes, bytes_text);
  table.add("hit rate", &WayFigures::hit_rate, percent_text);
  table.add("memory of the ranks' own", &WayFigures::own_memory, bytes_text);
  table.add("peak memory, shared pages counted by each rank", &WayFigures::peak_memory, bytes_text);
  return table.markup(palette);
}

std::string folded(const std::string& title, const std::string& content) {
  if (content.empty()) return {};
  return format_text(R"(<details class="fold"><summary>{}</summary>{}</details>)", escape(title), content);
}

std::string about(const Workload& workload) {
  std::string out = format_text("<code>{}</code>", escape(workload.name));
  if (!workload.kernel.empty()) out += format_text(" · kernel {}", escape(workload.kernel));
  if (workload.ranks) {
    out += format_text(" · {} rank{}", count_text(*workload.ranks), *workload.ranks == 1 ? "" : "s");
  }
  if (!workload.flavour.empty()) out += format_text(" · {}", escape(workload.flavour));
  if (workload.rounds) out += format_text(" · {} rounds", count_text(*workload.rounds));
  return format_text(R"(<p class="about">{}</p>)", out);
}

// Of ways that can be trusted. The drain tail is nothing that a rank does: it begins at the last close, or,
// where the file does not say when that was, where the last rank ends.
std::vector<Timeline> shown_timelines(const Judged& judged) {
  const auto& workload = *judged.workload;
  auto timelines = workload.timelines;
  std::erase_if(timelines, [&](const Timeline& timeline) {
    const auto way = std::ranges::find(judged.ways, timeline.way, &WayFigures::way);
    return way != judged.ways.end() && !way->trusted();
  });
  for (auto& timeline : timelines) {
    if (timeline.spans.empty() || std::ranges::contains(timeline.spans, "tail", &Span::what)) continue;
    const auto round = std::ranges::find_if(workload.results, [&](const Round& each) {
      return each.way == timeline.way && each.number == timeline.round;
    });
    const auto tail = round == workload.results.end() ? Number() : round->time("tail");
    if (!tail || *tail <= 0) continue;
    double end = 0;
    std::set<int> ranks;
    for (const auto& span : timeline.spans) {
      end = std::max(end, span.end);
      ranks.insert(span.rank);
    }
    const auto begin = timeline.closed.value_or(0) > 0 ? *timeline.closed : end;
    for (const int rank : ranks) timeline.spans.push_back({rank, "tail", begin, begin + *tail});
  }
  return timelines;
}

std::string body(const Judged& judged, const Palette& palette) {
  const auto& workload = *judged.workload;
  std::string out = about(workload) + R"(<ul class="verdicts">)";
  for (const auto& verdict : judged.verdicts) {
    out += format_text("<li>{} {}</li>", palette.chip(verdict.way), verdict_text(verdict));
  }
  out += "</ul>";
  if (!workload.published.empty() && workload.group.empty()) {
    out += format_text(R"(<p class="published">Published: {}</p>)", escape(workload.published));
  }
  std::vector<PhaseBar> phases;
  for (const auto& way : judged.ways) {
    if (way.trusted() && !way.is_null()) phases.push_back({way.way, way.time("whole"), phases_of(way)});
  }
  const auto total = [](const WayFigures& way) { return way.time("whole"); };
  out += R"(<div class="charts">)" +
         bar_chart("Observed rate (longer is better)", bars_of(judged.ways, &WayFigures::observed_rate),
                   palette, rate_text) +
         bar_chart("Total until every byte is home (shorter is better)", bars_of(judged.ways, total), palette,
                   seconds_text) +
         phase_chart(phases, palette) + timeline_chart(shown_timelines(judged), palette) +
         iteration_chart(judged.ways, palette) + figure_table(judged.ways, palette) + "</div>";
  out += folded("Configuration", pairs_list(workload.configuration));
  for (const auto& way : judged.ways) out += folded("Settings of " + way.way, pairs_list(way.settings));
  return out;
}

}  // namespace

std::string pairs_list(const Pairs& pairs) {
  if (pairs.empty()) return {};
  std::string out = R"(<dl class="long">)";
  for (const auto& [name, value] : pairs) {
    out += format_text("<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
  }
  return out + "</dl>";
}

std::string workload_part(const Judged& judged, const Palette& palette) {
  const auto title = escape(judged.workload->title);
  // Those of a group are told together already.
  if (!judged.workload->group.empty()) {
    std::string briefs;
    for (const auto& verdict : judged.verdicts) {
      if (verdict.judgement != Judgement::Baseline) briefs += " " + badge(verdict);
    }
    return format_text(
        R"(<details class="workload" id="{}"><summary>{}{}</summary><div class="body">{}</div></details>)",
        judged.id, title, briefs, body(judged, palette));
  }
  return format_text(R"(<section class="workload" id="{}"><h3>{}</h3>{}</section>)", judged.id, title,
                     body(judged, palette));
}

}  // namespace forebay::report
