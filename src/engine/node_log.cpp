#include "engine/node_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/log.hpp"
#include "engine/dirty_filter.hpp"
#include "engine/geometry.hpp"
#include "os/private_file.hpp"
#include "tier/journal_directory.hpp"

namespace forebay {
namespace {

struct Place {
  Fd directory;
  Journal::Medium medium;
};

bool keeps_content(TierKind kind) { return kind == TierKind::Pmem || kind == TierKind::Nvme; }

// Where journals lie: beside the data of the tiers that keep their content.
std::vector<Place> journal_places(const Core& core, bool create) {
  std::vector<Place> places;
  for (std::uint32_t i = 0; i < core.control.header().tier_count; ++i) {
    const auto& tier = core.control.header().tiers[i];
    const auto kind = static_cast<TierKind>(tier.kind);
    if (!keeps_content(kind)) continue;
    std::string path;
    if (!open_buffer_directory(tier.directory.data(), core.settings.buffer.name, path)) continue;
    path += std::string("/") + kJournalDirectory;
    if (!create && ::access(path.c_str(), F_OK) != 0) continue;
    auto directory = open_private_directory(path);
    if (!directory) continue;
    places.push_back(
        {std::move(*directory), kind == TierKind::Pmem ? Journal::Medium::kPmem : Journal::Medium::kFile});
  }
  return places;
}

// Writes a journal's records into the files they belong to, if those are still the same.
class HomeVisitor final : public ReplayVisitor {
 public:
  Status begin(const FileIdentity& file) override {
    path_ = file.path;
    fd_.reset(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!fd_) return fail_errno(errno, "open", path_);
    FOREBAY_ASSIGN(const auto found, stamp_of(fd_.get(), path_));
    // The device number may be another one after a restart; inode and birth are the file's own.
    const bool same =
        found.identity.inode == file.inode &&
        (found.identity.born_ns == file.born_ns || found.identity.born_ns == 0 || file.born_ns == 0);
    if (!same) return fail(ESTALE, path_ + " was replaced by another file");
    return {};
  }
  Status write(std::uint64_t offset, std::span<const std::byte> data) override {
    return write_fully(fd_.get(), data.data(), data.size(), offset);
  }
  Status truncate(std::uint64_t size) override {
    if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) return fail_errno(errno, "truncate", path_);
    return {};
  }
  Status end() override {
    if (::fsync(fd_.get()) != 0) return fail_errno(errno, "sync", path_);
    fd_.reset();
    return {};
  }

 private:
  Fd fd_;
  std::string path_;
};

FileIdentity identity_of(const Core& core, std::uint32_t file, const std::string& path) {
  const auto& record = core.control.file(file);
  return {record.device, record.inode, record.born_ns, path};
}

}  // namespace

Status NodeLog::add(const std::shared_ptr<HomeFile>& home) {
  const std::scoped_lock lock(mutex_);
  if (journal_ == nullptr) {
    auto places = journal_places(core_, true);
    if (places.empty()) {
      return fail(EINVAL,
                  "durability node needs a tier that keeps its content (kind nvme or pmem): " + home->path());
    }
    FOREBAY_ASSIGN(journal_, Journal::create(places.front().directory, core_.settings.journal.size,
                                             places.front().medium));
    if (!journal_->is_persistent())
      log_warn("the journal {} lies in memory: it does not survive the loss of the node", journal_->path());
  }
  if (const auto found = files_.find(home->file()); found != files_.end()) {
    if (found->second.home.expired()) found->second.home = home;
    return {};
  }
  FOREBAY_ASSIGN(const auto entry, journal_->add_file(identity_of(core_, home->file(), home->path())));
  files_.emplace(home->file(), Logged{entry, home});
  return {};
}

Result<JournalFile> NodeLog::entry_of(std::uint32_t file) {
  const std::scoped_lock lock(mutex_);
  const auto found = files_.find(file);
  if (found == files_.end()) return fail(ENOENT, "the file is not logged");
  return found->second.entry;
}

Status NodeLog::append(const std::shared_ptr<HomeFile>& home, std::uint64_t offset,
                       std::span<const std::byte> data) {
  FOREBAY_ASSIGN(const auto entry, entry_of(home->file()));
  core_.control.file(home->file()).logged.fetch_add(1);
  const auto seq = core_.control.shared().journal_sequence.fetch_add(1) + 1;
  if (failed_.load()) return bring_home(home);
  const auto status = journal_->append(entry, seq, offset, data);
  return status ? status : without_log(home, status.error());
}

Status NodeLog::truncated(const std::shared_ptr<HomeFile>& home, std::uint64_t size) {
  FOREBAY_ASSIGN(const auto entry, entry_of(home->file()));
  core_.control.file(home->file()).logged.fetch_add(1);
  const auto seq = core_.control.shared().journal_sequence.fetch_add(1) + 1;
  if (failed_.load()) return bring_home(home);
  const auto status = journal_->truncate(entry, seq, size);
  return status ? status : without_log(home, status.error());
}

