// The workloads. Sizes are bytes of all ranks together.
#pragma once

#include "bench/hdf5/world.hpp"

namespace forebay::bench::hdf5 {

// Computes and writes a dataset of `step` bytes, `steps` times, and closes. Tells write, close and total.
void checkpoint(const World& world, const std::string& path, unsigned steps, std::uint64_t step,
                double compute_s);
// Makes a file of `samples` samples of `size` bytes.
void make_samples(const World& world, const std::string& path, std::uint64_t samples, std::uint64_t size);
// Reads every sample once, `epochs` times, in order or shuffled. Tells epoch1, epoch2, ...
void epochs(const World& world, const std::string& path, bool shuffled, unsigned epochs);
// `count` writes of 4 KiB in random order, then computes, then closes. Tells write and total.
void small_writes(const World& world, const std::string& path, std::uint64_t count, double compute_s);
// Makes, opens and closes `count` groups, attributes and datasets. Tells total.
void metadata(const World& world, const std::string& path, unsigned count);
// Writes and reads a dataset in pieces of `size` bytes. Tells write and read, seconds a call.
void pieces(const World& world, const std::string& path, std::uint64_t size, unsigned calls);

}  // namespace forebay::bench::hdf5
