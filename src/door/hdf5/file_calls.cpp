#include <hdf5.h>

#include <H5VLnative.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "door/hdf5/calls.hpp"
#include "door/hdf5/control_calls.hpp"
#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/file_state.hpp"
#include "door/hdf5/forward.hpp"
#include "door/hdf5/guarded.hpp"
#include "door/hdf5/home_request.hpp"
#include "door/hdf5/known_file.hpp"
#include "door/hdf5/operation_numbers.hpp"

namespace forebay::hdf5 {
namespace {
namespace files {

// On the MPI-IO driver: what goes before and after the native call, on all ranks alike.
class ParallelOpening {
 public:
  ParallelOpening(hid_t fapl, const char* name, bool writable, const FileWishes& wishes)
      : ranks_(Ranks::of(fapl)),
        writable_(writable),
        collective_metadata_(reads_metadata_collectively(fapl)),
        wishes_(wishes) {
    std::error_code failed;
    path_ = std::filesystem::absolute(name, failed).string();
    if (const auto buffer = join(wishes_.membership)) {
      buffer_ = *buffer;
    } else {
      log_warn("{} is not buffered: {}", name, buffer.error().message);
    }
  }

  Status before() { return ParallelFile::settle(buffer_, path_, *ranks_); }

  // `file` is null where the native call failed.
  void after(FileState* file) {
    if (!ranks_->all(file != nullptr)) return;
    auto opened =
        ParallelFile::open(buffer_, path_, writable_, collective_metadata_, std::move(ranks_),
                           buffer_ != nullptr ? adjustment(wishes_, *buffer_, path_) : Adjustment{});
    if (opened) {
      file->set_parallel(std::move(*opened));
    } else if (buffer_ != nullptr) {
      log_info("{}", opened.error().message);
      buffer_->note_passed("HDF5 on MPI-IO: the file is not served (the log says why)");
    }
  }

