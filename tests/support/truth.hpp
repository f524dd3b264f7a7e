// What every byte of the files of a multi-process test must be, kept beside the buffer by those who write
// them.
//
// A byte has one owner, so that each process knows exactly what it must read although all write the same
// buckets. Below `fixed`, owners change every few bytes, at odd places; from there on, and for the size, one
// process rules. A worker notes what it is about to do, does it, notes that it was acknowledged, and then
// changes the truth: after its death, an operation that was not acknowledged may have happened or not, byte
// by byte.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

#include "support/place.hpp"
#include "support/shared_memory.hpp"

namespace forebay::testing {

inline constexpr unsigned kMaxWorkers = 4;
inline constexpr unsigned kPlots = 3;   // files that all workers share
inline constexpr unsigned kSides = 40;  // small files, more of them than the buffer's table holds
inline constexpr unsigned kFiles = kPlots + kSides;
inline constexpr std::uint64_t kExtent = 320'000;
inline constexpr std::uint64_t kSideExtent = 9'000;

// What a write of `seed` puts at `offset`.
inline std::uint8_t pattern(std::uint64_t seed, std::uint64_t offset) {
  return static_cast<std::uint8_t>((seed ^ (offset * 0x9e37'79b9'7f4a'7c15)) * 0xbf58'476d'1ce4'e5b9 >> 56);
}

struct TruthFile {
  std::uint64_t fixed;   // the size never falls below
  std::uint64_t extent;  // nor rises above
  std::uint32_t tail_owner;
  std::atomic<std::uint64_t> size;
  std::array<std::uint8_t, kExtent> bytes;  // 0 beyond the size
  std::array<std::uint8_t, kExtent> owner;
};

enum class Deed : std::uint32_t { kNothing, kWrite, kTruncate };

struct Pending {
  std::atomic<Deed> deed;
  std::atomic<bool> acknowledged;
  std::uint32_t file;
  std::uint64_t offset;  // or the size
  std::uint64_t length;
  std::uint64_t seed;
};

struct alignas(64) WorkerState {
  Pending pending;
  std::atomic<std::uint64_t> operations;
  std::atomic<std::uint32_t> phase;
  std::array<char, 64> doing;
};

struct Truth {
  std::uint32_t workers;
  std::atomic<bool> stop;
  std::atomic<std::uint32_t> turn;
  Barrier barrier;
  std::array<WorkerState, kMaxWorkers> worker;
  std::array<TruthFile, kFiles> files;
};

[[nodiscard]] inline std::string file_name(unsigned file) {
  return (file < kPlots ? "plot" : "side") + std::to_string(file);
}

// Decides owners, and puts what the files hold at first to home.
inline void found(Truth& truth, const Place& place, unsigned workers, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  truth.workers = workers;
  for (unsigned f = 0; f < kFiles; ++f) {
    auto& file = truth.files[f];
    file.extent = f < kPlots ? kExtent : kSideExtent;
    file.fixed = f < kPlots ? 150'001 + random() % 20'000 : 0;
    file.tail_owner = f % workers;
    const std::uint64_t size = f < kPlots ? file.fixed : random() % file.extent;
    for (std::uint64_t at = 0; at < file.fixed;) {
      const auto who = static_cast<std::uint8_t>(random() % workers);
      const std::uint64_t lengths[] = {1, 3, 7, 61, 509, 1021, 4099, 9973};
      const auto end = std::min(file.fixed, at + lengths[random() % 8]);
      std::memset(&file.owner[at], who, end - at);
      at = end;
    }
    std::memset(&file.owner[file.fixed], static_cast<int>(file.tail_owner), kExtent - file.fixed);
    for (std::uint64_t i = 0; i < size; ++i) file.bytes[i] = pattern(seed + f, i);
    file.size.store(size);
    std::ofstream(place.home(file_name(f)), std::ios::binary)
        .write(reinterpret_cast<const char*>(file.bytes.data()), static_cast<std::streamsize>(size));
  }
}

// May this byte be `found`, given what its owner was about to do?
[[nodiscard]] inline bool allowed(const Truth& truth, unsigned f, std::uint64_t at, std::uint8_t found) {
  const auto& file = truth.files[f];
  if (found == file.bytes[at]) return true;
  const auto& pending = truth.worker[file.owner[at]].pending;
  return pending.deed.load() == Deed::kWrite && pending.file == f && at >= pending.offset &&
         at < pending.offset + pending.length && found == pattern(pending.seed, at);
}

// What is wrong with file `f` at home; empty if nothing is.
[[nodiscard]] inline std::string compare_home(const Truth& truth, const Place& place, unsigned f) {
  const auto& file = truth.files[f];
  const auto found = Place::slurp(place.home(file_name(f)));
  const auto& pending = truth.worker[file.tail_owner].pending;
  const bool of_this = pending.deed.load() != Deed::kNothing && pending.file == f;
  const auto size = file.size.load();
  bool right_size = found.size() == size;
  if (of_this && pending.deed.load() == Deed::kTruncate)
    right_size = right_size || found.size() == pending.offset;
  if (of_this && pending.deed.load() == Deed::kWrite) {
    right_size = right_size || (found.size() > size && found.size() <= pending.offset + pending.length);
  }
  if (!right_size) {
    return file_name(f) + " has " + std::to_string(found.size()) + " bytes at home, not " +
           std::to_string(size);
  }
  for (std::uint64_t at = 0; at < found.size(); ++at) {
    if (allowed(truth, f, at, static_cast<std::uint8_t>(found[at]))) continue;
    return file_name(f) + " is wrong at home at byte " + std::to_string(at) + " (of worker " +
           std::to_string(file.owner[at]) + "): " + std::to_string(static_cast<std::uint8_t>(found[at])) +
           ", not " + std::to_string(file.bytes[at]);
  }
  return {};
}

}  // namespace forebay::testing
