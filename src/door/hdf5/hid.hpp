// An HDF5 identifier that is given back when its owner goes.
#pragma once

#include <H5Ipublic.h>

#include <utility>

namespace forebay::hdf5 {

class Hid {
 public:
  Hid() = default;
  explicit Hid(hid_t id) : id_(id) {}
  Hid(Hid&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Hid& operator=(Hid&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Hid() {
    if (id_ >= 0) H5Idec_ref(id_);
  }

  [[nodiscard]] hid_t get() const { return id_; }
  // Whoever takes it gives it back.
  hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

}  // namespace forebay::hdf5
