#include "door/hdf5/home_request.hpp"

#include <H5VLconnector_passthru.h>

#include <algorithm>
#include <cerrno>

#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/file_state.hpp"

namespace forebay::hdf5 {

HomeRequest::HomeRequest(std::shared_ptr<FileState> in, std::shared_ptr<const Fate> fate, Watched datasets)
    : Request(nullptr, std::move(in)),
      fate_(std::move(fate)),
      datasets_(std::move(datasets)),
      began_(std::chrono::system_clock::now()) {}

void HomeRequest::settle(Status outcome) {
  outcome_ = std::move(outcome);
  ended_ = std::chrono::system_clock::now();
  if (callback_ != nullptr)
    callback_(context_, *outcome_ ? H5VL_REQUEST_STATUS_SUCCEED : H5VL_REQUEST_STATUS_FAIL);
}

Status HomeRequest::press_datasets() {
  for (const auto& watched : datasets_) {
    const auto token = watched.lock();
    if (!token) continue;
    const auto& dataset = **token;
    H5VL_dataset_specific_args_t args{};
    args.op_type = H5VL_DATASET_FLUSH;
    args.args.flush.dset_id = H5I_INVALID_HID;
    const Haste haste(*dataset.file);
    const ExpectFailure keep_quiet;
    if (H5VLdataset_specific(dataset.under, dataset.vol(), &args, H5P_DEFAULT, nullptr) < 0)
      return fail(EIO, "HDF5 could not write out what it holds of a dataset");
  }
  return {};
}

herr_t HomeRequest::wait(uint64_t timeout_ns, H5VL_request_status_t* status) {
  if (!outcome_) {
    if (auto pressed = press_datasets(); !pressed) {
      settle(std::move(pressed));
    } else if (fate_->when_closed) {
      settle(*fate_->when_closed);
    } else if (!fate_->file || fate_->process != fork_generation()) {
      settle({});  // in a forked child: its parent sees to it
    } else {
      constexpr uint64_t kLongest = std::chrono::nanoseconds(std::chrono::hours(24 * 365)).count();
      const auto patience =
          std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(timeout_ns, kLongest)));
      auto home = fate_->file->drain(patience);
      if (home || home.error().code != ETIMEDOUT) settle(std::move(home));
    }
  }
  *status = !outcome_   ? H5VL_REQUEST_STATUS_IN_PROGRESS
            : *outcome_ ? H5VL_REQUEST_STATUS_SUCCEED
                        : H5VL_REQUEST_STATUS_FAIL;
  return 0;
}

herr_t HomeRequest::notify(H5VL_request_notify_t callback, void* context) {
  callback_ = callback;
  context_ = context;
  return 0;
}

// What was acknowledged goes home.
herr_t HomeRequest::cancel(H5VL_request_status_t* status) {
  if (wait(0, status) < 0) return -1;
  if (*status == H5VL_REQUEST_STATUS_IN_PROGRESS) *status = H5VL_REQUEST_STATUS_CANT_CANCEL;
  return 0;
}

herr_t HomeRequest::specific(H5VL_request_specific_args_t* args) {
  switch (args->op_type) {
    case H5VL_REQUEST_GET_ERR_STACK: {
      const auto stack = H5Ecreate_stack();
      if (stack < 0) return -1;
      if (outcome_ && !*outcome_) {
        H5Epush2(stack, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_IO, H5E_WRITEERROR, "%s",
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

herr_t HomeRequest::optional(H5VL_optional_args_t* /*args*/) {
  push_words("a request has no operations of its own", H5E_VOL, H5E_UNSUPPORTED);
  return -1;
}

void offer_home_request(const Object& written, Watched datasets, void** request) {
  if (request == nullptr || *request != nullptr) return;
  auto fate = written.file->fate();
  if (!fate) return;
  *request = static_cast<Object*>(new HomeRequest(written.file, std::move(fate), std::move(datasets)));
}

}  // namespace forebay::hdf5
