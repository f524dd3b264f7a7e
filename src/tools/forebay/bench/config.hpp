// Reading workload files: h5bench's JSON configuration, with `compare`, `home` and a few words more.
#pragma once

#include <string>

#include "base/error.hpp"
#include "tools/forebay/bench/workload.hpp"

namespace forebay {

// What the command line says in place of a file's `mpi`, for files that were written for another machine.
struct LaunchChoice {
  std::string command{};  // empty: the file's
  unsigned ranks = 0;     // 0: the file's
};

// Nothing is run. An error is one sentence with the file, the benchmark and the key.
Result<Suite> read_suite(const std::string& path, const LaunchChoice& choice = {});

// "slowfs", or a directory.
HomeChoice named_home(const std::string& text);

}  // namespace forebay
