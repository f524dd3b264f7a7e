// What HDF5 holds of this connector: an object or a request of the connector below, and the file it lies in.
#pragma once

#include <hdf5.h>

#include <memory>
#include <utility>

#include "door/hdf5/file_state.hpp"

namespace forebay::hdf5 {

struct Object {
  Object(void* under_object, std::shared_ptr<FileState> in) : under(under_object), file(std::move(in)) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  void* under;  // none if it is ours alone
  std::shared_ptr<FileState> file;

  // The connector below.
  [[nodiscard]] hid_t vol() const { return file->connector(); }
  // For those who may outlive the object.
  [[nodiscard]] std::weak_ptr<Object*> watch() {
    if (!self_) self_ = std::make_shared<Object*>(this);
    return self_;
  }

 private:
  std::shared_ptr<Object*> self_{};
};

[[nodiscard]] inline Object& object(void* handle) { return *static_cast<Object*>(handle); }
[[nodiscard]] inline const Object& object(const void* handle) { return *static_cast<const Object*>(handle); }
// HDF5 leaves some objects out ("the same place").
[[nodiscard]] inline void* under_of(void* handle) {
  return handle == nullptr ? nullptr : object(handle).under;
}

}  // namespace forebay::hdf5
