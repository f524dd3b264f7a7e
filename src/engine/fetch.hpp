// The read path: bytes from buckets, the rest from home, and filling buckets on the way.
//
// get() returns what a read of the file would: staged bytes first, then home's, zeros where neither has any
// below the file's size. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "config/settings.hpp"
#include "engine/arrivals.hpp"
#include "engine/bucket_memo.hpp"
#include "engine/core.hpp"
#include "engine/crew.hpp"
#include "engine/home_file.hpp"
#include "engine/piece.hpp"
#include "engine/stage.hpp"
#include "policy/admission.hpp"

namespace forebay {

class Fetcher {
 public:
  Fetcher(Core& core, Stager& stager, Crew& readers)
      : core_(core), stager_(stager), readers_(readers), arrivals_(core) {}

  // Bytes of [offset, offset + out.size()) below the file's size; how many. `memo`: of the file.
  Result<std::uint64_t> get(const std::shared_ptr<HomeFile>& home, const FileSettings& settings,
                            std::uint64_t offset, std::span<std::byte> out, BucketMemo& memo);

  // The first ones of `wants` that are there and lie in one block, at a glance. How many.
  std::size_t get_near(const HomeFile& home, const FileSettings& settings, std::span<const Want> wants,
                       BucketMemo& memo);

  // Brings what is Invalid of [offset, offset + length) from home into buckets. Best effort: without room it
  // does nothing. Returns how many bytes came. What somebody else is bringing is left to them, and waited for
  // if wished.
  enum class Others { kLeave, kWaitFor };
  Result<std::uint64_t> bring(const HomeFile& home, const FileSettings& settings, std::uint64_t offset,
                              std::uint64_t length, Others others = Others::kLeave);

  // Is every block of [offset, offset + length) there as a whole, as far as can be seen without a lock? For
  // who would ask others to bring it: waking them costs more than looking.
  [[nodiscard]] bool has(const HomeFile& home, std::uint64_t offset, std::uint64_t length) const;

  // Sets or clears the pin of the buckets that there are of blocks [first, last].
  void pin_there(std::uint32_t file, std::uint64_t first, std::uint64_t last, bool pinned);
  // Makes those that there are not, and pins all. ENOSPC: there is no room for all of them, also after
  // `pressure.wait`; then those that were pinned before are.
  Status pin_all(const HomeFile& home, const FileSettings& settings, std::uint64_t first, std::uint64_t last);

 private:
  // A part of a read that home must give, and where it may be kept afterwards.
  struct Gap {
    std::uint64_t offset;
    std::uint64_t length;
    std::byte* out;
  };
  // Leave to fill Invalid bytes of a bucket with what home had after it was given. Void once any byte of the
  // bucket was forgotten: until then what is Invalid has been so all the time, and home's is the truth (F1).
  struct Permit {
    Key key = 0;
    std::uint32_t bucket = 0;
    std::uint32_t version = 0;
    std::uint32_t forgets = 0;
    std::uint32_t truncations = 0;
  };

  // The same where it is more than a hit in one block that the memo knows. All of `out` lies in the file.
  [[gnu::noinline]] Result<std::uint64_t> get_blocks(const std::shared_ptr<HomeFile>& home,
                                                     const FileSettings& settings, std::uint64_t offset,
                                                     std::span<std::byte> out, BucketMemo& memo);
  // The rest of a read, from the first block that was no hit on. How many bytes home had to give.
  Result<std::uint64_t> get_missing(const std::shared_ptr<HomeFile>& home, const FileSettings& settings,
                                    std::uint64_t offset, std::span<std::byte> out, BucketMemo& memo);
  // Without the lock: true if all of it was there.
  bool hit(Key key, std::uint32_t at, std::uint32_t length, std::byte* out, const FileSettings& settings,
           BucketMemo& memo);
  // Copies what is there and lists what is not.
  Status gather(const HomeFile& home, const FileSettings& settings, std::uint64_t block, std::uint32_t at,
                std::uint32_t length, std::byte* out, std::vector<Gap>& gaps, std::vector<Permit>& permits);
  Permit permit(const HomeFile& home, const FileSettings& settings, std::uint64_t block);
  [[nodiscard]] bool holds(const Permit& permit) const;
  void fill(const Permit& permit, std::uint32_t at, const std::byte* data, std::uint32_t length);
  // The bucket is locked, and its bytes may be filled.
  void install(std::uint32_t index, std::uint32_t at, const std::byte* data, std::uint32_t length);
  Status read_neighbours(const HomeFile& home, std::span<Gap> gaps);
  Status read_gaps(const HomeFile& home, std::span<Gap> gaps);
  [[nodiscard]] bool admitted(const FileSettings& settings, std::uint64_t bytes) const;
  // A block missed more than once is worth having whole.
  void note_miss(const std::shared_ptr<HomeFile>& home, const FileSettings& settings, const Permit& permit);

  Core& core_;
  Stager& stager_;
  Crew& readers_;
  ReadAdmission admission_;
  Arrivals arrivals_;
};

}  // namespace forebay
