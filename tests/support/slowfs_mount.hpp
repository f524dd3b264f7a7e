// A slowfs for the length of a test: mounted when constructed, unmounted and gone when destroyed.
//
//   if (!SlowfsMount::available()) GTEST_SKIP() << "no /dev/fuse";
//   SlowfsMount home({"--write-bandwidth=100MB", "--latency=1ms"});
//   ... use home.path() ...
//   home.control("fail_nth_write=3,EIO");
//   EXPECT_GE(home.stat("write", "mean_size"), 1 << 20);
//
// Failures to set up are exceptions (std::runtime_error), which GoogleTest reports. If the thread that made
// it dies, slowfs unmounts too. Not thread-safe, except for stat and control.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace forebay::testing {

class SlowfsMount {
 public:
  // Source and mount point are made in a fresh folder below `base`.
  explicit SlowfsMount(const std::vector<std::string>& options = {},
                       const std::filesystem::path& base = std::filesystem::temp_directory_path());
  ~SlowfsMount();
  SlowfsMount(const SlowfsMount&) = delete;
  SlowfsMount& operator=(const SlowfsMount&) = delete;

  // Whether this machine lets us mount at all.
  static bool available();

  const std::filesystem::path& path() const { return mount_point_; }
  // Where the files are underneath: what is done there is neither slowed nor counted.
  const std::filesystem::path& source() const { return source_; }
  pid_t pid() const { return pid_; }

  // Lines of key=value; throws if they are refused.
  void control(const std::string& lines);
  // The same, but answers 0 or an errno value.
  int try_control(const std::string& lines);
  // One figure of the statistics file: stat("write", "requests").
  uint64_t stat(const std::string& kind, const std::string& figure) const;
  // Waits, within reason, until a figure is at least `value`; false if it never was.
  bool wait_for_stat(const std::string& kind, const std::string& figure, uint64_t value) const;

  // Ends slowfs with SIGTERM, whatever hangs in it, and answers its exit status; the source stays until
  // destruction.
  int unmount();

 private:
  void start(const std::vector<std::string>& options);
  void wait_until_mounted();

  std::filesystem::path folder_;
  std::filesystem::path source_;
  std::filesystem::path mount_point_;
  pid_t pid_ = -1;
};

}  // namespace forebay::testing
