// A slow file system for the length of the demo: slowfs on a directory of its own.
//
// Unmounted when destroyed, and also if this process is killed. Failures are exceptions with a sentence for
// the user.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "tools/demo/plan.hpp"

namespace forebay::demo {

class SlowHome {
 public:
  // `slowfs` is the program; `folder` an existing one, in which source, mount point and log are made.
  SlowHome(const std::filesystem::path& slowfs, const std::filesystem::path& folder, const Plan& plan);
  SlowHome(const SlowHome&) = delete;
  SlowHome& operator=(const SlowHome&) = delete;
  ~SlowHome();

  [[nodiscard]] const std::filesystem::path& path() const { return mount_point_; }
  // The same files without the slowness.
  [[nodiscard]] const std::filesystem::path& source() const { return source_; }

 private:
  void start(const std::filesystem::path& slowfs, const Plan& plan);
  void wait_until_mounted();
  void stop();

  std::filesystem::path source_, mount_point_, log_;
  pid_t pid_ = -1;
};

}  // namespace forebay::demo
