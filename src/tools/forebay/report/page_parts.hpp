// Parts of the page, each in a file of its own. All return markup.
#pragma once

#include <string>
#include <vector>

#include "tools/forebay/report/figures.hpp"
#include "tools/forebay/report/markup.hpp"
#include "tools/forebay/report/results.hpp"
#include "tools/forebay/report/verdict.hpp"

namespace forebay::report {

// A workload with everything that is said of it.
struct Judged {
  const Workload* workload = nullptr;
  std::string id;  // of its section on the page
  std::vector<WayFigures> ways;
  std::vector<Verdict> verdicts;  // in the order of ways
};

// What the styles of the page are, and the marks that charts refer to.
std::string page_style();
std::string page_marks();

// Ratios of all workloads at a glance, and the table with verdicts.
std::string summary_part(const std::vector<Judged>& workloads, const Palette& palette);
// Workloads of one group together.
std::string group_parts(const std::vector<Judged>& workloads, const Palette& palette);
// One workload: verdicts, charts, figures, settings.
std::string workload_part(const Judged& judged, const Palette& palette);

// A word with a sign that goes without colours: "▲ 7.70 times".
std::string badge(const Verdict& verdict);
// The same with the whole sentence: "▲ 7.70 times native's observed rate; the program waited ...".
std::string verdict_text(const Verdict& verdict);

// Names and values, in two columns; empty if there are none.
std::string pairs_list(const Pairs& pairs);

}  // namespace forebay::report
