// Carrying unsaved bytes home: claim, write, complete.
//
// A Shipment is a set of neighbouring buckets of one file claimed by this process, with the runs of bytes to
// be written. `ship` writes them, small ones side by side, and completes or gives back each bucket when none
// of them is under way any more. Thread-safe; a shipment belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "engine/core.hpp"
#include "engine/crew.hpp"
#include "engine/home_file.hpp"

namespace forebay {

struct Shipment {
  struct Run {
    std::uint64_t offset;  // in the file
    std::vector<iovec> pieces;
    std::uint64_t bytes;
  };
  std::shared_ptr<HomeFile> home;
  std::vector<std::pair<std::uint32_t, Key>> buckets;
  std::vector<Run> runs;
  std::vector<std::unique_ptr<std::byte[]>> copies;  // of buckets whose tier is not mapped
  std::uint64_t bytes = 0;
  std::uint64_t next_block = 0;  // the block after the last one
};

enum class Claim {
  kClaimed,
  kNothing,   // nothing Dirty here
  kBusy,      // another claim is under way
  kStepBack,  // a truncation is in progress, or another process holds the file
  kDamaged,   // its bytes are not what was staged: never written home
};

class Drain {
 public:
  explicit Drain(Core& core);

  // Claims what is Dirty in a block and adds it to the shipment.
  Result<Claim> claim(Shipment& shipment, std::uint64_t block);

  // Writes the shipment home. An error sticks to the file; the bytes stay unsaved.
  Status ship(Shipment& shipment);

  // Gives claimed buckets back unsent.
  void give_back(Shipment& shipment);

  // Waits until nobody claims the bucket of `block`, or the wait is over.
  Status wait_for_claim(std::uint32_t file, std::uint64_t block, HomeWait& wait);

  // Somebody has waited for home in vain: for `forebay status`, until something lands. It is no new error for
  // those who have the file open: who waited was told.
  void note_silence(std::uint32_t file);

 private:
  // True when home has just answered.
  bool give_time(const HomeFile& home);
  void settle(std::uint32_t bucket, Key key, ByteState claimed_becomes);
  Status write_runs(Shipment& shipment);
  Status write_run(const HomeFile& home, Shipment::Run& run);
  // How many threads may help with its runs.
  [[nodiscard]] std::size_t helpers_for(const Shipment& shipment) const;
  void keep_to_rate(std::uint32_t file, std::uint64_t bytes);
  void note_error(std::uint32_t file, const Error& error);

  Core& core_;
  Crew helpers_;  // with runs that are small
};

}  // namespace forebay
