// Size, times, names and stable storage.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <string>

#include "base/log.hpp"
#include "door/posix/closing.hpp"
#include "door/posix/door.hpp"
#include "door/posix/past.hpp"
#include "engine/dirty_filter.hpp"

namespace forebay::posix {

std::uint64_t device_of(dev_t device) { return std::uint64_t{major(device)} << 32 | minor(device); }

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }
timespec time_of(std::int64_t ns) { return {ns / kSecond, ns % kSecond}; }

}  // namespace

FileRecord* record_of(std::uint64_t device, std::uint64_t inode, std::uint32_t* number) {
  auto* const there = buffer();
  if (there == nullptr) return nullptr;
  const auto found = there->core().files.look_up(device, inode);
  if (!found) return nullptr;
  if (number != nullptr) *number = *found;
  return &there->core().control.file(*found);
}

FileRecord* unsaved_record(std::uint64_t device, std::uint64_t inode, std::uint32_t* number) {
  auto* const record = record_of(device, inode, number);
  const bool unsaved = record != nullptr && maybe_dirty(*record) && (record->flags.load() & kFileBypass) == 0;
  return unsaved ? record : nullptr;
}

long truncate(int fd, off_t size) {
  const auto open = known(fd);
  if (!open) return kPass;
  if (!open->writable()) return kPass;  // the kernel's words for it
  return answer(open->file->truncate(static_cast<std::uint64_t>(size)));
}

long truncates_at_home(unsigned long device, unsigned long inode) {
  std::uint32_t number = 0;
  const auto* const record = record_of(device, inode, &number);
  if (record == nullptr || matters(device, inode) == 0) return 1;
  const auto open = open_here(number);
  const bool direct = (record->flags.load() & kFileBypass) != 0;
  if (!open) return direct ? 1 : 0;
  const auto drained = direct ? 0 : answer(open->file->drain_all());
  return drained < 0 && drained != kPass ? drained : 1;
}

long truncated(unsigned long device, unsigned long inode) {
  std::uint32_t number = 0;
  auto* const record = record_of(device, inode, &number);
  if (record == nullptr) return 0;
  // As after any change at home: two in one tick of the kernel's clock leave the same time.
  forget_mark(*record);
  const auto open = open_here(number);
  if (!open || open->file->direct()) return 0;
  const auto met = answer(open->file->meet_home());
  if (met == 0 && !open->file->unsaved()) open->file->set_written_ns(record->home_modified_ns.load());
  return met;
}

long sync(int fd) {
  const auto open = served(fd);
  if (!open) return kPass;
  if (open->writable()) return answer(open->file->sync());
  // What others have written, too. Then the kernel, whose words it has for those who only read.
  const bool home = open->file->settings().on_flush == OnFlush::Home;
  const auto result = home ? answer(open->file->drain_all()) : 0;
  return result < 0 ? result : kPass;
}

long drain(int fd, const char* why) {
  const auto open = served(fd);
  if (!open) return 0;
  note(why);
  const auto result = answer(open->file->drain_all());
  return result == kPass ? 0 : result;
}

long go_direct(int fd, const char* why) {
  const auto open = served(fd);
  if (!open) return 0;
  note(why);
  wait_for_closes();
  const auto result = answer(open->file->go_direct());
  return result == kPass ? 0 : result;
}

long changed_at_home(int fd, int surely) {
  const auto open = served(fd);
  if (!open) return 0;
  auto* const there = joined_buffer();
  if (there == nullptr) return answer(open->file->meet_home());
  auto& record = there->core().control.file(open->file->number());
  const auto& time = record.home_modified_ns;
  const auto before = time.load();
  // Two changes in one tick of the kernel's clock leave the same time.
  if (surely != 0) forget_mark(record);
  const auto met = answer(open->file->meet_home());
  // Home's time is the file's where all is home, or where it has just changed; with the mark forgotten (by
  // utimensat) nobody knows whether it has, and what is unsaved was written since.
  const bool home_changed = before != 0 && time.load() != before;
  if (met == 0 && (home_changed || !open->file->unsaved())) open->file->set_written_ns(time.load());
  return met;
}

