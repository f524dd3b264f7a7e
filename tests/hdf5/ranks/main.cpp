// h5_ranks VERB FILE [NUMBER]: programs of several ranks that share a file. See verbs.hpp.
#include "hdf5/ranks/verbs.hpp"

namespace forebay::testing::ranks {
namespace {

hid_t access_list(bool collective_metadata) {
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
  if (collective_metadata) {
    H5Pset_all_coll_metadata_ops(fapl, true);
    H5Pset_coll_metadata_write(fapl, true);
  }
  return fapl;
}

int run(const std::string& verb, const std::string& path, unsigned number) {
  if (verb == "uneven") return uneven(path, number);
  if (verb == "modes") return modes(path);
  if (verb == "mixed") return mixed(path);
  if (verb == "grow") return grow(path, number);
  if (verb == "gaps") return gaps(path, number);
  if (verb == "links") return links(path);
  if (verb == "flushes") return flushes(path);
  if (verb == "multi") return multi(path);
  if (verb == "unlike") return unlike(path);
  if (verb == "killed") return killed(path, number);
  if (verb == "survived") return survived(path, number);
  return 2;
}

}  // namespace

int rank() {
  int answer = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &answer);
  return answer;
}

int size() {
  int answer = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &answer);
  return answer;
}

hid_t create(const std::string& path, bool collective_metadata) {
  const hid_t fapl = access_list(collective_metadata);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  H5Pclose(fapl);
  return file;
}

hid_t open(const std::string& path, unsigned flags, bool collective_metadata) {
  const hid_t fapl = access_list(collective_metadata);
  const hid_t file = H5Fopen(path.c_str(), flags, fapl);
  H5Pclose(fapl);
  return file;
}

hid_t collective_list() {
  const hid_t list = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE);
  return list;
}

hid_t make(hid_t file, const char* name, hsize_t elements, hid_t dcpl) {
  const hid_t space = H5Screate_simple(1, &elements, nullptr);
  const hid_t dataset = H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  H5Sclose(space);
  return dataset;
}

hid_t my_part(hid_t dataset) {
  const hsize_t start = kPart * static_cast<hsize_t>(rank());
  const hid_t space = H5Dget_space(dataset);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &kPart, nullptr);
  return space;
}

}  // namespace forebay::testing::ranks

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  const unsigned number = argc > 3 ? static_cast<unsigned>(std::stoul(argv[3])) : 0;
  const int code = forebay::testing::ranks::run(argv[1], argv[2], number);
  MPI_Finalize();
  return code;
}
