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

void Ranks::all(std::span<int> mine) const {
  if (size_ > 1)
    MPI_Allreduce(MPI_IN_PLACE, mine.data(), static_cast<int>(mine.size()), MPI_INT, MPI_MIN,
                  communicator_->comm);
}

Ranks::Meeting Ranks::meet(std::uint64_t value, bool first, bool second) const {
  std::uint64_t least[4] = {value, ~value, first, second};
  if (size_ > 1) MPI_Allreduce(MPI_IN_PLACE, least, 4, MPI_UINT64_T, MPI_MIN, communicator_->comm);
  return {least[0] == ~least[1], least[2] != 0, least[3] != 0};
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

namespace {

// What HDF5 tells by four calls of its own.
struct Told {
  H5D_mpio_actual_io_mode_t mode = H5D_MPIO_NO_COLLECTIVE;
  H5D_mpio_actual_chunk_opt_mode_t chunks = H5D_MPIO_NO_CHUNK_OPTIMIZATION;
  std::uint32_t cause_here = 0;
  std::uint32_t cause_anywhere = 0;
  std::uint32_t selection_mode = 0;
  std::uint32_t no_selection_cause = 0;
  bool operator==(const Told&) const = default;
};

bool get(hid_t transfer, Told& told) {
  return H5Pget_mpio_actual_io_mode(transfer, &told.mode) >= 0 &&
         H5Pget_mpio_actual_chunk_opt_mode(transfer, &told.chunks) >= 0 &&
         H5Pget_mpio_no_collective_cause(transfer, &told.cause_here, &told.cause_anywhere) >= 0 &&
         H5Pget_actual_selection_io_mode(transfer, &told.selection_mode) >= 0 &&
         H5Pget_no_selection_io_cause(transfer, &told.no_selection_cause) >= 0;
}

// By the names that HDF5 itself has for them: there are no calls to set them.
void set(hid_t transfer, const Told& told) {
  H5Pset(transfer, "actual_io_mode", &told.mode);
  H5Pset(transfer, "actual_chunk_opt_mode", &told.chunks);
  H5Pset(transfer, "local_no_collective_cause", &told.cause_here);
  H5Pset(transfer, "global_no_collective_cause", &told.cause_anywhere);
  H5Pset(transfer, "actual_selection_io_mode", &told.selection_mode);
  H5Pset(transfer, "no_selection_io_cause", &told.no_selection_cause);
}

// Why HDF5 would not hand a whole selection over.
std::uint32_t no_selections(hid_t transfer, const TransferFacts& facts) {
  auto wish = H5D_SELECTION_IO_MODE_DEFAULT;
  H5Pget_selection_io(transfer, &wish);
  if (wish == H5D_SELECTION_IO_MODE_OFF) return H5D_SEL_IO_DISABLE_BY_API;
  if (facts.cached_chunks) return H5D_SEL_IO_CHUNK_CACHE;
  const bool fits = facts.converted <= H5Pget_buffer(transfer, nullptr, nullptr);
  return fits ? 0 : H5D_SEL_IO_TCONV_BUF_TOO_SMALL;
}

}  // namespace

void tell_mode(hid_t transfer, const TransferFacts& facts) {
  Told now;
  now.no_selection_cause = no_selections(transfer, facts);
  const bool selections = now.no_selection_cause == 0;
  const bool collective = is_collective(transfer);
  if (!collective) {
    now.cause_here = H5D_MPIO_SET_INDEPENDENT;
    // The driver takes selections and, in the end, moves them piece by piece.
    if (selections) now.no_selection_cause = H5D_SEL_IO_NO_VECTOR_OR_SELECTION_IO_CB;
    if (facts.moved != 0) now.selection_mode = H5D_SCALAR_IO | (selections ? H5D_SELECTION_IO : 0u);
  } else {
    now.selection_mode = selections ? H5D_SELECTION_IO : H5D_SCALAR_IO;
    if (!selections && facts.converts) {
      now.cause_here = H5D_MPIO_DATATYPE_CONVERSION | H5D_MPIO_NO_SELECTION_IO;
      if (facts.moved == 0) now.selection_mode = 0;
    } else {
      now.mode = facts.chunked ? H5D_MPIO_CHUNK_COLLECTIVE : H5D_MPIO_CONTIGUOUS_COLLECTIVE;
      if (facts.chunked || selections) now.chunks = H5D_MPIO_LINK_CHUNK;
    }
  }
  now.cause_anywhere = now.cause_here;
  Told before;
  if (get(transfer, before) && !(before == now)) set(transfer, now);
}

#else

struct Ranks::Communicator {};

std::unique_ptr<Ranks> Ranks::of(hid_t) { return nullptr; }
Ranks::~Ranks() = default;
bool Ranks::same_as(const Ranks&) const { return true; }
void Ranks::barrier() const {}
bool Ranks::all(bool mine) const { return mine; }
void Ranks::all(std::span<int>) const {}
Ranks::Meeting Ranks::meet(std::uint64_t, bool first, bool second) const { return {true, first, second}; }
bool Ranks::same(std::uint64_t) const { return true; }

bool reads_metadata_collectively(hid_t) { return false; }
bool writes_metadata_collectively(hid_t) { return false; }
herr_t write_metadata_collectively(hid_t, bool) { return 0; }
bool is_collective(hid_t) { return false; }
void tell_mode(hid_t, const TransferFacts&) {}

#endif

bool is_default_list(hid_t transfer) {
  return transfer == H5P_DEFAULT || transfer == H5P_DATASET_XFER_DEFAULT;
}

bool modifies_memory(hid_t transfer) {
  hbool_t modifies = false;
  return H5Pget_modify_write_buf(transfer, &modifies) >= 0 && modifies;
}

Ranks::Ranks() : communicator_(std::make_unique<Communicator>()) {}
std::unique_ptr<Ranks> Ranks::alone() { return std::unique_ptr<Ranks>(new Ranks); }

}  // namespace forebay::hdf5
