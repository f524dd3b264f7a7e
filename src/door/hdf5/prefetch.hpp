// Bringing the raw data of datasets into the buffer.
#pragma once

#include <hdf5.h>

#include <memory>
#include <vector>

#include "door/hdf5/dataset_object.hpp"
#include "door/hdf5/dataset_ranges.hpp"
#include "engine/file.hpp"

namespace forebay::hdf5 {

// The file in the buffer; null where it is not buffered. On the MPI-IO driver it serves some of its datasets.
[[nodiscard]] std::shared_ptr<File> buffered(const FileState& file);
// The one that the dataset lies in; null also if the dataset is not served.
[[nodiscard]] std::shared_ptr<File> buffered(DatasetObject& dataset);

// Where the dataset's data lie (H5S_ALL: all of it); none, with the reason in the log, where that cannot be
// told.
[[nodiscard]] std::vector<FileRange> known_ranges(const DatasetObject& dataset, hid_t file_space);

// Brings what `file_space` selects. With a place for a request it returns at once, and the request completes
// when the bytes are there; without one it waits. What is not buffered is left alone, and what is open for
// writing on the MPI-IO driver. Where HDF5 reads metadata collectively, this is collective.
[[nodiscard]] herr_t prefetch(DatasetObject& dataset, hid_t file_space, void** request);

// In the background, if the file's settings say so: for a dataset that was just opened.
void prefetch_at_open(DatasetObject& dataset);

}  // namespace forebay::hdf5
