// A dataset as HDF5 holds it of this connector.
#pragma once

#include <hdf5.h>

#include <memory>
#include <optional>
#include <utility>

#include "door/hdf5/object.hpp"
#include "door/hdf5/parallel_dataset.hpp"

namespace forebay::hdf5 {

struct DatasetObject final : Object {
  DatasetObject(void* under_object, std::shared_ptr<FileState> in) : Object(under_object, std::move(in)) {
    if (times_served() != 0 && serves_collective_metadata()) (void)parallel();  // D3
  }

  // In a file that the engine serves beside MPI-IO; null elsewhere. Looked for when it is first asked for:
  // a dataset that is only made or only looked at costs nothing.
  [[nodiscard]] ParallelDataset* parallel() {
    if (!parallel_ && looked_ != times_served()) {
      looked_ = times_served();
      if (auto served = parallel_file_of(under, *file)) parallel_.emplace(std::move(served), under, vol());
    }
    return parallel_ ? &*parallel_ : nullptr;
  }

  bool noted = false;                      // that it is not buffered
  std::optional<bool> written_in_place{};  // see reuse.hpp; unknown until somebody asks

 private:
  std::optional<ParallelDataset> parallel_{};
  unsigned long looked_ = 0;  // times_served() when it was looked for
};

// The right kind of object for what the connector below opened.
[[nodiscard]] inline Object* make_object(void* under, H5I_type_t type, std::shared_ptr<FileState> file) {
  if (type == H5I_DATASET) return new DatasetObject(under, std::move(file));
  return new Object(under, std::move(file));
}

[[nodiscard]] inline DatasetObject& dataset(void* handle) {
  return static_cast<DatasetObject&>(object(handle));
}

}  // namespace forebay::hdf5
