#include "door/hdf5/reuse.hpp"

#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>

#include "door/hdf5/driver.hpp"
#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/hid.hpp"

namespace forebay::hdf5 {
namespace {

bool anybody_minds() {
  bool minds = false;
  for_each_driver_file([&](const DriverFile& file) { minds = minds || file.minds_reuse(); });
  return minds;
}

bool is_written_in_place(const DatasetObject& one) {
  const ExpectFailure it_may_not_tell;
  H5VL_dataset_get_args_t args{};
  args.op_type = H5VL_DATASET_GET_DCPL;
  if (H5VLdataset_get(one.under, one.vol(), &args, H5P_DEFAULT, nullptr) < 0) return false;
  const Hid dcpl(args.args.get_dcpl.dcpl_id);
  if (H5Pget_nfilters(dcpl.get()) != 0) return false;
  args = {};
  args.op_type = H5VL_DATASET_GET_TYPE;
  if (H5VLdataset_get(one.under, one.vol(), &args, H5P_DEFAULT, nullptr) < 0) return false;
  const Hid type(args.args.get_type.type_id);
  return has_fixed_size(type.get());
}

}  // namespace

void expect_reuse() {
  for_each_driver_file([](DriverFile& file) { file.expect_reuse(); });
}

void expect_reuse_by_writing(DatasetObject& dataset) {
  if (!anybody_minds()) return;
  if (!dataset.written_in_place) dataset.written_in_place = is_written_in_place(dataset);
  if (!*dataset.written_in_place) expect_reuse();
}

bool has_fixed_size(hid_t type) {
  const auto kind = H5Tget_class(type);
  if (kind == H5T_STRING) return H5Tis_variable_str(type) == 0;
  // Of strings within others HDF5 does not say here which kind they are.
  const bool strings = (kind == H5T_COMPOUND || kind == H5T_ARRAY) && H5Tdetect_class(type, H5T_STRING) > 0;
  return !strings && H5Tdetect_class(type, H5T_VLEN) == 0 && H5Tdetect_class(type, H5T_REFERENCE) == 0;
}

}  // namespace forebay::hdf5
