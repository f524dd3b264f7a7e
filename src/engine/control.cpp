#include "engine/control.hpp"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "engine/crash_point.hpp"
#include "engine/geometry.hpp"
#include "engine/ticks.hpp"
#include "os/own_file_size.hpp"

namespace forebay {
namespace {

std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::array<std::uint8_t, 16> boot_id() {
  std::array<std::uint8_t, 16> id{};
  const Fd fd(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  char text[37] = {};
  if (!fd || ::read(fd.get(), text, 36) != 36) return id;
  std::size_t digits = 0;
  for (const char c : text) {
    const char* hex = c == 0 ? nullptr : std::strchr("0123456789abcdef", c);
    if (hex == nullptr || digits == 32) continue;
    const auto value = static_cast<std::uint8_t>(std::strchr("0123456789abcdef", c) - "0123456789abcdef");
    id[digits / 2] = static_cast<std::uint8_t>(id[digits / 2] << 4 | value);
    ++digits;
  }
  return id;
}

std::uint64_t header_check(const Header& header) { return XXH3_64bits(&header, offsetof(Header, check)); }

std::string path_of(const Fd& directory) {
  char link[32];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", directory.get());
  std::string path(4096, '\0');
  const ssize_t n = ::readlink(link, path.data(), path.size());
  path.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return path;
}

ControlFinding judge(const Header& header, std::uint64_t file_size, std::string& why) {
  if (header.magic == 0 || header.ready.load(std::memory_order_acquire) == 0) {
    why = "its creator died before it was finished";
    return ControlFinding::kUnfinished;
  }
  if (header.magic != kMagic) {
    why = "it does not begin as a control file does";
    return ControlFinding::kDamaged;
  }
  if (header.version != kLayoutVersion) {
    why = "it was made by another version of Forebay (layout " + std::to_string(header.version) +
          ", this one knows " + std::to_string(kLayoutVersion) + ")";
    return ControlFinding::kOtherVersion;
  }
  if (header.check != header_check(header)) {
    why = "its header does not match its checksum";
    return ControlFinding::kDamaged;
  }
  if (header.regions.end != file_size) {
    why = "it has " + std::to_string(file_size) + " bytes and should have " +
          std::to_string(header.regions.end);
    return ControlFinding::kDamaged;
  }
  if (header.uid != ::geteuid()) {
    why = "it was made by user " + std::to_string(header.uid);
    return ControlFinding::kDamaged;
  }
  if (header.boot_id != boot_id()) {
    why = "it is from before the machine was last started";
    return ControlFinding::kOtherBoot;
  }
  return ControlFinding::kUsable;
}

// Storage for all of the control file but the descriptors and records beyond the first, which are most of it.
Status reserve_first(const Fd& control, const Header& header) {
  if (::ftruncate(control.get(), static_cast<off_t>(header.regions.end)) != 0)
    return fail_errno(errno, "size", kControlFile);
  const auto& regions = header.regions;
  const auto files = std::uint64_t{std::min(kFirstFiles, header.file_count)} * sizeof(FileRecord);
  const auto buckets = std::uint64_t{std::min(kFirstBuckets, header.bucket_count)} * sizeof(Bucket);
  FOREBAY_TRY(reserve_storage(control, 0, regions.files + files, kControlFile));
  FOREBAY_TRY(reserve_storage(control, regions.long_paths, regions.buckets + buckets, kControlFile));
  return reserve_storage(control, regions.owners, regions.end, kControlFile);
}

// A creator writes nothing but the header before it says that it is done.
bool was_in_use(const Fd& control) {
  std::vector<std::byte> first_records(sizeof(Shared));
  const auto got =
      read_fully(control.get(), first_records.data(), first_records.size(), round_to_page(sizeof(Header)));
  return got && std::ranges::any_of(first_records, [](std::byte b) { return b != std::byte{0}; });
}

}  // namespace

Result<Fd> open_buffer_directory(const std::string& base, const std::string& name, std::string& path,
                                 Create create) {
  path = base + "/" + name;
  FOREBAY_TRY(open_private_directory(base, create));
  return open_private_directory(path, create);
}

Result<ControlFinding> Control::examine(const Fd& directory, const Fd& control, Header& header,
                                        std::string& why) {
  struct stat found{};
  if (::fstat(control.get(), &found) != 0) return fail_errno(errno, "examine", kControlFile);
  FOREBAY_ASSIGN(const auto got, read_fully(control.get(), &header, sizeof(Header), 0));
  if (got == 0) {
    // The sparse file is made after the control file has its size.
    struct stat sparse{};
    const bool cut =
        ::fstatat(directory.get(), kSparseFile, &sparse, AT_SYMLINK_NOFOLLOW) == 0 && sparse.st_size != 0;
    why = cut ? "it is empty" : "its creator died before it was finished";
    return cut ? ControlFinding::kDamaged : ControlFinding::kUnfinished;
  }
  if (got < sizeof(Header)) {
    why = "it is cut short";
    return ControlFinding::kDamaged;
  }
  const auto finding = judge(header, static_cast<std::uint64_t>(found.st_size), why);
  if (finding != ControlFinding::kUnfinished || !was_in_use(control)) return finding;
  why = "its header is lost";
  return ControlFinding::kDamaged;
}

Result<ControlFinding> Control::examine(const Fd& directory, std::string& why) {
  const auto control = open_private_file(directory, kControlFile, Create::kNever);
  if (!control && control.error().code == ENOENT) return ControlFinding::kMissing;
  if (!control) return std::unexpected(control.error());
  const auto header = std::make_unique<Header>();
  return examine(directory, *control, *header, why);
}

Result<Control> Control::create(const Fd& directory, const Settings& settings) {
  const OwnFileSize own_size;
  FOREBAY_TRY(remove(directory));
  auto header = std::make_unique<Header>();
  FOREBAY_TRY(lay_out(settings, *header));
  FOREBAY_ASSIGN(auto control, open_private_file(directory, kControlFile, Create::kExclusive));
  FOREBAY_TRY(reserve_first(control, *header));
  FOREBAY_ASSIGN(auto sparse, open_private_file(directory, kSparseFile, Create::kExclusive));
  if (::ftruncate(sparse.get(), static_cast<off_t>(header->sparse.end)) != 0) {
    return fail_errno(errno, "size", kSparseFile);
  }
  FOREBAY_CRASH_POINT("create.reserved");
  header->magic = kMagic;
  header->version = kLayoutVersion;
  header->uid = ::geteuid();
  header->boot_id = boot_id();
  header->created_ns = clock_ns(CLOCK_REALTIME);
  header->created_ticks_ns = clock_ns(CLOCK_MONOTONIC);
  header->check = header_check(*header);
  FOREBAY_ASSIGN(auto mapping, Mapping::shared(control.get(), header->regions.end, kControlFile));
  std::memcpy(mapping.data(), header.get(), offsetof(Header, ready));
  FOREBAY_CRASH_POINT("create.header");
  FOREBAY_ASSIGN(auto sparse_mapping, Mapping::shared(sparse.get(), header->sparse.end, kSparseFile));
  return Control(std::move(mapping), std::move(sparse_mapping), path_of(directory));
}

void Control::publish() const { at<Header>(0)->ready.store(1, std::memory_order_release); }

Result<Control> Control::open(const Fd& directory) {
  FOREBAY_ASSIGN(auto control, open_private_file(directory, kControlFile, Create::kNever));
  FOREBAY_ASSIGN(auto sparse, open_private_file(directory, kSparseFile, Create::kNever));
  struct stat found{};
  if (::fstat(control.get(), &found) != 0) return fail_errno(errno, "examine", kControlFile);
  FOREBAY_ASSIGN(auto mapping,
                 Mapping::shared(control.get(), static_cast<std::size_t>(found.st_size), kControlFile));
  const auto& header = *reinterpret_cast<const Header*>(mapping.data());
  if (::fstat(sparse.get(), &found) != 0) return fail_errno(errno, "examine", kSparseFile);
  if (static_cast<std::uint64_t>(found.st_size) != header.sparse.end) {
    return fail(EBADMSG, "the buffer's sparse file has " + std::to_string(found.st_size) +
                             " bytes and should have " + std::to_string(header.sparse.end));
  }
  FOREBAY_ASSIGN(auto sparse_mapping, Mapping::shared(sparse.get(), header.sparse.end, kSparseFile));
  return Control(std::move(mapping), std::move(sparse_mapping), path_of(directory));
}

Status Control::remove(const Fd& directory) {
  for (const char* name : {kControlFile, kSparseFile}) {
    if (::unlinkat(directory.get(), name, 0) != 0 && errno != ENOENT)
      return fail_errno(errno, "remove", name);
  }
  return {};
}

Word* Control::opens(std::uint32_t lease) const {
  return reinterpret_cast<Word*>(sparse_.data() + header().sparse.opens) +
         std::uint64_t{lease} * header().opens_per_lease;
}

Status Control::reserve_opens(std::uint32_t lease) const {
  const auto length = std::uint64_t{header().opens_per_lease} * sizeof(Word);
  return reserve_by_name(kSparseFile, header().sparse.opens + lease * length, length);
}

ByteMap Control::map(std::uint32_t bucket) const {
  const auto stride = ByteMap::storage_for(header().bucket_size);
  return ByteMap(reinterpret_cast<std::uint64_t*>(sparse_.data() + header().sparse.maps + bucket * stride));
}

Status Control::reserve_map(std::uint32_t bucket) const {
  if (shared().maps.load(std::memory_order_relaxed) >= header().map_limit) {
    return fail(ENOSPC, "limits.fragment_memory is used up");
  }
  const auto stride = ByteMap::storage_for(header().bucket_size);
  FOREBAY_TRY(reserve_by_name(kSparseFile, header().sparse.maps + bucket * stride, stride));
  shared().maps.fetch_add(1, std::memory_order_relaxed);
  return {};
}

void Control::release_map(std::uint32_t bucket) const {
  // A count that a death left too low must not wrap.
  auto maps = shared().maps.load(std::memory_order_relaxed);
  while (maps > 0 && !shared().maps.compare_exchange_weak(maps, maps - 1, std::memory_order_relaxed)) {
  }
  const auto stride = ByteMap::storage_for(header().bucket_size);
  if (stride % 4096 == 0) {
    // The map's own pages, which nobody else's map shares: MADV_REMOVE punches them out of the file.
    ::madvise(sparse_.data() + header().sparse.maps + bucket * stride, stride, MADV_REMOVE);
  } else {
    map(bucket).rewrite(0, header().bucket_size, [](ByteState) { return ByteState::kInvalid; });
  }
}

Status Control::reserve_weights(std::uint32_t first_slot, std::uint32_t count) const {
  const auto each = PageWeights::storage_for(bucket_size_);
  return reserve_mapped(sparse_, kSparseFile, header().sparse.weights + first_slot * each, count * each);
}

bool Control::grow_buckets(std::uint32_t seen) const {
  const auto& h = header();
  return grow({.ready = buckets_ready(),
               .count = h.bucket_count,
               .first = kFirstBuckets,
               .at_once = 4096,
               .region = h.regions.buckets,
               .each = sizeof(Bucket),
               .more = shared().more_buckets},
              seen);
}

bool Control::grow_files(std::uint32_t seen) const {
  const auto& h = header();
  return grow({.ready = files_ready(),
               .count = h.file_count,
               .first = kFirstFiles,
               .at_once = 1024,
               .region = h.regions.files,
               .each = sizeof(FileRecord),
               .more = shared().more_files},
              seen);
}

bool Control::grow(const Growing& what, std::uint32_t seen) const {
  if (what.ready > seen) return true;
  const auto to = std::min(what.count, seen + std::min(seen, what.at_once));
  if (to <= seen) return false;
  const auto from = what.region + seen * what.each;
  if (!reserve_mapped(control_, kControlFile, from, (to - seen) * what.each)) return false;
  FOREBAY_CRASH_POINT("grow.reserved");
  // Others may have come further meanwhile.
  auto more = what.more.load();
  while (more < to - what.first && !what.more.compare_exchange_weak(more, to - what.first)) {
  }
  return true;
}

// Without a descriptor where the system can: the program could meet one.
Status Control::reserve_mapped(const Mapping& mapping, const char* name, std::uint64_t from,
                               std::uint64_t length) const {
  const auto start = from / 4096 * 4096;
  if (::madvise(mapping.data() + start, round_to_page(from + length) - start, MADV_POPULATE_WRITE) == 0)
    return {};
  if (errno == EFAULT) return fail(ENOSPC, "no room in " + directory_);
  return reserve_by_name(name, from, length);
}

Status Control::reserve_by_name(const char* name, std::uint64_t offset, std::uint64_t length) const {
  const auto path = directory_ + "/" + name;
  const Fd file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return fail_errno(errno, "open", path);
  const OwnFileSize own_size;
  const int code = ::posix_fallocate(file.get(), static_cast<off_t>(offset), static_cast<off_t>(length));
  if (code != 0) return fail_errno(code, "reserve room in", path);
  return {};
}

std::uint64_t Control::nanoseconds() const { return clock_ns(CLOCK_MONOTONIC) - header().created_ticks_ns; }

std::uint32_t Control::tick() const {
  // The coarse clock is a little behind the one that the buffer was made by.
  const auto since = static_cast<std::int64_t>(clock_ns(CLOCK_MONOTONIC_COARSE) - header().created_ticks_ns);
  return tick_of(static_cast<std::uint64_t>(std::max<std::int64_t>(since, 0)) / 1'000'000);
}

}  // namespace forebay
