#include "hdf5/matrix/session.hpp"

#include <fstream>

namespace forebay::testing::matrix {

Session::Session(const Options& wanted, const Ranks& all, const std::string& log_name)
    : options(wanted),
      ranks(all),
      log(log_name),
      access(all.file_access(wanted)),
      creation(all.file_creation(wanted)),
      dataset_creation(H5Pcreate(H5P_DATASET_CREATE)),
      transfer(all.transfer(wanted)) {
  H5Pset_obj_track_times(dataset_creation, false);
}

std::string Session::path(const std::string& name) const {
  return options.driver == "family" ? "%d-" + name : name;
}

void Session::create_file(const std::string& name) {
  file = Id(H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, creation, access));
  log.line("create {}: {}", name, file.good());
  // So that whoever started this can see that the connector was really there.
  char connector[64] = "none";
  H5VLget_connector_name(file, connector, sizeof(connector));
  if (ranks.peer() == 0) std::ofstream("connector") << connector << '\n';
}

Id Session::make_group(hid_t where, const std::string& name) const {
  const Id gcpl(H5Pcreate(H5P_GROUP_CREATE));
  H5Pset_obj_track_times(gcpl, false);
  return Id(H5Gcreate2(where, name.c_str(), H5P_DEFAULT, gcpl, H5P_DEFAULT));
}

void Session::open_file(const std::string& name, unsigned flags) {
  file = Id(H5Fopen(path(name).c_str(), flags, access));
  log.line("open {} {}: {}", name, flags, file.good());
}

void Session::close_file() {
  log.line("objects {}", H5Fget_obj_count(file, H5F_OBJ_ALL));
  log.line("close: {}", file.close());
}

Elements::Elements(hid_t file, hid_t type, hid_t space, hid_t extent)
    : file_(file),
      type_(type),
      space_(H5Scopy(space == H5S_ALL ? extent : space)),
      size_(H5Tget_size(type)),
      count_(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space_))),
      bytes_(size_ * count_) {
  // Where nothing is read to, this stays. Pointers must be null there.
  if (!needs_reclaim(type)) std::ranges::fill(bytes_, std::byte{0x5a});
}

Elements::~Elements() {
  if (!needs_reclaim(type_) || count_ == 0) return;
  H5Sselect_all(space_);
  H5Treclaim(type_, space_, H5P_DEFAULT, bytes_.data());
}

void Elements::fill_all(std::uint64_t number) {
  std::ranges::fill(bytes_, std::byte{0});
  for (std::size_t i = 0; i < count_; ++i) fill(file_, type_, bytes_.data() + i * size_, mix(number, i));
}

std::uint64_t Elements::reduced() const {
  Digest digest;
  for (std::size_t i = 0; i < count_; ++i) reduce(file_, type_, bytes_.data() + i * size_, digest);
  return digest.value();
}

}  // namespace forebay::testing::matrix
