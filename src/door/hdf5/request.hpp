// Operations under way, as event sets know them.
//
// HDF5 asks in the caller's thread, under its own lock. It frees a request when it has completed or failed.
#pragma once

#include <hdf5.h>

#include <H5VLconnector.h>

#include <memory>

#include "door/hdf5/object.hpp"

namespace forebay::hdf5 {

class Request : public Object {
 public:
  using Object::Object;

  virtual herr_t wait(uint64_t timeout_ns, H5VL_request_status_t* status) = 0;
  virtual herr_t notify(H5VL_request_notify_t callback, void* context) = 0;
  virtual herr_t cancel(H5VL_request_status_t* status) = 0;
  virtual herr_t specific(H5VL_request_specific_args_t* args) = 0;
  virtual herr_t optional(H5VL_optional_args_t* args) = 0;
  // Before the object goes.
  virtual herr_t release() = 0;
};

// A request of the connector below.
class PassedRequest final : public Request {
 public:
  using Request::Request;
  herr_t wait(uint64_t timeout_ns, H5VL_request_status_t* status) override;
  herr_t notify(H5VL_request_notify_t callback, void* context) override;
  herr_t cancel(H5VL_request_status_t* status) override;
  herr_t specific(H5VL_request_specific_args_t* args) override;
  herr_t optional(H5VL_optional_args_t* args) override;
  herr_t release() override;
};

// Makes a request of the connector below, if there is one, ours.
inline void adopt(void** request, const std::shared_ptr<FileState>& file) {
  if (request == nullptr || *request == nullptr) return;
  *request = static_cast<Object*>(new PassedRequest(*request, file));
}

[[nodiscard]] const H5VL_request_class_t& request_class();

}  // namespace forebay::hdf5
