#include <hdf5.h>

#include "door/hdf5/calls.hpp"
#include "door/hdf5/forward.hpp"
#include "door/hdf5/guarded.hpp"

namespace forebay::hdf5 {
namespace {
namespace groups {

herr_t specific(void* handle, H5VL_group_specific_args_t* args, hid_t dxpl, void** request) {
  auto below = *args;
  if (args->op_type == H5VL_GROUP_MOUNT) below.args.mount.child_file = under_of(args->args.mount.child_file);
  const auto file = object(handle).file;
  const auto result = H5VLgroup_specific(object(handle).under, file->connector(), &below, dxpl, request);
  adopt(request, file);
  if (args->op_type == H5VL_GROUP_MOUNT && result >= 0) ParallelFile::mounted();
  return result;
}

}  // namespace groups
}  // namespace

H5VL_group_class_t group_calls() {
  return {.create = forward<H5VLgroup_create>,
          .open = forward<H5VLgroup_open>,
          .get = forward<H5VLgroup_get>,
          .specific = guarded<groups::specific>,
          .optional = forward<H5VLgroup_optional>,
          .close = guarded<forward_close<H5VLgroup_close>>};
}

}  // namespace forebay::hdf5
