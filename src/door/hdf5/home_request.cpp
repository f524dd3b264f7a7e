#include "door/hdf5/home_request.hpp"

#include <H5VLconnector_passthru.h>

#include <cerrno>
#include <utility>

#include "base/log.hpp"
#include "door/hdf5/error_stack.hpp"

namespace forebay::hdf5 {

Status press(const Object& dataset) {
  H5VL_dataset_specific_args_t args{};
  args.op_type = H5VL_DATASET_FLUSH;
  args.args.flush.dset_id = H5I_INVALID_HID;
  const Haste haste(*dataset.file);
  const ExpectFailure keep_quiet;
  if (H5VLdataset_specific(dataset.under, dataset.vol(), &args, H5P_DEFAULT, nullptr) >= 0) return {};
  return fail(EIO, "HDF5 could not write out what it holds of a dataset: " + first_words());
}

// In a forked child its parent sees to it.
bool HomeRequest::is_here() const { return fate_->file && fate_->process == fork_generation(); }

Status HomeRequest::press() {
  for (const auto& watch : datasets_)
    FOREBAY_TRY(watch->object != nullptr ? hdf5::press(*watch->object) : watch->when_closed);
  // The driver's file is there as long as HDF5 has it open.
  auto* const driver = file->driver();
  return driver != nullptr && is_here() && !fate_->left ? driver->release_data() : Status{};
}

Status HomeRequest::close_left() {
  const auto leaving = std::exchange(fate_->file, nullptr);
  fate_->when_closed = leaving->close();
  return *fate_->when_closed;
}

std::optional<Status> HomeRequest::outcome(std::chrono::nanoseconds patience) {
  if (!pressed_) pressed_ = press();
  if (!*pressed_) return pressed_;
  if (fate_->when_closed) return fate_->when_closed;
  if (!is_here()) return Status{};
  auto home = fate_->file->drain(patience);
  if (!home && home.error().code == ETIMEDOUT) return std::nullopt;
  if (!fate_->left) return home;
  const auto closed = close_left();
  return home ? closed : home;
}

HomeRequest::~HomeRequest() {
  if (!fate_->left || !is_here() || fate_.use_count() > 1) return;
  // (A process that has left its buffers has carried everything home.)
  if (const auto closed = close_left(); !closed && closed.error().code != ENOTCONN)
    log_error("{}", closed.error().message);
}

void offer_home_request(const std::shared_ptr<FileState>& file, std::shared_ptr<Fate> fate, Watched datasets,
                        void** request) {
  if (!fate) return;
  auto made = std::make_unique<HomeRequest>(file, std::move(fate), std::move(datasets));
  if (request != nullptr && *request == nullptr) *request = static_cast<Object*>(made.release());
}

void offer_home_request(const Object& written, Watched datasets, void** request) {
  if (request == nullptr || *request != nullptr) return;
  offer_home_request(written.file, written.file->fate(), std::move(datasets), request);
}

}  // namespace forebay::hdf5