 private:
  std::unique_ptr<Ranks> ranks_;
  const bool writable_;
  const bool collective_metadata_;
  const FileWishes& wishes_;
  std::string path_;
  Buffer* buffer_ = nullptr;
};

// `open_below` opens or creates with the list it is given.
template <class Open>
void* open_with(const char* name, bool writable, hid_t fapl, void** request, const Open& open_below) {
  const auto info = ConnectorInfo::of(fapl);
  const auto wishes = wishes_of(fapl, info);
  const auto [list, way] = below(fapl, info, wishes);
  if (list < 0) return nullptr;
  std::optional<ParallelOpening> parallel;
  if (way == Way::kParallel) parallel.emplace(fapl, name, writable, wishes);
  void* under = nullptr;
  Status settled;
  if (parallel) settled = parallel->before();
  if (way == Way::kPassed) settled = bring_home(wishes.membership, name);
  if (settled) {
    under = open_below(list);
  } else {
    push_error(settled.error(), H5E_FILE, H5E_CANTOPENFILE);
    parallel.reset();  // an error that all ranks have
  }
  std::shared_ptr<FileState> file;
  if (under != nullptr) {
    file = std::make_shared<FileState>(way, under, info.under_vol(), wishes.membership);
    adopt(request, file);
    if (way == Way::kParallel) file->set_asked_to_write_together(writes_metadata_collectively(fapl));
    if (way == Way::kDriver) file->set_asked_for_driver(has_our_driver(fapl));
    if (way == Way::kPassed) file->note_passed("HDF5: the file driver is neither POSIX nor MPI-IO");
  }
  const KeepErrorStack keep;
  H5Pclose(list);
  if (parallel) parallel->after(file.get());
  return file ? new Object(under, std::move(file)) : nullptr;
}

void* create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl, void** request) {
  return open_with(name, true, fapl, request,
                   [&](hid_t list) { return H5VLfile_create(name, flags, fcpl, list, dxpl, request); });
}

void* open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** request) {
  return open_with(name, (flags & H5F_ACC_RDWR) != 0, fapl, request,
                   [&](hid_t list) { return H5VLfile_open(name, flags, list, dxpl, request); });
}

herr_t get(void* handle, H5VL_file_get_args_t* args, hid_t dxpl, void** request) {
  const auto file = object(handle).file;
  const auto result = H5VLfile_get(object(handle).under, file->connector(), args, dxpl, request);
  adopt(request, file);
  if (result < 0 || args->op_type != H5VL_FILE_GET_FAPL) return result;
  // The program finds what it asked for.
  const auto list = args->args.get_fapl.fapl_id;
  if (file->asked_to_write_together()) return write_metadata_collectively(list, true);
  // (A link may have led to a file with another driver.)
  const bool ours = file->way() == Way::kDriver && !file->asked_for_driver();
  return ours && has_our_driver(list) ? H5Pset_fapl_sec2(list) : result;
}

// After an open that failed HDF5 asks every plugin that it finds about the file, and nobody has asked for
// this one: that must make no buffer. (A program that names the connector without any information, and asks
// before it has opened anything, is answered from home as well.)
bool may_be_unasked(hid_t fapl, const Membership& membership) {
  void* info = nullptr;
  if (H5Pget_vol_info(fapl, &info) >= 0 && info != nullptr) {
    delete static_cast<ConnectorInfo*>(info);
    return false;
  }
  hid_t usual = H5I_INVALID_HID;
  H5VL_class_value_t value = H5VL_NATIVE_VALUE;
  if (H5Pget_vol_id(H5P_FILE_ACCESS_DEFAULT, &usual) >= 0) {
    (void)H5VLget_value(usual, &value);
    H5VLclose(usual);
  }
  return value == H5VL_NATIVE_VALUE && joined(membership) == nullptr;
}

// There is no object: the list says which connector is meant.
herr_t by_list(H5VL_file_specific_args_t& below_args, hid_t& fapl, hid_t dxpl, void** request) {
  const auto info = ConnectorInfo::of(fapl);
  const auto wishes = wishes_of(fapl, info);
  const auto [list, way] = below(fapl, info, wishes);
  if (list < 0) return -1;
  const auto given = std::exchange(fapl, list);
  const bool looks = below_args.op_type == H5VL_FILE_IS_ACCESSIBLE && way == Way::kDriver;
  if (looks && !has_our_driver(given) && may_be_unasked(given, wishes.membership)) H5Pset_fapl_sec2(list);
  // Our driver tells the buffer by itself.
  const bool told = below_args.op_type == H5VL_FILE_DELETE && way != Way::kDriver;
  const auto goes = told ? by_last_name(below_args.args.del.filename) : std::nullopt;
  const auto result = H5VLfile_specific(nullptr, info.under_vol(), &below_args, dxpl, request);
  if (goes && result >= 0) forget_removed(wishes.membership, *goes);
  adopt(request, std::make_shared<FileState>(Way::kPassed, nullptr, info.under_vol(), wishes.membership));
  const KeepErrorStack keep;
  H5Pclose(list);
  return result;
}

herr_t specific(void* handle, H5VL_file_specific_args_t* args, hid_t dxpl, void** request) {
  auto below_args = *args;
  if (args->op_type == H5VL_FILE_IS_ACCESSIBLE)
    return by_list(below_args, below_args.args.is_accessible.fapl_id, dxpl, request);
  if (args->op_type == H5VL_FILE_DELETE)
    return by_list(below_args, below_args.args.del.fapl_id, dxpl, request);
  // Not so the other file of H5VL_FILE_IS_EQUAL: HDF5 hands over what the last connector knows it by.
  const auto file = object(handle).file;
  std::optional<HeldDrain> still;
  if (args->op_type == H5VL_FILE_FLUSH && file->parallel()) {
    if (const auto status = file->parallel()->flush(); !status) {
      push_error(status.error(), H5E_FILE, H5E_CANTFLUSH);
      return -1;
    }
    still.emplace(file->parallel().get(), HeldDrain::Ends::kAlone);
  }
  if (args->op_type == H5VL_FILE_FLUSH && request != nullptr) {
    // Asynchronous: bytes set out now, and the request completes when they are home.
    const Haste haste(*file);
    if (H5VLfile_specific(object(handle).under, file->connector(), &below_args, dxpl, request) < 0) return -1;
    adopt(request, file);
    offer_home_request(object(handle), {}, request);
    return 0;
  }
  const auto result = H5VLfile_specific(object(handle).under, file->connector(), &below_args, dxpl, request);
  adopt(request, file);
  if (result >= 0 && args->op_type == H5VL_FILE_REOPEN && *args->args.reopen.file != nullptr)
    *args->args.reopen.file = new Object(*args->args.reopen.file, file);
  return result;
}

// Readers elsewhere rely on the order of writes from here on.
Status prepare_swmr(FileState& file) {
  return file.driver() != nullptr ? file.driver()->go_plain(Plain::kSwmr) : Status{};
}

herr_t optional_on_file(void* handle, H5VL_optional_args_t* args, hid_t dxpl, void** request) {
  if (const auto ours = file_operation(args->op_type)) return control(*ours, handle, args->args);
  const auto file = object(handle).file;
  const auto& parallel = file->parallel();
  Status ready;
  if (args->op_type == H5VL_NATIVE_FILE_START_SWMR_WRITE) ready = prepare_swmr(*file);
  const bool looks_at_home =
      args->op_type == H5VL_NATIVE_FILE_GET_VFD_HANDLE || args->op_type == H5VL_NATIVE_FILE_GET_FILE_IMAGE;
  if (looks_at_home && parallel) ready = parallel->drain();
  // Of a file's image HDF5 reads our bytes by itself.
  if (args->op_type == H5VL_NATIVE_FILE_GET_VFD_HANDLE && file->driver() != nullptr)
    ready = file->driver()->bring_home();
#ifdef H5_HAVE_PARALLEL
  const bool atomicity = args->op_type == H5VL_NATIVE_FILE_SET_MPI_ATOMICITY && parallel;
  if (atomicity) ready = parallel->settle();
#endif
  if (!ready) {
    push_error(ready.error(), H5E_FILE, H5E_CANTFLUSH);
    return -1;
  }
  const auto result = forward<H5VLfile_optional>(handle, args, dxpl, request);
#ifdef H5_HAVE_PARALLEL
  if (atomicity && result >= 0)
    parallel->set_atomic(static_cast<H5VL_native_file_optional_args_t*>(args->args)->set_mpi_atomicity.flag);
#endif
  return result;
}

// Asynchronous: what the program wrote sets out, and the request completes when it is home.
herr_t close_and_leave(void* handle, hid_t dxpl, void** request) {
  const auto file = object(handle).file;
  auto* const driver = file->driver();
  auto fate = driver->fate();
  driver->set_leaving(true);
  const auto result = forward_close<H5VLfile_close>(handle, dxpl, request);
  if (!fate) return result;
  // Something else keeps it open?
  if (!fate->left && !fate->when_closed) driver->set_leaving(false);
  if (result >= 0) offer_home_request(file, std::move(fate), {}, request);
  return result;
}

// HDF5 may ask again for what could not be closed: then the connector below has closed it already.
herr_t close(void* handle, hid_t dxpl, void** request) {
  auto& file = object(handle);
  const auto parallel = file.file->parallel();
  if (!parallel && request != nullptr && file.file->driver() != nullptr)
    return close_and_leave(handle, dxpl, request);
  if (!parallel) return forward_close<H5VLfile_close>(handle, dxpl, request);
  if (file.under == nullptr) {
    delete &file;
    return 0;
  }
  const auto home = parallel->close();
  {
    const HeldDrain still(parallel.get(), HeldDrain::Ends::kAlone);
    if (H5VLfile_close(file.under, file.vol(), dxpl, request) < 0) return -1;
  }
  adopt(request, file.file);
  if (home) {
    delete &file;
    return 0;
  }
  file.under = nullptr;
  push_error(home.error(), H5E_FILE, H5E_CANTCLOSEFILE);
  return -1;
}

}  // namespace files
}  // namespace

H5VL_file_class_t file_calls() {
  return {.create = guarded<files::create>,
          .open = guarded<files::open>,
          .get = guarded<files::get>,
          .specific = guarded<files::specific>,
          .optional = guarded<files::optional_on_file>,
          .close = guarded<files::close>};
}

}  // namespace forebay::hdf5
