// For tests: a place for a tiny buffer and a home of its own, used through forebay.h alone.
#pragma once

#include <fcntl.h>
#include <forebay/forebay.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "os/temporary_directory.hpp"

namespace forebay::native {

class TestPlace {
 public:
  TestPlace() : memory_("/dev/shm") { std::filesystem::create_directory(disk_.file("home")); }

  // 32 buckets of 4 KiB in memory, and `more` settings.
  forebay_buffer* attach(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> settings{"buffer.directory=" + memory_.file("control"),
                                      "buffer.bucket_size=4KiB", "buffer.max_processes=16",
                                      "tiers=memory:" + memory_.path() + ":128KiB"};
    settings.insert(settings.end(), more.begin(), more.end());
    std::vector<const char*> pointers;
    for (const auto& one : settings) pointers.push_back(one.c_str());
    pointers.push_back(nullptr);
    forebay_buffer* buffer = nullptr;
    EXPECT_EQ(forebay_attach(nullptr, nullptr, pointers.data(), &buffer), 0) << forebay_error_message();
    return buffer;
  }
  [[nodiscard]] std::string home(const std::string& name) const { return disk_.file("home/" + name); }
  [[nodiscard]] std::string memory(const std::string& name) const { return memory_.file(name); }

 private:
  TemporaryDirectory memory_;
  TemporaryDirectory disk_;
};

inline forebay_file* open_file(forebay_buffer* buffer, const std::string& path, int flags = O_RDWR | O_CREAT,
                               const char* const* settings = nullptr) {
  forebay_file* file = nullptr;
  EXPECT_EQ(forebay_open(buffer, path.c_str(), flags, 0600, settings, &file), 0) << forebay_error_message();
  return file;
}

inline int64_t write_text(forebay_file* file, const std::string& text, uint64_t offset) {
  return forebay_write(file, text.data(), text.size(), offset);
}

inline std::string read_text(forebay_file* file, std::size_t size, uint64_t offset) {
  std::string text(size, '?');
  const auto got = forebay_read(file, text.data(), size, offset);
  EXPECT_GE(got, 0) << forebay_error_message();
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace forebay::native
