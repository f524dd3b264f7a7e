// The report: one HTML file that needs nothing else, no script and no network.
#pragma once

#include <span>
#include <string>

#include "tools/forebay/report/results.hpp"

namespace forebay::report {

// `made_by` is this program with its version, for the foot of the page.
std::string report_page(std::span<const Run> runs, const std::string& made_by);

}  // namespace forebay::report
