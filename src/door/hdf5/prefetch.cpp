#include "door/hdf5/prefetch.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>

#include "base/log.hpp"
#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/own_request.hpp"

namespace forebay::hdf5 {
namespace {

using Tickets = std::vector<Ticket>;

Tickets start(DatasetObject& dataset, File& file, hid_t file_space) {
  if (dataset.parallel() != nullptr) return dataset.parallel()->prefetch(file_space);
  Tickets tickets;
  for (const auto& range : known_ranges(dataset, file_space))
    tickets.push_back(file.prefetch(range.offset, range.length));
  return tickets;
}

// ETIMEDOUT: they go on.
Status finish(const Tickets& tickets, std::chrono::nanoseconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + patience;
  for (const auto& ticket : tickets)
    FOREBAY_TRY(ticket.wait(std::max(deadline - Clock::now(), Clock::duration(0))));
  return {};
}

class PrefetchRequest final : public OwnRequest {
 public:
  PrefetchRequest(std::shared_ptr<FileState> in, Tickets tickets)
      : OwnRequest(std::move(in), H5E_READERROR), tickets_(std::move(tickets)) {}

 private:
  std::optional<Status> outcome(std::chrono::nanoseconds patience) override {
    // In a forked child: nobody there works on it.
    if (process_ != fork_generation()) return Status{};
    auto came = finish(tickets_, patience);
    if (!came && came.error().code == ETIMEDOUT) return std::nullopt;
    return came;
  }

  const Tickets tickets_;
  const std::uint32_t process_ = fork_generation();
};

}  // namespace

std::shared_ptr<File> buffered(const FileState& file) {
  if (file.driver() != nullptr) return file.driver()->buffered();
  return file.parallel() ? file.parallel()->engine() : nullptr;
}

std::shared_ptr<File> buffered(DatasetObject& dataset) {
  if (dataset.parallel() != nullptr) return dataset.parallel()->file().engine();
  return dataset.file->driver() == nullptr ? nullptr : dataset.file->driver()->buffered();
}

std::vector<FileRange> known_ranges(const DatasetObject& dataset, hid_t file_space) {
  auto ranges = ranges_of(dataset.under, dataset.vol(), file_space);
  if (ranges) return std::move(*ranges);
  log_info("a dataset is not brought into the buffer: {}", words(ranges.error()));
  return {};
}

herr_t prefetch(DatasetObject& dataset, hid_t file_space, void** request) {
  const auto file = buffered(dataset);
  if (!file) return 0;
  auto tickets = start(dataset, *file, file_space);
  if (tickets.empty()) return 0;
  if (request != nullptr) {
    *request = static_cast<Object*>(new PrefetchRequest(dataset.file, std::move(tickets)));
    return 0;
  }
  constexpr auto kLongest = std::chrono::hours(24);  // home's own limits end it long before
  const auto came = finish(tickets, kLongest);
  if (!came) push_error(came.error(), H5E_DATASET, H5E_READERROR);
  return came ? 0 : -1;
}

void prefetch_at_open(DatasetObject& dataset) {
  // Where the file that it was reached by does not ask for it, nothing is looked up.
  const auto reached_by = buffered(*dataset.file);
  if (!reached_by || reached_by->settings().prefetch_at_open != PrefetchAtOpen::Dataset) return;
  const auto file = buffered(dataset);
  if (file && file->settings().prefetch_at_open == PrefetchAtOpen::Dataset)
    (void)start(dataset, *file, H5S_ALL);
}

}  // namespace forebay::hdf5
