#include "tier/journal_format.hpp"

#include <xxhash.h>

namespace forebay {
namespace {

// Everything but the check itself, with the check read as 0.
template <class T>
std::uint64_t check_of(T structure, std::uint64_t seed) {
  structure.check = 0;
  return XXH3_64bits_withSeed(&structure, sizeof structure, seed);
}

// Odd multipliers keep neighbouring places far apart.
constexpr std::uint64_t place_seed(std::uint64_t id, std::uint64_t place) {
  return id ^ ((place + 1) * 0x9e3779b97f4a7c15);
}

}  // namespace

std::uint64_t check_bytes(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void seal(JournalHeader& header) { header.check = check_of(header, kJournalMagic); }
void seal(LedgerHeader& header) { header.check = check_of(header, kLedgerMagic); }
void seal(RecordHeader& record, std::uint64_t journal_id, std::uint64_t position) {
  record.check = check_of(record, place_seed(journal_id, position));
}
void seal(LedgerEntry& entry, std::uint64_t ledger_id, std::uint32_t file) {
  entry.check = check_of(entry, place_seed(ledger_id, file));
}

bool is_sound(const JournalHeader& header) {
  return header.magic == kJournalMagic && header.check == check_of(header, kJournalMagic) &&
         header.format == kJournalFormat && header.segments == kSegments &&
         header.segment_size >= kSegmentSizeLeast && header.segment_size % 4096 == 0 &&
         header.segment_size <= (std::uint64_t{1} << 50) &&
         header.size >= kJournalHeaderSize + kSegments * header.segment_size;
}

bool is_sound(const LedgerHeader& header) {
  return header.magic == kLedgerMagic && header.check == check_of(header, kLedgerMagic) &&
         header.format == kJournalFormat;
}

bool is_sound(const RecordHeader& record, std::uint64_t journal_id, std::uint64_t position) {
  if (record.magic != kRecordMagic || record.check != check_of(record, place_seed(journal_id, position)))
    return false;
  if (record.file >= kLedgerFiles) return false;
  if (record.kind == RecordKind::kData) {
    return record.length > 0 && record.length <= kPayloadMost &&
           record.offset <= ~std::uint64_t{0} - record.length;
  }
  return (record.kind == RecordKind::kTruncate || record.kind == RecordKind::kLap) && record.length == 0;
}

bool is_sound(const LedgerEntry& entry, std::uint64_t ledger_id, std::uint32_t file) {
  return entry.magic == kLedgerMagic && entry.check == check_of(entry, place_seed(ledger_id, file)) &&
         entry.path_length <= kLedgerPathMost;
}

}  // namespace forebay
