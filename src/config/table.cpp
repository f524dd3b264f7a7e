#include "config/table.hpp"

#include <algorithm>
#include <array>

namespace forebay {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

template <auto Section, auto Member>
constexpr Setting global(std::string_view name, Limits limits, std::string_view help) {
  using T = std::remove_cvref_t<decltype(std::declval<Settings&>().*Section.*Member)>;
  return {
      .name = name,
      .help = help,
      .limits = limits,
      .per_file = false,
      .read = [](std::string_view text, const Limits& within, Target target) -> Status {
        FOREBAY_ASSIGN(target.settings->*Section.*Member, Value<T>::read(text, within));
        return {};
      },
      .write =
          [](Source source, const Limits& within) {
            return Value<T>::write(source.settings->*Section.*Member, within);
          },
      .allowed = &Value<T>::allowed,
      .copy = nullptr,
  };
}

template <auto Member>
constexpr Setting per_file(std::string_view name, Limits limits, std::string_view help) {
  using T = std::remove_cvref_t<decltype(std::declval<FileSettings&>().*Member)>;
  return {
      .name = name,
      .help = help,
      .limits = limits,
      .per_file = true,
      .read = [](std::string_view text, const Limits& within, Target target) -> Status {
        FOREBAY_ASSIGN(target.file->*Member, Value<T>::read(text, within));
        return {};
      },
      .write = [](Source source,
                  const Limits& within) { return Value<T>::write(source.file->*Member, within); },
      .allowed = &Value<T>::allowed,
      .copy = [](const FileSettings& from, FileSettings& to) { to.*Member = from.*Member; },
  };
}

template <auto Member>
constexpr TierField tier_field(std::string_view name, Limits limits, std::string_view help) {
  using T = std::remove_cvref_t<decltype(std::declval<TierSettings&>().*Member)>;
  return {
      .name = name,
      .help = help,
      .limits = limits,
      .read = [](std::string_view text, const Limits& within, TierSettings& tier) -> Status {
        FOREBAY_ASSIGN(tier.*Member, Value<T>::read(text, within));
        return {};
      },
      .allowed = &Value<T>::allowed,
  };
}

constexpr std::uint64_t count(nanoseconds duration) { return static_cast<std::uint64_t>(duration.count()); }

constexpr Limits between(std::uint64_t min, std::uint64_t max, std::string_view zero = {}) {
  return {.min = min, .max = max, .zero = zero};
}
constexpr Limits between(nanoseconds min, nanoseconds max, std::string_view zero = {}) {
  return {.min = count(min), .max = count(max), .zero = zero};
}
constexpr Limits path(std::string_view empty) { return {.empty = empty, .form = Form::Path}; }

constexpr Limits kAny{};
constexpr Limits kPercent{.max = 100, .form = Form::Percent};

constexpr auto kTable = std::to_array<Setting>({
    global<&Settings::buffer, &BufferSettings::name>("buffer.name", {.form = Form::Name},
                                                     "Name of the buffer. Processes of one user on one node "
                                                     "that use the same name and directory share one "
                                                     "buffer."),
    global<&Settings::buffer, &BufferSettings::directory>(
        "buffer.directory", path("/dev/shm/forebay-<uid>"),
        "Directory of the control file. Made with mode 0700 if it is not there. It must lie on a local file "
        "system, best in memory."),
    global<&Settings::buffer, &BufferSettings::bucket_size>(
        "buffer.bucket_size", {.min = 4 * kKiB, .max = 16 * kMiB, .power_of_two = true},
        "Bytes of a file that are kept together. Larger buckets need less memory beside the data and suit "
        "large "
        "sequential access, smaller ones suit small scattered access."),
    global<&Settings::buffer, &BufferSettings::max_files>(
        "buffer.max_files", between(16, 1'048'576, "chosen from the size of the tiers"),
        "Files the buffer can know at one time. Further ones are refused by the native interface, and not "
        "buffered by the others."),
    global<&Settings::buffer, &BufferSettings::max_processes>("buffer.max_processes", between(1, 1000),
                                                              "Processes that can be attached at one time."),

    global<&Settings::choice, &FileChoice::homes>(
        "homes", {.empty = "preloaded doors do nothing", .form = Form::Paths},
        "Directories whose files are buffered; nothing outside is touched. Without any, the doors that a "
        "program calls itself (HDF5, native) take every file, and preloaded ones (POSIX, MPI-IO) none."),
    global<&Settings::choice, &FileChoice::include>(
        "include", {.empty = "every file of the homes", .form = Form::Patterns},
        "Only files that match one of these are buffered."),
    global<&Settings::choice, &FileChoice::exclude>(
        "exclude", {.empty = "no file", .form = Form::Patterns},
        "Files that match one of these are not buffered, whatever `include` says."),
    global<&Settings::choice, &FileChoice::min_file_size>(
        "min_file_size", between(0, 1024 * kTiB),
        "A file that is smaller when it is opened is not buffered. One that is empty, or that the open "
        "truncates, is: nobody knows how large it will be."),
    global<&Settings::choice, &FileChoice::max_file_size>("max_file_size",
                                                          between(1, 1024 * kTiB, "no limit"),
                                                          "A file that is larger when it is opened is not "
                                                          "buffered."),

    per_file<&FileSettings::mode>("mode", kAny,
                                  "What becomes of writes. `async`: staged, and carried home in the "
                                  "background. `sync`: also written home "
                                  "before the write returns; the tiers then only serve reads. `scratch`: "
                                  "never goes home and is removed "
                                  "with its last user, whatever `durability`, `on_close`, `on_flush` and "
                                  "`drain.trigger` say. `bypass`: "
                                  "the file is not buffered."),
    per_file<&FileSettings::durability>(
        "durability", kAny,
        "What an acknowledged write survives. `process`: the death of every process on the node. `node`: the "
        "death of the node too, because the write returns only once a `pmem` or `nvme` tier has persisted "
        "it. "
        "`home`: whatever home survives, because it is written through and synced there, as by `O_DSYNC`. A "
        "file with `mode: sync` has no log: there `node` does what `home` does."),
    per_file<&FileSettings::on_close>("on_close", kAny,
                                      "When a close returns. `home`: when the file is home. `detach`: at "
                                      "once; the rest is carried home in the background, and by a process "
                                      "of its own (`drain.program`) when this one leaves the buffer. Where "
                                      "that cannot be started, leaving waits."),
    per_file<&FileSettings::on_flush>("on_flush", kAny,
                                      "When a sync or flush returns. `home`: when the bytes are home, so "
                                      "that other nodes see them. `stage`: "
                                      "as soon as they survive what `durability` promises."),
    per_file<&FileSettings::after_close>(
        "after_close", kAny,
        "What becomes of what the buffer has of a file when the last process on the node has closed it. "
        "`keep`: it stays, for whoever opens the file next, until the room is needed or home has changed. "
        "`drop`: it is forgotten, and its room is free for other files; what is not home yet "
        "(`on_close: detach`) as soon as it is. Who opened the file last decides. A `.cfg` file of the Cache "
        "VOL means `drop`."),
    per_file<&FileSettings::placement>(
        "placement", kAny,
        "Which of the `memory` and `pmem` tiers takes a bucket first; without room there, the next one. "
        "`max_bandwidth`: the fastest. `max_locality`: the one that has the block before of the same file. "
        "`user`: the order of `tiers` alone counts. Fast is what `forebay profile` measured, or else the "
        "order of `tiers`. What "
        "gets cold moves down in the background."),
    per_file<&FileSettings::tier>(
        "tier", {.empty = "the placement decides", .form = Form::Name},
        "Name of the only tier to use. Bytes change in `memory` and `pmem` tiers only: to "
        "another one they get by way of those, first of all when room is short."),
    per_file<&FileSettings::eviction>("eviction", kAny,
                                      "Which clean bucket is forgotten first when room is needed: least "
                                      "recently used, least frequently used, "
                                      "or first in. Dirty bytes are never evicted."),
    per_file<&FileSettings::pin>("pin", kAny,
                                 "Bring the file into the tiers when it is opened, and keep there what was "
                                 "brought, read or written until it is unpinned or closed by everyone."),

    per_file<&FileSettings::admission_read>(
        "admission.read", kAny,
        "Whether bytes read from home are kept in a tier. `auto`: when they are likely to be read again or "
        "ahead of use."),
    per_file<&FileSettings::admission_write>("admission.write", kAny,
                                             "Whether writes are staged. `auto`: yes, but large ones (from "
                                             "64KiB) go straight home where home takes "
                                             "them at about the speed of memory, as measured: a copy on the "
                                             "way would gain nothing. `never`: every "
                                             "write is home before it returns."),

    per_file<&FileSettings::reserve_size>(
        "reserve.size", between(0, 1024 * kTiB),
        "Room in the tiers that the file claims when it is opened. 0: none."),
    per_file<&FileSettings::reserve_kind>(
        "reserve.kind", kAny,
        "`soft`: as much as there is. `hard`: the open fails when there is less than `reserve.size`, and "
        "what the file has not filled yet is given to no other."),

    per_file<&FileSettings::readahead_min>(
        "readahead.min", between(4 * kKiB, kGiB),
        "First step of read-ahead once access looks sequential or strided. At most `readahead.max` is used."),
    per_file<&FileSettings::readahead_max>("readahead.max", between(4 * kKiB, kGiB, "no read-ahead"),
                                           "How far read-ahead may run before the reader."),

    per_file<&FileSettings::prefetch_at_open>(
        "prefetch.at_open", kAny,
        "What is brought into the buffer, in the background, as soon as it is opened. `dataset`: a dataset "
        "of HDF5. `file`: the whole file. `part`: of a file that ranks open together through MPI-IO, a part "
        "by "
        "each of them, so that it lies on all their nodes together once."),

    per_file<&FileSettings::drain_trigger>(
        "drain.trigger", kAny,
        "When dirty bytes start on their way home. `write`: after `drain.delay`. `close`: when the file is "
        "closed. "
        "`periodic`: every `drain.period`. `exit`: when the process ends. `never`: not by themselves. In "
        "every "
        "case a sync, a flush, a close with `on_close: home`, pressure, leaving the buffer and `forebay "
        "drain` "
        "carry them home."),
    global<&Settings::drain, &DrainSettings::delay>(
        "drain.delay", between(seconds(0), hours(1)),
        "How long a partly written stretch waits for more after the last write to it before it is drained as "
        "it "
        "is. One that is written all the time waits 25 times as long at most."),
    global<&Settings::drain, &DrainSettings::period>("drain.period", between(milliseconds(10), hours(24)),
                                                     "Interval of `drain.trigger: periodic`."),
    global<&Settings::drain, &DrainSettings::rate>(
        "drain.rate", {.min = 64 * kKiB, .zero = "no cap", .form = Form::Rate},
        "Most bytes per second that the processes of the node together carry home."),
    global<&Settings::drain, &DrainSettings::in_flight>(
        "drain.in_flight", between(1, 64),
        "Writes to home that a process has under way at one time. Where pieces "
        "are small and few share the file, up to four times as many."),
    global<&Settings::drain, &DrainSettings::write_size>(
        "drain.write_size", between(64 * kKiB, 64 * kMiB),
        "Largest single write to home. Neighbouring dirty bytes are merged up to this size."),
    global<&Settings::drain, &DrainSettings::program>("drain.program",
                                                      path("forebay beside the library, or in PATH"),
                                                      "The program `forebay`, which is started to carry home "
                                                      "what a process with `on_close: detach` leaves."),

    global<&Settings::pressure, &PressureSettings::wait>(
        "pressure.wait", between(seconds(0), hours(1)),
        "How long a write waits for room in full tiers before it goes straight home."),
    global<&Settings::pressure, &PressureSettings::low_water>(
        "pressure.low_water", kPercent,
        "Share of a tier that is kept free: below it, clean buckets are evicted or moved down and dirty ones "
        "drained."),
    global<&Settings::pressure, &PressureSettings::high_water>(
        "pressure.high_water", kPercent,
        "Free share of a tier at which that stops. At least `pressure.low_water`."),

    global<&Settings::limits, &LimitSettings::lock_wait>(
        "limits.lock_wait", between(milliseconds(100), hours(1)),
        "How long an operation waits for a bucket that a living process holds before it fails with an error "
        "that "
        "names the process."),
    global<&Settings::limits, &LimitSettings::home_wait>(
        "limits.home_wait", between(milliseconds(100), hours(24)),
        "How long home may be silent before an operation that waits for it fails with an error: as long as "
        "bytes of the file keep arriving there, it goes on waiting. The bytes stay staged."),
    global<&Settings::limits, &LimitSettings::open_files>(
        "limits.open_files", between(16, 1'048'576),
        "Files a process can have open through the buffer at one time. Further ones are refused by the "
        "native "
        "interface, and not buffered by the others."),
    global<&Settings::limits, &LimitSettings::descriptors>(
        "limits.descriptors", between(8, 65'536),
        "Files at home that a process keeps open after its application has closed them, or that it took over "
        "from the dead, because bytes are on their way. Beyond it, a close waits, and what the dead left "
        "waits "
        "in the buffer."),
    global<&Settings::limits, &LimitSettings::fragment_memory>(
        "limits.fragment_memory", between(64 * kKiB, kTiB),
        "Most memory for the maps of heavily fragmented buckets. A share is one of the memory tiers (of the "
        "first "
        "tier where there is none). `auto` is 5%."),

    global<&Settings::journal, &JournalSettings::size>(
        "journal.size", between(kMiB, kTiB),
        "Room for the journal on the `pmem` or `nvme` tier, used with `durability: node` only."),

    global<&Settings::log, &LogSettings::level>("log.level", kAny, "How much is logged."),
    global<&Settings::log, &LogSettings::file>("log.file", path("standard error"),
                                               "File the log is appended to."),
    global<&Settings::profile, &ProfileSettings::file>(
        "profile.file", path("profile.yaml in buffer.directory"),
        "Where `forebay profile` writes what it measured, and `placement` and `admission.write` read it. The "
        "default lies on the node and goes when its memory does; name a file elsewhere to keep the figures."),
});

constexpr auto kTierFields = std::to_array<TierField>({
    tier_field<&TierSettings::kind>(
        "kind", kAny,
        "`memory`: a tmpfs. `pmem`: persistent memory mounted with DAX. `nvme`: a local disk. `shared`: a "
        "directory of a burst buffer. Needed."),
    tier_field<&TierSettings::path>("path", {.form = Form::Path}, "An existing directory. Needed."),
    tier_field<&TierSettings::size>(
        "size", {.min = kMinTierBuckets * 4 * kKiB},
        "Room to use. A share is one of the free space at `path`. At least 8 buckets. `auto`, the default, "
        "depends on the kind: see below."),
    tier_field<&TierSettings::name>(
        "name", {.form = Form::Name},
        "For `tier`, in rules and in `forebay status`. By default the kind, and from its second tier on the "
        "kind with a number: `nvme`, `nvme2`."),
    tier_field<&TierSettings::bandwidth>("bandwidth", {.min = kKiB, .form = Form::Rate},
                                         "Bytes per second, in place of what `forebay profile` measured."),
    tier_field<&TierSettings::latency>(
        "latency", between(nanoseconds(1), seconds(60)),
        "Time of a small access, in place of what `forebay profile` measured."),
});

}  // namespace

std::span<const Setting> settings_table() { return kTable; }

std::span<const TierField> tier_fields() { return kTierFields; }

const Setting* find_setting(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &Setting::name);
  return found == kTable.end() ? nullptr : &*found;
}

std::string variable_name(std::string_view setting) {
  std::string name(kVariablePrefix);
  for (const char c : setting) {
    name += c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return name;
}

}  // namespace forebay
