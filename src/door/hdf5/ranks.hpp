// The processes that have opened one file together, on a communicator of their own.
//
// Every method is collective but size() and same_as(). With one rank, and in the serial flavour, nothing is
// asked of MPI. MPI is called in the caller's thread only.
#pragma once

#include <H5Ipublic.h>

#include <cstdint>
#include <memory>
#include <utility>

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
  // The same for two questions at once.
  [[nodiscard]] std::pair<bool, bool> all(bool first, bool second) const;
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
// collective, and in what way.
void tell_mode(hid_t transfer, bool collective, bool chunked);

}  // namespace forebay::hdf5
