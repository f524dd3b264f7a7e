#include "door/hdf5/file_state.hpp"

#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <H5VLnative.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/opened_file.hpp"

namespace forebay::hdf5 {
namespace {

DriverFile* driver_file(void* under_file, hid_t connector) {
  void* handle = nullptr;
  H5VL_native_file_optional_args_t what{};
  what.get_vfd_handle = {.fapl_id = H5P_DEFAULT, .file_handle = &handle};
  H5VL_optional_args_t args{.op_type = H5VL_NATIVE_FILE_GET_VFD_HANDLE, .args = &what};
  const ExpectFailure it_may_have_none;
  if (H5VLfile_optional(under_file, connector, &args, H5P_DEFAULT, nullptr) < 0) return nullptr;
  return driver_file_of(handle);
}

unsigned long number_of(void* under_file, hid_t connector) {
  unsigned long number = 0;
  H5VL_file_get_args_t args{};
  args.op_type = H5VL_FILE_GET_FILENO;
  args.args.get_fileno.fileno = &number;
  const ExpectFailure it_may_not_tell;
  H5VLfile_get(under_file, connector, &args, H5P_DEFAULT, nullptr);
  return number;
}

// Files that the engine serves beside MPI-IO. HDF5's lock guards both; never freed.
std::vector<FileState*>& served() {
  static auto* files = new std::vector<FileState*>;
  return *files;
}
unsigned long served_so_far = 0;

}  // namespace

unsigned long times_served() { return served_so_far; }

bool serves_collective_metadata() {
  return std::ranges::any_of(served(),
                             [](const auto* file) { return file->parallel()->collective_metadata(); });
}

namespace {

// HDF5's number of the file that it lies in.
std::optional<unsigned long> number_of_dataset(void* dataset, hid_t connector) {
  H5VL_loc_params_t self{};
  self.type = H5VL_OBJECT_BY_SELF;
  self.obj_type = H5I_DATASET;
  H5O_info2_t info{};
  H5VL_object_get_args_t args{};
  args.op_type = H5VL_OBJECT_GET_INFO;
  args.args.get_info.oinfo = &info;
  args.args.get_info.fields = H5O_INFO_BASIC;
  const ExpectFailure it_may_not_tell;
  if (H5VLobject_get(dataset, &self, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr) < 0)
    return std::nullopt;
  return info.fileno;
}

}  // namespace

std::shared_ptr<ParallelFile> parallel_file_of(void* dataset, const FileState& reached_by) {
  if (served().empty()) return nullptr;
  const auto number = number_of_dataset(dataset, reached_by.connector());
  if (!number) return nullptr;
  if (reached_by.parallel() && reached_by.number() == *number) return reached_by.parallel();
  for (const auto* const file : served()) {
    if (file->number() == *number) return file->parallel();
  }
  return nullptr;
}

DriverFile* driver_file_of(void* dataset, const FileState& reached_by) {
  // Mostly there is one file, and nothing to ask.
  if (driver_file_at(1) == nullptr && reached_by.driver() == driver_file_at(0)) return reached_by.driver();
  const auto number = number_of_dataset(dataset, reached_by.connector());
  DriverFile* found = nullptr;
  for_each_driver_file([&](DriverFile& file) {
    if (number && file.number() == *number) found = &file;
  });
  return found;
}

Below below(hid_t fapl, const ConnectorInfo& info, const FileWishes& wishes) {
  const auto copy = H5Pcopy(fapl);
  if (copy < 0) return {H5I_INVALID_HID, Way::kPassed};
  if (H5Pset_vol(copy, info.under_vol(), info.under_info()) < 0) {
    H5Pclose(copy);
    return {H5I_INVALID_HID, Way::kPassed};
  }
  const auto driver = H5Pget_driver(fapl);
  auto way = Way::kPassed;
  if (driver == H5FD_SEC2) {
    if (set_driver(copy, {.wishes = wishes, .told_of_reuse = true}) >= 0) way = Way::kDriver;
  } else if (has_our_driver(fapl)) {
    // What the program says to its driver counts; where that is nothing, what it says to the connector.
    auto told = info_for_driver(fapl);
    told.told_of_reuse = true;
    if (told.wishes == FileWishes{}) told.wishes = wishes;
    if (set_driver(copy, told) >= 0) way = Way::kDriver;
#ifdef H5_HAVE_PARALLEL
  } else if (driver == H5FD_MPIO) {
    // B8: metadata that all ranks write together would rewrite what lies between.
    if (write_metadata_collectively(copy, false) >= 0) way = Way::kParallel;
#endif
  }
  return {copy, way};
}

FileState::FileState(Way way, void* under_file, hid_t connector, Membership membership)
    : way_(way),
      connector_(connector),
      membership_(std::move(membership)),
      driver_(way == Way::kDriver ? driver_file(under_file, connector) : nullptr),
      number_(way == Way::kParallel ? number_of(under_file, connector) : 0) {
  H5Iinc_ref(connector_);
}

void FileState::set_parallel(std::shared_ptr<ParallelFile> file) {
  parallel_ = std::move(file);
  served().push_back(this);
  ++served_so_far;
  auto fate = std::make_shared<Fate>();
  fate->file = parallel_->engine();
  fate->process = fork_generation();
  parallel_fate_ = std::move(fate);
}

std::shared_ptr<Fate> FileState::fate() const {
  return driver_ != nullptr ? driver_->fate() : parallel_fate_;
}

void FileState::note_passed(std::string_view why) const {
  if (const auto buffer = join(membership_)) (*buffer)->note_passed(why);
}

FileState::~FileState() {
  std::erase(served(), this);
  const KeepErrorStack keep;
  H5Idec_ref(connector_);
}

}  // namespace forebay::hdf5
