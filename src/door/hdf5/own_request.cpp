#include "door/hdf5/own_request.hpp"

#include <algorithm>

#include "door/hdf5/error_stack.hpp"

namespace forebay::hdf5 {

herr_t OwnRequest::wait(uint64_t timeout_ns, H5VL_request_status_t* status) {
  if (!outcome_) {
    constexpr uint64_t kLongest = std::chrono::nanoseconds(std::chrono::hours(24 * 365)).count();
    outcome_ = outcome(std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(timeout_ns, kLongest))));
    if (outcome_) {
      ended_ = std::chrono::system_clock::now();
      if (callback_ != nullptr)
        callback_(context_, *outcome_ ? H5VL_REQUEST_STATUS_SUCCEED : H5VL_REQUEST_STATUS_FAIL);
    }
  }
  *status = !outcome_   ? H5VL_REQUEST_STATUS_IN_PROGRESS
            : *outcome_ ? H5VL_REQUEST_STATUS_SUCCEED
                        : H5VL_REQUEST_STATUS_FAIL;
  return 0;
}

herr_t OwnRequest::notify(H5VL_request_notify_t callback, void* context) {
  callback_ = callback;
  context_ = context;
  return 0;
}

herr_t OwnRequest::cancel(H5VL_request_status_t* status) {
  if (wait(0, status) < 0) return -1;
  if (*status == H5VL_REQUEST_STATUS_IN_PROGRESS) *status = H5VL_REQUEST_STATUS_CANT_CANCEL;
  return 0;
}

herr_t OwnRequest::specific(H5VL_request_specific_args_t* args) {
  switch (args->op_type) {
    case H5VL_REQUEST_GET_ERR_STACK: {
      const auto stack = H5Ecreate_stack();
      if (stack < 0) return -1;
      if (outcome_ && !*outcome_) {
        H5Epush2(stack, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_IO, failure_, "%s",
                 outcome_->error().message.c_str());
      }
      args->args.get_err_stack.err_stack_id = stack;
      return 0;
    }
    case H5VL_REQUEST_GET_EXEC_TIME: {
      using std::chrono::nanoseconds;
      const auto ended = outcome_ ? ended_ : std::chrono::system_clock::now();
      if (args->args.get_exec_time.exec_ts != nullptr)
        *args->args.get_exec_time.exec_ts =
            static_cast<uint64_t>(nanoseconds(began_.time_since_epoch()).count());
      if (args->args.get_exec_time.exec_time != nullptr)
        *args->args.get_exec_time.exec_time = static_cast<uint64_t>(nanoseconds(ended - began_).count());
      return 0;
    }
  }
  return -1;
}

herr_t OwnRequest::optional(H5VL_optional_args_t* /*args*/) {
  push_words("a request has no operations of its own", H5E_VOL, H5E_UNSUPPORTED);
  return -1;
}

}  // namespace forebay::hdf5
