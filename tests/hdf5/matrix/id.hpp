// An HDF5 identifier that is given back at the end of its scope. An invalid one is kept as it is: what failed
// natively must fail with a connector, so callers log it and go on.
#pragma once

#include <hdf5.h>

#include <utility>

namespace forebay::testing::matrix {

class Id {
 public:
  Id() = default;
  explicit Id(hid_t id) : id_(id) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Id() { close(); }

  // Usable wherever HDF5 wants an identifier.
  operator hid_t() const { return id_; }
  [[nodiscard]] bool good() const { return id_ >= 0; }

  // What the matching H5?close answers; 0 if there is nothing to close.
  herr_t close() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    if (id < 0) return 0;
    switch (H5Iget_type(id)) {
      case H5I_FILE:
        return H5Fclose(id);
      case H5I_GROUP:
        return H5Gclose(id);
      case H5I_DATATYPE:
        return H5Tclose(id);
      case H5I_DATASPACE:
        return H5Sclose(id);
      case H5I_DATASET:
        return H5Dclose(id);
      case H5I_ATTR:
        return H5Aclose(id);
      case H5I_GENPROP_LST:
        return H5Pclose(id);
      case H5I_EVENTSET:
        return H5ESclose(id);
      default:
        return H5Idec_ref(id) < 0 ? -1 : 0;
    }
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

}  // namespace forebay::testing::matrix
