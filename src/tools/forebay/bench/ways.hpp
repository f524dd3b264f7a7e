// The ways of a workload file: its `compare`, or what h5bench's `vol` makes of them.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "tools/forebay/bench/json.hpp"
#include "tools/forebay/bench/workload.hpp"

namespace forebay {

// "native", "forebay" and "null" as a file's `compare` has them. EINVAL for another word.
Result<Way> named_way(const std::string& name);

Result<std::vector<Way>> compared_ways(const OrderedJson& list);

// Of a file without `compare`: native, the connector that its `vol` names, forebay. What `vol` gives without
// a connector (as the folder of a filter's plugin) is for all of them.
Result<std::vector<Way>> usual_ways(const OrderedJson& file);

}  // namespace forebay
