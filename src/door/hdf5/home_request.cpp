#include "door/hdf5/home_request.hpp"

#include <H5VLconnector_passthru.h>

#include <cerrno>

#include "door/hdf5/error_stack.hpp"

namespace forebay::hdf5 {

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

std::optional<Status> HomeRequest::outcome(std::chrono::nanoseconds patience) {
  if (auto pressed = press_datasets(); !pressed) return pressed;
  if (fate_->when_closed) return fate_->when_closed;
  // In a forked child: its parent sees to it.
  if (!fate_->file || fate_->process != fork_generation()) return Status{};
  auto home = fate_->file->drain(patience);
  if (!home && home.error().code == ETIMEDOUT) return std::nullopt;
  return home;
}

void offer_home_request(const Object& written, Watched datasets, void** request) {
  if (request == nullptr || *request != nullptr) return;
  auto fate = written.file->fate();
  if (!fate) return;
  *request = static_cast<Object*>(new HomeRequest(written.file, std::move(fate), std::move(datasets)));
}

}  // namespace forebay::hdf5
