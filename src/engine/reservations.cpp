#include "engine/reservations.hpp"

#include <algorithm>
#include <cerrno>

#include "base/format.hpp"

namespace forebay {
namespace {

bool claims(const FileRecord& record) {
  return record.owner.load(std::memory_order_relaxed) == kLinked &&
         record.reserve.load(std::memory_order_relaxed) != 0 &&
         record.opens_hint.load(std::memory_order_relaxed) != 0;
}

bool claims_hard(const FileRecord& record) {
  return claims(record) && (record.flags.load(std::memory_order_relaxed) & kFileClaims) != 0;
}

std::uint64_t unfilled(const FileRecord& record, std::uint64_t bucket_size) {
  const auto filled = record.buckets.load(std::memory_order_relaxed) * bucket_size;
  const auto reserve = record.reserve.load(std::memory_order_relaxed);
  return reserve - std::min(reserve, filled);
}

template <class Add>
std::uint64_t sum_of_files(const Control& control, Add&& add) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0, count = control.files_ready(); i < count; ++i) sum += add(i, control.file(i));
  return sum;
}

}  // namespace

std::uint64_t unreserved(Core& core, std::uint32_t file) {
  std::uint64_t capacity = 0;
  for (std::uint32_t i = 0; i < core.tiers.count(); ++i) {
    if (core.tiers[i].mapped) capacity += std::uint64_t{core.slots.possible(i)} * core.bucket_size();
  }
  const auto taken = sum_of_files(core.control, [&](std::uint32_t i, const FileRecord& record) {
    return i != file && claims(record) ? record.reserve.load() : 0;
  });
  return capacity - std::min(capacity, taken);
}

Status reserve(Core& core, std::uint32_t file, std::uint64_t size, ReserveKind kind, Before before) {
  std::uint64_t left = 0;
  bool granted = true;
  FOREBAY_TRY(core.files.undisturbed([&] {
    auto& record = core.control.file(file);
    left = unreserved(core, file);
    granted = size <= left || kind != ReserveKind::Hard;
    const bool enough = before == Before::kKept && claims_hard(record) && record.reserve.load() >= size;
    if (!granted || enough) return;
    record.reserve.store(std::min(size, left));
    const bool hard = kind == ReserveKind::Hard || (before == Before::kKept && claims_hard(record));
    hard ? record.flags.fetch_or(kFileClaims) : record.flags.fetch_and(~std::uint32_t{kFileClaims});
    recount_hard_claims(core.control);
  }));
  if (granted) return {};
  return fail(ENOSPC, format_text("{} cannot have {} reserved: others have left {}", core.files.path(file),
                                  format_bytes(size), format_bytes(left)));
}

void end_reservation(const Core& core, std::uint32_t file) {
  auto& record = core.control.file(file);
  record.reserve.store(0);
  if ((record.flags.fetch_and(~std::uint32_t{kFileClaims}) & kFileClaims) != 0)
    recount_hard_claims(core.control);
}

void recount_hard_claims(const Control& control) {
  control.shared().hard_claims.store(sum_of_files(control, [](std::uint32_t, const FileRecord& record) {
    return claims_hard(record) ? record.reserve.load() : 0;
  }));
}

bool room_is_claimed(Core& core, std::uint32_t file) {
  const auto all = core.control.shared().hard_claims.load(std::memory_order_relaxed);
  if (all == 0) return false;
  const std::uint64_t bucket_size = core.bucket_size();
  std::uint64_t free = 0;
  for (std::uint32_t i = 0; i < core.tiers.count(); ++i) {
    if (core.tiers[i].mapped) free += core.slots.free_about(i) * bucket_size;
  }
  if (free > all) return false;
  const auto& own = core.control.file(file);
  if (claims_hard(own) && unfilled(own, bucket_size) != 0) return false;
  const auto wanted = sum_of_files(core.control, [&](std::uint32_t i, const FileRecord& record) {
    return i != file && claims_hard(record) ? unfilled(record, bucket_size) : 0;
  });
  return wanted != 0 && free <= wanted;
}

}  // namespace forebay
