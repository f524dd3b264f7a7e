#include "engine/status.hpp"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <numeric>
#include <thread>
#include <tuple>

#include "config/resolve.hpp"
#include "engine/bucket_table.hpp"
#include "engine/bucket_view.hpp"
#include "engine/control_reader.hpp"
#include "engine/file_table.hpp"
#include "engine/slot_table.hpp"
#include "engine/ticks.hpp"
#include "os/lease.hpp"
#include "os/private_file.hpp"

namespace forebay {

#define FOREBAY_COUNTER(name) \
  NamedCounter { #name, &Counters::name }
const std::array<NamedCounter, kCounterCount> kCounterNames{
    FOREBAY_COUNTER(writes),          FOREBAY_COUNTER(written_bytes),
    FOREBAY_COUNTER(staged_bytes),    FOREBAY_COUNTER(straight_home_bytes),
    FOREBAY_COUNTER(reads),           FOREBAY_COUNTER(read_bytes),
    FOREBAY_COUNTER(hit_bytes),       FOREBAY_COUNTER(miss_bytes),
    FOREBAY_COUNTER(home_writes),     FOREBAY_COUNTER(home_written_bytes),
    FOREBAY_COUNTER(home_reads),      FOREBAY_COUNTER(home_read_bytes),
    FOREBAY_COUNTER(home_errors),     FOREBAY_COUNTER(prefetched_bytes),
    FOREBAY_COUNTER(readahead_bytes), FOREBAY_COUNTER(filled_bytes),
    FOREBAY_COUNTER(evictions),       FOREBAY_COUNTER(demotions),
    FOREBAY_COUNTER(promotions),      FOREBAY_COUNTER(damaged),
    FOREBAY_COUNTER(waits_for_room),  FOREBAY_COUNTER(wait_ns),
    FOREBAY_COUNTER(take_overs),      FOREBAY_COUNTER(recovered_bytes),
    FOREBAY_COUNTER(passed_through),  FOREBAY_COUNTER(home_write_ns),
    FOREBAY_COUNTER(home_read_ns),    FOREBAY_COUNTER(home_wait_ns),
    FOREBAY_COUNTER(close_wait_ns)};
#undef FOREBAY_COUNTER

namespace {

constexpr int kTries = 20;
constexpr std::uint32_t kNowhere = ~0u;

std::chrono::nanoseconds monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// Reads one buffer into one BufferStatus.
class Look {
 public:
  Look(const ControlReader& reader, const LeaseFile* leases, BufferStatus& status)
      : reader_(reader),
        leases_(leases),
        status_(status),
        header_(reader.header()),
        file_at_(header_.file_count, kNowhere) {}

  Status run() {
    const auto now = monotonic_now() - std::chrono::nanoseconds(header_.created_ticks_ns);
    status_.age = std::max(now, std::chrono::nanoseconds(0));
    status_.bucket_size = header_.bucket_size;
    status_.totals = std::make_unique<Counters>();
    FOREBAY_TRY(read_tiers());
    FOREBAY_TRY(read_files());
    FOREBAY_TRY(read_processes());
    FOREBAY_TRY(
        reader_.for_each<Bucket>(header_.regions.buckets, buckets_ready_,
                                 [&](std::uint32_t i, const Bucket& bucket) { note_bucket(i, bucket); }));
    std::erase_if(status_.files, [](const FileStatus& file) {
      return file.buffered == 0 && file.openers.empty() && file.error == 0 && file.damaged == 0 &&
             !file.truncating;
    });
    std::ranges::sort(status_.files, [](const FileStatus& a, const FileStatus& b) {
      return std::tuple(b.unsaved, b.buffered, a.number) < std::tuple(a.unsaved, a.buffered, b.number);
    });
    return {};
  }

 private:
  [[nodiscard]] std::chrono::nanoseconds since(std::uint64_t moment_ns) const {
    return status_.age - std::min(status_.age, std::chrono::nanoseconds(moment_ns & INT64_MAX));
  }

  Status read_tiers() {
    Shared shared;
    FOREBAY_TRY(reader_.read(header_.regions.shared, 0, shared));
    add_up(shared.gone);
    buckets_ready_ = buckets_ready(header_, shared);
    files_ready_ = files_ready(header_, shared);
    status_.passed = passed_of(shared.passed);
    for (std::uint32_t i = 0; i < header_.tier_count; ++i) {
      const auto& layout = header_.tiers[i];
      const auto available = std::min(shared.tiers[i].available.load(), layout.slots);
      TierStatus tier{.name = layout.name.data(),
                      .kind = static_cast<TierKind>(layout.kind),
                      .directory = layout.directory.data(),
                      .size = std::uint64_t{layout.slots} * header_.bucket_size,
                      .reserved = std::uint64_t{available} * header_.bucket_size,
                      .failed = static_cast<int>(shared.tiers[i].failed.load() & 0xffff)};
      const auto first = header_.regions.slots + std::uint64_t{layout.first_slot} * sizeof(SlotWord);
      FOREBAY_TRY(reader_.for_each<SlotWord>(first, available, [&](std::uint32_t, const SlotWord& word) {
        if (word.load() != 0) tier.used += header_.bucket_size;
      }));
      status_.tiers.push_back(std::move(tier));
    }
    return {};
  }

  Status read_files() {
    return reader_.for_each<FileRecord>(
        header_.regions.files, files_ready_, [&](std::uint32_t i, const FileRecord& record) {
          if (record.owner.load() != kLinked) return;
          ++status_.known_files;
          file_at_[i] = static_cast<std::uint32_t>(status_.files.size());
          generations_.push_back(record.generation.load() & 255);
          FileStatus file{.number = i,
                          .path = path_of(record),
                          .size = record.size.load(),
                          .by_tier = std::vector<std::uint64_t>(header_.tier_count),
                          .error = static_cast<int>(record.error.load() & 0xffff),
                          .scratch = is_scratch(record),
                          .truncating = record.intent.load() != 0};
          if (file.error != 0) file.error_age = since(record.error_ns.load());
          status_.files.push_back(std::move(file));
        });
  }

  std::string path_of(const FileRecord& record) const {
    std::string path;
    if (record.long_path == 0) {
      if (record.path_length > record.path.size()) return {};
      path.assign(record.path.data(), record.path_length);
    } else {
      auto text = std::make_unique<LongPath>();
      const auto at = record.long_path - 1;
      if (at >= header_.long_path_count || record.path_length > text->text.size()) return {};
      if (!reader_.read(header_.regions.long_paths, at, *text)) return {};
      path.assign(text->text.data(), record.path_length);
    }
    return record.path_check == path_check(record, path) ? path : std::string{};
  }

  Status read_processes() {
    Status result;
    FOREBAY_TRY(reader_.for_each<LeaseRecord>(
        header_.regions.leases, header_.lease_count, [&](std::uint32_t slot, const LeaseRecord& record) {
          add_up(record.counters);
          add_up(record.own_counters);
          if (record.attached.load() == 0) return;
          ProcessStatus process{
              .pid = record.pid.load(),
              .command = {record.command.data(), ::strnlen(record.command.data(), record.command.size())},
              .alive = leases_ != nullptr && leases_->held(slot),
              .attached_for = since(record.since_ns.load())};
          const auto opens = reader_.opens(slot, record.opens.load());
          if (!opens) result = std::unexpected(opens.error());
          for (const auto entry : opens.value_or(std::vector<std::uint32_t>{})) {
            const auto open = entry & ~kOpenMarks;
            if (open == 0 || open > header_.file_count) continue;
            ++process.open_files;
            const auto at = file_at_[open - 1];
            if (at == kNowhere) continue;
            auto& file = status_.files[at];
            file.openers.push_back(status_.processes.size());
            file.carried = file.carried || (process.alive && (entry & kOpenToWrite) != 0);
          }
          status_.processes.push_back(std::move(process));
        }));
    return result;
  }

  void add_up(const Counters& counters) {
    for (const auto& [name, member] : kCounterNames) {
      ((*status_.totals).*member).fetch_add((counters.*member).load(std::memory_order_relaxed));
    }
    status_.totals->read_bytes.store(status_.totals->hit_bytes.load() + status_.totals->miss_bytes.load());
  }

  struct Counts {
    std::uint64_t buffered = 0, unsaved = 0, claimed = 0;
    bool whole = false;
  };
  Counts count_states(std::uint32_t index, const Bucket& bucket) const {
    Counts counts;
    const auto add = [&](std::uint32_t b, std::uint32_t e, ByteState s) {
      if (readable(s)) counts.buffered += e - b;
      if (unsaved(s)) counts.unsaved += e - b;
      if (s == ByteState::kClaimed) counts.claimed += e - b;
    };
    const auto current = bucket.current.load();
    const auto size = header_.bucket_size;
    if ((current & 2) == 0) {
      counts.whole = states_whole(bucket, size, 0);
      run_list(bucket, size, current).for_each(0, size, size, add);
    } else if (auto words = reader_.map(index)) {
      const ByteMap map(words->data());
      counts.whole = states_whole(bucket, size, map.sum(size));
      map.for_each(0, size, add);
    }
    return counts;
  }

  void note_bucket(std::uint32_t index, const Bucket& first_look) {
    if (first_look.key.load() == 0) return;
    auto counts = count_states(index, first_look);
    if (counts.whole) return note_counts(first_look, counts, false);
    // A change in progress looks like damage: it will pass, unless its author is dead, and then it is
    // excused.
    Bucket again;
    for (int i = 0; i < kTries && !counts.whole; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(i * 100));
      if (!reader_.read(header_.regions.buckets, index, again)) break;
      counts = count_states(index, again);
    }
    if (again.key.load() != 0) note_counts(again, counts, !counts.whole && (again.version.load() & 1) == 0);
  }

  void note_counts(const Bucket& bucket, const Counts& counts, bool damaged) {
    const auto key = bucket.key.load();
    damaged = damaged || (bucket.flags.load() & kBucketDamaged) != 0;
    status_.damaged += damaged ? 1 : 0;
    const auto tier = tier_of(bucket.place.load());
    if (tier != kNowhere) status_.tiers[tier].unsaved += counts.unsaved;
    const auto at = key_file(key) < header_.file_count ? file_at_[key_file(key)] : kNowhere;
    if (at == kNowhere || generations_[at] != (key >> 36 & 255)) {
      status_.stray_unsaved += counts.unsaved;
      return;
    }
    auto& file = status_.files[at];
    file.buffered += counts.buffered;
    file.unsaved += counts.unsaved;
    file.under_way += counts.claimed;
    file.damaged += damaged ? 1 : 0;
    if (tier != kNowhere) file.by_tier[tier] += counts.buffered;
    if (counts.unsaved == 0) return;
    const auto now = tick_of(static_cast<std::uint64_t>(status_.age / std::chrono::milliseconds(1)));
    const std::chrono::nanoseconds age =
        std::chrono::milliseconds(ticks_since(bucket.dirty_since.load(), now));
    file.oldest_unsaved = std::max(file.oldest_unsaved.value_or(age), age);
  }

  [[nodiscard]] std::uint32_t tier_of(std::uint32_t place) const {
    for (std::uint32_t i = 0; i < header_.tier_count; ++i) {
      if (place != 0 && place - 1 - header_.tiers[i].first_slot < header_.tiers[i].slots) return i;
    }
    return kNowhere;
  }

  const ControlReader& reader_;
  const LeaseFile* leases_;
  BufferStatus& status_;
  const Header& header_;
  std::uint32_t buckets_ready_ = 0;
  std::uint32_t files_ready_ = 0;
  std::vector<std::uint32_t> file_at_;      // from the number in the buffer to the place in status_.files
  std::vector<std::uint32_t> generations_;  // of status_.files
};

}  // namespace

std::uint64_t BufferStatus::buffered() const {
  return std::transform_reduce(files.begin(), files.end(), std::uint64_t{0}, std::plus{},
                               [](const FileStatus& file) { return file.buffered; });
}

std::uint64_t BufferStatus::unsaved() const {
  return std::transform_reduce(files.begin(), files.end(), stray_unsaved, std::plus{},
                               [](const FileStatus& file) { return file.scratch ? 0 : file.unsaved; });
}

bool BufferStatus::has_living_opener(const FileStatus& file) const {
  return std::ranges::any_of(file.openers, [&](std::size_t i) { return processes[i].alive; });
}

bool BufferStatus::anybody_alive() const { return std::ranges::any_of(processes, &ProcessStatus::alive); }

Result<BufferStatus> look_at_buffer(const Settings& given) {
  const auto settings = resolve_paths(given);
  BufferStatus status;
  status.name = settings.buffer.name;
  status.directory = settings.buffer.directory + "/" + settings.buffer.name;
  const auto none = [&] { return fail(ENOENT, "there is no buffer in " + status.directory); };
  const auto base = open_private_directory(settings.buffer.directory, Create::kNever);
  if (!base && base.error().code == ENOENT) return none();
  if (!base) return std::unexpected(base.error());
  const auto directory = open_private_directory(status.directory, Create::kNever);
  if (!directory && directory.error().code == ENOENT) return none();
  if (!directory) return std::unexpected(directory.error());

  const auto reader = ControlReader::open(*directory, status.finding);
  if (!reader && status.finding == ControlFinding::kMissing) return none();
  if (!reader) {
    status.why = reader.error().message;
    return status;
  }
  const auto leases = LeaseFile::open(status.directory + "/" + kLeaseFileName);
  if (const auto looked = Look(*reader, leases ? &*leases : nullptr, status).run(); !looked) {
    status.finding = ControlFinding::kDamaged;
    status.why = looked.error().message;
  }
  return status;
}

Result<std::vector<std::string>> buffer_names(const Settings& given) {
  const auto settings = resolve_paths(given);
  std::vector<std::string> names;
  auto directory = open_private_directory(settings.buffer.directory, Create::kNever);
  if (!directory && directory.error().code == ENOENT) return names;
  if (!directory) return std::unexpected(directory.error());
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(directory->get()), &::closedir);
  if (entries == nullptr) return fail_errno(errno, "list", settings.buffer.directory);
  (void)directory->release();  // closedir closes it
  for (const dirent* entry = nullptr; (entry = ::readdir(entries.get())) != nullptr;) {
    const std::string_view name = entry->d_name;
    if (entry->d_type == DT_DIR && name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace forebay
