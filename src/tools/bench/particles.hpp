// Arrays of particles as h5bench has them: eight properties of four bytes, in one to three dimensions, as an
// array for each (contiguous) or as an array of structures (interleaved), in memory and in the file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/content.hpp"
#include "tools/bench/hdf5_files.hpp"
#include "tools/bench/kernel.hpp"
#include "tools/bench/selection.hpp"

namespace forebay::kernels {

inline constexpr std::array<const char*, 8> kProperties = {"x", "y", "z", "px", "py", "pz", "id_1", "id_2"};

// One rank's share of an array at one timestep.
struct Block {
  std::vector<hsize_t> dims;    // of the share
  std::vector<hsize_t> extent;  // of the dataset
  hsize_t row = 0;              // of the dataset, at which it begins
  std::uint64_t base = 0;  // what is added to an index in the dataset to make it one over all ranks' files
};

struct Particles {
  bool memory_interleaved = false;
  bool file_interleaved = false;
  bool unlimited = false;
  std::vector<hsize_t> chunk{};  // empty: contiguous
  std::string filter{};          // COMPRESS_FILTER; empty: none

  explicit Particles(const Job& job);

  // `timestep` matters where sizes are spread by a normal distribution.
  [[nodiscard]] static Block block(const Job& job, std::uint64_t rank, std::uint64_t timestep);
  // What FILE_PATTERN leaves of a block, for a kernel that writes.
  [[nodiscard]] static Layer written(const Job& job);
  // What the file holds before the kernel begins: `forebay bench` knows what was run before.
  [[nodiscard]] static Content content_before(const Job& job);
  // Of the block, what is in the layer.
  [[nodiscard]] static Hid space_of(const Layer& layer, const Block& block);
  [[nodiscard]] static Hid written_space(const Job& job, const Block& block) {
    return space_of(written(job), block);
  }

  // Data in memory for the selected elements.
  [[nodiscard]] std::vector<std::uint32_t> memory(std::uint64_t elements) const {
    return std::vector<std::uint32_t>(elements * kProperties.size());
  }
  // `name` is appended to the properties': for data that replaces other data.
  void fill(const Context& context, std::uint64_t timestep, const std::vector<Run>& runs, std::uint64_t base,
            std::vector<std::uint32_t>& data, const std::string& name = "") const;
  void check(const Context& context, std::uint64_t timestep, const std::vector<Run>& runs, std::uint64_t base,
             const std::vector<std::uint32_t>& data, const Content& content) const;

  // The datasets of a timestep, in its group.
  [[nodiscard]] std::vector<Hid> create(hid_t group, const Block& block, hid_t events) const;
  [[nodiscard]] std::vector<Hid> open(hid_t group, hid_t events) const;
  void write(Recorder& recorder, const std::vector<Hid>& datasets, hid_t file_space, hid_t transfer,
             hid_t events, const std::vector<std::uint32_t>& data) const;
  void read(Recorder& recorder, const std::vector<Hid>& datasets, hid_t file_space, hid_t transfer,
            hid_t events, std::vector<std::uint32_t>& data) const;

 private:
  template <class Move>
  void move(Recorder& recorder, Phase phase, std::size_t datasets, hid_t file_space, std::size_t elements,
            Move&& move) const;
};

[[nodiscard]] std::string timestep_group(std::uint64_t timestep);

}  // namespace forebay::kernels
