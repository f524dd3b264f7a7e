// Lines over a number or a row of names: iterations of a run, workloads of a sweep.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/forebay/report/figures.hpp"
#include "tools/forebay/report/markup.hpp"

namespace forebay::report {

struct LinePoint {
  std::string name;  // what stands for it on the axis and in the table
  Number x;          // where it stands; if one point has none, all stand in their order
  Figure rate;       // bytes a second; none leaves a gap
};
struct Line {
  std::string way;
  std::vector<LinePoint> points;
};

struct LineChart {
  std::string title;
  std::string x_name;
  std::vector<Line> lines;  // all have the same points in the same order
  bool connected = true;    // no: the points are of different things, and nothing lies between them
};

// Markup, with the figures as a table beneath that can be unfolded. Empty if there is no figure at all.
std::string line_chart(const LineChart& chart, const Palette& palette);

}  // namespace forebay::report
