// Links and objects: what names a second object.
#include <hdf5.h>

#include "door/hdf5/calls.hpp"
#include "door/hdf5/dataset_object.hpp"
#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/forward.hpp"
#include "door/hdf5/guarded.hpp"
#include "door/hdf5/prefetch.hpp"
#include "door/hdf5/reuse.hpp"

namespace forebay::hdf5 {
namespace {
namespace links {

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

bool push_unless(const Status& status, hid_t major) {
  if (!status) push_error(status.error(), major, H5E_CANTFLUSH);
  return status.has_value();
}

// What may free storage: nothing of it may be unsaved then, on any rank.
template <class Call>
herr_t freeing(const std::shared_ptr<FileState>& file, hid_t major, const Call& native) {
  expect_reuse();
  const auto& parallel = file->parallel();
  if (!parallel) return native();
  if (!push_unless(parallel->settle_names(), major)) return -1;
  const auto result = native();
  parallel->unlinked();
  return result;
}

herr_t link_specific(void* handle, const H5VL_loc_params_t* where, H5VL_link_specific_args_t* args,
                     hid_t dxpl, void** request) {
  const auto plain = [&] { return forward<H5VLlink_specific>(handle, where, args, dxpl, request); };
  return args->op_type == H5VL_LINK_DELETE ? freeing(object(handle).file, H5E_LINK, plain) : plain();
}

herr_t object_specific(void* handle, const H5VL_loc_params_t* where, H5VL_object_specific_args_t* args,
                       hid_t dxpl, void** request) {
  const auto plain = [&] { return forward<H5VLobject_specific>(handle, where, args, dxpl, request); };
  const bool frees = args->op_type == H5VL_OBJECT_CHANGE_REF_COUNT && args->args.change_rc.delta < 0;
  return frees ? freeing(object(handle).file, H5E_OHDR, plain) : plain();
}

void* open_object(void* handle, const H5VL_loc_params_t* where, H5I_type_t* type, hid_t dxpl,
                  void** request) {
  const auto file = object(handle).file;
  void* const under = H5VLobject_open(object(handle).under, where, file->connector(), type, dxpl, request);
  adopt(request, file);
  if (under == nullptr) return nullptr;
  auto* const opened = make_object(under, *type, file);
  if (*type == H5I_DATASET) prefetch_at_open(dataset(opened));
  return opened;
}

herr_t copy_object(void* from, const H5VL_loc_params_t* where, const char* name, void* to,
                   const H5VL_loc_params_t* there, const char* new_name, hid_t ocpypl, hid_t lcpl, hid_t dxpl,
                   void** request) {
  const auto file = either(from, to).file;
  const auto& source = object(from).file->parallel();
  const auto& target = object(to).file->parallel();
  // To a file of its own a rank may copy by itself.
  const bool together =
      target ? source && source->same_ranks(*target) : object(to).file->way() == Way::kParallel;
  if (source && !push_unless(together ? source->settle() : source->drain(), H5E_OHDR)) return -1;
  const auto result = H5VLobject_copy(under_of(from), where, name, under_of(to), there, new_name,
                                      file->connector(), ocpypl, lcpl, dxpl, request);
  adopt(request, file);
  if (target) target->allocated();
  return result;
}

}  // namespace links
}  // namespace

H5VL_link_class_t link_calls() {
  return {.create = guarded<links::create>,
          .copy = guarded<links::from_to<H5VLlink_copy>>,
          .move = guarded<links::from_to<H5VLlink_move>>,
          .get = forward<H5VLlink_get>,
          .specific = guarded<links::link_specific>,
          .optional = forward<H5VLlink_optional>};
}

H5VL_object_class_t object_calls() {
  return {.open = guarded<links::open_object>,
          .copy = guarded<links::copy_object>,
          .get = forward<H5VLobject_get>,  // a file that it finds is wrapped by HDF5
          .specific = guarded<links::object_specific>,
          .optional = forward<H5VLobject_optional>};
}

}  // namespace forebay::hdf5