Status NodeLog::without_log(const std::shared_ptr<HomeFile>& home, const Error& why) {
  if (why.code == ENOSPC) {
    FOREBAY_TRY(make_room());
  } else if (!failed_.exchange(true)) {
    log_error("{}: from now on, what is to survive the node is synced at home", why.message);
    // What was logged is still replayed: until it is home and marked, that is all that keeps it.
    (void)make_room();
  }
  return bring_home(home);
}

Status NodeLog::make_room() {
  std::vector<std::pair<std::uint32_t, std::shared_ptr<HomeFile>>> homes;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [file, logged] : files_) homes.emplace_back(file, logged.home.lock());
  }
  for (const auto& [file, home] : homes) FOREBAY_TRY(bring_home(file, home));
  return {};
}

// `home` may be none, of a file that is closed here.
Status NodeLog::bring_home(std::uint32_t file, const std::shared_ptr<HomeFile>& home) {
  if (home != nullptr) return bring_home(home);
  const auto again = HomeFile::reopen(core_, file);
  if (again) return bring_home(*again);
  // What has no name any more, or was forgotten with it, goes nowhere.
  if (again.error().code != ESTALE && again.error().code != EBADMSG) return std::unexpected(again.error());
  FOREBAY_ASSIGN(const auto entry, entry_of(file));
  return journal_->mark_home(entry, core_.control.shared().journal_sequence.load());
}

Status NodeLog::bring_home(const std::shared_ptr<HomeFile>& home, std::optional<Drainer::TimePoint> until) {
  const auto entry = entry_of(home->file());
  if (!entry) return {};
  // Every write with a number up to this one was staged before it took the number: the flush covers it.
  const auto seq = core_.control.shared().journal_sequence.load();
  const auto records = core_.control.file(home->file()).logged.load();
  FOREBAY_TRY(drainer_.flush(home, 0, kMaxBlock, until));
  if (::fsync(home->fd()) != 0) return fail_errno(errno, "sync", home->path());
  FOREBAY_TRY(journal_->mark_home(*entry, seq));
  const std::scoped_lock lock(mutex_);
  if (const auto found = files_.find(home->file()); found != files_.end())
    found->second.records_home = records;
  return {};
}

void NodeLog::closed(std::uint32_t file) {
  const std::scoped_lock lock(mutex_);
  const auto found = files_.find(file);
  // Somebody may have opened it, logged something and died since: that is home later.
  if (found == files_.end() || found->second.records_home != core_.control.file(file).logged.load()) return;
  if (journal_->release_file(found->second.entry)) files_.erase(found);
}

Status NodeLog::finish() {
  FOREBAY_TRY(make_room());
  const std::scoped_lock lock(mutex_);
  files_.clear();
  return journal_ == nullptr ? Status{} : journal_->remove();
}

bool journals_left(const Settings& settings) {
  return std::ranges::any_of(settings.tiers, [&](const TierSettings& tier) {
    const auto path = tier_base_directory(tier.path) + "/" + settings.buffer.name + "/" + kJournalDirectory;
    const auto directory = open_private_directory(path, Create::kNever);
    if (!directory || !keeps_content(tier.kind)) return false;
    const auto names = list_names(*directory);
    return names && std::ranges::any_of(
                        *names, [](const std::string& name) { return name.starts_with(kJournalPrefix); });
  });
}

Result<ReplayReport> replay_journals(Core& core) {
  ReplayReport all;
  for (const auto& place : journal_places(core, false)) {
    HomeVisitor visitor;
    FOREBAY_ASSIGN(auto report, replay(place.directory, visitor));
    all.journals += report.journals;
    all.files += report.files;
    all.records += report.records;
    all.bytes += report.bytes;
    all.refused += report.refused;
    all.highest_seq = std::max(all.highest_seq, report.highest_seq);
    for (auto& remark : report.remarks) all.remarks.push_back(std::move(remark));
    for (auto& failure : report.failures) all.failures.push_back(std::move(failure));
  }
  return all;
}

void retire_journals(Core& core) {
  for (const auto& place : journal_places(core, false)) {
    auto ledger = HomeLedger::open(place.directory, Create::kNever);
    if (!ledger) continue;
    const auto contents = ledger->contents();
    if (!contents) continue;
    for (const auto& entry : contents->entries) {
      const auto seq = core.control.shared().journal_sequence.load();
      const Fd fd(::open(entry.identity.path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
      if (!fd) continue;
      const auto found = stamp_of(fd.get(), entry.identity.path);
      if (!found || found->identity.inode != entry.identity.inode) continue;
      // Home only if the buffer has nothing unsaved of it.
      bool unsaved = false;
      for (const auto file : core.files.all()) {
        const auto& record = core.control.file(file);
        if (record.inode != entry.identity.inode || record.device != found->identity.device) continue;
        unsaved = unsaved || !unsaved_blocks(core, file, 0, kMaxBlock).empty();
      }
      if (!unsaved && ::fsync(fd.get()) == 0) (void)ledger->mark_home(entry.file, seq);
    }
    (void)remove_finished_journals(place.directory);
  }
}

}  // namespace forebay
