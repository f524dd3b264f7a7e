#include "tier/home_ledger.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "os/life_lock.hpp"
#include "tier/aligned_buffer.hpp"
#include "tier/journal_directory.hpp"

namespace forebay {
namespace {

// A change takes well below a millisecond; a disk that hangs is worth waiting for a while.
constexpr std::chrono::seconds kLockWait{30};
constexpr std::chrono::microseconds kLockPause{100};

Result<std::uint64_t> read_id(const SteadyFile& file) {
  FOREBAY_ASSIGN(const int fd, file.descriptor());
  for (const std::uint64_t position : {0u, 4096u}) {
    LedgerHeader header{};
    FOREBAY_ASSIGN(const auto got, read_fully(fd, &header, sizeof header, position));
    if (got == sizeof header && is_sound(header)) return header.id;
  }
  return fail(EBADMSG, file.path() + " is damaged or of another version");
}

bool is_untouched(const LedgerEntry& entry) {
  static constexpr LedgerEntry kZero{};
  return std::memcmp(&entry, &kZero, sizeof entry) == 0;
}

bool same_file(const LedgerEntry& entry, const FileIdentity& identity) {
  return entry.used != 0 && entry.device == identity.device && entry.inode == identity.inode &&
         entry.born_ns == identity.born_ns;
}

// False when it is the same already.
bool set_path(LedgerEntry& entry, const std::string& path) {
  if (std::string_view(entry.path.data(), entry.path_length) == path) return false;
  entry.path = {};
  entry.path_length = static_cast<std::uint32_t>(path.size());
  std::memcpy(entry.path.data(), path.data(), path.size());
  return true;
}

}  // namespace

// Excludes the other threads and the other processes.
class HomeLedger::Locked {
 public:
  static Result<Locked> take(const HomeLedger& ledger) {
    std::unique_lock guard(*ledger.mutex_);
    FOREBAY_ASSIGN(const int fd, ledger.file_.descriptor());
    FOREBAY_TRY(lock_with_descriptor(fd, ledger.file_.path(), 0, kLockWait, kLockPause));
    return Locked(std::move(guard), fd);
  }
  Locked(Locked&& other) noexcept : guard_(std::move(other.guard_)), fd_(std::exchange(other.fd_, -1)) {}
  Locked& operator=(Locked&&) = delete;
  ~Locked() {
    if (fd_ >= 0) unlock_with_descriptor(fd_);
  }

 private:
  Locked(std::unique_lock<std::mutex> guard, int fd) : guard_(std::move(guard)), fd_(fd) {}
  std::unique_lock<std::mutex> guard_;
  int fd_;
};

Result<HomeLedger> HomeLedger::open(const Fd& directory, Create create) {
  auto file = SteadyFile::open(directory, kFileName, Create::kNever, O_DSYNC);
  if (!file && file.error().code == ENOENT && create != Create::kNever) {
    LedgerHeader header{kLedgerMagic, kJournalFormat, 0, 0, 0};
    FOREBAY_ASSIGN(header.id, random_id());
    seal(header);
    const auto blocks = make_aligned_buffer(2 * kBlock);
    std::memset(blocks.get(), 0, 2 * kBlock);
    for (const std::uint64_t position : {0u, 4096u})
      std::memcpy(blocks.get() + position, &header, sizeof header);
    FOREBAY_TRY(publish_file(directory, kFileName, {blocks.get(), 2 * kBlock}));
    file = SteadyFile::open(directory, kFileName, Create::kNever, O_DSYNC);
  }
  if (!file) return std::unexpected(std::move(file).error());
  FOREBAY_ASSIGN(const auto id, read_id(*file));
  return HomeLedger(std::move(*file), id);
}

Result<std::uint32_t> HomeLedger::places() const {
  FOREBAY_ASSIGN(const int fd, file_.descriptor());
  struct stat found{};
  if (::fstat(fd, &found) != 0) return fail_errno(errno, "examine", file_.path());
  const auto blocks = (static_cast<std::uint64_t>(found.st_size) + kBlock - 1) / kBlock;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks < 2 ? 0 : (blocks - 1) / 2, kLedgerFiles));
}

Result<HomeLedger::Found> HomeLedger::look(std::uint32_t place) const {
  FOREBAY_ASSIGN(const int fd, file_.descriptor());
  auto pair = std::make_unique<std::array<LedgerEntry, 2>>();
  std::memset(pair.get(), 0, sizeof *pair);
  FOREBAY_TRY(read_fully(fd, pair.get(), sizeof *pair, ledger_position(place, 0)));
  Found found{};
  bool any = false;
  for (unsigned copy = 0; copy < 2; ++copy) {
    const auto& entry = (*pair)[copy];
    if (!is_sound(entry, id_, place)) {
      found.damaged |= !is_untouched(entry);
    } else if (!any || entry.version > found.entry.version) {
      found.entry = entry;
      found.spare = 1 - copy;
      any = true;
    }
  }
  return found;
}

