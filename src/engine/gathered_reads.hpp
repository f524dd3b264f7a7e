// Many small reads of a file, asked for in groups (File::read of wants). For one thread.
//
// Nothing may be taken for read before finish() said so.
#pragma once

#include <array>
#include <cstddef>

#include "engine/file.hpp"

namespace forebay {

class GatheredReads {
 public:
  explicit GatheredReads(File& file) : file_(file) {}
  GatheredReads(const GatheredReads&) = delete;
  GatheredReads& operator=(const GatheredReads&) = delete;

  // False: the file has ended before, and no more is read.
  Result<bool> add(std::uint64_t offset, std::span<std::byte> out) {
    if (count_ == wants_.size()) {
      FOREBAY_ASSIGN(const bool all, finish());
      if (!all) return false;
    }
    wants_[count_++] = {offset, out};
    wanted_ += out.size();
    return true;
  }
  // What was added is read: all of it, or (false) up to the end of the file.
  Result<bool> finish() {
    const std::span<const Want> wants(wants_.data(), count_);
    count_ = 0;
    FOREBAY_ASSIGN(const auto came, file_.read(wants));
    came_ += came;
    return came_ == wanted_;
  }
  // How many bytes.
  [[nodiscard]] std::uint64_t came() const { return came_; }

 private:
  File& file_;
  std::array<Want, 128> wants_;  // NOLINT(*-member-init): the first `count_` of them
  std::size_t count_ = 0;
  std::uint64_t wanted_ = 0;
  std::uint64_t came_ = 0;
};

}  // namespace forebay
