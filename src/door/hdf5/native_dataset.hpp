// Questions about an open dataset of the connector below, at the bottom of which is the native one.
#pragma once

#include <hdf5.h>

#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <H5VLnative.h>

#include "door/hdf5/hid.hpp"

namespace forebay::hdf5 {

// Its dataspace, type or creation list; nothing on failure.
inline Hid ask(void* dataset, hid_t connector, H5VL_dataset_get_t what) {
  H5VL_dataset_get_args_t args{};
  args.op_type = what;
  if (H5VLdataset_get(dataset, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr) < 0) return {};
  switch (what) {
    case H5VL_DATASET_GET_SPACE:
      return Hid(args.args.get_space.space_id);
    case H5VL_DATASET_GET_TYPE:
      return Hid(args.args.get_type.type_id);
    default:
      return Hid(args.args.get_dcpl.dcpl_id);
  }
}

// An operation of the native connector (H5VL_NATIVE_DATASET_*): was it done?
inline bool ask_native(void* dataset, hid_t connector, int what,
                       H5VL_native_dataset_optional_args_t& native) {
  H5VL_optional_args_t args{};
  args.op_type = what;
  args.args = &native;
  return H5VLdataset_optional(dataset, connector, &args, H5P_DATASET_XFER_DEFAULT, nullptr) >= 0;
}

// May HDF5 fill chunks of datasets made with this list when it allocates them, on the MPI-IO driver? All
// ranks do so together, after its own last synchronisation. (What is contiguous is filled before it.)
inline bool fills_chunks(hid_t creation) {
  if (creation == H5P_DATASET_CREATE_DEFAULT || H5Pget_layout(creation) != H5D_CHUNKED) return false;
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  H5D_fill_time_t time = H5D_FILL_TIME_ERROR;
  if (H5Pfill_value_defined(creation, &defined) < 0 || H5Pget_fill_time(creation, &time) < 0) return true;
  return time == H5D_FILL_TIME_ALLOC || (time != H5D_FILL_TIME_NEVER && defined != H5D_FILL_VALUE_UNDEFINED);
}

}  // namespace forebay::hdf5
