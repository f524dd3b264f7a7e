#include "tools/forebay/report/line_chart.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "tools/forebay/report/axis.hpp"
#include "tools/forebay/report/units.hpp"

namespace forebay::report {
namespace {

constexpr double kHeight = 220;  // of the plot, in pixels
constexpr double kWide = 1000;   // of what is stretched to the plot's width
constexpr double kFar = 50;      // times as much, and a linear scale would show the smaller ones as nothing

// Places on the horizontal axis, between 0 and 1.
struct Across {
  std::vector<double> places;
  std::vector<std::pair<double, std::string>> ticks;
  bool named = false;  // each tick has an equal share of the axis, and its name may take several lines
};

Across by_number(const std::vector<LinePoint>& points) {
  double low = *points.front().x;
  double high = low;
  for (const auto& point : points) {
    low = std::min(low, *point.x);
    high = std::max(high, *point.x);
  }
  const bool wide = low > 0 && high / low > kFar;
  const auto axis = wide ? Axis::logarithmic(low, high) : Axis::between(low, high);
  Across across;
  for (const auto& point : points) across.places.push_back(axis.place(*point.x));
  for (const auto tick : axis.ticks()) across.ticks.emplace_back(axis.place(tick), tick_text(tick));
  return across;
}

// Each in the middle of a share of the axis; names only where there is room for them.
Across by_order(const std::vector<LinePoint>& points) {
  Across across;
  const auto count = static_cast<double>(points.size());
  const auto every = (points.size() + 7) / 8;
  for (std::size_t i = 0; i < points.size(); ++i) {
    across.places.push_back((static_cast<double>(i) + 0.5) / count);
    if (i % every == 0) across.ticks.emplace_back(across.places.back(), points[i].name);
  }
  across.named = every == 1;
  return across;
}

Across across_of(const std::vector<LinePoint>& points) {
  const bool numbers =
      std::ranges::all_of(points, [](const LinePoint& point) { return point.x.has_value(); });
  return numbers ? by_number(points) : by_order(points);
}

std::string point_text(const LinePoint& point) {
  if (!point.rate) return "–";
  if (point.rate->count == 1) return rate_text(point.rate->median);
  return format_text("{} ({})", rate_text(point.rate->median),
                     range_text(rate_text(point.rate->low), rate_text(point.rate->high)));
}

std::string frame(const Across& across, const Axis& up, const Unit& unit) {
  std::string out;
  for (const auto tick : up.ticks()) {
    const auto y = coordinate(kHeight * (1 - up.place(tick)));
    out += format_text(R"(<line class="grid" x1="0" x2="100%" y1="{0}" y2="{0}"/>)", y);
    out += format_text(R"(<text class="tick" text-anchor="end" x="-8" y="{}" dy="4">{}</text>)", y,
                       tick_text(tick / unit.factor));
  }
  for (const auto& [place, name] : across.ticks) {
    out += format_text(R"(<line class="grid" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>)", percent(place),
                       coordinate(kHeight), coordinate(kHeight + 4));
    if (across.named) continue;
    out += format_text(R"(<text class="tick" text-anchor="middle" x="{}" y="{}">{}</text>)", percent(place),
                       coordinate(kHeight + 18), escape(name));
  }
  return out;
}

// Beneath the drawing, as text that is broken where it does not fit.
std::string names(const Across& across) {
  if (!across.named) return {};
  std::string out = R"(<div class="x-ticks">)";
  for (const auto& [place, name] : across.ticks) out += format_text("<span>{}</span>", escape(name));
  return out + "</div>";
}

// The line and the band of its spread, in pieces where points are missing.
std::string strokes(const Line& line, const Across& across, const Axis& up, const std::string& name) {
  const auto y_of = [&](double value) { return coordinate(kHeight * (1 - up.place(value))); };
  std::string out;
  std::size_t i = 0;
  while (i < line.points.size()) {
    std::string path;
    std::string above;
    std::string below;
    for (; i < line.points.size() && line.points[i].rate; ++i) {
      const auto x = coordinate(kWide * across.places[i]);
      path += format_text("{},{} ", x, y_of(line.points[i].rate->median));
      above += format_text("{},{} ", x, y_of(line.points[i].rate->high));
      below = format_text("{},{} ", x, y_of(line.points[i].rate->low)) + below;
    }
    if (!path.empty()) {
      out += format_text(R"(<polygon class="band {}" points="{}{}"/>)", name, above, below);
      out += format_text(R"(<polyline class="line {}" points="{}"/>)", name, path);
    }
    ++i;
  }
  return format_text(
      R"(<svg width="100%" height="{0}" viewBox="0 0 {1} {0}" preserveAspectRatio="none">{2}</svg>)",
      coordinate(kHeight), coordinate(kWide), out);
}

std::string marks(const Line& line, const Across& across, const Axis& up, const std::string& name) {
  std::string out;
  for (std::size_t i = 0; i < line.points.size(); ++i) {
    const auto& point = line.points[i];
    if (!point.rate) continue;
    const auto x = percent(across.places[i]);
    if (point.rate->count > 1) {
      out += format_text(R"(<line class="whisker {0}" x1="{1}" x2="{1}" y1="{2}" y2="{3}"/>)", name, x,
                         coordinate(kHeight * (1 - up.place(point.rate->low))),
                         coordinate(kHeight * (1 - up.place(point.rate->high))));
    }
    out += format_text(R"(<use href="#m-{0}" class="{0}" x="{1}" y="{2}"><title>{3}, {4}: {5}</title></use>)",
                       name, x, coordinate(kHeight * (1 - up.place(point.rate->median))), escape(line.way),
                       escape(point.name), point_text(point));
  }
  return out;
}

std::string table(const LineChart& chart) {
  std::string out = format_text(
      R"(<details class="fold"><summary>The figures of this chart</summary><div class="scroll"><table><thead><tr><th>{}</th>)",
      escape(chart.x_name));
  for (const auto& line : chart.lines) out += format_text("<th>{}</th>", escape(line.way));
  out += "</tr></thead><tbody>";
  for (std::size_t i = 0; i < chart.lines.front().points.size(); ++i) {
    out += format_text("<tr><td>{}</td>", escape(chart.lines.front().points[i].name));
    for (const auto& line : chart.lines) out += format_text("<td>{}</td>", point_text(line.points[i]));
    out += "</tr>";
  }
  return out + "</tbody></table></div></details>";
}

// For those who do not see the chart: the ends of each line.
std::string spoken(const LineChart& chart) {
  auto words = chart.title;
  for (const auto& line : chart.lines) {
    const auto& first = line.points.front();
    const auto& last = line.points.back();
    words += format_text("; {}: {} at {}, {} at {}", line.way, point_text(first), first.name,
                         point_text(last), last.name);
  }
  return words;
}

}  // namespace

std::string line_chart(const LineChart& chart, const Palette& palette) {
  double largest = 0;
  double smallest = 0;
  for (const auto& line : chart.lines) {
    for (const auto& point : line.points) {
      if (!point.rate) continue;
      largest = std::max(largest, point.rate->high);
      if (point.rate->low > 0)
        smallest = smallest > 0 ? std::min(smallest, point.rate->low) : point.rate->low;
    }
  }
  if (largest <= 0) return {};
  const auto unit = unit_of_bytes(largest);
  const bool far = smallest > 0 && largest / smallest > kFar;
  const auto up = far ? Axis::logarithmic(smallest, largest) : Axis::linear(largest);
  const auto across = across_of(chart.lines.front().points);
  std::string legend;
  std::string drawing = frame(across, up, unit);
  for (const auto& line : chart.lines) legend += "<li>" + palette.chip(line.way) + "</li>";
  for (const auto& line : chart.lines) {
    if (chart.connected) drawing += strokes(line, across, up, palette.class_of(line.way));
  }
  for (const auto& line : chart.lines) drawing += marks(line, across, up, palette.class_of(line.way));
  return format_text(
             R"(<figure class="chart wide"><figcaption>{}</figcaption><ul class="legend">{}</ul>)"
             R"(<div class="y-name">{}/s{}</div><div class="plot{}"><svg width="100%" height="{}" role="img" aria-label="{}">{}</svg></div>)"
             R"({}<div class="x-name">{}</div>)",
             escape(chart.title), legend, unit.name, far ? ", on a logarithmic scale" : "",
             across.named ? " named" : "", coordinate(kHeight), escape(spoken(chart)), drawing, names(across),
             escape(chart.x_name)) +
         table(chart) + "</figure>";
}

}  // namespace forebay::report
