// Many small writes of a file, handed over in groups (File::write of pieces). For one thread.
//
// Nothing may be taken for written before finish() said so; what was added must stay where it is until then.
#pragma once

#include <array>
#include <cstddef>

#include "engine/file.hpp"

namespace forebay {

class GatheredWrites {
 public:
  explicit GatheredWrites(File& file) : file_(file) {}
  GatheredWrites(const GatheredWrites&) = delete;
  GatheredWrites& operator=(const GatheredWrites&) = delete;

  Status add(std::uint64_t offset, std::span<const std::byte> data) {
    if (count_ == pieces_.size()) FOREBAY_TRY(finish());
    pieces_[count_++] = {offset, data};
    return {};
  }
  // What was added is written, all of it.
  Status finish() {
    std::span<Piece> rest(pieces_.data(), count_);
    count_ = 0;
    while (!rest.empty()) {
      FOREBAY_ASSIGN(auto written, file_.write(rest));
      while (!rest.empty() && written >= rest.front().data.size()) {
        written -= rest.front().data.size();
        rest = rest.subspan(1);
      }
      if (written != 0) rest.front() = {rest.front().offset + written, rest.front().data.subspan(written)};
    }
    return {};
  }

 private:
  File& file_;
  std::array<Piece, 128> pieces_;  // NOLINT(*-member-init): the first `count_` of them
  std::size_t count_ = 0;
};

}  // namespace forebay
