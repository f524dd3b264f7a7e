// Results as a part of a page in Markdown: for docs and for issues.
#pragma once

#include <span>
#include <string>

#include "tools/forebay/report/results.hpp"

namespace forebay::report {

// A table for each group of workloads and for each that has none, with what was published of it above.
std::string report_markdown(std::span<const Run> runs);

}  // namespace forebay::report
