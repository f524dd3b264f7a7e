// HDF5's identifiers, owned, and its failures as exceptions.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

namespace forebay::kernels {

// The code, or std::runtime_error with what HDF5 says; `what` names what was being done.
hid_t must(hid_t code, const std::string& what);

class Hid {
 public:
  using Close = herr_t (*)(hid_t);

  Hid() = default;
  Hid(hid_t id, Close closer, const std::string& what) : id_(must(id, what)), close_(closer) {}
  Hid(Hid&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hid& operator=(Hid&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  Hid(const Hid&) = delete;
  Hid& operator=(const Hid&) = delete;
  ~Hid() {
    if (id_ >= 0) close_(id_);
  }

  [[nodiscard]] hid_t get() const { return id_; }
  // Closing that may fail: what is written may only be missed here.
  void close(const std::string& what) {
    if (id_ >= 0) must(close_(std::exchange(id_, H5I_INVALID_HID)), what);
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

}  // namespace forebay::kernels
