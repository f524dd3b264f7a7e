// For tests of `forebay bench`: a workload file, and the suite run upon it in directories of its own.
#pragma once

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/format.hpp"
#include "os/temporary_directory.hpp"
#include "support/command.hpp"
#include "support/node.hpp"

namespace forebay::testing {

class Bench {
 public:
  // `benchmarks`: the elements of that list.
  explicit Bench(const std::string& benchmarks, const std::string& more = "") {
    std::ofstream(file()) << format_text(R"({{{} "benchmarks": [{}]}})", more, benchmarks);
  }

  // `before`: a program and its arguments that starts the suite.
  Ran run(const std::vector<std::string>& options = {}, std::vector<std::string> before = {}) const {
    std::vector<std::string> all{"bench",    file(),
                                 "--output", results(),
                                 "--memory", memory_.path(),
                                 "--disk",   disk_.path(),
                                 "--set",    "tiers=memory:" + memory_.path() + ":64MiB",
                                 "--set",    "admission.write=always"};
    if (std::ranges::find(options, "--repeat") == options.end()) all.insert(all.end(), {"--repeat", "1"});
    if (std::ranges::find(options, "--home") == options.end())
      all.insert(all.end(), {"--home", disk_.path()});
    all.insert(all.end(), options.begin(), options.end());
    before.push_back(Node::program());
    before.insert(before.end(), all.begin(), all.end());
    return testing::run(before.front(), {before.begin() + 1, before.end()});
  }
  [[nodiscard]] std::string file() const { return disk_.file("workload.json"); }
  [[nodiscard]] std::string results() const { return disk_.file("results.jsonl"); }
  [[nodiscard]] std::string disk(const std::string& name) const { return disk_.file(name); }
  [[nodiscard]] const std::string& memory() const { return memory_.path(); }
  // A Python expression over `l`, the list of all lines, and r(workload, way), the results of one way.
  [[nodiscard]] std::string value(const std::string& expression) const {
    const auto lines = "[" + joined() + "]";
    return json_value(
        lines, "(lambda l, r: (" + expression +
                   "))(d, lambda w, y: [x for x in d if x['kind'] == 'result' and x['workload'].endswith(w) "
                   "and x['way'] == y])");
  }

 private:
  [[nodiscard]] std::string joined() const {
    std::ifstream in(results());
    std::string all;
    for (std::string line; std::getline(in, line);) all += (all.empty() ? "" : ",") + line;
    return all;
  }

  TemporaryDirectory disk_;
  TemporaryDirectory memory_{"/dev/shm"};
};

}  // namespace forebay::testing
