// Links and objects: what names a second object.
#include <hdf5.h>

#include "door/hdf5/calls.hpp"
#include "door/hdf5/forward.hpp"

namespace forebay::hdf5 {
namespace {

// Either may be left out when both are in the same place.
const Object& either(void* one, void* two) { return object(one != nullptr ? one : two); }

herr_t create(H5VL_link_create_args_t* args, void* handle, const H5VL_loc_params_t* where, hid_t lcpl,
              hid_t lapl, hid_t dxpl, void** request) {
  auto below = *args;
  void* target = nullptr;
  if (args->op_type == H5VL_LINK_CREATE_HARD) {
    target = args->args.hard.curr_obj;
    below.args.hard.curr_obj = under_of(target);
  }
  const auto file = either(handle, target).file;
  const auto result =
      H5VLlink_create(&below, under_of(handle), where, file->connector(), lcpl, lapl, dxpl, request);
  adopt(request, file);
  return result;
}

template <auto Below>
herr_t from_to(void* from, const H5VL_loc_params_t* where, void* to, const H5VL_loc_params_t* there,
               hid_t lcpl, hid_t lapl, hid_t dxpl, void** request) {
  const auto file = either(from, to).file;
  const auto result =
      Below(under_of(from), where, under_of(to), there, file->connector(), lcpl, lapl, dxpl, request);
  adopt(request, file);
  return result;
}

herr_t copy_object(void* from, const H5VL_loc_params_t* where, const char* name, void* to,
                   const H5VL_loc_params_t* there, const char* new_name, hid_t ocpypl, hid_t lcpl, hid_t dxpl,
                   void** request) {
  const auto file = either(from, to).file;
  const auto result = H5VLobject_copy(under_of(from), where, name, under_of(to), there, new_name,
                                      file->connector(), ocpypl, lcpl, dxpl, request);
  adopt(request, file);
  return result;
}

}  // namespace

H5VL_link_class_t link_calls() {
  return {.create = create,
          .copy = from_to<H5VLlink_copy>,
          .move = from_to<H5VLlink_move>,
          .get = forward<H5VLlink_get>,
          .specific = forward<H5VLlink_specific>,
          .optional = forward<H5VLlink_optional>};
}

H5VL_object_class_t object_calls() {
  return {.open = forward<H5VLobject_open>,
          .copy = copy_object,
          .get = forward<H5VLobject_get>,  // a file that it finds is wrapped by HDF5
          .specific = forward<H5VLobject_specific>,
          .optional = forward<H5VLobject_optional>};
}

}  // namespace forebay::hdf5
