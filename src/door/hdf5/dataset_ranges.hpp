// Where the raw data of a dataset lie in its file, roughly: for bringing and forgetting them, where a few
// bytes more do no harm. Unlike a DatasetMap it knows filtered chunks, and types that are not plain bytes.
#pragma once

#include <H5Ipublic.h>

#include <cstdint>
#include <expected>
#include <vector>

#include "door/hdf5/reason.hpp"

namespace forebay::hdf5 {

struct FileRange {
  std::uint64_t offset;
  std::uint64_t length;
  bool operator==(const FileRange&) const = default;
};

// What `file_space` selects of a dataset of the connector below (H5S_ALL: everything), by offset, those that
// are close to each other as one. Chunks are taken whole. None if nothing of it is allocated.
std::expected<std::vector<FileRange>, Reason> ranges_of(void* dataset, hid_t connector, hid_t file_space);

}  // namespace forebay::hdf5
