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
constexpr const char* kDraining = "draining";

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

// What one line of the drawing shows; `who` stands before it and in its titles.
std::string lane(const std::string& label, const std::string& who, std::vector<Span> spans, const Axis& time,
                 double y) {
  auto out = format_text(R"(<text class="tick" text-anchor="end" x="-8" y="{}">{}</text>)",
                         coordinate(y + 11), label);
  for (const auto& span : visible_spans(std::move(spans), time.high() / 1500)) {
    out += format_text(
        R"(<rect class="{}" x="{}" width="{}" y="{}" height="{}"><title>{}: {} from {} to {}</title></rect>)",
        phase_class(span.what), percent(time.place(span.begin)),
        percent(time.place(span.end) - time.place(span.begin)), coordinate(y + 1), coordinate(kLane - 3), who,
        escape(span.what), seconds_text(span.begin), seconds_text(span.end));
  }
  return out;
}

std::string lanes(const std::map<int, std::vector<Span>>& ranks, const std::vector<Span>& drains,
                  const Axis& time, double& height) {
  std::string out;
  double y = 0;
  for (const auto& [rank, spans] : ranks) {
    if (y >= kLane * kMostRanks) break;
    out += lane(std::to_string(rank), format_text("rank {}", rank), spans, time, y);
    y += kLane;
  }
  if (!drains.empty()) {
    out += lane("home", "in the background", drains, time, y);
    y += kLane;
  }
  height = y;
  return out;
}

// The area under an amount, or a line: amount(fill).
template <class Amount>
std::string area(const std::vector<Fill>& fill, Amount&& amount, const Axis& time, const Axis& up,
                 const std::string& name, bool line = false) {
  std::string points;
  const auto every = (fill.size() + kMostPoints - 1) / kMostPoints;
  for (std::size_t i = 0; i < fill.size(); i += every) {
    // The largest of those that are drawn as one.
    double most = 0;
    for (auto j = i; j < std::min(i + every, fill.size()); ++j) most = std::max(most, amount(fill[j]));
    points += format_text("{},{} ", coordinate(kWide * time.place(fill[i].at)),
                          coordinate(kFill * (1 - up.place(most))));
  }
  if (line) return format_text(R"(<polyline class="{}" points="{}"/>)", name, points);
  return format_text(R"(<polygon class="{}" points="{},{} {}{},{}"/>)", name,
                     coordinate(kWide * time.place(fill.front().at)), coordinate(kFill), points,
                     coordinate(kWide * time.place(fill.back().at)), coordinate(kFill));
}

// Of the tiers up to number `last`, as they are stacked.
double stacked(const Fill& fill, std::size_t last) {
  double sum = 0;
  for (std::size_t i = 0; i <= last && i < fill.tiers.size(); ++i) sum += fill.tiers[i];
  return sum;
}

std::string fill_chart(const Timeline& timeline, const Axis& time) {
  const auto& fill = timeline.fill;
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
  // The first tier is at the bottom, so it is drawn last.
  std::string legend;
  const auto& names = timeline.tiers;
  for (auto i = names.size(); names.size() > 1 && i-- > 0;) {
    const auto shade = format_text("tier t{}", i % 4);
    out += area(fill, [&](const Fill& one) { return stacked(one, i); }, time, up, shade);
    legend = format_text(R"(<span class="legend-{}">{}</span>, )", shade, escape(names[i])) + legend;
  }
  if (legend.empty()) {
    out += area(fill, [](const Fill& one) { return one.used; }, time, up, "used");
    legend = format_text(R"(<span class="legend-used">{}</span>, )",
                         names.empty() ? "used" : "used of tier " + escape(names.front()));
  }
  out += area(
             fill, [](const Fill& one) { return one.unsaved; }, time, up,
             names.size() > 1 ? "unsaved-line" : "unsaved", names.size() > 1) +
         "</svg>";
  return format_text(
      R"(<div class="y-name">Fill of the buffer, {}: {}<span class="legend-unsaved">not yet home</span></div>)"
      R"(<div class="plot fill"><svg width="100%" height="{}" role="img" aria-label="Fill of the buffer: at most {} used, {} of it not yet home">{}</svg></div>)",
      unit.name, legend, coordinate(kFill), bytes_text(most), bytes_text(unsaved), out);
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
  const bool drains =
      std::ranges::any_of(timelines, [](const auto* one) { return !drain_spans(one->fill).empty(); });
  if (drains) kinds.emplace_back(kDraining);
  return kinds;
}

}  // namespace

std::vector<Span> drain_spans(const std::vector<Fill>& fill) {
  std::vector<Span> spans;
  for (std::size_t i = 1; i < fill.size(); ++i) {
    const auto& before = fill[i - 1];
    const auto& now = fill[i];
    // Files of before only show it where nothing is staged at the same time.
    const bool drains =
        before.drained && now.drained ? *now.drained > *before.drained : now.unsaved < before.unsaved;
    if (!drains) continue;
    if (!spans.empty() && spans.back().end == before.at) {
      spans.back().end = now.at;
    } else {
      spans.push_back({0, kDraining, before.at, now.at});
    }
  }
  return spans;
}

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
    const auto drains = drain_spans(timeline->fill);
    const auto drawing = lanes(ranks, drains, time, height);
    std::string remark =
        ranks.size() > kMostRanks ? format_text(", the first {} of {} ranks", kMostRanks, ranks.size()) : "";
    out += format_text(R"(<div class="y-name">{} round {}{}: what each rank does{}</div>)",
                       palette.chip(timeline->way), timeline->round, remark,
                       drains.empty() ? "" : ", and when bytes go home");
    out += format_text(
        R"(<div class="plot ranks"><svg width="100%" height="{}" role="img" aria-label="{}: {} ranks, {} from begin to end">{}{}</svg></div>)",
        coordinate(height), escape(timeline->way), ranks.size(), seconds_text(end_of(*timeline)),
        grid(time, height, &unit), drawing);
    if (!timeline->fill.empty()) out += fill_chart(*timeline, time);
  }
  return out + format_text(R"(<div class="x-name">{} since the round began</div></figure>)", unit.name);
}

}  // namespace forebay::report
