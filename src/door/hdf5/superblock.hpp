// The superblock of an HDF5 file, as far as it says that somebody has the file open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::hdf5 {

inline constexpr std::size_t kMostSuperblock = 64;

// The superblock that `bytes` begin with, as it is when the file is closed. Empty if there is none, or if it
// says no such thing: only version 3 does (H5F_LIBVER_V110 and later).
[[nodiscard]] std::vector<std::byte> superblock_when_closed(std::span<const std::byte> bytes);

// The checksum of HDF5's metadata: Bob Jenkins' lookup3.
[[nodiscard]] std::uint32_t metadata_checksum(std::span<const std::byte> bytes);

}  // namespace forebay::hdf5
