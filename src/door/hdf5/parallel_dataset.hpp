// A dataset open in a ParallelFile: says of each transfer whether the engine moves it, and moves it. What
// ranks must agree on before is ParallelCall's.
//
// Belongs to the connector's dataset object and must not outlive the object below. Used like HDF5 itself: by
// one thread at a time.
#pragma once

#include <H5Ipublic.h>

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "door/hdf5/dataset_map.hpp"
#include "door/hdf5/parallel_file.hpp"
#include "door/hdf5/transfer.hpp"

namespace forebay::hdf5 {

class ParallelDataset {
 public:
  // One transfer, looked at and not yet made.
  struct Plan {
    std::optional<Transfer> transfer{};  // none: HDF5 makes it
    Reason why{};                        // then
  };

  // In the callback of open or create, after the native call.
  ParallelDataset(std::shared_ptr<ParallelFile> file, void* under, hid_t connector);

  // Moves nothing, and asks no other rank.
  Plan plan(const TransferCall& request, const void* memory, Transfer::Direction direction);
  // The same on all ranks. Of two datasets that are served it differs.
  [[nodiscard]] std::uint64_t identity();
  // Must nothing be unsaved on any rank when a call with this plan is made by all of them?
  [[nodiscard]] bool must_settle(const Plan& plan);
  // Make a plan that has a transfer, once.
  Status write(Plan& plan, const void* memory);
  Status read(Plan& plan, void* memory);
  // Of such a plan; `in_place`: may HDF5 convert elements in the caller's memory?
  [[nodiscard]] TransferFacts facts(const Plan& plan, bool in_place) const;
  // After HDF5 has written to it by itself.
  void written_natively();

  // Collective, in the callback of set_extent, before and after the native call.
  Status before_resize(std::span<const hsize_t> dims);
  void resized();

  // Brings what a selection (H5S_ALL: everything) has in the file. Nothing in a file open for writing.
  std::vector<Ticket> prefetch(hid_t file_space);

  // Why it is not served, if it is not: for statistics.
  [[nodiscard]] std::optional<Reason> refusal();
  [[nodiscard]] ParallelFile& file() { return *file_; }

 private:
  using Map = std::expected<DatasetMap, Reason>;
  // As it is now.
  const Map& map();
  void look_again();
  // Will looking at it after each extension cost more than it gains?
  bool outgrows(std::span<const hsize_t> dims);
  [[nodiscard]] bool linked() const;
  void write_back() const;

  const std::shared_ptr<ParallelFile> file_;
  void* const under_;
  const hid_t connector_;
  std::optional<Map> map_;
  std::uint64_t resizings_ = 0;  // of the file when the map was made
  std::uint64_t cuts_ = 0;
  std::uint64_t unlinkings_ = 0;
  // Between before_resize() and resized(): is it made smaller, and was it served?
  bool cut_ = false;
  bool shrank_ = false;
  std::optional<HeldDrain> held_;
  std::uint64_t growth_ = 0;   // chunks that it had after each extension, summed up
  std::optional<bool> fills_;  // does HDF5 fill its new chunks? Once it was asked
};

}  // namespace forebay::hdf5