void locked(int fd) {
  if (const auto open = known(fd)) open->locked.store(true);
}

long advise(int fd, off_t offset, off_t length, int advice) {
  const auto open = served(fd);
  if (!open || offset < 0 || length < 0) return 0;
  const auto from = static_cast<std::uint64_t>(offset);
  const auto size = length == 0 ? ~std::uint64_t{0} >> 1 : static_cast<std::uint64_t>(length);
  switch (advice) {
    case POSIX_FADV_NORMAL:
      return answer(open->file->hint(Hint::kNormal, from, size));
    case POSIX_FADV_SEQUENTIAL:
      return answer(open->file->hint(Hint::kSequential, from, size));
    case POSIX_FADV_RANDOM:
      return answer(open->file->hint(Hint::kRandom, from, size));
    case POSIX_FADV_WILLNEED:
      return open->readable() ? answer(open->file->hint(Hint::kWillNeed, from, size)) : 0;
    default:
      return 0;
  }
}

namespace {

// All is home. What the buffer left there last is known: another size, or an older change, was looked at
// before that. A change that is the drain's is nobody's; what it carried was changed when it was written.
long fix_saved(const FileRecord& record, struct stat* found) {
  if ((record.flags.load() & kFileBypass) != 0) return 0;
  const auto drained = record.home_changed_ns.load();
  const auto changed = nanoseconds(found->st_ctim);
  if (record.size.load() != static_cast<std::uint64_t>(found->st_size) || changed < drained)
    return kLookAgain;
  const auto meant = record.changed_ns.load();
  if (changed != drained || meant == 0) return 0;
  found->st_ctim = time_of(meant);
  return 1;
}

}  // namespace

// Only of a file with unsaved bytes does the buffer know better than home.
long fix_stat(struct stat* found) {
  const auto device = device_of(found->st_dev);
  const auto* const record = unsaved_record(device, found->st_ino);
  if (record == nullptr) {
    const auto* const saved = record_of(device, found->st_ino);
    return saved != nullptr ? fix_saved(*saved, found) : 0;
  }
  const auto size = static_cast<off_t>(record->size.load(std::memory_order_acquire));
  found->st_size = std::max(found->st_size, size);
  // What is staged will have its blocks: a file that looks sparse would be searched for holes.
  found->st_blocks = std::max(found->st_blocks, (found->st_size + 511) / 512);
  if (const auto written = record->written_ns.load(); written != 0) found->st_mtim = time_of(written);
  if (const auto changed = record->changed_ns.load(); changed != 0) found->st_ctim = time_of(changed);
  return 1;
}

// Of a file that is home the kernel knows it; a drain that is under way hides it.
void status_changed(unsigned long device, unsigned long inode, long long changed_ns) {
  auto* const record = unsaved_record(device, inode);
  if (record == nullptr) return;
  auto seen = record->changed_ns.load();
  while (seen < changed_ns && !record->changed_ns.compare_exchange_weak(seen, changed_ns)) {
  }
}

long times(unsigned long device, unsigned long inode, const timespec* wanted) {
  // Home's time was set, unsaved bytes or not: it says nothing of who wrote.
  if (auto* const any = record_of(device, inode)) forget_mark(*any);
  auto* const record = unsaved_record(device, inode);
  if (record == nullptr) return 0;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  record->changed_ns.store(nanoseconds(now));
  if (wanted != nullptr && wanted[1].tv_nsec == UTIME_OMIT) return 1;
  const bool to_now = wanted == nullptr || wanted[1].tv_nsec == UTIME_NOW;
  record->written_ns.store(nanoseconds(to_now ? now : wanted[1]));
  return 1;
}

long matters(unsigned long device, unsigned long inode) {
  const auto* const record = record_of(device, inode);
  return record != nullptr && (record->opens_hint.load() != 0 || maybe_dirty(*record)) ? 1 : 0;
}

}  // namespace forebay::posix