Status HomeLedger::store(std::uint32_t place, const Found& found, LedgerEntry entry) {
  FOREBAY_ASSIGN(const int fd, file_.descriptor());
  entry.magic = kLedgerMagic;
  entry.version = found.entry.version + 1;
  seal(entry, id_, place);
  if (const auto written = write_fully(fd, &entry, sizeof entry, ledger_position(place, found.spare));
      !written) {
    return fail_errno(written.error().code, "write", file_.path());
  }
  return {};
}

Status HomeLedger::free_place(std::uint32_t place, const Found& found) {
  LedgerEntry entry{};
  entry.generation = found.entry.generation + 1;
  return store(place, found, entry);
}

Result<std::optional<JournalFile>> HomeLedger::find(const FileIdentity& identity) const {
  FOREBAY_ASSIGN(const auto count, places());
  for (std::uint32_t place = 0; place < count; ++place) {
    FOREBAY_ASSIGN(const auto found, look(place));
    if (same_file(found.entry, identity)) return JournalFile{place, found.entry.generation};
  }
  return std::nullopt;
}

Result<JournalFile> HomeLedger::enter(const FileIdentity& identity) {
  if (identity.path.size() > kLedgerPathMost)
    return fail_errno(ENAMETOOLONG, "enter into the ledger", identity.path);
  FOREBAY_ASSIGN(const auto locked, Locked::take(*this));
  FOREBAY_TRY(file_.still_there());
  FOREBAY_ASSIGN(const auto count, places());
  std::optional<std::pair<std::uint32_t, Found>> free;
  for (std::uint32_t place = 0; place < count; ++place) {
    FOREBAY_ASSIGN(const auto found, look(place));
    if (same_file(found.entry, identity)) {
      auto entry = found.entry;
      if (set_path(entry, identity.path)) FOREBAY_TRY(store(place, found, entry));
      return JournalFile{place, entry.generation};
    }
    // A place that was damaged is left alone: its true generation is not known.
    if (!free && found.entry.used == 0 && !found.damaged) free.emplace(place, found);
  }
  if (!free) {
    if (count == kLedgerFiles)
      return fail(ENOSPC, "no more than " + std::to_string(count) +
                              " files with durability node can be open or not home yet at one time: " +
                              file_.path() + " is full");
    free.emplace(count, Found{});
  }
  auto& [place, found] = *free;
  LedgerEntry entry{};
  entry.used = 1;
  entry.generation = found.entry.generation + 1;
  entry.device = identity.device;
  entry.inode = identity.inode;
  entry.born_ns = identity.born_ns;
  set_path(entry, identity.path);
  FOREBAY_TRY(store(place, found, entry));
  return JournalFile{place, entry.generation};
}

Status HomeLedger::mark_home(JournalFile file, std::uint64_t seq) {
  FOREBAY_ASSIGN(const auto locked, Locked::take(*this));
  FOREBAY_ASSIGN(const auto found, look(file.place));
  if (found.entry.generation > file.generation) return {};
  if (found.entry.generation < file.generation)
    return fail(EBADMSG, file_.path() + " is damaged: a file is missing");
  if (found.entry.home_seq >= seq) return {};
  auto entry = found.entry;
  entry.home_seq = seq;
  return store(file.place, found, entry);
}

Status HomeLedger::release(JournalFile file) {
  FOREBAY_ASSIGN(const auto locked, Locked::take(*this));
  FOREBAY_ASSIGN(const auto found, look(file.place));
  if (found.entry.used == 0 || found.entry.generation != file.generation) return {};
  return free_place(file.place, found);
}

Result<std::uint64_t> HomeLedger::home_seq(JournalFile file) const {
  FOREBAY_ASSIGN(const auto locked, Locked::take(*this));
  FOREBAY_ASSIGN(const auto found, look(file.place));
  if (found.entry.generation > file.generation) return kAllHome;
  if (found.entry.generation < file.generation) return 0;  // damaged: in doubt, nothing is home
  return found.entry.home_seq;
}

Result<HomeLedger::Contents> HomeLedger::contents() const {
  Contents contents;
  FOREBAY_ASSIGN(const auto count, places());
  for (std::uint32_t place = 0; place < count; ++place) {
    FOREBAY_ASSIGN(const auto found, look(place));
    if (found.damaged) contents.damaged.push_back(place);
    const auto& entry = found.entry;
    if (entry.used == 0) continue;
    FileIdentity identity{entry.device, entry.inode, entry.born_ns, {entry.path.data(), entry.path_length}};
    contents.entries.push_back({{place, entry.generation}, std::move(identity), entry.home_seq});
  }
  return contents;
}

Status HomeLedger::clear_if_unused(const Fd& directory) {
  FOREBAY_ASSIGN(const auto locked, Locked::take(*this));
  FOREBAY_ASSIGN(const auto names, list_names(directory));
  for (const auto& name : names) {
    if (name.starts_with(kJournalPrefix) || name.starts_with(kFormingPrefix)) return {};
  }
  FOREBAY_ASSIGN(const auto count, places());
  for (std::uint32_t place = 0; place < count; ++place) {
    FOREBAY_ASSIGN(const auto found, look(place));
    if (found.entry.used != 0 || found.damaged) FOREBAY_TRY(free_place(place, found));
  }
  return {};
}

}  // namespace forebay
