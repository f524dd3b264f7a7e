// Training data: sets of HDF5 files, each with one dataset of samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/bench/datasets.hpp"
#include "tools/bench/hdf5_files.hpp"
#include "tools/bench/kernel.hpp"

namespace forebay::kernels {

// Samples that are trained on, or that a model is evaluated with.
struct SampleSet {
  std::string name;
  std::uint64_t files = 0;
  std::uint64_t samples_a_file = 0;
  std::uint64_t sample = 0;  // bytes

  [[nodiscard]] std::uint64_t samples() const { return files * samples_a_file; }
};

class SampleFiles {
 public:
  SampleFiles(const Context& context, SampleSet set);

  [[nodiscard]] const SampleSet& set() const { return set_; }
  [[nodiscard]] bool fit(std::uint64_t file) const;
  // Writes the samples of this rank, of so many, into a new file; timed.
  void make(std::uint64_t file, std::uint64_t rank, std::uint64_t ranks) const;
  void compare(std::uint64_t sample, std::span<const std::uint8_t> data) const;
  // All of what is there.
  void check() const;

  // Files that are open. `alone`: by this process, without the others.
  class Open {
   public:
    Open(const SampleFiles& files, bool alone);
    void read(std::uint64_t sample, std::span<std::uint8_t> data) const;
    // All ranks together, each with a sample of its own, or `none` of them.
    void read_together(std::span<const std::uint64_t> samples, std::uint64_t rank,
                       std::span<std::uint8_t> data) const;
    void close();

    static constexpr std::uint64_t kNone = ~std::uint64_t{0};

   private:
    friend class SampleFiles;
    void read_row(std::uint64_t file, std::uint64_t row, hid_t transfer, std::span<std::uint8_t> data) const;

    const SampleFiles* of_;
    Hid transfer_;
    std::vector<Hid> files_;
    std::vector<Hid> datasets_;
  };

 private:
  [[nodiscard]] std::string path(std::uint64_t file) const;
  // A row of the dataset of a file; kNone: nothing is selected.
  [[nodiscard]] Hid space(std::uint64_t row) const;
  [[nodiscard]] Hid create(hid_t file) const;

  const Context& context_;
  const Job& job_;
  Hdf5Files files_;
  SampleSet set_;
  std::string dataset_;
};

}  // namespace forebay::kernels
