#include "tools/forebay/report/timeline_chart.hpp"

#include <algorithm>
#include <map>

#include "base/format.hpp"
#include "tools/forebay/report/axis.hpp"
#include "tools/forebay/report/bar_chart.hpp"
#include "tools/forebay/report/units.hpp"

namespace forebay::report {
namespace {

constexpr std::size_t kMostRanks = 16;
constexpr double kLane = 16;    // pixels from one rank to the next
constexpr double kFill = 70;    // pixels of the buffer's fill
constexpr double kWide = 1000;  // of what is stretched to the plot's width
constexpr std::size_t kMostPoints = 500;

std::map<int, std::vector<Span>> by_rank(const std::vector<Span>& spans) {
  std::map<int, std::vector<Span>> ranks;
  for (const auto& span : spans) ranks[span.rank].push_back(span);
  return ranks;
}

double end_of(const Timeline& timeline) {
  double end = 0;
  for (const auto& span : timeline.spans) end = std::max(end, span.end);
  for (const auto& fill : timeline.fill) end = std::max(end, fill.at);
  return end;
}

std::string grid(const Axis& time, double height, const Unit* unit) {
  std::string out;
  for (const auto tick : time.ticks()) {
    out += format_text(R"(<line class="grid" x1="{0}" x2="{0}" y1="0" y2="{1}"/>)", percent(time.place(tick)),
                       coordinate(height));
    if (!unit) continue;
    out += format_text(R"(<text class="tick" text-anchor="middle" x="{}" y="{}">{}</text>)",
                       percent(time.place(tick)), coordinate(height + 16), tick_text(tick / unit->factor));
  }
  return out;
}

std::string lanes(const std::map<int, std::vector<Span>>& ranks, const Axis& time, double& height) {
  std::string out;
  double y = 0;
  for (const auto& [rank, spans] : ranks) {
    if (y >= kLane * kMostRanks) break;
    out += format_text(R"(<text class="tick" text-anchor="end" x="-8" y="{}">{}</text>)", coordinate(y + 11),
                       rank);
    for (const auto& span : visible_spans(spans, time.high() / 1500)) {
      out += format_text(
          R"(<rect class="{}" x="{}" width="{}" y="{}" height="{}"><title>rank {}: {} from {} to {}</title></rect>)",
          phase_class(span.what), percent(time.place(span.begin)),
          percent(time.place(span.end) - time.place(span.begin)), coordinate(y + 1), coordinate(kLane - 3),
          rank, escape(span.what), seconds_text(span.begin), seconds_text(span.end));
    }
    y += kLane;
  }
  height = y;
  return out;
}

// The area under one of the two amounts.
std::string area(const std::vector<Fill>& fill, double Fill::* amount, const Axis& time, const Axis& up,
                 const char* name) {
  std::string points;
  const auto every = (fill.size() + kMostPoints - 1) / kMostPoints;
  for (std::size_t i = 0; i < fill.size(); i += every) {
    // The largest of those that are drawn as one.
    double most = 0;
    for (auto j = i; j < std::min(i + every, fill.size()); ++j) most = std::max(most, fill[j].*amount);
    points += format_text("{},{} ", coordinate(kWide * time.place(fill[i].at)),
                          coordinate(kFill * (1 - up.place(most))));
  }
  return format_text(R"(<polygon class="{}" points="{},{} {}{},{}"/>)", name,
                     coordinate(kWide * time.place(fill.front().at)), coordinate(kFill), points,
                     coordinate(kWide * time.place(fill.back().at)), coordinate(kFill));
}

std::string fill_chart(const std::vector<Fill>& fill, const Axis& time) {
  double most = 0;
  double unsaved = 0;
  for (const auto& each : fill) {
    most = std::max({most, each.used, each.unsaved});
    unsaved = std::max(unsaved, each.unsaved);
  }
  if (most <= 0) return {};
  const auto unit = unit_of_bytes(most);
  const auto up = Axis::linear(most, 2);
  std::string out;
  for (const auto tick : up.ticks()) {
    const auto y = coordinate(kFill * (1 - up.place(tick)));
    out += format_text(R"(<line class="grid" x1="0" x2="100%" y1="{0}" y2="{0}"/>)", y);
    out += format_text(R"(<text class="tick" text-anchor="end" x="-8" y="{}" dy="4">{}</text>)", y,
                       tick_text(tick / unit.factor));
  }
  out += format_text(R"(<svg width="100%" height="{0}" viewBox="0 0 {1} {0}" preserveAspectRatio="none">)",
                     coordinate(kFill), coordinate(kWide));
  out +=
      area(fill, &Fill::used, time, up, "used") + area(fill, &Fill::unsaved, time, up, "unsaved") + "</svg>";
  return format_text(
      R"(<div class="y-name">Fill of the buffer, {}: <span class="legend-used">used</span>, <span class="legend-unsaved">not yet home</span></div>)"
      R"(<div class="plot fill"><svg width="100%" height="{}" role="img" aria-label="Fill of the buffer: at most {} used, {} of it not yet home">{}</svg></div>)",
      unit.name, coordinate(kFill), bytes_text(most), bytes_text(unsaved), out);
}

// Which kinds of spans there are, in the order of a run.
std::vector<std::string> kinds_of(const std::vector<const Timeline*>& timelines) {
  std::vector<std::string> kinds;
  for (const auto* name :
       {"compute", "create", "open", "write", "read", "metadata", "flush", "close", "tail"}) {
    for (const auto* timeline : timelines) {
      if (!std::ranges::contains(timeline->spans, name, &Span::what)) continue;
      if (!std::ranges::contains(kinds, name)) kinds.emplace_back(name);
    }
  }
  return kinds;
}

}  // namespace

std::vector<Span> visible_spans(std::vector<Span> spans, double finest) {
  std::ranges::stable_sort(spans, {}, &Span::begin);
  std::vector<Span> seen;
  for (auto& span : spans) {
    if (!seen.empty() && span.begin - seen.back().end <= finest) {
      auto& before = seen.back();
      if (before.what == span.what || span.end - span.begin < finest) {
        before.end = std::max(before.end, span.end);
        continue;
      }
    }
    seen.push_back(std::move(span));
  }
  return seen;
}

std::string timeline_chart(const std::vector<Timeline>& timelines, const Palette& palette) {
  std::vector<const Timeline*> shown;
  double end = 0;
  for (const auto& timeline : timelines) {
    if (timeline.way == "null" || (timeline.spans.empty() && timeline.fill.empty())) continue;
    if (std::ranges::any_of(shown, [&](const auto* other) { return other->way == timeline.way; })) continue;
    shown.push_back(&timeline);
    end = std::max(end, end_of(timeline));
  }
  if (end <= 0) return {};
  const auto time = Axis::between(0, end);
  const auto unit = unit_of_seconds(end);
  std::string out = R"(<figure class="chart wide"><figcaption>One run from begin to end</figcaption>)" +
                    phase_legend(kinds_of(shown));
  for (const auto* timeline : shown) {
    const auto ranks = by_rank(timeline->spans);
    double height = 0;
    const auto drawing = lanes(ranks, time, height);
    std::string remark =
        ranks.size() > kMostRanks ? format_text(", the first {} of {} ranks", kMostRanks, ranks.size()) : "";
    out += format_text(R"(<div class="y-name">{} round {}{}: what each rank does</div>)",
                       palette.chip(timeline->way), timeline->round, remark);
    out += format_text(
        R"(<div class="plot ranks"><svg width="100%" height="{}" role="img" aria-label="{}: {} ranks, {} from begin to end">{}{}</svg></div>)",
        coordinate(height), escape(timeline->way), ranks.size(), seconds_text(end_of(*timeline)),
        grid(time, height, &unit), drawing);
    if (!timeline->fill.empty()) out += fill_chart(timeline->fill, time);
  }
  return out + format_text(R"(<div class="x-name">{} since the round began</div></figure>)", unit.name);
}

}  // namespace forebay::report
