// The processes that have opened one file together, on a communicator of their own.
//
// Every method is collective but size() and same_as(). With one rank, and in the serial flavour, nothing is
// asked of MPI. MPI is called in the caller's thread only.
#pragma once

#include <H5Ipublic.h>

#include <cstdint>
#include <memory>
#include <span>

namespace forebay::hdf5 {

class Ranks {
 public:
  // The ranks of a file access list; null if its driver is not MPI-IO. Collective.
  static std::unique_ptr<Ranks> of(hid_t access);
  // A process by itself.
  static std::unique_ptr<Ranks> alone();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();

  [[nodiscard]] int size() const { return size_; }
  // The same processes?
  [[nodiscard]] bool same_as(const Ranks& other) const;
  void barrier() const;
  // Do all say yes? None returns before all have been asked.
  [[nodiscard]] bool all(bool mine) const;
  // Each for itself.
  void all(std::span<int> mine) const;
  // Have all the same value, and do all say yes to the first and to the second?
  struct Meeting {
    bool same;
    bool first;
    bool second;
  };
  [[nodiscard]] Meeting meet(std::uint64_t value, bool first, bool second) const;
  // Have all the same value?
  [[nodiscard]] bool same(std::uint64_t value) const;

 private:
  struct Communicator;
  Ranks();
  std::unique_ptr<Communicator> communicator_;
  int size_ = 1;
};

// Does HDF5 read metadata collectively, by the file access list?
[[nodiscard]] bool reads_metadata_collectively(hid_t access);
// The same for writing them.
[[nodiscard]] bool writes_metadata_collectively(hid_t access);
herr_t write_metadata_collectively(hid_t access, bool collective);
// Does the transfer list ask for a collective transfer?
[[nodiscard]] bool is_collective(hid_t transfer);
// Leaves in the transfer list what HDF5 would after a transfer that it made by itself: whether it was
// collective and in what way, and why not if it could not have been. HDF5 converts the elements of a
// collective transfer only where it can hand over whole selections, and those only if what it converts fits
// into one buffer.
struct TransferFacts {
  bool chunked;
  bool cached_chunks;       // would HDF5 keep its chunks?
  bool converts;            // are elements converted?
  std::uint64_t converted;  // bytes that need a buffer for it
  std::uint64_t moved;      // bytes in all
};
void tell_mode(hid_t transfer, const TransferFacts& facts);
// HDF5's own list, in which nothing is told?
[[nodiscard]] bool is_default_list(hid_t transfer);
// May HDF5 convert what it writes in the caller's memory?
[[nodiscard]] bool modifies_memory(hid_t transfer);

}  // namespace forebay::hdf5
