// The property-list calls of <forebay/hdf5.h>.
#define FOREBAY_H5_NO_MACROS
#include <forebay/hdf5.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "door/hdf5/api/call.hpp"

namespace forebay::hdf5 {
namespace {

bool is_flag(const char* flag) {
  return flag != nullptr && (std::strcmp(flag, kWriteProperty) == 0 || std::strcmp(flag, kReadProperty) == 0);
}

herr_t refuse_flag(const Place& place) {
  return refuse(place, H5E_BADVALUE, "the flag is neither \"HDF5_CACHE_WR\" nor \"HDF5_CACHE_RD\"");
}

// "config=FILE;set={...}", to be freed by the caller.
char* connector_string(const char* config, const char* settings) {
  if (config == nullptr) config = "";
  if (settings == nullptr) settings = "";
  const auto size = std::strlen(config) + std::strlen(settings) + 32;
  auto* const text = static_cast<char*>(std::malloc(size));
  if (text != nullptr)
    std::snprintf(text, size, "%s%s;set={%s}", *config == '\0' ? "" : "config=", config, settings);
  return text;
}

}  // namespace
}  // namespace forebay::hdf5

using forebay::hdf5::is_flag;
using forebay::hdf5::Place;
using forebay::hdf5::refuse;
using forebay::hdf5::refuse_flag;

extern "C" {

herr_t H5Pset_fapl_cache(hid_t fapl, const char* flag, const void* value) {
  const Place here{__FILE__, __func__, __LINE__};
  if (!is_flag(flag)) return refuse_flag(here);
  if (value == nullptr) return refuse(here, H5E_BADVALUE, "there is no value");
  hbool_t on = *static_cast<const hbool_t*>(value);
  const auto there = H5Pexist(fapl, flag);
  if (there < 0) return -1;
  if (there > 0) return H5Pset(fapl, flag, &on);
  return H5Pinsert2(fapl, flag, sizeof on, &on, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
}

herr_t H5Pget_fapl_cache(hid_t fapl, const char* flag, void* value) {
  const Place here{__FILE__, __func__, __LINE__};
  if (!is_flag(flag)) return refuse_flag(here);
  if (value == nullptr) return refuse(here, H5E_BADVALUE, "there is no place for the value");
  return H5Pget(fapl, flag, value);
}

herr_t H5Pset_fapl_forebay(hid_t fapl, const char* config, const char* settings) {
  const Place here{__FILE__, __func__, __LINE__};
  // On failure HDF5's own entries say where it looked.
  const auto connector = H5VLregister_connector_by_name("forebay", H5P_DEFAULT);
  if (connector < 0) {
    H5Epush2(
        H5E_DEFAULT, here.file, here.function, here.line, H5E_ERR_CLS, H5E_VOL, H5E_CANTREGISTER,
        "the connector \"forebay\" cannot be loaded: HDF5_PLUGIN_PATH must name the folder of its plugins "
        "for this HDF5");
    return -1;
  }
  char* const text = forebay::hdf5::connector_string(config, settings);
  void* info = nullptr;
  herr_t result = -1;
  if (text != nullptr && H5VLconnector_str_to_info(text, connector, &info) >= 0)
    result = H5Pset_vol(fapl, connector, info);
  // Cleaning up must not take the entries of a failure away.
  const auto failure = result < 0 ? H5Eget_current_stack() : H5I_INVALID_HID;
  std::free(text);
  if (info != nullptr) H5VLfree_connector_info(connector, info);
  H5VLclose(connector);
  if (failure >= 0) H5Eset_current_stack(failure);
  return result;
}

}  // extern "C"
