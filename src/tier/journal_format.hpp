// What lies in a journal and in the ledger, byte for byte: docs/journal.md tells why.
//
// Everything is little-endian and as laid out here. Each structure carries a check that is seeded with where
// it lies and whose it is, so that a copy of it elsewhere, or of another journal, is no record at all.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::uint64_t kJournalMagic = 0x4c414e52554f4a46;  // "FJOURNAL"
inline constexpr std::uint64_t kLedgerMagic = 0x2052454744454c46;   // "FLEDGER "
inline constexpr std::uint32_t kRecordMagic = 0x43455246;           // "FREC"
inline constexpr std::uint32_t kJournalFormat = 2;

// A journal: two copies of the header, a block each, then segments. A segment begins with a block for the
// mark of its lap; behind it lie the records, each aligned to kRecordAlignment.
inline constexpr std::uint64_t kJournalHeaderSize = 8192;
inline constexpr std::uint32_t kSegments = 8;
inline constexpr std::uint64_t kSegmentMarkSize = 4096;
inline constexpr std::uint64_t kSegmentSizeLeast = kSegmentMarkSize + 8192;
inline constexpr std::uint64_t kJournalSizeLeast = kJournalHeaderSize + kSegments * kSegmentSizeLeast;
inline constexpr std::uint64_t kRecordAlignment = 64;
inline constexpr std::uint32_t kPayloadMost = 1 << 20;

struct JournalHeader {
  std::uint64_t magic;
  std::uint32_t format;
  std::uint32_t segments;
  std::uint64_t id;         // random
  std::uint64_t ledger_id;  // of the ledger its file numbers refer to
  std::uint64_t size;
  std::uint64_t segment_size;
  std::uint64_t in_order;  // 1 where records become durable in the order of laps and batches, as on a disk
  std::uint64_t check;
};
static_assert(sizeof(JournalHeader) == 64);

// kLap: the mark at the start of a segment. It has a lap, and means that this lap has begun.
enum class RecordKind : std::uint32_t { kData = 1, kTruncate = 2, kLap = 3 };

struct RecordHeader {
  std::uint32_t magic;
  RecordKind kind;
  std::uint32_t lap;         // grows each time a segment is begun anew
  std::uint32_t batch;       // records with an index below this were durable before this one was
  std::uint64_t seq;         // given by the engine: later writes have greater ones
  std::uint64_t offset;      // in the file; of kTruncate: the new size
  std::uint32_t file;        // its place in the ledger
  std::uint32_t generation;  // of that place
  std::uint32_t length;      // of the payload, which follows
  std::uint32_t index;       // counts the records of this lap of this segment
  std::uint64_t payload_check;
  std::uint64_t check;
};
static_assert(sizeof(RecordHeader) == 64);

// The ledger: two copies of the header, a block each, then a pair of blocks for each file.
inline constexpr std::uint32_t kLedgerFiles = 4096;

struct LedgerHeader {
  std::uint64_t magic;
  std::uint32_t format;
  std::uint32_t reserved;
  std::uint64_t id;  // random
  std::uint64_t check;
};
static_assert(sizeof(LedgerHeader) == 32);

inline constexpr std::size_t kLedgerPathMost = 4096 - 80;

// One block. Of a pair, the intact one with the greater version counts.
struct LedgerEntry {
  std::uint64_t magic;
  std::uint64_t version;  // grows with each change, over all generations
  std::uint32_t used;
  std::uint32_t generation;  // grows when the place is given up: records of an older one are home
  std::uint64_t device;
  std::uint64_t inode;
  std::uint64_t born_ns;
  std::uint64_t home_seq;  // everything of this file up to here is home
  std::uint32_t path_length;
  std::uint32_t reserved;
  std::uint64_t unused;
  std::uint64_t check;
  std::array<char, kLedgerPathMost> path;
};
static_assert(sizeof(LedgerEntry) == 4096);

constexpr std::uint64_t record_size(std::uint64_t payload) {
  return (sizeof(RecordHeader) + payload + kRecordAlignment - 1) & ~(kRecordAlignment - 1);
}
constexpr std::uint64_t segment_start(const JournalHeader& header, std::uint32_t segment) {
  return kJournalHeaderSize + segment * header.segment_size;
}
constexpr std::uint64_t records_start(const JournalHeader& header, std::uint32_t segment) {
  return segment_start(header, segment) + kSegmentMarkSize;
}
constexpr std::uint64_t ledger_position(std::uint32_t file, unsigned copy) {
  return (2 + std::uint64_t{file} * 2 + copy) * 4096;
}

std::uint64_t check_bytes(std::span<const std::byte> bytes);

void seal(JournalHeader& header);
void seal(LedgerHeader& header);
void seal(RecordHeader& record, std::uint64_t journal_id, std::uint64_t position);
void seal(LedgerEntry& entry, std::uint64_t ledger_id, std::uint32_t file);

// Intact, of this format, and with figures that make sense together.
bool is_sound(const JournalHeader& header);
bool is_sound(const LedgerHeader& header);
bool is_sound(const RecordHeader& record, std::uint64_t journal_id, std::uint64_t position);
bool is_sound(const LedgerEntry& entry, std::uint64_t ledger_id, std::uint32_t file);

}  // namespace forebay
