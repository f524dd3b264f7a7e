// For tests: commands through `forebay run`, with a home and a buffer of their own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/command.hpp"

namespace forebay::testing {

class PosixPlace {
 public:
  PosixPlace();
  PosixPlace(const PosixPlace&) = delete;
  PosixPlace& operator=(const PosixPlace&) = delete;
  ~PosixPlace();

  // Two folders with the same name length: one is a home, the other is as plain as a folder can be.
  [[nodiscard]] std::string home(const std::string& name = "") const {
    return home_ + (name.empty() ? "" : "/" + name);
  }
  [[nodiscard]] std::string plain(const std::string& name = "") const {
    return root_ + "/plain" + (name.empty() ? "" : "/" + name);
  }
  [[nodiscard]] std::string root(const std::string& name) const { return root_ + "/" + name; }
  // Where the buffers' own files lie.
  [[nodiscard]] std::string control() const { return memory_ + "/control"; }
  // From here on the home is elsewhere.
  void set_home(const std::string& path) { home_ = path; }

  // `settings`: "key=value".
  Ran run(const std::vector<std::string>& command, const std::vector<std::string>& settings = {}) const;
  // The command line of that.
  [[nodiscard]] std::vector<std::string> words(const std::vector<std::string>& command,
                                               const std::vector<std::string>& settings = {}) const;
  Ran shell(const std::string& script, const std::vector<std::string>& settings = {}) const {
    return run({"sh", "-ec", script}, settings);
  }
  // A figure of the report of the last run, by a Python expression over the document `d`.
  [[nodiscard]] std::string reported(const std::string& expression) const;

  static std::string program();

 private:
  std::string root_;
  std::string memory_;
  std::string home_;
};

std::string slurp(const std::filesystem::path& path);

}  // namespace forebay::testing
