#include <hdf5.h>

#include <vector>

#include "door/hdf5/calls.hpp"
#include "door/hdf5/forward.hpp"
#include "door/hdf5/home_request.hpp"

namespace forebay::hdf5 {
namespace {

// The datasets of one call lie in one file: HDF5 sees to that.
template <auto Below, class Data>
herr_t transfer(size_t count, void* handles[], hid_t memory_types[], hid_t memory_spaces[],
                hid_t file_spaces[], hid_t dxpl, Data* data[], void** request) {
  void* one = nullptr;
  std::vector<void*> many;
  void** under = &one;
  if (count > 1) {
    many.resize(count);
    under = many.data();
  }
  for (size_t i = 0; i < count; ++i) under[i] = object(handles[i]).under;
  const auto file = object(handles[0]).file;
  const auto result =
      Below(count, under, file->connector(), memory_types, memory_spaces, file_spaces, dxpl, data, request);
  adopt(request, file);
  return result;
}

herr_t write(size_t count, void* handles[], hid_t memory_types[], hid_t memory_spaces[], hid_t file_spaces[],
             hid_t dxpl, const void* data[], void** request) {
  const auto result = transfer<H5VLdataset_write, const void>(count, handles, memory_types, memory_spaces,
                                                              file_spaces, dxpl, data, request);
  if (result >= 0 && request != nullptr) {
    Watched written;
    for (size_t i = 0; i < count; ++i) written.push_back(object(handles[i]).watch());
    offer_home_request(object(handles[0]), std::move(written), request);
  }
  return result;
}

}  // namespace

H5VL_dataset_class_t dataset_calls() {
  return {.create = forward<H5VLdataset_create>,
          .open = forward<H5VLdataset_open>,
          .read = transfer<H5VLdataset_read, void>,
          .write = write,
          .get = forward<H5VLdataset_get>,
          .specific = forward<H5VLdataset_specific>,
          .optional = forward<H5VLdataset_optional>,
          .close = forward_close<H5VLdataset_close>};
}

}  // namespace forebay::hdf5
