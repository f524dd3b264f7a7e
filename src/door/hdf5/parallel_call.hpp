// One H5Dwrite or H5Dread of one or several datasets in a ParallelFile: who moves the data of each.
//
// All of them are looked at before any is moved, so that the ranks of a collective call meet once: do they
// mean the same datasets, and can each be served on all of them? HDF5 lets ranks bring different datasets to
// one collective H5Dwrite_multi: then it makes the call by itself. Lives for one callback.
#pragma once

#include <cstddef>
#include <vector>

#include "base/error.hpp"
#include "door/hdf5/parallel_dataset.hpp"
#include "door/hdf5/parallel_file.hpp"

namespace forebay::hdf5 {

class ParallelCall {
 public:
  ParallelCall(ParallelFile& file, hid_t transfer)
      : file_(file), transfer_(transfer), collective_(is_collective(transfer)) {}
  [[nodiscard]] bool collective() const { return collective_; }

  // Nothing is moved, and no other rank is asked. `memory` may be null where nothing is selected.
  void add(ParallelDataset& dataset, const TransferCall& request, const void* memory,
           Transfer::Direction direction);
  // HDF5 will refuse the call for one of its datasets, and must find nothing moved of the others.
  void refuse_all();
  // Before anything is moved. Collective if the call is, and an error is every rank's then.
  Status agree();

  // By the order in which they were added: is it for the engine to move?
  [[nodiscard]] bool serves(std::size_t index) const { return parts_[index].plan.transfer.has_value(); }
  // Some of several, and some not?
  [[nodiscard]] bool partly_served() const;
  Status write(std::size_t index, const void* memory);
  Status read(std::size_t index, void* memory);
  [[nodiscard]] Reason why_not(std::size_t index) const { return parts_[index].plan.why; }

  // Before HDF5 moves the rest; after it has written them.
  Status before_native();
  void written_natively();
  // After a call that was served as a whole: the transfer list tells what HDF5 would have left there.
  void tell(Transfer::Direction direction) const;

 private:
  struct Part {
    ParallelDataset* dataset;
    ParallelDataset::Plan plan;
  };
  void leave(Part& part, Reason why);
  // Equal on ranks that bring the same datasets.
  [[nodiscard]] std::uint64_t fingerprint() const;

  ParallelFile& file_;
  const hid_t transfer_;
  const bool collective_;
  std::vector<Part> parts_{};
};

}  // namespace forebay::hdf5
