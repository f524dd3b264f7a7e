// Folders for the length of a run: one in memory, one on a disk.
//
// They are removed at the end, also when the run is killed: a small process that waits for its end does it.
#pragma once

#include <string>

#include "os/fd.hpp"

namespace forebay::bench {

class Scratch {
 public:
  // `disk`: an existing folder on the disk to be used.
  explicit Scratch(const std::string& disk);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  // Fresh folders of their own.
  [[nodiscard]] std::string in_memory(const std::string& name) const { return fresh(memory_, name); }
  [[nodiscard]] std::string on_disk(const std::string& name) const { return fresh(disk_, name); }

 private:
  [[nodiscard]] static std::string fresh(const std::string& parent, const std::string& name);

  std::string memory_;
  std::string disk_;
  Fd alive_;  // the remover sees the other end close
  int remover_ = -1;
};

}  // namespace forebay::bench
