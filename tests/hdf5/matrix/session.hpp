// One rank's run of the matrix: its file, and the log of everything HDF5 answered. Two runs saw the same if
// their logs are the same.
#pragma once

#include <cstdio>
#include <format>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hdf5/matrix/axes.hpp"
#include "hdf5/matrix/ranks.hpp"

namespace forebay::testing::matrix {

class Log {
 public:
  explicit Log(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {}
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log() {
    if (file_ != nullptr) std::fclose(file_);
  }
  template <class... Parts>
  void line(std::format_string<Parts...> text, Parts&&... parts) {
    const auto line = std::format(text, std::forward<Parts>(parts)...);
    std::fprintf(file_, "%s\n", line.c_str());
    // A run that crashes or hangs has shown how far it came.
    std::fflush(file_);
  }

 private:
  std::FILE* file_;
};

struct Session {
  const Options& options;
  const Ranks& ranks;
  Log log;
  Id access;
  Id creation;
  Id dataset_creation;  // without times, so that files are the same byte by byte
  Id transfer;
  Id file;

  // The log is `log_name` in the working directory.
  Session(const Options& wanted, const Ranks& all, const std::string& log_name);

  // What a file is called on this driver: a family has many.
  [[nodiscard]] std::string path(const std::string& name) const;
  void create_file(const std::string& name);
  void open_file(const std::string& name, unsigned flags);
  // Closes the file and says what H5Fclose answered.
  void close_file();
  [[nodiscard]] Id make_group(hid_t where, const std::string& name) const;
  [[nodiscard]] bool collective() const {
    return options.driver != "mpio" || options.transfer == "collective";
  }
};

// Elements in memory, for one transfer. They are given back with it.
class Elements {
 public:
  // For every element of the memory space `space`; H5S_ALL: for every element of `extent`.
  Elements(hid_t file, hid_t type, hid_t space, hid_t extent);
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  ~Elements();

  void fill_all(std::uint64_t number);
  // What is there, also where nothing was to be read to.
  [[nodiscard]] std::uint64_t reduced() const;
  [[nodiscard]] void* data() { return bytes_.data(); }
  // After a read that failed, nobody knows what is there.
  void give_up() { count_ = 0; }

 private:
  hid_t file_;
  hid_t type_;
  Id space_;
  std::size_t size_;
  std::size_t count_;
  std::vector<std::byte> bytes_;
};

}  // namespace forebay::testing::matrix
