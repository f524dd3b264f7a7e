// What HDF5 holds of this connector: an object or a request of the connector below, and the file it lies in.
#pragma once

#include <hdf5.h>

#include <memory>
#include <utility>

#include "door/hdf5/error_stack.hpp"

namespace forebay::hdf5 {

class FileState;

// Holds a reference to the identifier of a connector.
class ConnectorRef {
 public:
  explicit ConnectorRef(hid_t connector) : id_(connector) { H5Iinc_ref(id_); }
  ConnectorRef(const ConnectorRef& other) : ConnectorRef(other.id_) {}
  ConnectorRef& operator=(const ConnectorRef&) = delete;
  ~ConnectorRef() {
    const KeepErrorStack keep;
    H5Idec_ref(id_);
  }
  [[nodiscard]] hid_t id() const { return id_; }

 private:
  hid_t id_;
};

struct Object {
  Object(void* under_object, hid_t under_connector, std::shared_ptr<FileState> in)
      : under(under_object), connector(under_connector), file(std::move(in)) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  void* under;             // none if it is ours alone
  ConnectorRef connector;  // the one below
  std::shared_ptr<FileState> file;

  [[nodiscard]] hid_t vol() const { return connector.id(); }
  // For those who may outlive the object.
  [[nodiscard]] std::weak_ptr<Object*> watch() {
    if (!self) self = std::make_shared<Object*>(this);
    return self;
  }

 private:
  std::shared_ptr<Object*> self{};
};

[[nodiscard]] inline Object& object(void* handle) { return *static_cast<Object*>(handle); }
[[nodiscard]] inline const Object& object(const void* handle) { return *static_cast<const Object*>(handle); }
// HDF5 leaves some objects out ("the same place").
[[nodiscard]] inline void* under_of(void* handle) {
  return handle == nullptr ? nullptr : object(handle).under;
}

}  // namespace forebay::hdf5
