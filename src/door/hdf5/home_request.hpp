// A request that completes when what was written to a file is home.
//
// What HDF5 itself still holds back (chunk cache, sieve buffer) is asked for when somebody waits: in that
// thread, since no other may call HDF5.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "door/hdf5/driver.hpp"
#include "door/hdf5/own_request.hpp"

namespace forebay::hdf5 {

using Watched = std::vector<std::weak_ptr<Object*>>;

class HomeRequest final : public OwnRequest {
 public:
  // `datasets` are those that were written.
  HomeRequest(std::shared_ptr<FileState> in, std::shared_ptr<const Fate> fate, Watched datasets)
      : OwnRequest(std::move(in), H5E_WRITEERROR), fate_(std::move(fate)), datasets_(std::move(datasets)) {}

 private:
  std::optional<Status> outcome(std::chrono::nanoseconds patience) override;
  Status press_datasets();

  const std::shared_ptr<const Fate> fate_;
  const Watched datasets_;
};

// Gives a caller who wants one a request for what is written so far, unless the connector below gave one or
// the file is not buffered.
void offer_home_request(const Object& written, Watched datasets, void** request);

}  // namespace forebay::hdf5
