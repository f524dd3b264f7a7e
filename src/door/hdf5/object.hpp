// What HDF5 holds of this connector: an object or a request of the connector below, and the file it lies in.
#pragma once

#include <hdf5.h>

#include <memory>
#include <utility>

#include "base/error.hpp"
#include "door/hdf5/file_state.hpp"

namespace forebay::hdf5 {

struct Object;

// What a request keeps of an object that it means: the object may be closed before the request has completed.
struct Watch {
  Object* object;        // null once it is closed
  Status when_closed{};  // what became then of what HDF5 held back of it
};

struct Object {
  Object(void* under_object, std::shared_ptr<FileState> in) : under(under_object), file(std::move(in)) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() {
    if (watch_) watch_->object = nullptr;
  }

  void* under;  // none if it is ours alone
  std::shared_ptr<FileState> file;

  // The connector below.
  [[nodiscard]] hid_t vol() const { return file->connector(); }
  // For those who may outlive the object.
  [[nodiscard]] std::shared_ptr<Watch> watch() {
    if (!watch_) watch_ = std::make_shared<Watch>(this);
    return watch_;
  }
  // That of those who are there; null if nobody is.
  [[nodiscard]] Watch* watched() const { return watch_.use_count() > 1 ? watch_.get() : nullptr; }

 private:
  std::shared_ptr<Watch> watch_{};
};

[[nodiscard]] inline Object& object(void* handle) { return *static_cast<Object*>(handle); }
[[nodiscard]] inline const Object& object(const void* handle) { return *static_cast<const Object*>(handle); }
// HDF5 leaves some objects out ("the same place").
[[nodiscard]] inline void* under_of(void* handle) {
  return handle == nullptr ? nullptr : object(handle).under;
}

}  // namespace forebay::hdf5
