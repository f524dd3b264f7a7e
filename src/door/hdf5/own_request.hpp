// A request of this connector's own, with none below it: the engine does the work, and is asked how far it is
// when HDF5 asks.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "door/hdf5/file_state.hpp"
#include "door/hdf5/request.hpp"

namespace forebay::hdf5 {

class OwnRequest : public Request {
 public:
  herr_t wait(uint64_t timeout_ns, H5VL_request_status_t* status) final;
  herr_t notify(H5VL_request_notify_t callback, void* context) final;
  // It goes on: what was acknowledged goes home, and what was asked for comes.
  herr_t cancel(H5VL_request_status_t* status) final;
  herr_t specific(H5VL_request_specific_args_t* args) final;
  herr_t optional(H5VL_optional_args_t* args) final;
  herr_t release() final { return 0; }

 protected:
  // `failure` is the minor error number of one that fails.
  OwnRequest(std::shared_ptr<FileState> in, hid_t failure)
      : Request(nullptr, std::move(in)), failure_(failure), began_(std::chrono::system_clock::now()) {}
  // How it ended, waiting as long as that; nothing if it goes on. Not asked again once it has ended.
  virtual std::optional<Status> outcome(std::chrono::nanoseconds patience) = 0;

 private:
  const hid_t failure_;
  const std::chrono::system_clock::time_point began_;
  std::chrono::system_clock::time_point ended_{};
  std::optional<Status> outcome_{};
  H5VL_request_notify_t callback_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace forebay::hdf5
