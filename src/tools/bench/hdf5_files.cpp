#include "tools/bench/hdf5_files.hpp"

#include <stdexcept>

namespace forebay::kernels {

std::string Hdf5Files::path(std::uint64_t rank) const {
  return file_per_rank() ? job_.path() + "." + std::to_string(rank) : job_.path();
}

void Hdf5Files::set_driver(hid_t properties, [[maybe_unused]] bool alone) const {
  constexpr std::size_t kStep = 1 << 20;
  if (job_.null) {
    must(H5Pset_fapl_core(properties, kStep, 0), "choose memory as the file");
    return;
  }
#ifdef H5_HAVE_PARALLEL
  if (shared_by_ranks() && !alone) {
    must(H5Pset_fapl_mpio(properties, MPI_COMM_WORLD, MPI_INFO_NULL), "choose MPI-IO");
    if (job_.flag("COLLECTIVE_METADATA")) {
      must(H5Pset_all_coll_metadata_ops(properties, true), "ask for collective metadata");
      must(H5Pset_coll_metadata_write(properties, true), "ask for collective metadata");
    }
  }
#endif
}

Hid Hdf5Files::access(bool alone) const {
  Hid properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make properties");
  set_driver(properties.get(), alone);
  if (job_.flag("ALIGN"))
    must(H5Pset_alignment(properties.get(), job_.count("ALIGN_THRESHOLD"), job_.count("ALIGN_LEN")), "align");
  if (job_.flag("SUBFILING") && !alone) {
#ifdef H5_HAVE_SUBFILING_VFD
    // Preparing and checking are done by one process of the same flavour.
    must(H5Pset_mpi_params(properties.get(), job_.stage == Stage::kRun ? MPI_COMM_WORLD : MPI_COMM_SELF,
                           MPI_INFO_NULL),
         "choose ranks");
    must(H5Pset_fapl_subfiling(properties.get(), nullptr), "choose subfiling");
#else
    throw std::runtime_error("SUBFILING: this HDF5 was built without it");
#endif
  }
  return properties;
}

Hid Hdf5Files::create(const std::string& path) const {
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access().get()), H5Fclose, "create " + path};
}

Hid Hdf5Files::open(const std::string& path, bool writable) const {
  return {H5Fopen(path.c_str(), writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access().get()), H5Fclose,
          "open " + path};
}

Hid Hdf5Files::create_alone(const std::string& path) const {
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access(true).get()), H5Fclose,
          "create " + path};
}

Hid Hdf5Files::open_alone(const std::string& path, bool writable) const {
  return {H5Fopen(path.c_str(), writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access(true).get()), H5Fclose,
          "open " + path};
}

Hid Hdf5Files::transfer_properties([[maybe_unused]] bool collective) const {
  Hid properties(H5Pcreate(H5P_DATASET_XFER), H5Pclose, "make properties");
#ifdef H5_HAVE_PARALLEL
  if (shared_by_ranks() && collective)
    must(H5Pset_dxpl_mpio(properties.get(), H5FD_MPIO_COLLECTIVE), "ask for collective transfers");
#endif
  return properties;
}

EventSet::EventSet(bool asynchronous) {
  if (asynchronous) set_ = Hid(H5EScreate(), H5ESclose, "make an event set");
}

void EventSet::wait() const {
  if (set_.get() < 0) return;
  std::size_t under_way = 0;
  hbool_t failed = false;
  must(H5ESwait(set_.get(), H5ES_WAIT_FOREVER, &under_way, &failed), "wait for asynchronous operations");
  if (failed) throw std::runtime_error("an asynchronous operation failed");
}

}  // namespace forebay::kernels
