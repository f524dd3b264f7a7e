#include "tier/journal.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "os/file_system.hpp"
#include "os/life_lock.hpp"
#include "os/mapping.hpp"
#include "os/private_file.hpp"
#include "os/steady_file.hpp"
#include "tier/aligned_buffer.hpp"
#include "tier/journal_directory.hpp"
#include "tier/journal_format.hpp"
#include "tier/journal_log.hpp"
#include "tier/pmem.hpp"

namespace forebay {
namespace {

constexpr std::uint64_t kZeroStep = 1u << 20;
// A record this small is not split to use up the end of a segment.
constexpr std::uint64_t kPieceLeast = 4096;

struct Segment {
  std::uint32_t lap = 0;
  std::uint32_t records = 0;
  // Records that a thread is still filling, in order of index. A drain may have brought their bytes home
  // already, but begun anew the segment would be written by two.
  std::vector<std::uint32_t> filling;
  std::map<JournalFile, std::uint64_t> last_seq;  // of each file with a record in this lap
};

// Blocks that were never written would make every first write also one of the file system's metadata.
Status write_through(int fd, std::uint64_t size, const std::string& name) {
  const auto zeros = make_aligned_buffer(kZeroStep);
  std::memset(zeros.get(), 0, kZeroStep);
  for (std::uint64_t at = 0; at < size; at += kZeroStep) {
    if (const auto written = write_fully(fd, zeros.get(), std::min(kZeroStep, size - at), at); !written) {
      return fail_errno(written.error().code, "write", name);
    }
  }
  return {};
}

Status write_headers(int fd, const JournalHeader& header, const std::string& name) {
  const auto block = make_aligned_buffer(kBlock);
  std::memset(block.get(), 0, kBlock);
  std::memcpy(block.get(), &header, sizeof header);
  for (const std::uint64_t position : {std::uint64_t{0}, kBlock}) {
    if (const auto written = write_fully(fd, block.get(), kBlock, position); !written) {
      return fail_errno(written.error().code, "write", name);
    }
  }
  if (::fdatasync(fd) != 0) return fail_errno(errno, "sync", name);
  // From here on the page cache is bypassed: what it holds would only be in the way.
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  return {};
}

Result<SteadyFile> open_for_appending(const Fd& directory, const std::string& name) {
  auto file = SteadyFile::open(directory, name, Create::kNever, O_DSYNC | O_DIRECT);
  if (file) {
    const auto block = make_aligned_buffer(kBlock);
    if (const auto fd = file->descriptor(); fd && ::pread(*fd, block.get(), kBlock, 0) >= 0) return file;
  } else if (file.error().code != EINVAL) {
    return file;
  }
  return SteadyFile::open(directory, name, Create::kNever, O_DSYNC);
}

Result<std::unique_ptr<JournalLog>> open_log(const SteadyFile& file, const Fd& directory,
                                             const std::string& name, const JournalHeader& header,
                                             Journal::Medium medium) {
  if (medium == Journal::Medium::kFile) {
    FOREBAY_ASSIGN(auto appending, open_for_appending(directory, name));
    return std::make_unique<DiskLog>(std::move(appending), header.segment_size);
  }
  FOREBAY_ASSIGN(const int fd, file.descriptor());
  auto mapping = Mapping::shared(fd, header.size, file.path(), MAP_SHARED_VALIDATE | MAP_SYNC);
  bool real = mapping.has_value();
  if (!real) {
    mapping = Mapping::shared(fd, header.size, file.path());
    if (!mapping) return std::unexpected(std::move(mapping).error());
    real = is_pmem(mapping->data(), mapping->size());
  }
  ::madvise(mapping->data(), mapping->size(), MADV_DONTFORK);
  ::madvise(mapping->data(), mapping->size(), MADV_DONTDUMP);
  return std::make_unique<PmemLog>(std::move(*mapping), real, file.path());
}

}  // namespace

struct Journal::State {
  State(HomeLedger its_ledger, const JournalHeader& its_header, Mapping its_life)
      : ledger(std::move(its_ledger)), header(its_header), life(std::move(its_life)) {}

  Status append(RecordHeader record, std::span<const std::byte> data);
  Result<LogPlace> take(JournalGuard& guard, const RecordHeader& record, std::uint64_t least,
                        std::uint64_t most);
  void fill(const LogPlace& place, RecordHeader record, std::span<const std::byte> data) const;
  bool is_reusable(const Segment& segment) const;
  bool is_home(JournalFile of, std::uint64_t seq) const {
    const auto home = ledger.home_seq(of);
    return home && *home >= seq;
  }
  Result<bool> begin_segment();

