// What a journal holds, found by looking at every place where a record can begin.
//
// Whatever the file contains, nothing is returned that its writer did not write there in the segment's latest
// lap, and no content makes the reader fail, read outside the file or take memory beyond a few bytes per
// record.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "tier/home_ledger.hpp"
#include "tier/journal_format.hpp"

namespace forebay {

struct JournalRecord {
  RecordKind kind;
  JournalFile file;
  std::uint64_t seq;
  std::uint64_t offset;  // of kTruncate: the new size
  std::uint64_t payload_position;
  std::uint64_t payload_check;
  std::uint32_t length;
  std::uint32_t index;
  std::uint32_t batch;
};

struct JournalContents {
  JournalHeader header;
  std::vector<JournalRecord> records;  // by segment, then as they were appended
  // Records that begin like ones of the latest lap and are not intact: the torn end of the log, or damage.
  std::vector<std::uint64_t> broken;  // their positions
  // Records known to be missing before the last batch: these had been acknowledged, so this is damage.
  std::uint64_t lost = 0;
};

// EBADMSG when this is no journal, or of another version, or both copies of its header are damaged.
Result<JournalContents> read_journal(int fd, const std::string& name);

// Reads a record's payload into `to` (record.length bytes). EBADMSG when it is not intact any more.
Status read_payload(int fd, const std::string& name, const JournalRecord& record, std::byte* to);

}  // namespace forebay
