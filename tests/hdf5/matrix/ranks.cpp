#include "hdf5/matrix/ranks.hpp"

#include <cstdio>
#include <cstdlib>

namespace forebay::testing::matrix {

#ifdef H5_HAVE_PARALLEL
Ranks::Ranks(int* argc, char*** argv) {
  int provided = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

Ranks::~Ranks() {
  if (!owner_) return;
  H5close();
  MPI_Finalize();
}

void Ranks::barrier() const {
  if (shared_) MPI_Barrier(MPI_COMM_WORLD);
}
#else
Ranks::Ranks(int*, char***) {}
Ranks::~Ranks() {
  if (owner_) H5close();
}
void Ranks::barrier() const {}
#endif

void Ranks::use(const Options& options) {
  shared_ = options.driver == "mpio";
#ifndef H5_HAVE_PARALLEL
  if (shared_) {
    std::fprintf(stderr, "h5_matrix: this HDF5 has no MPI-IO driver\n");
    std::exit(2);
  }
#endif
}

Id Ranks::file_access(const Options& options) const {
  Id fapl(H5Pcreate(H5P_FILE_ACCESS));
  if (options.driver == "stdio") H5Pset_fapl_stdio(fapl);
  if (options.driver == "core") H5Pset_fapl_core(fapl, 1 << 16, true);
  if (options.driver == "family") H5Pset_fapl_family(fapl, 1 << 18, H5P_DEFAULT);
  if (options.driver == "split") H5Pset_fapl_split(fapl, ".meta", H5P_DEFAULT, ".raw", H5P_DEFAULT);
  if (options.driver == "log") H5Pset_fapl_log(fapl, nullptr, 0, 0);
#ifdef H5_HAVE_PARALLEL
  if (options.driver == "mpio") {
    H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_all_coll_metadata_ops(fapl, options.collective_metadata);
    H5Pset_coll_metadata_write(fapl, options.collective_metadata_writes);
  }
#endif
  if (options.format == "latest") H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  if (options.format == "pagebuffer") H5Pset_page_buffer_size(fapl, 1 << 16, 0, 0);
  return fapl;
}

Id Ranks::file_creation(const Options& options) const {
  Id fcpl(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_obj_track_times(fcpl, false);
  if (options.format == "userblock") H5Pset_userblock(fcpl, 2048);
  if (options.format == "paged" || options.format == "pagebuffer") {
    H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_PAGE, true, 1);
    H5Pset_file_space_page_size(fcpl, 4096);
  }
  return fcpl;
}

Id Ranks::transfer(const Options& options) const {
  Id dxpl(H5Pcreate(H5P_DATASET_XFER));
#ifdef H5_HAVE_PARALLEL
  if (options.driver == "mpio") {
    H5Pset_dxpl_mpio(dxpl, options.transfer == "collective" ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
  }
#else
  static_cast<void>(options);
#endif
  return dxpl;
}

}  // namespace forebay::testing::matrix
