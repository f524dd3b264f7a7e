// The write path: taking bytes into a bucket.
//
// put() returns when the bytes are where no death of a process can lose them: staged in a bucket, or home.
// Thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <span>

#include "base/error.hpp"
#include "config/settings.hpp"
#include "engine/core.hpp"
#include "engine/drainer.hpp"
#include "engine/mover.hpp"
#include "engine/piece.hpp"
#include "policy/placement.hpp"

namespace forebay {

class Stager {
 public:
  Stager(Core& core, Drainer& drainer, Mover& mover)
      : core_(core), drainer_(drainer), mover_(mover), drain_(core) {}

  // Straight home: of a block that nothing is buffered of. Others are staged in any case.
  enum class Way { kStaged, kStraightHome };
  // Takes pieces in the order in which they come; those that follow each other in a block under one lock. How
  // many bytes were taken, if something went wrong after some had been.
  Result<std::uint64_t> put(const std::shared_ptr<HomeFile>& home, const FileSettings& settings,
                            std::span<const Piece> pieces, Way way = Way::kStaged);

  // A bucket for `key` in a mapped tier, evicting what may be forgotten. ENOBUFS: none without waiting.
  Result<std::uint32_t> bucket_for(Key key, const FileSettings& settings);
  // The same, waiting until then for room that is made.
  Result<std::uint32_t> bucket_by(Key key, const FileSettings& settings,
                                  std::chrono::steady_clock::time_point deadline);

 private:
  [[nodiscard]] PlacementOrder tiers_for(Key key, const FileSettings& settings) const;
  enum class Outcome {
    kStaged,
    kAgain,  // the bucket went away
    kNoRoom,
    kFragmented,  // no room to note so many pieces
    kNotMapped,
    kBusy,  // being written straight home
    kTruncating,
  };
  // What is to be taken into one block.
  struct Part {
    std::uint32_t at;
    std::uint32_t length;
    const std::byte* data;
  };
  using Parts = std::span<const Part>;
  static constexpr std::size_t kMostParts = 64;  // under one lock

  // `taken`: how many of the parts are staged, whatever comes of the others.
  Result<Outcome> try_put(const FileSettings& settings, Key key, Parts parts, std::size_t& taken);
  // False: there is no room to note so many pieces. Needs the lock, and to be in a change.
  [[nodiscard]] bool take(const BucketView& states, std::byte* bytes, const Part& part);
  // `taken` grows by the bytes that were, whatever comes of the others.
  Status put_parts(const std::shared_ptr<HomeFile>& home, const FileSettings& settings, std::uint64_t block,
                   Parts parts, Way way, std::uint64_t& taken);
  Status wait_for_room(std::uint32_t seen) const;
  // False: the block is not to be written so, for the moment. An error may come after a part of it, which
  // then is in `taken`.
  Result<bool> straight_home(const HomeFile& home, Key key, const Part& part, std::uint64_t& taken);

  Core& core_;
  Drainer& drainer_;
  Mover& mover_;
  Drain drain_;
};

}  // namespace forebay
