#include "tools/forebay/measure.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <format>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "engine/geometry.hpp"
#include "os/private_file.hpp"
#include "tier/aligned_buffer.hpp"
#include "tier/block_queue.hpp"
#include "tier/block_store.hpp"
#include "tier/mapped_store.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint64_t kSmall = 4096;
constexpr std::uint64_t kTierBytes = 256u << 20;
constexpr std::uint64_t kHomeBytes = 512u << 20;
constexpr std::size_t kSamples = 1000;
constexpr unsigned kDepth = 16;
constexpr const char* kFileName = "profile.data";

std::uint64_t per_second(std::uint64_t bytes, Clock::duration time) {
  const auto seconds = std::max(std::chrono::duration<double>(time).count(), 1e-9);
  return static_cast<std::uint64_t>(static_cast<double>(bytes) / seconds);
}

// Calls move(i) for i = 0, 1, ... until the time is over; each call moves `bytes`.
template <class Move>
Result<std::uint64_t> bandwidth_of(std::uint64_t bytes, std::chrono::nanoseconds time, Move&& move) {
  const auto begin = Clock::now();
  std::uint64_t count = 0;
  do {
    FOREBAY_TRY(move(count++));
  } while (Clock::now() - begin < time);
  return per_second(count * bytes, Clock::now() - begin);
}

template <class Touch>
Result<std::chrono::nanoseconds> latency_of(std::chrono::nanoseconds time, Touch&& touch) {
  std::vector<Clock::duration> samples;
  const auto begin = Clock::now();
  do {
    const auto before = Clock::now();
    FOREBAY_TRY(touch());
    samples.push_back(Clock::now() - before);
  } while (samples.size() < kSamples && Clock::now() - begin < time);
  std::ranges::nth_element(samples, samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2));
  return std::max<std::chrono::nanoseconds>(samples[samples.size() / 2], std::chrono::nanoseconds(1));
}

// Incompressible, for file systems that compress.
AlignedBuffer noise(std::uint64_t size) {
  auto buffer = make_aligned_buffer(size);
  std::mt19937_64 random(7);
  for (std::uint64_t i = 0; i + 8 <= size; i += 8) {
    const auto word = random();
    std::memcpy(buffer.get() + i, &word, 8);
  }
  return buffer;
}

Result<Measured> measure_mapped(MappedStore& store, std::chrono::nanoseconds time) {
  const auto size = store.bucket_size();
  const auto source = noise(size);
  const auto target = make_aligned_buffer(size);
  std::mt19937_64 random(7);
  const auto any_place = [&] {
    return store.slot(random() % store.slots()) + random() % (size / kSmall) * kSmall;
  };
  store.populate(0, store.slots());
  Measured measured;
  FOREBAY_ASSIGN(measured.write.bandwidth, bandwidth_of(size, time, [&](std::uint64_t i) {
                   auto* slot = store.slot(i % store.slots());
                   std::memcpy(slot, source.get(), size);
                   return store.persist(slot, size);
                 }));
  FOREBAY_ASSIGN(measured.read.bandwidth, bandwidth_of(size, time, [&](std::uint64_t i) -> Status {
                   std::memcpy(target.get(), store.slot(i % store.slots()), size);
                   return {};
                 }));
  FOREBAY_ASSIGN(measured.write.latency, latency_of(time, [&] {
                   auto* place = any_place();
                   std::memcpy(place, source.get(), kSmall);
                   return store.persist(place, kSmall);
                 }));
  FOREBAY_ASSIGN(measured.read.latency, latency_of(time, [&]() -> Status {
                   std::memcpy(target.get(), any_place(), kSmall);
                   return {};
                 }));
  return measured;
}

// Keeps the queue full until the time is over, then lets it run empty.
template <class Submit>
Result<std::uint64_t> queue_bandwidth(BlockQueue& queue, std::uint64_t bytes, std::chrono::nanoseconds time,
                                      Submit&& submit) {
  const auto begin = Clock::now();
  std::uint64_t submitted = 0;
  std::uint64_t done = 0;
  while (done < submitted || Clock::now() - begin < time) {
    while (Clock::now() - begin < time && submit(submitted)) ++submitted;
    const auto finished = queue.reap(std::chrono::seconds(1));
    if (!finished) continue;
    FOREBAY_TRY(finished->status);
    ++done;
  }
  return per_second(done * bytes, Clock::now() - begin);
}

Result<Measured> measure_block(BlockStore& store, std::chrono::nanoseconds time) {
  const auto size = store.bucket_size();
  const auto source = noise(size);
  std::vector<AlignedBuffer> targets;
  for (unsigned i = 0; i < kDepth; ++i) targets.push_back(make_aligned_buffer(size));
  FOREBAY_ASSIGN(auto queue, BlockQueue::open(store, kDepth, -1));
  Measured measured;
  FOREBAY_ASSIGN(measured.write.bandwidth, queue_bandwidth(queue, size, time, [&](std::uint64_t i) {
                   return queue.submit_write(i % store.slots(), source.get(), i);
                 }));
  FOREBAY_ASSIGN(measured.read.bandwidth, queue_bandwidth(queue, size, time, [&](std::uint64_t i) {
                   return queue.submit_read(i % store.slots(), 0, size, targets[i % kDepth].get(), i);
                 }));
  std::mt19937_64 random(7);
  const auto any_offset = [&] { return random() % (size / kSmall) * kSmall; };
  FOREBAY_ASSIGN(measured.write.latency, latency_of(time, [&] {
                   return store.write(random() % store.slots(), any_offset(), kSmall, source.get());
                 }));
  FOREBAY_ASSIGN(measured.read.latency, latency_of(time, [&] {
                   return store.read(random() % store.slots(), any_offset(), kSmall, targets[0].get());
                 }));
  return measured;
}

