#include "engine/file_table.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "engine/crash_point.hpp"
#include "engine/table_guard.hpp"
#include "os/own_io.hpp"

namespace forebay {
namespace {

std::int64_t nanoseconds(const statx_timestamp& t) { return t.tv_sec * 1'000'000'000 + t.tv_nsec; }

}  // namespace

std::uint32_t path_check(const FileRecord& record, std::string_view path) {
  const std::uint64_t identity[3] = {record.device, record.inode, record.born_ns};
  return static_cast<std::uint32_t>(
      XXH3_64bits_withSeed(path.data(), path.size(), XXH3_64bits(identity, sizeof identity)));
}

Result<HomeStamp> stamp_of(int fd, std::string_view path, int how) {
  const OwnIo own;
  struct statx found{};
  if (::statx(fd, "", AT_EMPTY_PATH | how, STATX_BASIC_STATS | STATX_BTIME, &found) != 0) {
    return fail_errno(errno, "examine", path);
  }
  HomeStamp stamp;
  stamp.identity.device = std::uint64_t{found.stx_dev_major} << 32 | found.stx_dev_minor;
  stamp.identity.inode = found.stx_ino;
  stamp.birth_told = (found.stx_mask & STATX_BTIME) != 0;
  if (stamp.birth_told) stamp.identity.born_ns = static_cast<std::uint64_t>(nanoseconds(found.stx_btime));
  stamp.regular = S_ISREG(found.stx_mode);
  stamp.size = found.stx_size;
  stamp.modified_ns = nanoseconds(found.stx_mtime);
  stamp.changed_ns = nanoseconds(found.stx_ctime);
  return stamp;
}

std::uint32_t scratch_mark(const FileRecord& record) {
  const std::uint64_t parts[] = {record.device, record.inode, record.born_ns, record.generation.load()};
  return static_cast<std::uint32_t>(XXH3_64bits(parts, sizeof parts)) | 1;
}

std::uint32_t FileTable::chain_of(const HomeIdentity& identity) const {
  const std::uint64_t parts[2] = {identity.device, identity.inode};
  return static_cast<std::uint32_t>(XXH3_64bits(parts, sizeof parts)) &
         (control_.header().file_chain_count - 1);
}

std::uint32_t FileTable::find(const HomeIdentity& identity) const {
  const auto count = control_.header().file_count;
  auto at = control_.file_chain(chain_of(identity)).load(std::memory_order_acquire);
  for (std::uint32_t steps = 0; at != 0 && at <= count && steps < count; ++steps) {
    const auto& record = control_.file(at - 1);
    if (record.device == identity.device && record.inode == identity.inode &&
        record.born_ns == identity.born_ns) {
      return at;
    }
    at = record.next.load(std::memory_order_acquire);
  }
  return 0;
}

std::optional<std::uint32_t> FileTable::look_up(std::uint64_t device, std::uint64_t inode) const {
  const auto count = control_.header().file_count;
  auto at = control_.file_chain(chain_of({device, inode, 0})).load(std::memory_order_acquire);
  for (std::uint32_t steps = 0; at != 0 && at <= count && steps < count; ++steps) {
    const auto& record = control_.file(at - 1);
    if (record.device == device && record.inode == inode) return at - 1;
    at = record.next.load(std::memory_order_acquire);
  }
  return std::nullopt;
}

Status FileTable::rename(const HomeIdentity& identity, std::string_view path) {
  FOREBAY_TRY(lock());
  const TableGuard guard(peers_, control_.shared().table_lock);
  const auto found = find(identity);
  if (found == 0) return {};
  clear_path(found - 1);
  return set_path(found - 1, path);
}

std::uint32_t FileTable::take_free() const {
  auto& hint = control_.shared().file_hint;
  for (;;) {
    const auto count = control_.files_ready();
    const auto start = hint.load();
    for (std::uint32_t step = 0; step < count; ++step) {
      const auto i = (start + step) % count;
      auto& owner = control_.file(i).owner;
      std::uint32_t free = 0;
      if (owner.load() != 0 || !owner.compare_exchange_strong(free, peers_.self())) continue;
      hint.store(i + 1);
      return i + 1;
    }
    if (!control_.grow_files(count)) return 0;
    hint.store(count);
  }
}

std::uint32_t FileTable::take_long_path(std::uint32_t file) const {
  const auto count = control_.header().long_path_count;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t free = 0;
    if (control_.long_path(i).owner.compare_exchange_strong(free, file + 1)) return i + 1;
  }
  return 0;
}

Status FileTable::set_path(std::uint32_t file, std::string_view path) {
  auto& record = control_.file(file);
  record.path_length = static_cast<std::uint32_t>(path.size());
  record.long_path = 0;
  char* target = record.path.data();
  if (path.size() > record.path.size()) {
    if (path.size() > sizeof(LongPath::text))
      return fail(ENAMETOOLONG, "the path is longer than any path can be");
    record.long_path = take_long_path(file);
    if (record.long_path == 0) {
      const auto has_one = [](const FileRecord& other) { return other.long_path != 0; };
      (void)forget_closed(has_one, [&] { return (record.long_path = take_long_path(file)) != 0; });
    }
    if (record.long_path == 0)
      return fail(ENAMETOOLONG, "as many files with such long paths are in use as the buffer has room for");
    target = control_.long_path(record.long_path - 1).text.data();
  }
  std::memcpy(target, path.data(), path.size());
  record.path_check = path_check(record, path);
  return {};
}

void FileTable::clear_path(std::uint32_t file) const {
  auto& record = control_.file(file);
  // Whoever clears it again after a death must not take it from another.
  auto mine = file + 1;
  const auto at = record.long_path;
  if (at != 0 && at <= control_.header().long_path_count)
    control_.long_path(at - 1).owner.compare_exchange_strong(mine, 0);
  record.long_path = 0;
  record.path_length = 0;
}

std::string FileTable::path(std::uint32_t file) const {
  const auto& record = control_.file(file);
  const char* text = record.path.data();
  std::size_t limit = record.path.size();
  if (record.long_path != 0) {
    if (record.long_path > control_.header().long_path_count) return {};
    text = control_.long_path(record.long_path - 1).text.data();
    limit = sizeof(LongPath::text);
  }
  if (record.path_length > limit) return {};
  std::string path(text, record.path_length);
  return record.path_check == path_check(record, path) ? path : std::string{};
}

Result<std::uint32_t> FileTable::make(const HomeStamp& home, std::string_view path) {
  auto taken = take_free();
  if (taken == 0) taken = make_room();
  if (taken == 0) {
    const auto known = control_.files_ready();
    return fail(ENFILE, "the buffer already knows " + std::to_string(known) + " files in use: " +
                            (known == control_.header().file_count
                                 ? "raise buffer.max_files"
                                 : "there is no room for more in " + control_.directory()));
  }
  auto& record = control_.file(taken - 1);
  record.device = home.identity.device;
  record.inode = home.identity.inode;
  record.born_ns = home.identity.born_ns;
  if (const auto status = set_path(taken - 1, path); !status) {
    record.owner.store(0);
    return std::unexpected(status.error());
  }
  const auto generation = record.generation.load() % 255 + 1;
  record.generation.store(generation);
  record.size.store(home.size);
  record.home_size.store(home.size);
  record.home_modified_ns.store(home.modified_ns);
  record.written_ns.store(0);
  record.changed_ns.store(0);
  record.home_changed_ns.store(0);
  record.intent.store(0);
  record.batch.store(0);
  record.reserve.store(0);
  record.error.store(0);
  record.flags.store(0);
  record.scratch.store(0);
  record.only_tier.store(0);
  record.opens_hint.store(0);
  record.dirty_end.store(0);
  // The counts go on: whoever still looks at the record's last file must not take a word for unchanged, and
  // who is about to count a bucket of it out must not count one of this file's.
  for (auto& word : record.dirty_filter) word.store(((word.load() >> 32) + 1) << 32);
  auto& head = control_.file_chain(chain_of(home.identity));
  record.next.store(head.load());
  FOREBAY_CRASH_POINT("file.before_head");
  head.store(taken, std::memory_order_release);
  FOREBAY_CRASH_POINT("file.after_head");
  record.owner.store(kLinked, std::memory_order_release);
  return taken - 1;
}

// It was opened by that name just now, so that is where it lies; the one that it was known by may be gone.
void FileTable::take_name(std::uint32_t file, std::string_view name) {
  // What the kernel says of a file that has no name any more.
  if (name.ends_with(" (deleted)")) return;
  const auto before = path(file);
  if (before == name) return;
  clear_path(file);
  if (!set_path(file, name) && !before.empty()) (void)set_path(file, before);
}

Result<FileTable::Opened> FileTable::open(const HomeStamp& home, std::string_view path, std::uint32_t marks) {
  FOREBAY_TRY(lock());
  const TableGuard guard(peers_, control_.shared().table_lock);
  auto& mine = peers_.record();
  const auto slot = lease_slot(peers_.self());
  auto* opens = control_.opens(slot);
  std::uint32_t entry = 0;
  const auto used = mine.opens.load();
  while (entry < used && opens[entry].load() != 0) ++entry;
  if (entry >= control_.header().opens_per_lease) {
    return fail(EMFILE, "this process has " + std::to_string(entry) +
                            " buffered files open: raise limits.open_files");
  }
  Opened result{};
  const auto found = find(home.identity);
  if (found != 0) {
    result.file = found - 1;
    result.shared = control_.file(result.file).opens_hint.load() != 0 && listed(result.file);
    take_name(result.file, path);
  } else {
    FOREBAY_ASSIGN(result.file, make(home, path));
    result.fresh = true;
  }
  auto& record = control_.file(result.file);
  record.opens_hint.fetch_add(1);
  record.last_used.store(control_.nanoseconds());
  FOREBAY_CRASH_POINT("file.before_open_entry");
  opens[entry].store((result.file + 1) | marks);
  if (entry == used) mine.opens.store(used + 1);
  if ((marks & kOpenPast) != 0) record.flags.fetch_or(kFilePast);
  return result;
}

void FileTable::close(std::uint32_t file, const std::function<void()>& alone) {
  if (!lock()) return;
  const TableGuard guard(peers_, control_.shared().table_lock);
  auto* const entry = own_entry(file);
  if (entry == nullptr) return;
  if (alone && !used_by_others(file)) alone();
  const auto marks = entry->exchange(0) & kOpenMarks;
  if ((marks & kOpenPast) != 0) end_flag(file, kFilePast, kOpenPast);
  if ((marks & kOpenHolds) != 0) end_flag(file, kFileHeld, kOpenHolds);
  FOREBAY_CRASH_POINT("file.before_hint");
  control_.file(file).opens_hint.fetch_sub(1);
  control_.file(file).last_used.store(control_.nanoseconds());
}

std::vector<std::uint32_t> FileTable::all() const {
  std::vector<std::uint32_t> files;
  for (std::uint32_t i = 0, count = control_.files_ready(); i < count; ++i) {
    if (control_.file(i).owner.load(std::memory_order_acquire) == kLinked) files.push_back(i);
  }
  return files;
}

void FileTable::unlink(std::uint32_t file) const {
  const auto& record = control_.file(file);
  const auto count = control_.header().file_count;
  Word* link = &control_.file_chain(chain_of({record.device, record.inode, record.born_ns}));
  for (std::uint32_t steps = 0; steps <= count; ++steps) {
    const auto at = link->load();
    if (at == 0 || at > count) return;
    if (at == file + 1) {
      link->store(record.next.load(), std::memory_order_release);
      return;
    }
    link = &control_.file(at - 1).next;
  }
}

bool FileTable::free_unlocked(std::uint32_t file) {
  auto& record = control_.file(file);
  if (record.owner.load() != kLinked) return false;
  record.owner.store(peers_.self());
  FOREBAY_CRASH_POINT("file.in_hand");
  unlink(file);
  FOREBAY_CRASH_POINT("file.unlinked");
  clear_path(file);
  record.owner.store(0, std::memory_order_release);
  control_.shared().file_hint.store(file);
  return true;
}

Status FileTable::forget(std::uint32_t file, std::uint64_t its_key, const std::function<void()>& drop) {
  FOREBAY_TRY(lock());
  const TableGuard guard(peers_, control_.shared().table_lock);
  const auto& record = control_.file(file);
  if (record.owner.load() != kLinked || key(file, 0) != its_key) return {};
  if (record.opens_hint.load() != 0 && listed(file))
    return fail(EBUSY, path(file) + " is open in a living process");
  drop();
  // The count is never too low.
  const bool some = record.buckets.load() != 0;
  for (std::uint32_t i = 0, count = control_.buckets_ready(); some && i < count; ++i) {
    const auto bucket = control_.bucket(i).key.load(std::memory_order_acquire);
    if (bucket != 0 && key_file(bucket) == file)
      return fail(EBUSY, path(file) + " is still being written home");
  }
  free_unlocked(file);
  return {};
}

std::uint32_t FileTable::make_room() {
  std::uint32_t taken = 0;
  const auto any = [](const FileRecord&) { return true; };
  return forget_closed(any, [&] { return (taken = take_free()) != 0; }) ? taken : 0;
}

bool FileTable::forget_closed(const std::function<bool(const FileRecord&)>& which,
                              const std::function<bool()>& enough) {
  const auto count = control_.files_ready();
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& record = control_.file(i);
    if (record.owner.load() == kLinked && record.opens_hint.load() == 0 && record.batch.load() == 0 &&
        which(record))
      candidates.push_back(i);
  }
  std::ranges::sort(candidates, {}, [&](std::uint32_t i) { return control_.file(i).last_used.load(); });
  // A few at a time, so that the next ones find room too; more only if what these hold cannot be forgotten.
  const std::size_t step = std::max(count / 16, 1u);
  for (std::size_t begin = 0; begin < candidates.size(); begin += step) {
    const auto batch = std::span(candidates).subspan(begin, std::min(step, candidates.size() - begin));
    std::vector<bool> chosen(count);
    for (const auto i : batch) chosen[i] = true;
    for (std::uint32_t i = 0, buckets = control_.buckets_ready(); i < buckets; ++i) {
      const auto key = control_.bucket(i).key.load(std::memory_order_acquire);
      if (key == 0 || key_file(key) >= count || !chosen[key_file(key)]) continue;
      if (!buckets_.evict(i, key)) chosen[key_file(key)] = false;
    }
    for (const auto i : batch) {
      if (chosen[i]) free_unlocked(i);
    }
    if (enough()) return true;
  }
  return false;
}

