// What lies in the control file. The rules for changing it are in docs/protocol.md.
//
// Everything is position-independent: indices, never pointers. Index words store index + 1, so that 0 is
// "none". Fields without std::atomic are constant after creation.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "extent/run_list.hpp"

namespace forebay {

using Word = std::atomic<std::uint32_t>;
using Wide = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free && Wide::is_always_lock_free);

inline constexpr std::uint64_t kMagic = 0x31594142'45524f46;  // "FOREBAY1"
inline constexpr std::uint32_t kLayoutVersion = 15;
inline constexpr std::uint32_t kTierLimit = 8;
inline constexpr std::uint32_t kLeaseLimit = 1024;
inline constexpr std::uint32_t kLinked =
    0xffff'ffff;  // an owner word that is neither free (0) nor a lease id

struct TierLayout {
  std::uint32_t kind;  // TierKind
  std::uint32_t first_slot;
  std::uint32_t slots;
  std::uint32_t reserved;
  std::array<char, 32> name;
  std::array<char, 200> directory;
};

// Region offsets within the control file.
struct Regions {
  std::uint64_t shared, leases, files, long_paths, file_chains, chains, buckets, owners, slots, end;
};

// Region offsets within the sparse file, whose storage is reserved piece by piece when it is needed.
struct SparseRegions {
  std::uint64_t opens, maps, weights, end;
};

struct Header {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t uid;
  std::array<std::uint8_t, 16> boot_id;
  std::uint64_t created_ns;        // CLOCK_REALTIME
  std::uint64_t created_ticks_ns;  // CLOCK_MONOTONIC: ticks count from here
  std::uint32_t bucket_size;
  std::uint32_t tier_count;
  std::uint32_t bucket_count;
  std::uint32_t slot_count;
  std::uint32_t chain_count;  // a power of two
  std::uint32_t file_count;
  std::uint32_t file_chain_count;  // a power of two
  std::uint32_t lease_count;
  std::uint32_t opens_per_lease;
  std::uint32_t long_path_count;
  std::uint32_t map_limit;  // how many buckets may have a byte map at a time
  std::uint32_t padding;
  std::array<TierLayout, kTierLimit> tiers;
  Regions regions;
  SparseRegions sparse;
  std::uint64_t check;  // XXH3 of everything above
  Word ready;           // stored last at creation
};

// Nothing is moved to the tier for a while: it could not be written. What it holds is still read.
inline constexpr std::uint32_t kTierLeftOut = 1u << 31;

struct alignas(64) TierShared {
  Word grow_lock;
  Word available;              // slots whose storage is reserved: [0, available)
  Word failed;                 // errno of the failure to grow, or with kTierLeftOut to write; 0 if none
  Word failed_at;              // tick of that
  Word hand;                   // where the search for something to evict or demote goes on
  alignas(64) Word free_hint;  // about how many of them are free; apart, because it changes all the time
};

// Figures that only add up; a process writes those of its own lease only.
struct Counters {
  Wide writes, written_bytes, staged_bytes, straight_home_bytes;
  Wide reads, hit_bytes, miss_bytes;
  Wide read_bytes;  // hits and misses: not counted but made where sums are made
  Wide home_writes, home_written_bytes, home_reads, home_read_bytes, home_errors;
  Wide prefetched_bytes, readahead_bytes, filled_bytes;
  Wide evictions, demotions, promotions, damaged;
  Wide waits_for_room, wait_ns, take_overs, recovered_bytes, passed_through;
  // How long the process was writing to and reading from home, and how long its program waited for the
  // former; how much of that in closes.
  Wide home_write_ns, home_read_ns, home_wait_ns, close_wait_ns;
};
inline constexpr std::size_t kCounterCount = sizeof(Counters) / sizeof(Wide);

// See passed.hpp.
enum PassedState : std::uint32_t { kPassedFree, kPassedTaken, kPassedReady };
struct alignas(64) PassedRecord {
  Word state;
  std::array<char, 108> why;
  Wide times;
};
using PassedTable = std::array<PassedRecord, 32>;

struct alignas(64) Shared {
  std::array<TierShared, kTierLimit> tiers;
  alignas(64) Word table_lock;  // the file table
  Word next_lease;
  Word room;  // raised when buckets become free or clean
  Word room_waiters;
  Wide rate_ns;  // drain.rate: when the next byte may go home (ticks)
  Wide journal_sequence;
  Wide hard_claims;  // what the files with kFileClaims reserve, all together
  Word file_hint;
  Word maps;  // about how many buckets have a byte map
  // How many bucket descriptors and file records have storage beyond the first: see Control::buckets_ready.
  // They only grow.
  Word more_buckets;
  Word more_files;
  Counters gone;  // sums of processes that left
  PassedTable passed;
};

struct alignas(64) LeaseRecord {
  Word generation;
  Word attached;  // 1 while in use; stays 1 when the process dies
  std::atomic<std::int32_t> pid;
  Word opens;  // entries in use at the front of this lease's opens: file + 1, with kOpenMarks
  Wide since_ns;
  std::array<char, 16> command;
  alignas(64) Counters counters;
  alignas(64) Counters own_counters;  // see tally.hpp: the figures are the sums of both
};

