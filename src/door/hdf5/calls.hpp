// The callbacks of the connector that do something of their own, by the kind of object.
#pragma once

#include <hdf5.h>

#include <H5VLconnector.h>

namespace forebay::hdf5 {

[[nodiscard]] H5VL_info_class_t info_calls();
[[nodiscard]] H5VL_wrap_class_t wrap_calls();
[[nodiscard]] H5VL_file_class_t file_calls();
[[nodiscard]] H5VL_dataset_class_t dataset_calls();
[[nodiscard]] H5VL_group_class_t group_calls();
[[nodiscard]] H5VL_link_class_t link_calls();
[[nodiscard]] H5VL_object_class_t object_calls();

}  // namespace forebay::hdf5