void FileTable::sweep() {
  if (!lock()) return;
  const TableGuard guard(peers_, control_.shared().table_lock);
  const auto& header = control_.header();
  const auto count = control_.files_ready();
  for (std::uint32_t i = 0; i < count; ++i) {
    auto& record = control_.file(i);
    auto owner = record.owner.load();
    if (owner == 0 || owner == kLinked || peers_.alive(owner)) continue;
    if (find({record.device, record.inode, record.born_ns}) == i + 1) {
      record.owner.store(kLinked);
    } else {
      clear_path(i);
      record.owner.store(0);
    }
  }
  for (std::uint32_t i = 0; i < header.long_path_count; ++i) {
    auto& owner = control_.long_path(i).owner;
    const auto file = owner.load();
    if (file != 0 && (file > header.file_count || control_.file(file - 1).long_path != i + 1)) owner.store(0);
  }
  std::vector<std::uint32_t> opens(count);
  std::vector<std::uint32_t> marks(count);
  for (std::uint32_t slot = 0; slot < header.lease_count; ++slot) {
    const auto& record = control_.lease(slot);
    if (record.attached.load() == 0 || !peers_.alive(record.generation.load() << 11 | slot << 1)) continue;
    for (std::uint32_t i = 0; i < std::min(record.opens.load(), header.opens_per_lease); ++i) {
      const auto open = control_.opens(slot)[i].load();
      const auto file = open & ~kOpenMarks;
      if (file == 0 || file > count) continue;
      ++opens[file - 1];
      marks[file - 1] |= open & kOpenMarks;
    }
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    auto& record = control_.file(i);
    record.opens_hint.store(opens[i]);
    const auto over =
        ((marks[i] & kOpenPast) == 0 ? kFilePast : 0u) | ((marks[i] & kOpenHolds) == 0 ? kFileHeld : 0u);
    if ((record.flags.load() & over) != 0) record.flags.fetch_and(~over);
  }
}

}  // namespace forebay
