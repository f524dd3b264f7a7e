#include <array>
#include <fstream>

#include "hdf5/matrix/axes.hpp"

namespace forebay::testing::matrix {
namespace {

constexpr std::array<hsize_t, 2> kChunk{5, 7};

bool chunked(hid_t dcpl) { return H5Pset_chunk(dcpl, 2, kChunk.data()) >= 0; }

bool contiguous(hid_t, hid_t dcpl, const Kind&, const std::string&, const hsize_t*) {
  return H5Pset_layout(dcpl, H5D_CONTIGUOUS) >= 0;
}
bool contiguous_early(hid_t, hid_t dcpl, const Kind&, const std::string&, const hsize_t*) {
  return H5Pset_layout(dcpl, H5D_CONTIGUOUS) >= 0 && H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY) >= 0;
}
bool compact(hid_t, hid_t dcpl, const Kind&, const std::string&, const hsize_t*) {
  return H5Pset_layout(dcpl, H5D_COMPACT) >= 0;
}
bool plain_chunks(hid_t, hid_t dcpl, const Kind&, const std::string&, const hsize_t*) {
  return chunked(dcpl);
}
bool chunks_early(hid_t, hid_t dcpl, const Kind&, const std::string&, const hsize_t*) {
  return chunked(dcpl) && H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY) >= 0;
}
// One chunk holds all: another index than many chunks have.
bool one_chunk(hid_t, hid_t dcpl, const Kind&, const std::string&, const hsize_t* dims) {
  return H5Pset_chunk(dcpl, 2, dims) >= 0;
}
bool deflate(hid_t, hid_t dcpl, const Kind&, const std::string&, const hsize_t*) {
  return chunked(dcpl) && H5Pset_deflate(dcpl, 4) >= 0;
}
bool shuffle(hid_t, hid_t dcpl, const Kind&, const std::string&, const hsize_t*) {
  return chunked(dcpl) && H5Pset_shuffle(dcpl) >= 0 && H5Pset_deflate(dcpl, 1) >= 0;
}
bool fletcher32(hid_t, hid_t dcpl, const Kind&, const std::string&, const hsize_t*) {
  return chunked(dcpl) && H5Pset_fletcher32(dcpl) >= 0;
}
bool external(hid_t, hid_t dcpl, const Kind& kind, const std::string& dataset, const hsize_t* dims) {
  const auto bytes = dims[0] * dims[1] * H5Tget_size(kind.in_file);
  const auto first = bytes / 3;
  // Files that are not there are zeroes in a read only where HDF5 has made them: half of the cases bring
  // theirs.
  if (dataset.size() % 2 == 0) {
    for (const char* ending : {".raw", ".more"}) std::ofstream(dataset + ending, std::ios::app);
  }
  return H5Pset_external(dcpl, (dataset + ".raw").c_str(), 16, first) >= 0 &&
         H5Pset_external(dcpl, (dataset + ".more").c_str(), 0, bytes - first) >= 0;
}

// Upper rows from a dataset of the same file, lower rows from one of another.
bool virtual_dataset(hid_t file, hid_t dcpl, const Kind& kind, const std::string& dataset,
                     const hsize_t* dims) {
  const std::array<hsize_t, 2> half{dims[0] / 2, dims[1]};
  const Id whole(H5Screate_simple(2, dims, nullptr));
  const Id source(H5Screate_simple(2, half.data(), nullptr));
  const Id times(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(times, false);
  // Ranks that share it never write it. Without fill values it would be what MPI leaves in bytes that nobody
  // wrote: where ROMIO fills a gap that ends behind the file, that is what its own memory held.
  H5Pset_fill_time(times, H5D_FILL_TIME_ALLOC);
  const std::array<hsize_t, 2> upper{0, 0};
  const std::array<hsize_t, 2> lower{half[0], 0};
  const auto here = dataset + "_source";
  const Id made(H5Dcreate2(file, here.c_str(), kind.in_file, source, H5P_DEFAULT, times, H5P_DEFAULT));
  H5Sselect_hyperslab(whole, H5S_SELECT_SET, upper.data(), nullptr, half.data(), nullptr);
  const bool mapped = H5Pset_virtual(dcpl, whole, ".", here.c_str(), source) >= 0;
  H5Sselect_hyperslab(whole, H5S_SELECT_SET, lower.data(), nullptr, half.data(), nullptr);
  return H5Pset_virtual(dcpl, whole, "source.h5", kind.name.c_str(), source) >= 0 && mapped && made.good();
}

}  // namespace

std::vector<Layout> all_layouts() {
  return {
      {"contiguous", false, false, contiguous},
      {"contiguous_early", false, false, contiguous_early},
      {"compact", false, false, compact},
      {"chunked", false, false, plain_chunks},
      {"chunked_early", false, false, chunks_early},
      {"one_chunk", false, false, one_chunk},
      {"deflate", false, true, deflate},
      {"shuffle", false, true, shuffle},
      {"fletcher32", false, true, fletcher32},
      {"unlimited", true, false, plain_chunks},
      {"unlimited_deflate", true, true, deflate},
      {"external", false, false, external},
      {"virtual", false, false, virtual_dataset},
  };
}

}  // namespace forebay::testing::matrix
