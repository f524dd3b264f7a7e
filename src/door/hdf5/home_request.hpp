// A request that completes when what was written to a file is home.
//
// What HDF5 itself still holds back (chunk cache, sieve buffer) is asked for when somebody waits: in that
// thread, since no other may call HDF5.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "door/hdf5/driver.hpp"
#include "door/hdf5/file_state.hpp"
#include "door/hdf5/request.hpp"

namespace forebay::hdf5 {

using Watched = std::vector<std::weak_ptr<Object*>>;

class HomeRequest final : public Request {
 public:
  // `datasets` are those that were written.
  HomeRequest(std::shared_ptr<FileState> in, std::shared_ptr<const Fate> fate, Watched datasets);

  herr_t wait(uint64_t timeout_ns, H5VL_request_status_t* status) override;
  herr_t notify(H5VL_request_notify_t callback, void* context) override;
  herr_t cancel(H5VL_request_status_t* status) override;
  herr_t specific(H5VL_request_specific_args_t* args) override;
  herr_t optional(H5VL_optional_args_t* args) override;
  herr_t release() override { return 0; }

 private:
  void settle(Status outcome);
  Status press_datasets();

  const std::shared_ptr<const Fate> fate_;
  const Watched datasets_;
  const std::chrono::system_clock::time_point began_;
  std::chrono::system_clock::time_point ended_{};
  std::optional<Status> outcome_{};
  H5VL_request_notify_t callback_ = nullptr;
  void* context_ = nullptr;
};

// Gives a caller who wants one a request for what is written so far, unless the connector below gave one or
// the file is not buffered.
void offer_home_request(const Object& written, Watched datasets, void** request);

}  // namespace forebay::hdf5
