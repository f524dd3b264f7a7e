// Horizontal bars with the spread of their rounds, stacked bars of phases, and ratios on a logarithmic scale.
// They are rows of a grid: a label, a bar, a figure. Where the page is narrow the label stands above.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/forebay/report/figures.hpp"
#include "tools/forebay/report/markup.hpp"
#include "tools/forebay/report/verdict.hpp"

namespace forebay::report {

struct Bar {
  std::string way;
  Figure figure;       // none: the note stands in its place
  std::string note{};  // "wrong bytes"
};

// All functions return markup.
std::string bar_chart(const std::string& title, const std::vector<Bar>& bars, const Palette& palette,
                      std::string (*text)(double));

struct PhaseBar {
  std::string way;
  Figure total;  // not quite the sum of the phases, which are medians of their own
  std::vector<Phase> phases;
};
std::string phase_chart(const std::vector<PhaseBar>& bars, const Palette& palette);

// What the colours of phases mean; only the names given.
std::string phase_legend(std::span<const std::string> names);
// For an attribute: "p-transfer". Names of phases and of a timeline's spans.
std::string phase_class(std::string_view name);

struct RatioRow {
  std::string label;
  std::string link;  // the id of what it is about
  Verdict verdict;
};
std::string ratio_chart(const std::vector<RatioRow>& rows, const Palette& palette);

}  // namespace forebay::report
