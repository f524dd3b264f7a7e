#include "door/hdf5/ranks.hpp"

#include <hdf5.h>

namespace forebay::hdf5 {

#ifdef H5_HAVE_PARALLEL

struct Ranks::Communicator {
  MPI_Comm comm = MPI_COMM_NULL;
};

std::unique_ptr<Ranks> Ranks::of(hid_t access) {
  if (H5Pget_driver(access) != H5FD_MPIO) return nullptr;
  std::unique_ptr<Ranks> ranks(new Ranks);
  MPI_Info info = MPI_INFO_NULL;
  // Both are duplicates: the communicator is nobody else's.
  if (H5Pget_fapl_mpio(access, &ranks->communicator_->comm, &info) < 0) return nullptr;
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  MPI_Comm_size(ranks->communicator_->comm, &ranks->size_);
  return ranks;
}

Ranks::~Ranks() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0 && communicator_->comm != MPI_COMM_NULL) MPI_Comm_free(&communicator_->comm);
}

bool Ranks::same_as(const Ranks& other) const {
  if (this == &other) return true;
  const auto mine = communicator_->comm;
  const auto theirs = other.communicator_->comm;
  if (mine == MPI_COMM_NULL || theirs == MPI_COMM_NULL) return mine == theirs;
  int how = MPI_UNEQUAL;
  MPI_Comm_compare(mine, theirs, &how);
  return how != MPI_UNEQUAL;
}

void Ranks::barrier() const {
  if (size_ > 1) MPI_Barrier(communicator_->comm);
}

bool Ranks::all(bool mine) const {
  int every = mine ? 1 : 0;
  if (size_ > 1) MPI_Allreduce(MPI_IN_PLACE, &every, 1, MPI_INT, MPI_MIN, communicator_->comm);
  return every != 0;
}

std::pair<bool, bool> Ranks::all(bool first, bool second) const {
  int every[2] = {first ? 1 : 0, second ? 1 : 0};
  if (size_ > 1) MPI_Allreduce(MPI_IN_PLACE, every, 2, MPI_INT, MPI_MIN, communicator_->comm);
  return {every[0] != 0, every[1] != 0};
}

bool Ranks::same(std::uint64_t value) const {
  std::uint64_t least[2] = {value, ~value};
  if (size_ > 1) MPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_UINT64_T, MPI_MIN, communicator_->comm);
  return least[0] == ~least[1];
}

bool reads_metadata_collectively(hid_t access) {
  hbool_t collective = 0;
  return H5Pget_all_coll_metadata_ops(access, &collective) >= 0 && collective;
}

bool writes_metadata_collectively(hid_t access) {
  hbool_t collective = 0;
  return H5Pget_coll_metadata_write(access, &collective) >= 0 && collective;
}

herr_t write_metadata_collectively(hid_t access, bool collective) {
  return H5Pset_coll_metadata_write(access, collective);
}

bool is_collective(hid_t transfer) {
  H5FD_mpio_xfer_t how = H5FD_MPIO_INDEPENDENT;
  return transfer != H5P_DEFAULT && H5Pget_dxpl_mpio(transfer, &how) >= 0 && how == H5FD_MPIO_COLLECTIVE;
}

void tell_mode(hid_t transfer, bool collective, bool chunked) {
  if (transfer == H5P_DEFAULT || transfer == H5P_DATASET_XFER_DEFAULT) return;
  const auto none = H5D_MPIO_NO_COLLECTIVE;
  const auto mode = !collective ? none : chunked ? H5D_MPIO_CHUNK_COLLECTIVE : H5D_MPIO_CONTIGUOUS_COLLECTIVE;
  auto before = none;
  if (H5Pget_mpio_actual_io_mode(transfer, &before) < 0 || (mode == none && before == none)) return;
  const auto chunks = collective ? H5D_MPIO_LINK_CHUNK : H5D_MPIO_NO_CHUNK_OPTIMIZATION;
  const std::uint32_t cause = collective ? H5D_MPIO_COLLECTIVE : H5D_MPIO_SET_INDEPENDENT;
  // By the names that HDF5 itself has for them: there are no calls to set them.
  H5Pset(transfer, "actual_io_mode", &mode);
  H5Pset(transfer, "actual_chunk_opt_mode", &chunks);
  H5Pset(transfer, "local_no_collective_cause", &cause);
  H5Pset(transfer, "global_no_collective_cause", &cause);
}

#else

struct Ranks::Communicator {};

std::unique_ptr<Ranks> Ranks::of(hid_t) { return nullptr; }
Ranks::~Ranks() = default;
bool Ranks::same_as(const Ranks&) const { return true; }
void Ranks::barrier() const {}
bool Ranks::all(bool mine) const { return mine; }
std::pair<bool, bool> Ranks::all(bool first, bool second) const { return {first, second}; }
bool Ranks::same(std::uint64_t) const { return true; }

bool reads_metadata_collectively(hid_t) { return false; }
bool writes_metadata_collectively(hid_t) { return false; }
herr_t write_metadata_collectively(hid_t, bool) { return 0; }
bool is_collective(hid_t) { return false; }
void tell_mode(hid_t, bool, bool) {}

#endif

Ranks::Ranks() : communicator_(std::make_unique<Communicator>()) {}
std::unique_ptr<Ranks> Ranks::alone() { return std::unique_ptr<Ranks>(new Ranks); }

}  // namespace forebay::hdf5
