// The one table at the end.
#pragma once

#include <string>

#include "tools/demo/plan.hpp"

namespace forebay::demo {

// What was done, in one sentence.
std::string describe(const Plan& plan);

// The table, and the line below it that says what came of it. `files` were compared and found equal.
std::string report(const Figures& plain, const Figures& forebay, unsigned files);

}  // namespace forebay::demo
