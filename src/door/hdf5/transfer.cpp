#include "door/hdf5/transfer.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "door/hdf5/quiet.hpp"

namespace forebay::hdf5 {
namespace {

// What is packed or converted at one time: it should stay in a core's cache.
constexpr std::uint64_t kStepBytes = 1u << 20;
constexpr std::uint64_t kStepElements = 1u << 16;
// Runs of memory at least this long are moved as they are; shorter ones are packed first.
constexpr std::uint64_t kLongRun = 4u << 10;
// Extents nearer than this are read with one request: home answers slowly, and reading between them is cheap.
constexpr std::uint64_t kNear = 16u << 10;
constexpr std::uint64_t kMaxHull = 4u << 20;
constexpr std::uint64_t kMaxInHull = 64u << 10;
// How many extents are listed before they are moved.
constexpr std::size_t kManyExtents = 1u << 14;
constexpr std::size_t kAllExtents = ~std::size_t{0};

bool has_transform(hid_t transfer) {
  if (transfer == H5P_DEFAULT || transfer == H5P_DATASET_XFER_DEFAULT) return false;
  const Quiet quiet;
  const bool has = H5Pget_data_transform(transfer, nullptr, 0) > 0;
  if (!has) H5Eclear2(H5E_DEFAULT);
  return has;
}

// A space made for a dataset of other dimensions counts its elements otherwise.
bool same_extent(hid_t space, std::span<const hsize_t> dims) {
  std::array<hsize_t, 32> has{};
  const int rank = H5Sget_simple_extent_ndims(space);
  return rank == static_cast<int>(dims.size()) &&
         H5Sget_simple_extent_dims(space, has.data(), nullptr) >= 0 &&
         std::equal(dims.begin(), dims.end(), has.begin());
}

void append(std::vector<Extent>& extents, const Extent& extent) {
  if (!extents.empty()) {
    auto& last = extents.back();
    const bool follows = last.file == kHole ? extent.file == kHole : last.file + last.length == extent.file;
    if (follows && last.memory + last.length == extent.memory) {
      last.length += extent.length;
      return;
    }
  }
  extents.push_back(extent);
}

Status write_extents(std::span<const Extent> extents, RawFile& file) {
  for (const auto& extent : extents) FOREBAY_TRY(file.write(extent.file, {extent.memory, extent.length}));
  return {};
}

}  // namespace

std::expected<Transfer, Reason> Transfer::plan(const DatasetMap& map, const TransferCall& request,
                                               const void* memory, Direction direction) {
  if (request.file_space == H5S_PLIST || request.memory_space == H5S_PLIST)
    return std::unexpected(Reason::kSelectionInPlist);
  if (request.file_space == H5S_BLOCK) return std::unexpected(Reason::kSelection);
  if (has_transform(request.transfer)) return std::unexpected(Reason::kTransform);

  const bool all_of_file = request.file_space == H5S_ALL;
  if (!all_of_file &&
      (!same_extent(request.file_space, map.dims()) || H5Sselect_valid(request.file_space) <= 0)) {
    return std::unexpected(Reason::kSelection);
  }
  auto in_file = all_of_file ? Selection(map.elements()) : Selection(request.file_space);
  const auto memory_selection = [&] {
    if (request.memory_space == H5S_BLOCK) return Selection(in_file.elements());
    if (request.memory_space != H5S_ALL) return Selection(request.memory_space);
    return all_of_file ? Selection(map.elements()) : Selection(request.file_space);
  };
  if (request.memory_space != H5S_BLOCK && request.memory_space != H5S_ALL &&
      H5Sselect_valid(request.memory_space) <= 0) {
    return std::unexpected(Reason::kSelection);
  }
  Transfer transfer(map, request, memory_selection(), std::move(in_file));
  if (!transfer.in_memory_.good() || !transfer.in_file_.good() ||
      transfer.in_memory_.elements() != transfer.in_file_.elements()) {
    return std::unexpected(Reason::kSelection);
  }
  if (memory == nullptr && transfer.in_file_.elements() != 0) return std::unexpected(Reason::kNoBuffer);
  if (const auto found = transfer.find_conversion(direction); !found) return std::unexpected(found.error());
  return transfer;
}

std::expected<void, Reason> Transfer::find_conversion(Direction direction) {
  memory_size_ = H5Tget_size(request_.memory_type);
  const auto equal = H5Tequal(request_.memory_type, map_.type());
  if (memory_size_ == 0 || equal < 0) return std::unexpected(Reason::kNoConversion);
  same_type_ = equal > 0;
  if (same_type_) return {};
  const bool writes = direction == Direction::kWrite;
  const auto from = writes ? request_.memory_type : map_.type();
  const auto to = writes ? map_.type() : request_.memory_type;
  const Quiet quiet;
  H5T_cdata_t* about = nullptr;
  if (H5Tfind(from, to, &about) == nullptr || about == nullptr) return std::unexpected(Reason::kNoConversion);
  if (about->need_bkg == H5T_BKG_NO) return {};
  const bool preserve = request_.transfer != H5P_DEFAULT && H5Pget_preserve(request_.transfer) > 0;
  background_ = about->need_bkg == H5T_BKG_YES || preserve ? Background::kContent : Background::kScratch;
  return {};
}

bool Transfer::straight() const {
  if (!same_type_) return false;
  // Extents are not always read in order, and where memory is selected twice the last one counts.
  return in_memory_.one_run() ||
         (!in_memory_.may_repeat() && in_memory_.typical_run() * memory_size_ >= kLongRun);
}

std::uint64_t Transfer::step() const {
  const auto size = std::max(memory_size_, map_.element_size());
  return std::clamp<std::uint64_t>(kStepBytes / size, 1, kStepElements);
}

std::uint64_t Transfer::locate(std::uint64_t count, std::byte* memory, std::vector<Extent>& extents,
                               std::size_t enough) {
  std::uint64_t located = 0;
  while (located != count && extents.size() < enough) {
    // A run over a chunked dataset may be many pieces.
    const auto left = count - located;
    const auto run = in_file_.take(map_.chunked() ? std::min(left, kStepElements) : left);
    if (run.count == 0) break;
    map_.locate(run.first, run.count, [&](std::uint64_t at, std::uint64_t length) {
      append(extents, {at, length, memory});
      memory += length;
    });
    located += run.count;
  }
  return located;
}

void Transfer::take_memory(std::uint64_t count, std::vector<Run>& runs) {
  runs.clear();
  while (count != 0) {
    runs.push_back(in_memory_.take(count));
    if (runs.back().count == 0) return;
    count -= runs.back().count;
  }
}

Status Transfer::selections_held() const {
  if (in_memory_.good() && in_file_.good()) return {};
  return fail(EINVAL, "HDF5 could not say what is selected");
}

Status Transfer::convert(hid_t from, hid_t to, std::uint64_t count, Scratch& scratch,
                         std::byte* background) const {
  if (H5Tconvert(from, to, count, scratch.packed.get(0), background, request_.transfer) >= 0) return {};
  return fail(EINVAL, "cannot convert between the types of dataset and memory");
}

Status Transfer::write(const void* memory, RawFile& file) {
  const BorrowedScratch borrowed;
  auto& scratch = *borrowed;
  const auto* const base = static_cast<const std::byte*>(memory);
  auto left = in_file_.elements();
  if (straight()) {
    while (left != 0) {
      const auto run = in_memory_.take(left);
      if (run.count == 0) return selections_held();
      // Extents point to where they are written from; nothing is written there.
      auto* const from = const_cast<std::byte*>(base + run.first * memory_size_);
      for (std::uint64_t done = 0; done < run.count;) {
        scratch.extents.clear();
        done += locate(run.count - done, from + done * memory_size_, scratch.extents, kManyExtents);
        FOREBAY_TRY(selections_held());
        FOREBAY_TRY(write_extents(scratch.extents, file));
      }
      left -= run.count;
    }
    return {};
  }
  const auto most = step();
  auto* const packed = scratch.packed.get(most * std::max(memory_size_, map_.element_size()));
  auto* const background =
      background_ == Background::kNone ? nullptr : scratch.background.get(most * map_.element_size());
  while (left != 0) {
    const auto count = std::min(most, left);
    take_memory(count, scratch.runs);
    auto* to = packed;
    for (const auto& run : scratch.runs) {
      std::memcpy(to, base + run.first * memory_size_, run.count * memory_size_);
      to += run.count * memory_size_;
    }
    scratch.extents.clear();
    locate(count, packed, scratch.extents, kAllExtents);
    FOREBAY_TRY(selections_held());
    if (background_ == Background::kContent) {
      for (auto& extent : scratch.extents) extent.memory += background - packed;
      FOREBAY_TRY(read_extents(scratch, file));
      for (auto& extent : scratch.extents) extent.memory -= background - packed;
    }
    if (!same_type_) FOREBAY_TRY(convert(request_.memory_type, map_.type(), count, scratch, background));
    FOREBAY_TRY(write_extents(scratch.extents, file));
    left -= count;
  }
  return {};
}

Status Transfer::read(void* memory, RawFile& file) {
  const BorrowedScratch borrowed;
  auto& scratch = *borrowed;
  auto* const base = static_cast<std::byte*>(memory);
  auto left = in_file_.elements();
  if (straight()) {
    scratch.extents.clear();
    while (left != 0) {
      const auto run = in_memory_.take(left);
      if (run.count == 0) return selections_held();
      for (std::uint64_t done = 0; done < run.count;) {
        auto* const to = base + (run.first + done) * memory_size_;
        done += locate(run.count - done, to, scratch.extents, kManyExtents);
        FOREBAY_TRY(selections_held());
        if (scratch.extents.size() < kManyExtents) continue;
        FOREBAY_TRY(read_extents(scratch, file));
        scratch.extents.clear();
      }
      left -= run.count;
    }
    return read_extents(scratch, file);
  }
  const auto most = step();
  auto* const packed = scratch.packed.get(most * std::max(memory_size_, map_.element_size()));
  auto* const background =
      background_ == Background::kNone ? nullptr : scratch.background.get(most * memory_size_);
  while (left != 0) {
    const auto count = std::min(most, left);
    scratch.extents.clear();
    locate(count, packed, scratch.extents, kAllExtents);
    take_memory(count, scratch.runs);
    FOREBAY_TRY(selections_held());
    FOREBAY_TRY(read_extents(scratch, file));
    if (background_ == Background::kContent) {
      auto* to = background;
      for (const auto& run : scratch.runs) {
        std::memcpy(to, base + run.first * memory_size_, run.count * memory_size_);
        to += run.count * memory_size_;
      }
    }
    if (!same_type_) FOREBAY_TRY(convert(map_.type(), request_.memory_type, count, scratch, background));
    const auto* from = packed;
    for (const auto& run : scratch.runs) {
      std::memcpy(base + run.first * memory_size_, from, run.count * memory_size_);
      from += run.count * memory_size_;
    }
    left -= count;
  }
  return {};
}

Status Transfer::read_extents(Scratch& scratch, RawFile& file) const {
  auto& sorted = scratch.sorted;
  sorted.clear();
  for (const auto& extent : scratch.extents) {
    if (extent.file != kHole) {
      sorted.push_back(extent);
      continue;
    }
    const auto fill = map_.fill();
    for (std::uint64_t at = 0; at < extent.length; at += fill.size())
      std::memcpy(extent.memory + at, fill.data(), fill.size());
  }
  const auto by_place = [](const Extent& a, const Extent& b) { return a.file < b.file; };
  if (!std::ranges::is_sorted(sorted, by_place)) std::ranges::stable_sort(sorted, by_place);
  for (std::size_t i = 0; i < sorted.size();) {
    const auto start = sorted[i].file;
    auto end = start + sorted[i].length;
    auto next = i + 1;
    while (next < sorted.size() && sorted[next].file < end + kNear && sorted[i].length <= kMaxInHull &&
           sorted[next].length <= kMaxInHull &&
           std::max(end, sorted[next].file + sorted[next].length) - start <= kMaxHull) {
      end = std::max(end, sorted[next].file + sorted[next].length);
      ++next;
    }
    if (next == i + 1) {
      FOREBAY_TRY(file.read(start, {sorted[i].memory, sorted[i].length}));
    } else {
      auto* const hull = scratch.hull.get(end - start);
      FOREBAY_TRY(file.read(start, {hull, end - start}));
      for (; i < next; ++i) std::memcpy(sorted[i].memory, hull + (sorted[i].file - start), sorted[i].length);
    }
    i = next;
  }
  return {};
}

}  // namespace forebay::hdf5
