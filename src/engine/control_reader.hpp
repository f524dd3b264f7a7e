// A buffer's control files as bytes: read, never mapped, locked or changed.
//
// For whoever looks from outside at what may be in use, full or damaged. A file that is cut short while it is
// read gives an error, where a mapping would give SIGBUS; a hole that is read stays a hole, where a mapping
// would fill it. Records are read while others change them: each is a copy of some moment or a mixture of
// two.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine/control.hpp"
#include "engine/layout.hpp"
#include "os/fd.hpp"

namespace forebay {

class ControlReader {
 public:
  // EBADMSG, EPROTO and the like with words unless `finding` is kUsable.
  static Result<ControlReader> open(const Fd& directory, ControlFinding& finding);

  [[nodiscard]] const Header& header() const { return *header_; }

  // One record of the region that begins at `region`.
  template <class T>
  [[nodiscard]] Status read(std::uint64_t region, std::uint64_t index, T& record) const {
    return read_bytes(control_, &record, sizeof(T), region + index * sizeof(T));
  }

  // Calls visit(index, record) for the first `count` records of a region.
  template <class T, class Visit>
  [[nodiscard]] Status for_each(std::uint64_t region, std::uint32_t count, Visit&& visit) const {
    constexpr std::uint32_t kStep = std::max<std::uint32_t>(1, (1u << 20) / sizeof(T));
    std::vector<T> records(std::min(count, kStep));
    for (std::uint32_t at = 0; at < count; at += kStep) {
      const auto n = std::min(kStep, count - at);
      FOREBAY_TRY(
          read_bytes(control_, records.data(), n * sizeof(T), region + std::uint64_t{at} * sizeof(T)));
      for (std::uint32_t i = 0; i < n; ++i) visit(at + i, records[i]);
    }
    return {};
  }

  // The first `count` of the files that a lease has open: index + 1, or 0.
  [[nodiscard]] Result<std::vector<std::uint32_t>> opens(std::uint32_t lease, std::uint32_t count) const;

  // The words of a bucket's byte map.
  [[nodiscard]] Result<std::vector<std::uint64_t>> map(std::uint32_t bucket) const;

 private:
  ControlReader(Fd control, Fd sparse, std::unique_ptr<Header> header)
      : control_(std::move(control)), sparse_(std::move(sparse)), header_(std::move(header)) {}
  [[nodiscard]] static Status read_bytes(const Fd& file, void* to, std::uint64_t size, std::uint64_t offset);

  Fd control_;
  Fd sparse_;
  std::unique_ptr<Header> header_;
};

}  // namespace forebay
