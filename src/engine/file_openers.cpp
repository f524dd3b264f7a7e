// The file table: who has which file open, and how.
#include <algorithm>
#include <cerrno>

#include "engine/file_table.hpp"
#include "engine/table_guard.hpp"

namespace forebay {
namespace {

constexpr const char* kStuck = "the file table is held by a process that does not go on";

}  // namespace

Status FileTable::lock() const {
  // A take-over needs no repair: every change below commits by one store.
  if (peers_.lock(control_.shared().table_lock) == Locked::kTimedOut) return fail(ETIMEDOUT, kStuck);
  return {};
}

Word* FileTable::own_entry(std::uint32_t file) const {
  auto* const opens = control_.opens(lease_slot(peers_.self()));
  const auto used = peers_.record().opens.load();
  Word* entry = nullptr;
  std::uint32_t marks = ~0u;
  for (std::uint32_t i = 0; i < used; ++i) {
    const auto open = opens[i].load();
    if ((open & ~kOpenMarks) != file + 1 || (open & kOpenMarks) >= marks) continue;
    entry = &opens[i];
    marks = open & kOpenMarks;
  }
  return entry;
}

void FileTable::end_flag(std::uint32_t file, std::uint32_t flag, std::uint32_t mark) const {
  if (!listed(file, mark)) control_.file(file).flags.fetch_and(~flag);
}

void FileTable::hold(std::uint32_t file) {
  if (!lock()) return;
  const TableGuard guard(peers_, control_.shared().table_lock);
  auto* const entry = own_entry(file);
  if (entry == nullptr) return;
  entry->fetch_or(kOpenHolds);
  control_.file(file).flags.fetch_or(kFileHeld);
}

void FileTable::let_go(std::uint32_t file) {
  if (!lock()) return;
  const TableGuard guard(peers_, control_.shared().table_lock);
  if (auto* const entry = own_entry(file); entry != nullptr) entry->fetch_and(~kOpenHolds);
  end_flag(file, kFileHeld, kOpenHolds);
}

// The doors of one process may be members apart: while one of them holds a file, a native call may ask
// another to carry it home, and the hold ends after the call.
bool FileTable::held_by_others(std::uint32_t file) const {
  if ((control_.file(file).flags.load() & kFileHeld) == 0) return false;
  const auto pid = peers_.record().pid.load();
  for (std::uint32_t slot = 0; slot < control_.header().lease_count; ++slot) {
    const auto& record = control_.lease(slot);
    if (record.attached.load() != 0 && record.pid.load() == pid && lists(slot, file, kOpenPast)) return false;
  }
  return listed(file, kOpenHolds, lease_slot(peers_.self()));
}

bool FileTable::others_may_carry(std::uint32_t file) const {
  for (std::uint32_t slot = 0; slot < control_.header().lease_count; ++slot) {
    if (control_.lease(slot).attached.load() != 0 && slot != lease_slot(peers_.self()) &&
        !lists(slot, file, kOpenPast)) {
      return true;
    }
  }
  return false;
}

void FileTable::unless_in_use(std::uint32_t file, const std::function<void()>& action) const {
  if (!lock()) return;
  const TableGuard guard(peers_, control_.shared().table_lock);
  if (!listed(file)) action();
}

bool FileTable::lists(std::uint32_t slot, std::uint32_t file, std::uint32_t marks) const {
  const auto used = std::min(control_.lease(slot).opens.load(), control_.header().opens_per_lease);
  const auto* const opens = control_.opens(slot);
  return std::any_of(opens, opens + used, [&](const Word& entry) {
    const auto open = entry.load(std::memory_order_relaxed);
    return (open & ~kOpenMarks) == file + 1 && (open & marks) == marks;
  });
}

bool FileTable::listed(std::uint32_t file, std::uint32_t marks, std::uint32_t except_slot) const {
  for (std::uint32_t slot = 0; slot < control_.header().lease_count; ++slot) {
    const auto& record = control_.lease(slot);
    if (record.attached.load() == 0 || slot == except_slot || !lists(slot, file, marks)) continue;
    if (peers_.alive(record.generation.load() << 11 | slot << 1)) return true;
  }
  return false;
}

bool FileTable::in_use(std::uint32_t file) const {
  return control_.file(file).opens_hint.load() != 0 && listed(file);
}

bool FileTable::used_by_others(std::uint32_t file) const {
  return listed(file, 0, lease_slot(peers_.self()));
}

bool FileTable::written_by_somebody(std::uint32_t file) const {
  return control_.file(file).opens_hint.load() != 0 && listed(file, kOpenToWrite);
}

Status FileTable::undisturbed(const std::function<void()>& action) const {
  FOREBAY_TRY(lock());
  const TableGuard guard(peers_, control_.shared().table_lock);
  action();
  return {};
}

}  // namespace forebay
