#include "tier/journal_reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "os/private_file.hpp"
#include "tier/aligned_buffer.hpp"

namespace forebay {
namespace {

// A moving window over the file, large enough for any record.
class Window {
 public:
  explicit Window(int fd) : fd_(fd), memory_(make_aligned_buffer(kSize)) {}

  // The bytes at [position, position + size), fewer at the end of the file. Valid until the next call.
  std::span<const std::byte> view(std::uint64_t position, std::uint64_t size) {
    if (position < start_ || position + size > start_ + filled_) {
      start_ = position;
      filled_ = fill();
    }
    const auto offset = position - start_;
    return {memory_.get() + offset, std::min(size, filled_ - offset)};
  }

 private:
  static constexpr std::uint64_t kSize = 2 * std::uint64_t{kPayloadMost};

  [[nodiscard]] std::uint64_t fill() const {
    if (const auto got = read_fully(fd_, memory_.get(), kSize, start_)) return *got;
    // Somewhere in there the disk cannot read: only those blocks are lost.
    std::uint64_t at = 0;
    while (at < kSize) {
      const auto got = read_fully(fd_, memory_.get() + at, kBlock, start_ + at);
      if (!got) std::memset(memory_.get() + at, 0, kBlock);
      at += got.value_or(kBlock);
      if (got && *got < kBlock) break;
    }
    return at;
  }

  int fd_;
  AlignedBuffer memory_;
  std::uint64_t start_ = 0;
  std::uint64_t filled_ = 0;
};

Result<JournalHeader> read_header(int fd, const std::string& name) {
  for (const std::uint64_t position : {std::uint64_t{0}, kBlock}) {
    JournalHeader header{};
    const auto got = read_fully(fd, &header, sizeof header, position);
    if (got && *got == sizeof header && is_sound(header)) return header;
  }
  return fail(EBADMSG, name + " is damaged, of another version, or no journal at all");
}

// More of them in one segment are not told apart: it is damage anyway.
constexpr std::size_t kBrokenMost = 1024;

struct SegmentScan {
  std::uint32_t lap = 0;
  std::vector<JournalRecord> records;                           // of that lap
  std::vector<std::pair<std::uint32_t, std::uint64_t>> broken;  // lap and position, of any lap
};

// 0 where it is torn: then nothing was written behind it yet, and the records there tell their lap.
std::uint32_t lap_marked(Window& window, const JournalHeader& header, std::uint32_t segment) {
  const auto position = segment_start(header, segment);
  RecordHeader mark{};
  const auto bytes = window.view(position, sizeof mark);
  if (bytes.size() < sizeof mark) return 0;
  std::memcpy(&mark, bytes.data(), sizeof mark);
  return is_sound(mark, header.id, position) && mark.kind == RecordKind::kLap ? mark.lap : 0;
}

void note(SegmentScan& scan, const RecordHeader& record, std::uint64_t position) {
  if (record.lap < scan.lap) return;
  if (record.lap > scan.lap) {
    scan.lap = record.lap;
    scan.records.clear();
  }
  scan.records.push_back({record.kind,
                          {record.file, record.generation},
                          record.seq,
                          record.offset,
                          position + sizeof record,
                          record.payload_check,
                          record.length,
                          record.index,
                          record.batch});
}

SegmentScan scan_segment(Window& window, const JournalHeader& header, std::uint32_t segment) {
  SegmentScan scan;
  scan.lap = lap_marked(window, header, segment);
  const auto end = segment_start(header, segment) + header.segment_size;
  for (auto position = records_start(header, segment); position < end;) {
    RecordHeader record{};
    const auto bytes = window.view(position, sizeof record);
    if (bytes.size() < sizeof record) break;
    std::memcpy(&record, bytes.data(), sizeof record);
    const auto intact = [&] {
      if (!is_sound(record, header.id, position) || record.kind == RecordKind::kLap) return false;
      if (position + record_size(record.length) > end) return false;
      const auto payload = window.view(position + sizeof record, record.length);
      return payload.size() == record.length && check_bytes(payload) == record.payload_check;
    };
    if (intact()) {
      note(scan, record, position);
      position += record_size(record.length);
    } else {
      if (record.magic == kRecordMagic && scan.broken.size() < kBrokenMost)
        scan.broken.emplace_back(record.lap, position);
      position += kRecordAlignment;
    }
  }
  return scan;
}

// Records below `acknowledged` that are not there.
std::uint64_t count_gaps(const std::vector<JournalRecord>& records, std::uint32_t acknowledged) {
  std::uint64_t gaps = 0;
  std::uint32_t expected = 0;
  for (const auto& record : records) {
    const auto end = std::min(record.index, acknowledged);
    if (end > expected) gaps += end - expected;
    expected = record.index + 1;
  }
  return gaps;
}

}  // namespace

Result<JournalContents> read_journal(int fd, const std::string& name) {
  JournalContents contents;
  FOREBAY_ASSIGN(contents.header, read_header(fd, name));
  Window window(fd);
  std::array<SegmentScan, kSegments> scans;
  std::uint32_t latest = 0;
  for (std::uint32_t segment = 0; segment < kSegments; ++segment) {
    scans[segment] = scan_segment(window, contents.header, segment);
    latest = std::max(latest, scans[segment].lap);
  }
  for (const auto& scan : scans) {
    // Remains of an earlier lap begin like records too; they are no loss.
    std::uint64_t broken = 0;
    for (const auto& [lap, position] : scan.broken) {
      if (lap < scan.lap) continue;
      contents.broken.push_back(position);
      if (lap == scan.lap) ++broken;
    }
    // What is missing before the last batch had been acknowledged; what is missing within it was being
    // written when the power went.
    if (scan.lap < latest && contents.header.in_order != 0) {
      contents.lost += std::max(count_gaps(scan.records, ~0u), broken);
    } else if (!scan.records.empty()) {
      contents.lost += count_gaps(scan.records, scan.records.back().batch);
    }
    contents.records.insert(contents.records.end(), scan.records.begin(), scan.records.end());
  }
  return contents;
}

Status read_payload(int fd, const std::string& name, const JournalRecord& record, std::byte* to) {
  const auto got = read_fully(fd, to, record.length, record.payload_position);
  if (!got) return fail_errno(got.error().code, "read", name);
  if (*got != record.length || check_bytes({to, record.length}) != record.payload_check) {
    return fail(EBADMSG, name + " is damaged at byte " + std::to_string(record.payload_position));
  }
  return {};
}

}  // namespace forebay
