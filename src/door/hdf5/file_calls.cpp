#include <hdf5.h>

#include <H5VLnative.h>

#include <memory>

#include "door/hdf5/calls.hpp"
#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/file_state.hpp"
#include "door/hdf5/forward.hpp"
#include "door/hdf5/home_request.hpp"

namespace forebay::hdf5 {
namespace {

// `open_below` opens or creates with the list it is given.
template <class Open>
void* open_with(hid_t fapl, void** request, const Open& open_below) {
  const auto info = ConnectorInfo::of(fapl);
  const auto [list, way] = below(fapl, info);
  if (list < 0) return nullptr;
  void* const under = open_below(list);
  {
    const KeepErrorStack keep;
    H5Pclose(list);
  }
  if (under == nullptr) return nullptr;
  if (way == Way::kPassed) {
    if (const auto buffer = join({.config = info.config()}))
      (*buffer)->note_passed("HDF5: the file driver is neither POSIX nor MPI-IO");
  }
  auto file = std::make_shared<FileState>(way, under, info.under_vol());
  adopt(request, file);
  return new Object(under, std::move(file));
}

void* create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl, void** request) {
  return open_with(fapl, request,
                   [&](hid_t list) { return H5VLfile_create(name, flags, fcpl, list, dxpl, request); });
}

void* open(const char* name, unsigned flags, hid_t fapl, hid_t dxpl, void** request) {
  return open_with(fapl, request,
                   [&](hid_t list) { return H5VLfile_open(name, flags, list, dxpl, request); });
}

herr_t get(void* handle, H5VL_file_get_args_t* args, hid_t dxpl, void** request) {
  const auto file = object(handle).file;
  const auto result = H5VLfile_get(object(handle).under, file->connector(), args, dxpl, request);
  adopt(request, file);
  // The program asked for the POSIX driver and finds it.
  if (result >= 0 && args->op_type == H5VL_FILE_GET_FAPL && file->way() == Way::kDriver &&
      H5Pset_fapl_sec2(args->args.get_fapl.fapl_id) < 0) {
    return -1;
  }
  return result;
}

// There is no object: the list says which connector is meant.
herr_t by_list(H5VL_file_specific_args_t& below_args, hid_t& fapl, hid_t dxpl, void** request) {
  const auto info = ConnectorInfo::of(fapl);
  const auto [list, way] = below(fapl, info);
  if (list < 0) return -1;
  fapl = list;
  const auto result = H5VLfile_specific(nullptr, info.under_vol(), &below_args, dxpl, request);
  adopt(request, std::make_shared<FileState>(Way::kPassed, nullptr, info.under_vol()));
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
  if (args->op_type == H5VL_FILE_IS_EQUAL) below_args.args.is_equal.obj2 = under_of(args->args.is_equal.obj2);
  const auto file = object(handle).file;
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

herr_t optional(void* handle, H5VL_optional_args_t* args, hid_t dxpl, void** request) {
  if (args->op_type == H5VL_NATIVE_FILE_START_SWMR_WRITE) {
    // Readers elsewhere rely on the order of writes from here on.
    if (auto* const driver = object(handle).file->driver()) {
      if (const auto status = driver->go_plain(Plain::kSwmr); !status) {
        push_error(status.error(), H5E_FILE, H5E_CANTFLUSH);
        return -1;
      }
    }
  }
  return forward<H5VLfile_optional>(handle, args, dxpl, request);
}

}  // namespace

H5VL_file_class_t file_calls() {
  return {.create = create,
          .open = open,
          .get = get,
          .specific = specific,
          .optional = optional,
          .close = forward_close<H5VLfile_close>};
}

}  // namespace forebay::hdf5
