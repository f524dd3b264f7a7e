#include <algorithm>

#include "base/format.hpp"
#include "tools/forebay/report/bar_chart.hpp"
#include "tools/forebay/report/line_chart.hpp"
#include "tools/forebay/report/page_parts.hpp"
#include "tools/forebay/report/units.hpp"

namespace forebay::report {
namespace {

// A sign and a colour that say the same.
struct Look {
  const char* sign;
  const char* name;  // of a style
};
Look look_of(Judgement judgement) {
  switch (judgement) {
    case Judgement::Faster:
      return {"▲", "good"};
    case Judgement::Slower:
      return {"▼", "bad"};
    case Judgement::Same:
      return {"=", "plain"};
    case Judgement::Wrong:
    case Judgement::Unfinished:
      return {"✕", "wrong-word"};
    case Judgement::Baseline:
    case Judgement::Alone:
    case Judgement::OwnCost:
      break;
  }
  return {"·", "plain"};
}

// A figure and its spread beneath.
std::string cell(const char* name, const Figure& figure, std::string (*text)(double)) {
  std::string content = "–";
  if (figure) {
    content = text(figure->median);
    if (figure->count > 1) {
      content +=
          format_text(R"(<span class="small">{}</span>)", range_text(text(figure->low), text(figure->high)));
    }
  }
  return format_text(R"(<td class="n" data-name="{}">{}</td>)", name, content);
}

std::string way_row(const WayFigures& way, const Verdict& verdict, const Palette& palette) {
  // Figures of a way that gave wrong bytes, or moved none, would be looked at.
  const bool trusted = way.trusted() && !way.is_null();
  return format_text(R"(<tr><td class="way">{}</td>)", palette.chip(way.way)) +
         cell("observed rate", trusted ? way.observed_rate : Figure(), rate_text) +
         cell("program waited", trusted ? way.time("observed") : Figure(), seconds_text) +
         cell("total", trusted ? way.time("whole") : Figure(), seconds_text) +
         format_text(R"(<td class="words">{}</td></tr>)", verdict_text(verdict));
}

std::vector<std::string> groups_of(const std::vector<Judged>& workloads) {
  std::vector<std::string> groups;
  for (const auto& each : workloads) {
    const auto& group = each.workload->group;
    if (!group.empty() && !std::ranges::contains(groups, group)) groups.push_back(group);
  }
  return groups;
}

std::vector<std::string> ways_of(const std::vector<const Judged*>& members) {
  std::vector<std::string> ways;
  for (const auto* member : members) {
    for (const auto& way : member->ways) {
      if (!way.is_null() && !std::ranges::contains(ways, way.way)) ways.push_back(way.way);
    }
  }
  return ways;
}

std::string group_part(const std::string& group, const std::vector<const Judged*>& members,
                       const Palette& palette) {
  LineChart chart{"Observed rate, median and spread of the rounds", "", {}, true};
  for (const auto* member : members) {
    if (chart.x_name.empty()) chart.x_name = member->workload->x_name;
    if (!member->workload->x_number) chart.connected = false;
  }
  for (const auto& way : ways_of(members)) {
    Line line{way, {}};
    for (const auto* member : members) {
      const auto& workload = *member->workload;
      LinePoint point{workload.x.empty() ? workload.title : workload.x, workload.x_number, {}};
      const auto found = std::ranges::find(member->ways, way, &WayFigures::way);
      if (found != member->ways.end() && found->trusted()) point.rate = found->observed_rate;
      line.points.push_back(std::move(point));
    }
    chart.lines.push_back(std::move(line));
  }
  std::string published;
  for (const auto* member : members) {
    const auto& words = member->workload->published;
    if (!words.empty() && !published.contains(escape(words))) {
      published += format_text(R"(<p class="published">Published: {}</p>)", escape(words));
    }
  }
  return format_text(R"(<section class="group"><h3>{}</h3>{}<div class="charts">{}</div></section>)",
                     escape(group), published, line_chart(chart, palette));
}

}  // namespace

std::string badge(const Verdict& verdict) {
  const auto look = look_of(verdict.judgement);
  return format_text(R"(<span class="badge {}">{} {}</span>)", look.name, look.sign, escape(verdict.brief));
}

std::string verdict_text(const Verdict& verdict) {
  const auto look = look_of(verdict.judgement);
  return format_text(R"(<b class="{}">{} {}</b>{})", look.name, look.sign, escape(verdict.lead),
                     escape(verdict.rest));
}

std::string summary_part(const std::vector<Judged>& workloads, const Palette& palette) {
  std::vector<RatioRow> ratios;
  std::string rows;
  for (const auto& each : workloads) {
    rows += format_text(R"(<tbody><tr><th colspan="5" scope="rowgroup"><a href="#{}">{}</a></th></tr>)",
                        each.id, escape(each.workload->title));
    for (std::size_t i = 0; i < each.ways.size(); ++i) {
      rows += way_row(each.ways[i], each.verdicts[i], palette);
      if (each.verdicts[i].judgement == Judgement::Baseline || each.ways[i].is_null() ||
          each.ways.size() < 2) {
        continue;
      }
      ratios.push_back({each.workload->title, each.id, each.verdicts[i]});
    }
    rows += "</tbody>";
  }
  return ratio_chart(ratios, palette) +
         R"(<h2>Figures and verdicts</h2><table class="summary"><thead><tr><th>way</th><th class="n">observed rate</th>)"
         R"(<th class="n">program waited</th><th class="n">total</th><th>verdict</th></tr></thead>)" +
         rows + "</table>";
}

std::string group_parts(const std::vector<Judged>& workloads, const Palette& palette) {
  std::string out;
  for (const auto& group : groups_of(workloads)) {
    std::vector<const Judged*> members;
    for (const auto& each : workloads) {
      if (each.workload->group == group) members.push_back(&each);
    }
    if (members.size() > 1) out += group_part(group, members, palette);
  }
  return out.empty() ? out : "<h2>Workloads that belong together</h2>" + out;
}

}  // namespace forebay::report
