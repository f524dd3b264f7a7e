#include "door/hdf5/flushed_state.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "door/hdf5/superblock.hpp"

namespace forebay::hdf5 {
namespace {

constexpr std::uint64_t kZeros = 1u << 20;

// A global heap: HDF5 writes it as if it were data.
bool is_heap(std::span<const std::byte> data) {
  static constexpr std::string_view kSignature = "GCOL";
  return data.size() > kSignature.size() &&
         std::memcmp(data.data(), kSignature.data(), kSignature.size()) == 0;
}

Status stage(File& file, std::uint64_t offset, std::span<const std::byte> data) {
  while (!data.empty()) {
    FOREBAY_ASSIGN(const auto taken, file.write(offset, data));
    offset += taken;
    data = data.subspan(taken);
  }
  return {};
}

}  // namespace

Status FlushedState::keep(const File& file) {
  FOREBAY_ASSIGN(kept_end_, file.size());
  reuse_ = false;
  return {};
}

bool FlushedState::waits(H5FD_mem_t type, std::span<const std::byte> data) const {
  return reuse_ || cut_ || type != H5FD_MEM_DRAW || is_heap(data);
}

Status FlushedState::write(File& file, H5FD_mem_t type, std::uint64_t offset,
                           std::span<const std::byte> data) {
  if (offset >= kept_end_ || !waits(type, data)) {
    FOREBAY_TRY(stage(file, offset, data));
    if (!held_.empty()) held_.forget(offset, offset + data.size());
    if (!inherited_.empty()) inherited_.forget(offset, offset + data.size());
  } else {
    const auto below = std::min<std::uint64_t>(data.size(), kept_end_ - offset);
    held_.write(offset, data.first(below));
    holds_data_ = holds_data_ || type == H5FD_MEM_DRAW;
    FOREBAY_TRY(stage(file, offset + below, data.subspan(below)));
  }
  if (cut_) cut_->size = std::max(cut_->size, offset + data.size());
  return held_.bytes() > kMostHeld ? give_up(file) : Status{};
}

Result<std::uint64_t> FlushedState::read(File& file, std::uint64_t offset, std::span<std::byte> out) const {
  if (!waiting() || offset >= kept_end_) return file.read(offset, out);
  if (cut_) {
    const auto size = cut_->size;
    out = out.first(offset >= size ? 0 : std::min<std::uint64_t>(out.size(), size - offset));
  }
  FOREBAY_ASSIGN(auto got, file.read(offset, out));
  if (cut_) {
    std::memset(out.data() + got, 0, out.size() - got);
    got = out.size();
    const auto from = std::max(cut_->lowest, offset);
    const auto to = std::min(kept_end_, offset + got);
    if (from < to) std::memset(out.data() + (from - offset), 0, to - from);
  }
  inherited_.lay_over(offset, out.first(got));
  held_.lay_over(offset, out.first(got));
  return got;
}

Status FlushedState::truncate(File& file, std::uint64_t size) {
  if (size >= kept_end_) {
    FOREBAY_TRY(file.truncate(size));
    if (cut_) cut_->size = size;
    return {};
  }
  // Beyond the state nothing is kept.
  FOREBAY_ASSIGN(const auto now, file.size());
  if (now > kept_end_) FOREBAY_TRY(file.truncate(kept_end_));
  held_.forget(size, ~std::uint64_t{0});
  inherited_.forget(size, ~std::uint64_t{0});
  inherited_cut_ = false;
  cut_ = Cut{.lowest = cut_ ? std::min(cut_->lowest, size) : size, .size = size};
  return {};
}

void FlushedState::inherit() {
  for (const auto& [offset, data] : held_.pieces()) inherited_.write(offset, data);
  held_.clear();
  inherited_cut_ = cut_.has_value();
  will_stands_ = false;
}

void FlushedState::leave_to_parent() {
  inherited_.clear();
  if (std::exchange(inherited_cut_, false)) cut_.reset();
}

Status FlushedState::commit(File& file, std::optional<std::uint64_t> superblock) {
  Batch batch;
  std::array<std::byte, kMostSuperblock> open{};
  std::vector<std::byte> closed;
  if (superblock) {
    FOREBAY_ASSIGN(const auto got, read(file, *superblock, open));
    closed = superblock_when_closed(std::span(open).first(got));
    if (!closed.empty()) batch.wills.push_back({*superblock, std::span(open).first(closed.size()), closed});
  }
  if (!waiting() && batch.wills.empty() && !will_stands_) return {};
  std::vector<std::byte> zeros;
  if (cut_) {
    batch.size = cut_->size;
    const auto end = std::min(cut_->size, kept_end_);
    if (cut_->lowest < end) zeros.resize(std::min(kZeros, end - cut_->lowest));
    for (auto at = cut_->lowest; at < end; at += zeros.size())
      batch.pieces.push_back({at, std::span(zeros).first(std::min<std::uint64_t>(zeros.size(), end - at))});
  }
  if (!inherited_.empty()) {
    for (const auto& [offset, data] : held_.pieces()) inherited_.write(offset, data);
    std::swap(held_, inherited_);
    inherited_.clear();
  }
  for (const auto& [offset, data] : held_.pieces()) batch.pieces.push_back({offset, data});
  // Once more: the first time may have told of an earlier failure. And bytes that cannot be written down as
  // one are still written.
  const auto status = file.write_as_one(batch);
  if (!status && !file.write_as_one(batch)) {
    FOREBAY_TRY(file.withdraw_will());
    batch.wills.clear();
    for (const auto& piece : batch.pieces) FOREBAY_TRY(stage(file, piece.offset, piece.data));
    if (batch.size) FOREBAY_TRY(file.truncate(*batch.size));
  }
  will_stands_ = !batch.wills.empty();
  held_.clear();
  holds_data_ = false;
  cut_.reset();
  inherited_cut_ = false;
  return status;
}

// Until the next flush it is as if there had been none.
Status FlushedState::give_up(File& file) {
  FOREBAY_TRY(commit(file));
  kept_end_ = 0;
  gave_up_ = true;
  return {};
}

}  // namespace forebay::hdf5
