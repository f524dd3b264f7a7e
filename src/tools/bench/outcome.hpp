// The figures of a stage, as `forebay bench` reads them: one JSON object in the job's result file.
#pragma once

#include "tools/bench/checker.hpp"
#include "tools/bench/job.hpp"
#include "tools/bench/recorder.hpp"
#include "tools/bench/world.hpp"

namespace forebay::kernels {

// Called by all ranks. Times are those of the rank that waited longest for its files, so that they add up;
// bytes, operations and memory are sums over ranks.
void write_outcome(const Job& job, const World& world, const Recorder& recorder, const Checker& checker);

}  // namespace forebay::kernels
