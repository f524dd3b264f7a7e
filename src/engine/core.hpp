// The shared parts of a buffer as one process sees them. Everything that moves bytes is handed this.
#pragma once

#include <bit>
#include <memory>

#include "config/settings.hpp"
#include "engine/bucket_table.hpp"
#include "engine/busy_time.hpp"
#include "engine/control.hpp"
#include "engine/file_table.hpp"
#include "engine/home_speed.hpp"
#include "engine/home_stamps.hpp"
#include "engine/home_wait.hpp"
#include "engine/peers.hpp"
#include "engine/slot_table.hpp"
#include "engine/tally.hpp"
#include "engine/tiers.hpp"

namespace forebay {

struct Core {
  Core(Settings given, Profile measured, std::unique_ptr<Control> mapped, Peers joined, Tiers opened)
      : settings(std::move(given)),
        home_speeds(std::move(measured)),
        control_owner(std::move(mapped)),
        control(*control_owner),
        peers(std::move(joined)),
        own_counters(&peers.record().counters),
        tally(peers.record()),
        tiers(std::move(opened)),
        slots(control, peers, tiers),
        buckets(control, peers, tiers, slots),
        files(control, peers, buckets) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  [[nodiscard]] std::uint32_t bucket_size() const { return control.bucket_size(); }
  // Where a byte of a file lies. Bucket sizes are powers of two, which a division would not know.
  [[nodiscard]] std::uint64_t block_of(std::uint64_t offset) const {
    return offset >> std::countr_zero(bucket_size());
  }
  [[nodiscard]] std::uint32_t place_in_block(std::uint64_t offset) const {
    return static_cast<std::uint32_t>(offset) & (bucket_size() - 1);
  }
  // This process's, but for what `tally` counts. Not for a forked child.
  [[nodiscard]] Counters& counters() const { return *own_counters; }

  [[nodiscard]] std::uint64_t counted(Wide Counters::* which) const {
    return forebay::counted(peers.record(), which);
  }

  const Settings settings;
  HomeSpeeds home_speeds;
  HomeStamps home_stamps;
  Landings landings;
  BusyTime writing_home;
  BusyTime reading_home;
  std::unique_ptr<Control> control_owner;
  const Control& control;
  Peers peers;
  Counters* const own_counters;
  Tally tally;
  Tiers tiers;
  SlotTable slots;
  BucketTable buckets;
  FileTable files;
};

}  // namespace forebay