// Several threads move pieces of `piece` bytes one after the other through [0, limit), each piece once, until
// all of it was moved or the time is over. Returns how many bytes that is.
template <class Move>
Result<std::uint64_t> in_parallel(unsigned threads, std::uint64_t piece, std::uint64_t limit,
                                  Clock::time_point until, const Move& move) {
  std::atomic<std::uint64_t> next = 0;
  std::atomic<std::uint64_t> moved = 0;
  std::mutex mutex;
  Status result;
  {
    std::vector<std::jthread> crew;
    for (unsigned i = 0; i < threads; ++i) {
      crew.emplace_back([&] {
        while (next < limit && (moved == 0 || Clock::now() < until)) {
          const auto at = next.fetch_add(piece);
          if (at >= limit) break;
          const auto status = move(at, std::min(piece, limit - at));
          if (!status) {
            const std::scoped_lock lock(mutex);
            result = status;
            return;
          }
          moved += std::min(piece, limit - at);
        }
      });
    }
  }
  if (!result) return std::unexpected(result.error());
  return moved.load();
}

Result<Fd> nameless_file(const std::string& directory) {
  Fd fd(::open(directory.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  if (fd) return fd;
  std::string name = directory + "/.forebay-profile-XXXXXX";
  fd.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) return fail_errno(errno, "write to directory", directory);
  ::unlink(name.c_str());
  return fd;
}

}  // namespace

Result<Measured> measure_tier(const TierSettings& tier, std::uint64_t bucket_size,
                              std::chrono::nanoseconds time) {
  const auto base = tier_base_directory(tier.path);
  FOREBAY_ASSIGN(const auto directory, open_private_directory(base));
  if (::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(EBUSY, "another process is measuring the tier at " + tier.path);
  }
  ::unlinkat(directory.get(), kFileName, 0);  // of one that was killed before it could take the name away
  const auto bytes = std::min(kTierBytes, tier.size.bytes);
  const auto slots = std::max<std::uint64_t>(bytes / bucket_size, 1);
  const auto nameless = [&] { ::unlinkat(directory.get(), kFileName, 0); };
  const auto per_figure = time / 4;
  if (tier.kind == TierKind::Memory || tier.kind == TierKind::Pmem) {
    const auto kind = tier.kind == TierKind::Pmem ? MappedStore::Kind::kPmem : MappedStore::Kind::kMemory;
    FOREBAY_ASSIGN(auto store,
                   MappedStore::open(directory, kFileName, bucket_size, slots, kind, Create::kExclusive));
    const auto grown = store.grow(0, slots);
    nameless();
    FOREBAY_TRY(grown);
    return measure_mapped(store, per_figure);
  }
  FOREBAY_ASSIGN(auto store, BlockStore::open(directory, kFileName, bucket_size, slots, Create::kExclusive));
  const auto grown = store.grow(0, slots);
  nameless();
  FOREBAY_TRY(grown);
  return measure_block(store, per_figure);
}

Result<Measured> measure_home(const std::string& directory, const DrainSettings& drain,
                              std::chrono::nanoseconds time) {
  FOREBAY_ASSIGN(const auto file, nameless_file(directory));
  const auto source = noise(drain.write_size);
  const auto per_figure = time / 4;
  const auto fail_here = [&](const Error& error, const char* action) {
    return fail_errno(error.code, action, directory);
  };
  const auto forget = [&] { ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED); };
  Measured measured;

  const auto begin = Clock::now();
  const auto written = in_parallel(
      drain.in_flight, drain.write_size, kHomeBytes, begin + per_figure,
      [&](std::uint64_t at, std::uint64_t size) { return write_fully(file.get(), source.get(), size, at); });
  if (!written) return fail_here(written.error(), "write to");
  if (::fdatasync(file.get()) != 0) return fail_errno(errno, "sync in", directory);
  measured.write.bandwidth = per_second(*written, Clock::now() - begin);

  forget();
  BufferPool targets(drain.write_size);
  const auto reading = Clock::now();
  const auto read = in_parallel(drain.in_flight, drain.write_size, *written, reading + per_figure,
                                [&](std::uint64_t at, std::uint64_t size) -> Status {
                                  const auto target = targets.take();
                                  FOREBAY_TRY(read_fully(file.get(), target.data(), size, at));
                                  return {};
                                });
  if (!read) return fail_here(read.error(), "read from");
  measured.read.bandwidth = per_second(*read, Clock::now() - reading);

  std::mt19937_64 random(7);
  const auto any_offset = [&] { return random() % (*written / kSmall) * kSmall; };
  const auto write_latency =
      latency_of(per_figure, [&] { return write_fully(file.get(), source.get(), kSmall, any_offset()); });
  if (!write_latency) return fail_here(write_latency.error(), "write to");
  measured.write.latency = *write_latency;
  if (::fdatasync(file.get()) != 0) return fail_errno(errno, "sync in", directory);
  forget();
  const auto target = make_aligned_buffer(kSmall);
  const auto read_latency = latency_of(per_figure, [&]() -> Status {
    FOREBAY_TRY(read_fully(file.get(), target.get(), kSmall, any_offset()));
    return {};
  });
  if (!read_latency) return fail_here(read_latency.error(), "read from");
  measured.read.latency = *read_latency;
  return measured;
}

}  // namespace forebay
