#include "door/hdf5/api/call.hpp"

#include "door/hdf5/quiet.hpp"

namespace forebay::hdf5 {
namespace {

// The operation's number, if the connector is there and the object is its own; else -1, with an entry on the
// error stack.
int find(const Place& place, H5VL_subclass_t kind, const OperationName& operation, hid_t object) {
  int number = -1;
  uint64_t flags = 0;
  bool loaded = false;
  bool ours = false;
  {
    const Quiet quiet;
    loaded = H5VLfind_opt_operation(kind, operation.name, &number) >= 0;
    ours = loaded && H5VLquery_optional(object, kind, number, &flags) >= 0 &&
           (flags & H5VL_OPT_QUERY_SUPPORTED) != 0;
  }
  if (ours) return number;
  return refuse(place, H5E_UNSUPPORTED,
                loaded ? "nothing was done: the object was not opened through the connector \"forebay\""
                       : "nothing was done: the connector \"forebay\" is not loaded (HDF5_VOL_CONNECTOR, "
                         "HDF5_PLUGIN_PATH)");
}

}  // namespace

herr_t refuse(const Place& place, hid_t minor, const char* words) {
  H5Eclear2(H5E_DEFAULT);
  H5Epush2(H5E_DEFAULT, place.file, place.function, place.line, H5E_ERR_CLS, H5E_VOL, minor, "%s", words);
  H5E_auto2_t print = nullptr;
  void* data = nullptr;
  if (H5Eget_auto2(H5E_DEFAULT, &print, &data) >= 0 && print != nullptr) print(H5E_DEFAULT, data);
  return -1;
}

herr_t call(const Place& place, DatasetOperation what, hid_t dataset, void* args, hid_t dxpl, hid_t events) {
  const auto& operation = kDatasetOperations[static_cast<int>(what)];
  const int number = find(place, H5VL_SUBCLS_DATASET, operation, dataset);
  if (number < 0) return -1;
  H5VL_optional_args_t optional{.op_type = number, .args = args};
  if (dxpl == H5P_DEFAULT) dxpl = H5P_DATASET_XFER_DEFAULT;
  return (H5VLdataset_optional_op)(place.file, place.function, place.line, dataset, &optional, dxpl, events);
}

herr_t call(const Place& place, FileOperation what, hid_t file, void* args, hid_t events) {
  const auto& operation = kFileOperations[static_cast<int>(what)];
  const int number = find(place, H5VL_SUBCLS_FILE, operation, file);
  if (number < 0) return -1;
  H5VL_optional_args_t optional{.op_type = number, .args = args};
  return (H5VLfile_optional_op)(place.file, place.function, place.line, file, &optional,
                                H5P_DATASET_XFER_DEFAULT, events);
}

}  // namespace forebay::hdf5
