// Where the files of a run of the suite lie: a directory, or a slowfs for the length of the run.
//
// Everything made in it is removed at the end. If this process is killed, slowfs unmounts itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "tools/forebay/bench/workload.hpp"

namespace forebay {

// What a slowfs has answered.
struct HomeRequests {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  // What carries no data.
  std::uint64_t opens = 0, closes = 0, lookups = 0, queries = 0, changes = 0, fsyncs = 0;

  [[nodiscard]] std::uint64_t data() const { return reads + writes; }
  [[nodiscard]] std::uint64_t others() const { return opens + closes + lookups + queries + changes + fsyncs; }
};

class BenchHome {
 public:
  // `disk`: a directory in which a slowfs keeps its files.
  static Result<std::unique_ptr<BenchHome>> make(const HomeChoice& choice, const std::string& disk);
  BenchHome(const BenchHome&) = delete;
  BenchHome& operator=(const BenchHome&) = delete;
  ~BenchHome();

  // The directory that kernels use.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // The same files, neither slowed nor counted: for preparing and checking.
  [[nodiscard]] const std::filesystem::path& direct() const { return direct_; }
  [[nodiscard]] bool is_slowfs() const { return slowfs_ > 0; }
  [[nodiscard]] const HomeChoice& choice() const { return choice_; }
  // "slowfs", "ext4", ...
  [[nodiscard]] std::string file_system() const;

  // Of slowfs only.
  void forget_requests() const;
  [[nodiscard]] std::optional<HomeRequests> requests() const;
  // What the kernel keeps of the files below a directory of home would make reading look faster than it is.
  void forget_cached(const std::filesystem::path& below) const;

 private:
  explicit BenchHome(HomeChoice choice) : choice_(std::move(choice)) {}
  Status use_directory();
  Status mount(const std::string& disk);
  Status wait_until_mounted();
  void unmount();

  HomeChoice choice_;
  std::filesystem::path path_;
  std::filesystem::path direct_;
  std::filesystem::path folder_;  // to be removed
  pid_t slowfs_ = -1;
};

}  // namespace forebay