// In an entry of a lease's opens: this process carries home what is unsaved of the file.
inline constexpr std::uint32_t kOpenToWrite = 1u << 31;
// And: it also writes to home in ways that the buffer does not see. Only beside kOpenToWrite.
inline constexpr std::uint32_t kOpenPast = 1u << 30;
// And: others must not carry home what is unsaved of the file (FileTable::hold).
inline constexpr std::uint32_t kOpenHolds = 1u << 29;
inline constexpr std::uint32_t kOpenMarks = kOpenToWrite | kOpenPast | kOpenHolds;

inline constexpr std::uint32_t kInlinePath = 264;

enum FileFlag : std::uint32_t {
  kFileExclusive = 2,   // hint: no other node writes it
  kFilePinned = 4,      // some of it is pinned
  kFileBypass = 8,      // read and written at home only
  kFileTimed = 16,      // home is given the time of the last write here, not that of the drain
  kFileUnlinked = 32,   // has no name any more: its bytes go with its last user
  kFilePast = 64,       // somebody has it open with kOpenPast: nothing is filled from home
  kFileHeld = 128,      // somebody has it open with kOpenHolds
  kFileDrops = 256,     // what is clean is forgotten when nobody has it open
  kFileClaims = 512,    // what it reserves is kept free for it
  kFilePinsAll = 1024,  // each bucket that it gets is pinned
  kFileWanted = 2048,   // somebody who cannot carry it home waits for what others have unsaved of it
};

struct alignas(64) FileRecord {
  Word owner;  // free, lease id or kLinked
  Word next;
  Word lock;
  Word generation;                       // of this record, 1 to 255; part of the keys of its buckets
  std::uint64_t device, inode, born_ns;  // set under the table lock while in hand
  Wide size;                             // logical: home and staged
  Wide intent;                           // truncation in progress: new size + 1
  Wide intent_check;
  Word batch;        // committed and not carried out yet: its check; 0: none
  Word truncations;  // raised when one begins and when one ends
  Wide home_size;
  std::atomic<std::int64_t> home_modified_ns;  // mtime when last compared or written by us
  std::atomic<std::int64_t> written_ns;        // kFileTimed: CLOCK_REALTIME of the last write; 0: none yet
  // The time of the last change of status (ctime) that the node's programs are to see, and home's as the last
  // drain left it: as long as home has that one, nobody else has changed anything. 0: none yet.
  std::atomic<std::int64_t> changed_ns, home_changed_ns;
  Wide reserve;
  Word error;           // errno of the last failed drain; 0 after one that succeeded
  Word error_sequence;  // raised with each failure
  Wide error_ns;
  Word opens_hint;  // never less than the truth
  Word flags;
  Word only_tier;  // index + 1 of the tier that the last opener wants its bytes in; 0: any
  Word buckets;    // how many buckets it and the record's last files have; more after deaths, never less
  Wide last_used;  // nanoseconds: opened, closed, or bytes of it landed at home
  Word scratch;    // scratch_mark() if the file never goes home and is removed with its last user
  Wide dirty_end;  // no block from here on was ever dirty
  Word logged;     // raised with each record of it in a journal
  std::uint32_t path_check;
  alignas(64) std::array<Wide, 8> dirty_filter;  // sequence:32 | bits of blocks:32; see dirty_filter.hpp
  std::uint32_t path_length;
  std::uint32_t long_path;  // index + 1 of the LongPath that holds a path longer than kInlinePath
  std::array<char, kInlinePath> path;
};

struct LongPath {
  Word owner;  // file + 1
  std::array<char, 4092> text;
};

struct Chain {
  Word lock;
  Word head;
  Word sequence;
  Word padding;
};

enum BucketFlag : std::uint32_t {
  kBucketDamaged = 1,
  kBucketPinned = 2,
  kBucketReadOnce = 4,  // missed once already
};
// Beside them in the same word: who is bringing bytes of the bucket from home (see arrivals.hpp), and how
// often bytes of it were forgotten, which stays when the bucket gets another key.
inline constexpr std::uint32_t kBucketComingShift = 4;
inline constexpr std::uint32_t kBucketComing = 0x000f'fff0;
inline constexpr std::uint32_t kBucketForgetsShift = 20;
inline constexpr std::uint32_t kBucketForgets = 0xfff0'0000;

struct alignas(64) Bucket {
  Word lock;
  Word version;
  Wide key;  // 0: none
  Word next;
  Word place;  // slot + 1
  Word claimer;
  Word current;  // which list:1 | map:1 | RunList::Packed::count:4 | sequence:26
  Wide map_sum;
  Word used;  // tick of last use
  Word hits;
  Word dirty_since;  // tick of the first unsaved byte
  Word flags;
  struct alignas(64) List {
    std::array<std::uint32_t, RunList::kWords> entries;
    std::uint32_t check;  // of entries, `current` and key
  };
  std::array<List, 2> lists;
};
static_assert(sizeof(Bucket) == 192);

// owner:32 (free, lease id, kLinked) | bucket + 1:32
using SlotWord = Wide;

}  // namespace forebay
