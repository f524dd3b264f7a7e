// Reading workload files: h5bench's JSON configuration, with `compare`, `home` and a few words more.
#pragma once

#include <string>

#include "base/error.hpp"
#include "tools/forebay/bench_workload.hpp"

namespace forebay {

// Nothing is run. An error is one sentence with the file, the benchmark and the key.
Result<Suite> read_suite(const std::string& path);

// "native", "forebay" and "null" as a file's `compare` has them. EINVAL for another word.
Result<Way> named_way(const std::string& name);

// "slowfs", or a directory.
HomeChoice named_home(const std::string& text);

}  // namespace forebay
