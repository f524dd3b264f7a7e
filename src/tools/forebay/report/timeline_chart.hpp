// One run from begin to end: what each rank does, when bytes are carried home, and how full the tiers are.
#pragma once

#include <string>
#include <vector>

#include "tools/forebay/report/markup.hpp"
#include "tools/forebay/report/results.hpp"

namespace forebay::report {

// The first timeline of each way, all on one scale of time. Markup; empty if there is nothing to draw.
std::string timeline_chart(const std::vector<Timeline>& timelines, const Palette& palette);

// Spans of one rank, in order of time, for a drawing that shows nothing shorter than `finest` seconds:
// neighbours of the same kind are one, those too short to be seen belong to the one before them.
std::vector<Span> visible_spans(std::vector<Span> spans, double finest);

// When bytes were carried home, in spans, as far as the samples of the fill tell.
std::vector<Span> drain_spans(const std::vector<Fill>& fill);

}  // namespace forebay::report
