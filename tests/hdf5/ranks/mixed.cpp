// Several datasets in one collective call, of which some are filtered.
#include <cstdint>
#include <format>
#include <vector>

#include "hdf5/ranks/told.hpp"
#include "hdf5/ranks/verbs.hpp"

namespace forebay::testing::ranks {
namespace {

enum class Idle { kNobody, kOneRank, kAll };

struct Some {
  std::string name;
  std::vector<hid_t> datasets{};
  std::vector<hid_t> spaces{};
};

Some make_some(hid_t file, const std::string& name, unsigned plain, unsigned packed, H5D_alloc_time_t alloc) {
  Some some{name};
  for (unsigned i = 0; i < plain + packed; ++i) {
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(dcpl, 1, &kPart);
    H5Pset_alloc_time(dcpl, alloc);
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
    if (i >= plain) H5Pset_shuffle(dcpl);
    some.datasets.push_back(
        make(file, std::format("{} {}", name, i).c_str(), kPart * static_cast<hsize_t>(size()), dcpl));
    some.spaces.push_back(my_part(some.datasets.back()));
    H5Pclose(dcpl);
  }
  return some;
}

void move(Some& some, hid_t list, Idle idle, hid_t type = H5T_NATIVE_INT32) {
  const auto count = some.datasets.size();
  const hid_t memory = H5Screate_simple(1, &kPart, nullptr);
  std::vector<hid_t> spaces;
  for (const auto space : some.spaces) spaces.push_back(H5Scopy(space));
  if (idle == Idle::kAll || (idle == Idle::kOneRank && rank() == 0)) {
    H5Sselect_none(memory);
    for (const auto space : spaces) H5Sselect_none(space);
  }
  std::vector<hid_t> types(count, type);
  std::vector<hid_t> memories(count, memory);
  std::vector<std::int32_t> row(kPart, rank());
  std::vector<const void*> from(count, row.data());
  herr_t result = 0;
  H5E_BEGIN_TRY  // what is filtered is not converted together
      result = H5Dwrite_multi(count, some.datasets.data(), types.data(), memories.data(), spaces.data(), list,
                              from.data());
  H5E_END_TRY
  const auto about = std::format("{} idle {}{}", some.name, static_cast<int>(idle),
                                 type == H5T_NATIVE_INT32 ? "" : " converted");
  print_in_turn(std::format("{} write: {} {}", about, result, told(list)));
  std::vector<void*> to(count, row.data());
  result = H5Dread_multi(count, some.datasets.data(), types.data(), memories.data(), spaces.data(), list,
                         to.data());
  print_in_turn(std::format("{} read: {} {}", about, result, told(list)));
  for (const auto space : spaces) H5Sclose(space);
  H5Sclose(memory);
}

}  // namespace

int mixed(const std::string& path) {
  const hid_t file = create(path);
  for (const auto alloc : {H5D_ALLOC_TIME_EARLY, H5D_ALLOC_TIME_INCR}) {
    for (const auto chunks : {H5FD_MPIO_CHUNK_ONE_IO, H5FD_MPIO_CHUNK_MULTI_IO}) {
      for (const auto mode :
           {H5D_SELECTION_IO_MODE_DEFAULT, H5D_SELECTION_IO_MODE_OFF, H5D_SELECTION_IO_MODE_ON}) {
        for (const unsigned packed : {1u, 2u}) {
          const auto name =
              std::format("{} packed, alloc {} chunks {} mode {}", packed, static_cast<int>(alloc),
                          static_cast<int>(chunks), static_cast<int>(mode));
          auto some = make_some(file, name, 2, packed, alloc);
          const hid_t list = collective_list();
          H5Pset_dxpl_mpio_chunk_opt(list, chunks);
          H5Pset_selection_io(list, mode);
          for (const auto idle : {Idle::kAll, Idle::kOneRank, Idle::kNobody}) move(some, list, idle);
          for (const auto idle : {Idle::kAll, Idle::kOneRank, Idle::kNobody})
            move(some, list, idle, H5T_NATIVE_INT16);
          H5Pclose(list);
          for (const auto space : some.spaces) H5Sclose(space);
          for (const auto dataset : some.datasets) H5Dclose(dataset);
        }
      }
    }
  }
  return H5Fclose(file) < 0 ? 1 : 0;
}

}  // namespace forebay::testing::ranks