  HomeLedger ledger;
  const JournalHeader header;
  const Mapping life;  // the lock that says the owner lives
  SteadyFile file;
  bool persistent = false;

  std::mutex mutex;
  // Guarded by mutex.
  std::unique_ptr<JournalLog> log;
  std::array<Segment, kSegments> segments;
  std::uint32_t current = kSegments - 1;  // the first to begin is the one after it
  std::uint32_t laps = 0;
  std::uint64_t batch = 0;        // that of the last place taken
  std::uint32_t batch_start = 0;  // and its first record
  bool removed = false;
};

Journal::Journal(std::unique_ptr<State> state) : state_(std::move(state)) {}
Journal::~Journal() = default;

Result<std::unique_ptr<Journal>> Journal::create(const Fd& directory, std::uint64_t size, Medium medium) {
  if (size < kJournalSizeLeast)
    return fail(EINVAL, "a journal of " + std::to_string(size) + " bytes is too small");
  FOREBAY_ASSIGN(auto ledger, HomeLedger::open(directory, Create::kIfMissing));
  JournalHeader header{kJournalMagic, kJournalFormat, kSegments, 0, ledger.id(), 0, 0, 0, 0};
  header.in_order = medium == Medium::kFile ? 1 : 0;
  FOREBAY_ASSIGN(header.id, random_id());
  header.segment_size = round_down((size - kJournalHeaderSize) / kSegments);
  header.size = kJournalHeaderSize + kSegments * header.segment_size;
  seal(header);

  const auto digits = hexadecimal(header.id);
  const auto forming = std::string(kFormingPrefix) + digits;
  const auto name = std::string(kJournalPrefix) + digits;
  const auto form = [&]() -> Result<Mapping> {
    FOREBAY_ASSIGN(const auto file, open_private_file(directory, forming, Create::kExclusive));
    FOREBAY_ASSIGN(auto to_lock, open_private_file(directory, forming, Create::kNever));
    FOREBAY_TRY(reserve_storage(file, 0, header.size, name));
    // The owner's lock is there before the name is: nobody ever sees this journal without its owner.
    FOREBAY_ASSIGN(auto life, lock_for_life(std::move(to_lock), name));
    FOREBAY_TRY(write_through(file.get(), header.size, name));
    FOREBAY_TRY(write_headers(file.get(), header, name));
    FOREBAY_TRY(rename_if_new(directory, forming, name));
    FOREBAY_TRY(sync_directory(directory));
    return life;
  };
  auto life = form();
  if (!life) {
    ::unlinkat(directory.get(), forming.c_str(), 0);
    return std::unexpected(std::move(life).error());
  }
  auto state = std::make_unique<State>(std::move(ledger), header, std::move(*life));
  FOREBAY_ASSIGN(state->file, SteadyFile::open(directory, name, Create::kNever));
  FOREBAY_ASSIGN(state->log, open_log(state->file, directory, name, header, medium));
  state->persistent = !is_memory_file_system(directory.get());
  FOREBAY_TRY(state->begin_segment());
  return std::unique_ptr<Journal>(new Journal(std::move(state)));
}

bool Journal::State::is_reusable(const Segment& segment) const {
  return segment.filling.empty() && std::ranges::all_of(segment.last_seq, [this](const auto& last) {
           return is_home(last.first, last.second);
         });
}

// What the segment held is home, and its lap is lower than that of the records to come. The mark says so
// before the first of them overwrites anything: else one of them, torn, would look like damage to the old
// ones.
Result<bool> Journal::State::begin_segment() {
  for (std::uint32_t step = 1; step <= kSegments; ++step) {
    const auto next = (current + step) % kSegments;
    if (!is_reusable(segments[next])) continue;
    current = next;
    segments[next] = Segment{.lap = ++laps, .records = 0, .filling = {}, .last_seq = {}};
    const auto start = segment_start(header, next);
    RecordHeader mark{};
    mark.magic = kRecordMagic;
    mark.kind = RecordKind::kLap;
    mark.lap = laps;
    seal(mark, header.id, start);
    FOREBAY_TRY(log->begin(mark, start, start + header.segment_size));
    return true;
  }
  return false;
}

Result<LogPlace> Journal::State::take(JournalGuard& guard, const RecordHeader& record, std::uint64_t least,
                                      std::uint64_t most) {
  for (;;) {
    if (removed) return fail(EBADF, file.path() + " was removed");
    FOREBAY_ASSIGN(const auto place, log->take(guard, least, most));
    if (place) {
      auto& last = segments[current].last_seq[{record.file, record.generation}];
      last = std::max(last, record.seq);
      return *place;
    }
    FOREBAY_ASSIGN(const bool begun, begin_segment());
    if (!begun) return fail(ENOSPC, file.path() + " is full of bytes that are not home yet");
  }
}

void Journal::State::fill(const LogPlace& place, RecordHeader record, std::span<const std::byte> data) const {
  auto* payload = place.memory + sizeof record;
  // The check is of the copy: the caller's bytes may change under us, and the record must be sound
  // nevertheless.
  if (!data.empty()) std::memcpy(payload, data.data(), data.size());
  std::memset(payload + data.size(), 0, place.size - sizeof record - data.size());
  record.length = static_cast<std::uint32_t>(data.size());
  record.payload_check = check_bytes({payload, data.size()});
  seal(record, header.id, place.position);
  std::memcpy(place.memory, &record, sizeof record);
}

Status Journal::State::append(RecordHeader record, std::span<const std::byte> data) {
  JournalGuard guard(mutex);
  for (;;) {
    const auto most = record_size(std::min<std::uint64_t>(data.size(), kPayloadMost));
    const auto least = record_size(std::min<std::uint64_t>(data.size(), kPieceLeast));
    FOREBAY_ASSIGN(const auto place, take(guard, record, least, most));
    auto& segment = segments[current];
    record.lap = segment.lap;
    record.index = segment.records++;
    if (place.batch != std::exchange(batch, place.batch) || record.index == 0) batch_start = record.index;
    segment.filling.push_back(record.index);
    record.batch = std::min(batch_start, segment.filling.front());
    guard.unlock();
    const auto piece = data.first(std::min<std::uint64_t>(data.size(), place.size - sizeof record));
    fill(place, record, piece);
    data = data.subspan(piece.size());
    record.offset += piece.size();
    guard.lock();
    const auto finished = log->finish(guard, place);
    std::erase(segment.filling, record.index);
    if (!finished) return finished;
    if (data.empty()) return log->commit(guard, place.batch);
  }
}

Result<JournalFile> Journal::add_file(const FileIdentity& identity) { return state_->ledger.enter(identity); }

Status Journal::append(JournalFile file, std::uint64_t seq, std::uint64_t offset,
                       std::span<const std::byte> data) {
  if (data.empty()) return {};
  RecordHeader record{};
  record.magic = kRecordMagic;
  record.kind = RecordKind::kData;
  record.seq = seq;
  record.offset = offset;
  record.file = file.place;
  record.generation = file.generation;
  return state_->append(record, data);
}

Status Journal::truncate(JournalFile file, std::uint64_t seq, std::uint64_t size) {
  RecordHeader record{};
  record.magic = kRecordMagic;
  record.kind = RecordKind::kTruncate;
  record.seq = seq;
  record.offset = size;
  record.file = file.place;
  record.generation = file.generation;
  return state_->append(record, {});
}

Status Journal::mark_home(JournalFile file, std::uint64_t seq) { return state_->ledger.mark_home(file, seq); }

Status Journal::release_file(JournalFile file) { return state_->ledger.release(file); }

std::uint64_t Journal::room() const {
  const std::lock_guard guard(state_->mutex);
  auto room = state_->log->left();
  for (std::uint32_t i = 0; i < kSegments; ++i) {
    if (i != state_->current && state_->is_reusable(state_->segments[i]))
      room += state_->header.segment_size - kSegmentMarkSize;
  }
  return room;
}

std::vector<JournalFile> Journal::unfinished() const {
  const std::lock_guard guard(state_->mutex);
  std::vector<JournalFile> files;
  for (const auto& segment : state_->segments) {
    for (const auto& [file, seq] : segment.last_seq) {
      if (!state_->is_home(file, seq)) files.push_back(file);
    }
  }
  std::ranges::sort(files);
  const auto [first, last] = std::ranges::unique(files);
  files.erase(first, last);
  return files;
}

Status Journal::remove() {
  const std::lock_guard guard(state_->mutex);
  for (const auto& segment : state_->segments) {
    if (!state_->is_reusable(segment)) {
      return fail(EBUSY, path() + " holds bytes that are not home yet");
    }
  }
  state_->removed = true;
  if (::unlink(path().c_str()) != 0 && errno != ENOENT) return fail_errno(errno, "remove", path());
  const auto slash = path().find_last_of('/');
  const Fd directory(
      ::open(slash == std::string::npos ? "." : path().substr(0, slash).c_str(), O_RDONLY | O_CLOEXEC));
  if (!directory) return fail_errno(errno, "open the directory of", path());
  FOREBAY_TRY(sync_directory(directory));
  return state_->ledger.clear_if_unused(directory);
}

bool Journal::is_persistent() const { return state_->persistent; }
const std::string& Journal::path() const { return state_->file.path(); }

}  // namespace forebay
