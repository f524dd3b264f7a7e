// What `forebay bench` asks of this program: one kernel, at one stage, as a JSON file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace forebay::kernels {

enum class Stage {
  kPrepare,  // make what the kernel reads or changes; natively, one process
  kRun,      // what is measured
  kCheck,    // look at everything left at home; natively, one process
};

struct Job {
  Stage stage = Stage::kRun;
  std::string kernel;
  std::string directory;  // in the home
  std::string file;       // name in it
  std::uint64_t ranks = 1;
  std::uint64_t seed = 1;
  bool null = false;          // nothing is transferred: what is left is the kernel's own cost
  bool verify = true;         // of what is read
  bool many_threads = false;  // MPI is to allow them
  std::string plant{};        // for tests of the suite: what to do wrong
  std::uint64_t memory = 0;   // bytes that one rank may keep for data made ahead or checked afterwards
  std::string progress{};     // file for "done 0.5" and "closed 12.3"
  std::string result{};       // file for the figures
  std::map<std::string, std::string> configuration{};

  // Throws std::runtime_error.
  static Job read(const std::string& path);

  [[nodiscard]] std::string path() const { return directory + "/" + file; }
  // Of the configuration; `forebay bench` has checked the values and filled in what was not said.
  [[nodiscard]] std::string text(const std::string& key) const;
  [[nodiscard]] std::uint64_t count(const std::string& key) const;
  [[nodiscard]] double real(const std::string& key) const;
  // False, or 0, for what the kernel's configuration has no key for.
  [[nodiscard]] bool flag(const std::string& key) const { return count_or_none(key) != 0; }
  [[nodiscard]] std::uint64_t count_or_none(const std::string& key) const;
  [[nodiscard]] std::vector<std::uint64_t> counts(const std::string& key) const;  // "8 16 16"
};

}  // namespace forebay::kernels
