// HDF5 takes objects apart and puts them together again where the native connector makes one by itself.
#include <H5VLconnector_passthru.h>

#include <memory>

#include "door/hdf5/calls.hpp"
#include "door/hdf5/dataset_object.hpp"
#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/guarded.hpp"

namespace forebay::hdf5 {
namespace {
namespace wrapping {

struct WrapContext {
  void* under;
  std::shared_ptr<FileState> file;
};

void* get_object(const void* handle) { return H5VLget_object(object(handle).under, object(handle).vol()); }

herr_t get_context(const void* handle, void** context) {
  const auto& from = object(handle);
  void* under = nullptr;
  if (from.under != nullptr && H5VLget_wrap_ctx(from.under, from.vol(), &under) < 0) return -1;
  *context = new WrapContext{under, from.file};
  return 0;
}

void* wrap(void* bare, H5I_type_t type, void* context) {
  const auto& how = *static_cast<WrapContext*>(context);
  void* const under = H5VLwrap_object(bare, type, how.file->connector(), how.under);
  return under == nullptr ? nullptr : make_object(under, type, how.file);
}

void* unwrap(void* handle) {
  void* const bare = H5VLunwrap_object(object(handle).under, object(handle).vol());
  if (bare != nullptr) delete &object(handle);
  return bare;
}

herr_t free_context(void* context) {
  const std::unique_ptr<WrapContext> how(static_cast<WrapContext*>(context));
  const KeepErrorStack keep;
  if (how->under != nullptr) H5VLfree_wrap_ctx(how->under, how->file->connector());
  return 0;
}

}  // namespace wrapping
}  // namespace

H5VL_wrap_class_t wrap_calls() {
  return {.get_object = guarded<wrapping::get_object>,
          .get_wrap_ctx = guarded<wrapping::get_context>,
          .wrap_object = guarded<wrapping::wrap>,
          .unwrap_object = guarded<wrapping::unwrap>,
          .free_wrap_ctx = guarded<wrapping::free_context>};
}

}  // namespace forebay::hdf5
