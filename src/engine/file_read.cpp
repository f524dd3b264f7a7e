// What a file is asked: reads, and what is brought, kept or forgotten for the sake of later ones.
#include <algorithm>
#include <cerrno>
#include <mutex>

#include "engine/buffer.hpp"
#include "engine/file.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kBringStep = 1u << 20;
// Reads nearer to each other than this are worth the bytes between them.
constexpr std::uint64_t kNearWants = 32u << 10;

}  // namespace

Result<std::uint64_t> Ticket::wait(std::chrono::nanoseconds patience) const {
  if (!result_.valid()) return 0;
  if (result_.wait_for(patience) != std::future_status::ready)
    return fail(ETIMEDOUT, "the prefetch has not finished yet");
  return result_.get();
}

bool File::ready_to_read() const {
  return readable_ && !closed_.load(std::memory_order_relaxed) && buffer_.attached();
}

Result<std::uint64_t> File::read(std::uint64_t offset, std::span<std::byte> out) {
  if (!ready_to_read()) return std::unexpected(usable(false).error());
  buffer_.core_.tally.add(&Counters::reads);
  if (direct()) {
    const auto got = home_->read(out.data(), out.size(), offset);
    count(buffer_.core_.counters().passed_through, got.value_or(0));
    return got;
  }
  auto got = buffer_.fetcher_.get(home_, settings_, offset, out, memo_);
  if (!got) return got;
  if (!random_.load(std::memory_order_relaxed)) read_ahead(offset, *got);
  return got;
}

Result<std::uint64_t> File::read(std::span<const Want> wants) {
  const bool together = wants.size() > 1 && ready_to_read() && !direct();
  std::uint64_t came = 0;
  std::size_t singly = together ? 0 : wants.size();  // so many are read one by one
  while (!wants.empty()) {
    if (singly == 0) {
      auto count = buffer_.fetcher_.get_near(*home_, settings_, wants, memo_);
      if (count == 0) {
        singly = bring_near(wants);
        count = buffer_.fetcher_.get_near(*home_, settings_, wants, memo_);
      }
      if (count != 0) {
        came += note_reads(wants.first(count));
        wants = wants.subspan(count);
        singly = 0;
        continue;
      }
    }
    FOREBAY_ASSIGN(const auto got, read(wants.front().offset, wants.front().out));
    came += got;
    if (got < wants.front().out.size()) break;
    wants = wants.subspan(1);
    --singly;
  }
  return came;
}

std::uint64_t File::note_reads(std::span<const Want> wants) {
  buffer_.core_.tally.add(&Counters::reads, wants.size());
  std::uint64_t came = 0;
  for (const auto& want : wants) came += want.out.size();
  // To who looks ahead they are one read of what they lie in.
  const auto from = wants.front().offset;
  const auto to = wants.back().offset + wants.back().out.size();
  if (to > from && !random_.load(std::memory_order_relaxed)) read_ahead(from, to - from);
  return came;
}

std::size_t File::bring_near(std::span<const Want> wants) {
  const auto from = wants.front().offset;
  auto to = from + wants.front().out.size();
  std::size_t near = 1;
  for (; near < wants.size(); ++near) {
    const auto& [offset, out] = wants[near];
    if (offset < to || offset - to >= kNearWants || offset + out.size() - from > kBringStep) break;
    to = offset + out.size();
  }
  if (near == 1 || settings_.admission_read == Admission::Never || settings_.mode == Mode::Bypass ||
      !buffer_.options_.background || buffer_.fetcher_.has(*home_, from, to - from)) {
    return near;
  }
  const auto brought = buffer_.fetcher_.bring(*home_, settings_, from, to - from);
  if (brought) count(buffer_.core_.counters().readahead_bytes, *brought);
  return near;
}

void File::read_ahead(std::uint64_t offset, std::uint64_t length) {
  if (settings_.readahead_max == 0 || length == 0 || settings_.admission_read == Admission::Never ||
      settings_.mode == Mode::Bypass || !buffer_.options_.background) {
    return;
  }
  const auto size = buffer_.core_.control.file(number_).size.load(std::memory_order_relaxed);
  const auto advice = readahead_.observe(offset, length, size);
  for (const auto& range : advice.all()) {
    for (std::uint64_t done = 0; done < range.length; done += kBringStep) {
      const auto from = range.offset + done;
      const auto step = std::min(kBringStep, range.length - done);
      if (buffer_.fetcher_.has(*home_, from, step)) continue;
      buffer_.readers_.post(
          [&buffer = buffer_, home = home_, settings = settings_, from, step] {
            if (!buffer.attached()) return;  // it leaves
            const auto came = buffer.fetcher_.bring(*home, settings, from, step);
            if (came) count(buffer.core_.counters().readahead_bytes, *came);
          },
          Crew::Urgency::kBack);
    }
  }
}

