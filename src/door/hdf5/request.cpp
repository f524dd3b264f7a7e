#include "door/hdf5/request.hpp"

#include <H5VLconnector_passthru.h>

#include "door/hdf5/guarded.hpp"

namespace forebay::hdf5 {

herr_t PassedRequest::wait(uint64_t timeout_ns, H5VL_request_status_t* status) {
  return H5VLrequest_wait(under, vol(), timeout_ns, status);
}
herr_t PassedRequest::notify(H5VL_request_notify_t callback, void* context) {
  return H5VLrequest_notify(under, vol(), callback, context);
}
herr_t PassedRequest::cancel(H5VL_request_status_t* status) {
  return H5VLrequest_cancel(under, vol(), status);
}
herr_t PassedRequest::specific(H5VL_request_specific_args_t* args) {
  return H5VLrequest_specific(under, vol(), args);
}
herr_t PassedRequest::optional(H5VL_optional_args_t* args) {
  return H5VLrequest_optional(under, vol(), args);
}
herr_t PassedRequest::release() { return H5VLrequest_free(under, vol()); }

namespace {
namespace requests {

Request& request(void* handle) { return static_cast<Request&>(object(handle)); }

herr_t wait(void* handle, uint64_t timeout, H5VL_request_status_t* status) {
  return request(handle).wait(timeout, status);
}
herr_t notify(void* handle, H5VL_request_notify_t callback, void* context) {
  return request(handle).notify(callback, context);
}
herr_t cancel(void* handle, H5VL_request_status_t* status) { return request(handle).cancel(status); }
herr_t specific(void* handle, H5VL_request_specific_args_t* args) { return request(handle).specific(args); }
herr_t optional(void* handle, H5VL_optional_args_t* args) { return request(handle).optional(args); }
herr_t free_request(void* handle) {
  const auto result = request(handle).release();
  if (result >= 0) delete &request(handle);
  return result;
}

}  // namespace requests

constexpr H5VL_request_class_t kClass = {.wait = guarded<requests::wait>,
                                         .notify = guarded<requests::notify>,
                                         .cancel = guarded<requests::cancel>,
                                         .specific = guarded<requests::specific>,
                                         .optional = guarded<requests::optional>,
                                         .free = guarded<requests::free_request>};

}  // namespace

const H5VL_request_class_t& request_class() { return kClass; }

}  // namespace forebay::hdf5
