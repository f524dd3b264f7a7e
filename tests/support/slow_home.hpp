// For tests of what home does: a buffer before a slowfs.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/log.hpp"
#include "engine/status.hpp"
#include "support/child.hpp"
#include "support/place.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::testing {

using namespace std::chrono_literals;

inline std::string some_bytes(std::size_t size, unsigned seed = 1) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i + seed) * 2654435761u >> 13);
  return bytes;
}

inline Result<std::uint64_t> put(File& file, std::uint64_t at, const std::string& bytes) {
  return file.write(at, std::as_bytes(std::span(bytes)));
}

inline int code_of(const Status& status) { return status ? 0 : status.error().code; }

class SlowHome : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: slowfs cannot be mounted here";
    set_log_level(LogLevel::Off);
    slowfs_ = std::make_unique<SlowfsMount>();
  }
  // A buffer of 16 + 32 buckets of 4 KiB before a slowfs.
  void prepare(const std::string& overrides = "drain.delay=1ms") {
    place_.emplace(PlaceOptions{.overrides = overrides, .home = slowfs_->path()});
  }
  std::shared_ptr<File> open(Buffer& buffer, const std::string& name, int flags = O_RDWR | O_CREAT) {
    auto file = buffer.open(place_->home(name), flags);
    if (!file) throw std::runtime_error(file.error().message);
    return *file;
  }
  std::string at_home(const std::string& name) const { return Place::slurp(slowfs_->source() / name); }
  // What status says of the only file.
  FileStatus status() const {
    const auto seen = look_at_buffer(place_->settings());
    if (!seen) throw std::runtime_error(seen.error().message);
    for (const auto& file : seen->files) return file;
    return {};
  }
  // A process that stages `bytes` in a new file and is killed before anything went home.
  void die_with(const std::string& name, const std::string& bytes) {
    Child child([&] {
      auto buffer = place_->attach();
      buffer->pause_drain(true);
      auto file = open(*buffer, name);
      if (!put(*file, 0, bytes)) return 1;
      ::kill(::getpid(), SIGKILL);
      return 2;
    });
    const auto status = child.wait(20s);
    ASSERT_TRUE(status && Child::was_killed(*status));
  }
  // What `forebay recover` would say.
  Status recover() {
    auto buffer = place_->attach();
    buffer->recover();
    return buffer->drain(20s);
  }

  // A file "a" with unsaved pieces, so far apart. It is long enough at home: writes that extend a file go one
  // by one whatever we do.
  static constexpr std::uint64_t kPieces = 32;
  std::shared_ptr<File> open_with_pieces(Buffer& buffer, std::uint64_t apart, const std::string& bytes) {
    std::ofstream(slowfs_->source() / "a") << std::string(kPieces * 2048, 'x');
    auto file = open(buffer, "a");
    for (std::uint64_t i = 0; i < kPieces; ++i) EXPECT_TRUE(put(*file, i * apart, bytes));
    return file;
  }
  void expect_pieces_at_home(std::uint64_t apart, const std::string& bytes) const {
    const auto there = at_home("a");
    for (std::uint64_t i = 0; i < kPieces; ++i)
      EXPECT_TRUE(there.substr(i * apart, bytes.size()) == bytes) << "piece " << i;
  }

  std::unique_ptr<SlowfsMount> slowfs_;
  std::optional<Place> place_;
};

}  // namespace forebay::testing
