// A request that completes when what was written to a file is home.
//
// What HDF5 itself still holds back (chunk cache, sieve buffer), and what waits for a flush, is asked for
// when somebody waits: in that thread, since no other may call HDF5.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "door/hdf5/driver.hpp"
#include "door/hdf5/own_request.hpp"

namespace forebay::hdf5 {

using Watched = std::vector<std::shared_ptr<Watch>>;

class HomeRequest final : public OwnRequest {
 public:
  // `datasets` are those that were written.
  HomeRequest(std::shared_ptr<FileState> in, std::shared_ptr<Fate> fate, Watched datasets)
      : OwnRequest(std::move(in), H5E_WRITEERROR), fate_(std::move(fate)), datasets_(std::move(datasets)) {}
  HomeRequest(const HomeRequest&) = delete;
  HomeRequest& operator=(const HomeRequest&) = delete;
  // Of a file that it has to close it waits for the end.
  ~HomeRequest() override;

 private:
  std::optional<Status> outcome(std::chrono::nanoseconds patience) override;
  // Once, before the first wait.
  Status press();
  [[nodiscard]] bool is_here() const;
  Status close_left();

  const std::shared_ptr<Fate> fate_;
  const Watched datasets_;
  std::optional<Status> pressed_{};
};

// Has HDF5 hand over what it holds back of a dataset, without waiting for home.
Status press(const Object& dataset);

// Gives a caller who wants one a request for what is written so far, unless the connector below gave one or
// the file is not buffered.
void offer_home_request(const Object& written, Watched datasets, void** request);
// The same where the object may be gone; `fate` may be null. A file that was left, and that nobody gets a
// request for, is closed here.
void offer_home_request(const std::shared_ptr<FileState>& file, std::shared_ptr<Fate> fate, Watched datasets,
                        void** request);

}  // namespace forebay::hdf5