bool File::direct() const {
  const auto flags = buffer_.core_.control.file(number_).flags.load(std::memory_order_relaxed);
  return settings_.mode == Mode::Bypass || (flags & kFileBypass) != 0;
}

Ticket File::prefetch(std::uint64_t offset, std::uint64_t length) {
  auto promise = std::make_shared<std::promise<Result<std::uint64_t>>>();
  Ticket ticket(promise->get_future().share());
  if (const auto status = usable(false); !status) {
    promise->set_value(std::unexpected(status.error()));
    return ticket;
  }
  const auto size = buffer_.core_.control.file(number_).size.load();
  const auto end = std::min(size, length > size - std::min(size, offset) ? size : offset + length);
  const auto steps = end > offset ? (end - offset + kBringStep - 1) / kBringStep : 0;
  if (steps == 0) {
    promise->set_value(std::uint64_t{0});
    return ticket;
  }
  struct Gather {
    std::mutex mutex;
    std::uint64_t left;
    Result<std::uint64_t> sum = std::uint64_t{0};
  };
  auto gather = std::make_shared<Gather>();
  gather->left = steps;
  for (std::uint64_t at = offset; at < end; at += kBringStep) {
    const auto task = [&buffer = buffer_, home = home_, settings = settings_, promise, gather, at,
                       step = std::min(kBringStep, end - at)] {
      const auto came = buffer.attached()
                            ? buffer.fetcher_.bring(*home, settings, at, step, Fetcher::Others::kWaitFor)
                            : fail(ECANCELED, "this process leaves the buffer");
      if (came) count(buffer.core_.counters().prefetched_bytes, *came);
      const std::scoped_lock lock(gather->mutex);
      if (!came) {
        gather->sum = std::unexpected(came.error());
      } else if (gather->sum) {
        *gather->sum += *came;
      }
      if (--gather->left == 0) promise->set_value(gather->sum);
    };
    if (!buffer_.readers_.post(task)) task();
  }
  return ticket;
}

Status File::pin(std::uint64_t offset, std::uint64_t length) {
  FOREBAY_TRY(usable(!readable_));
  if (settings_.mode == Mode::Bypass || direct()) return {};
  auto& record = buffer_.core_.control.file(number_);
  const auto size = record.size.load();
  if (offset >= size || length == 0) return {};
  const auto bucket_size = buffer_.core_.bucket_size();
  const auto end = length > size - offset ? size : offset + length;
  record.flags.fetch_or(kFilePinned);
  FOREBAY_TRY(buffer_.fetcher_.pin_all(*home_, settings_, offset / bucket_size, (end - 1) / bucket_size));
  if (!readable_) return {};
  FOREBAY_TRY(prefetch(offset, end - offset).wait(buffer_.core_.settings.limits.home_wait));
  return {};
}

Status File::unpin(std::uint64_t offset, std::uint64_t length) {
  FOREBAY_TRY(usable(!readable_));
  if (length == 0) return {};
  const auto bucket_size = buffer_.core_.bucket_size();
  const auto end = length > max_size() - std::min(offset, max_size()) ? max_size() : offset + length;
  buffer_.core_.control.file(number_).flags.fetch_and(~std::uint32_t{kFilePinsAll});
  buffer_.fetcher_.pin_there(number_, offset / bucket_size, (end - 1) / bucket_size, false);
  return {};
}

Status File::hint(Hint hint, std::uint64_t offset, std::uint64_t length) {
  FOREBAY_TRY(attached());
  switch (hint) {
    case Hint::kNormal:
    case Hint::kSequential:
      random_.store(false);
      break;
    case Hint::kRandom:
      random_.store(true);
      break;
    case Hint::kWillNeed:
      (void)prefetch(offset, length);
      break;
    case Hint::kDontNeed:
      return evict(offset, length);
    case Hint::kExclusive:
      buffer_.core_.control.file(number_).flags.fetch_or(kFileExclusive);
      break;
  }
  return {};
}

Status File::evict(std::uint64_t offset, std::uint64_t length) {
  FOREBAY_TRY(attached());
  if (length == 0) return {};
  const auto bucket_size = buffer_.core_.bucket_size();
  const auto end = length > max_size() - std::min(offset, max_size()) ? max_size() : offset + length;
  drop_buckets(buffer_.core_, number_, offset / bucket_size, std::min((end - 1) / bucket_size, kMaxBlock),
               Drop::kCleanUnpinned);
  return {};
}

Status File::forget() {
  FOREBAY_TRY(attached());
  drop_buckets(buffer_.core_, number_, 0, kMaxBlock, Drop::kClean);
  return {};
}

}  // namespace forebay
