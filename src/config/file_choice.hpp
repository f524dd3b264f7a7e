// Which files are buffered at all, by name and by size.
//
// With homes, only files below one of them; without, every file that a program brings to a door itself (HDF5,
// native), and none that a preloaded library merely sees: those doors do nothing when `homes` is empty.
//
// A plain value. Asking allocates nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forebay {

enum class FileVerdict : std::uint8_t { Chosen, OutsideHomes, NotIncluded, Excluded, TooSmall, TooLarge };

// Words that complete "passed through: ". Empty for Chosen.
[[nodiscard]] std::string_view reason(FileVerdict verdict);

struct FileChoice {
  std::vector<std::string> homes{};    // absolute, normal, without a slash at the end
  std::vector<std::string> include{};  // patterns (base/glob.hpp); empty: every file
  std::vector<std::string> exclude{};  // wins over include
  std::uint64_t min_file_size = 0;
  std::uint64_t max_file_size = 0;  // 0: no limit

  // `path` is absolute and normal; best the name that the kernel has for an open file, in which links are
  // resolved. What lies in /proc and /sys is outside of every home.
  [[nodiscard]] FileVerdict of_name(std::string_view path) const;

  // `size` when the file is opened, 0 if that truncates it. An empty file is chosen: nobody knows how large
  // it will be.
  [[nodiscard]] FileVerdict of_size(std::uint64_t size) const;
};

// Is `path` the directory `directory`, or below it?
[[nodiscard]] bool lies_in(std::string_view path, std::string_view directory);

}  // namespace forebay
