#include "tier/replay.hpp"

#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "os/life_lock.hpp"
#include "os/private_file.hpp"
#include "tier/aligned_buffer.hpp"
#include "tier/journal_directory.hpp"
#include "tier/journal_reader.hpp"

namespace forebay {
namespace {

constexpr std::size_t kRemarksMost = 100;

// A journal without an owner, ours as long as the descriptor is open.
struct Orphan {
  std::string name;
  Fd fd;
  JournalContents contents;
  bool damaged = false;
  bool waiting = false;  // holds records of a file that did not get home
};

// One record of one journal.
struct Reference {
  const JournalRecord* record;
  Orphan* journal;
};

struct Victim {
  HomeLedger::Entry entry;
  std::vector<JournalFile> places;  // all that mean this file
  std::vector<Reference> records;
};

void remark(ReplayReport& report, std::string words) {
  if (report.remarks.size() < kRemarksMost) report.remarks.push_back(std::move(words));
}

Result<Fd> lock_replay(const Fd& directory) {
  FOREBAY_ASSIGN(auto lock, open_private_file(directory, kReplayLockName, Create::kIfMissing));
  if (const auto locked = lock_with_descriptor(lock.get(), kReplayLockName); !locked) {
    if (locked.error().code == EAGAIN) return fail(EBUSY, "another process is replaying the journals");
    return std::unexpected(locked.error());
  }
  return lock;
}

// Takes every journal that has no owner, and removes the unborn.
Result<std::vector<Orphan>> take_orphans(const Fd& directory, ReplayReport& report) {
  std::vector<Orphan> orphans;
  FOREBAY_ASSIGN(auto names, list_names(directory));
  std::ranges::sort(names);
  for (const auto& name : names) {
    const bool forming = name.starts_with(kFormingPrefix);
    if (!forming && !name.starts_with(kJournalPrefix)) continue;
    auto fd = open_private_file(directory, name, Create::kNever);
    if (!fd) {
      if (fd.error().code != ENOENT) remark(report, fd.error().message);
      continue;
    }
    if (!lock_with_descriptor(fd->get(), name)) {
      if (!forming) ++report.living;
      continue;
    }
    if (forming) {
      ::unlinkat(directory.get(), name.c_str(), 0);
      continue;
    }
    ++report.journals;
    Orphan orphan{name, std::move(*fd), {}, false, false};
    if (auto contents = read_journal(orphan.fd.get(), name)) {
      orphan.contents = std::move(*contents);
    } else {
      orphan.damaged = true;
      ++report.refused;
      remark(report, contents.error().message);
    }
    orphans.push_back(std::move(orphan));
  }
  return orphans;
}

void report_damage(const Orphan& orphan, ReplayReport& report) {
  const auto& contents = orphan.contents;
  report.refused += contents.lost;
  const auto broken = contents.broken.size();
  report.torn += broken > contents.lost ? broken - contents.lost : 0;
  if (contents.lost > 0) {
    auto words = orphan.name + ": " + std::to_string(contents.lost) + " acknowledged records are damaged";
    if (broken > 0) words += ", the first at byte " + std::to_string(contents.broken.front());
    remark(report, std::move(words));
  }
}

// The same file may have been entered twice, when its device number changed with a reboot or it was renamed.
bool same_file(const FileIdentity& one, const FileIdentity& two) {
  return one.inode == two.inode && one.born_ns == two.born_ns &&
         (one.device == two.device || one.path == two.path);
}

std::vector<Victim> group_files(const std::vector<HomeLedger::Entry>& entries) {
  std::vector<Victim> files;
  std::multimap<std::pair<std::uint64_t, std::uint64_t>, std::size_t> known;
  for (const auto& entry : entries) {
    const std::pair key(entry.identity.inode, entry.identity.born_ns);
    const auto [first, last] = known.equal_range(key);
    const auto match = std::find_if(first, last, [&](const auto& one) {
      return same_file(files[one.second].entry.identity, entry.identity);
    });
    if (match != last) {
      files[match->second].places.push_back(entry.file);
      continue;
    }
    known.emplace(key, files.size());
    files.push_back({entry, {entry.file}, {}});
  }
  return files;
}

class Replay {
 public:
  Replay(HomeLedger& ledger, std::vector<Orphan>& orphans, ReplayReport& report)
      : ledger_(ledger), orphans_(orphans), report_(report) {}

  Status sort_out();
  void carry_home(ReplayVisitor& visitor);

 private:
  Status carry_file(const Victim& file, ReplayVisitor& visitor);
  Status carry_records(const Victim& file, ReplayVisitor& visitor);

  HomeLedger& ledger_;
  std::vector<Orphan>& orphans_;
  ReplayReport& report_;
  std::vector<Victim> files_;
  AlignedBuffer payload_ = make_aligned_buffer(kPayloadMost);
};

// Gives each record to its file, or says why it has none.
Status Replay::sort_out() {
  FOREBAY_ASSIGN(const auto contents, ledger_.contents());
  files_ = group_files(contents.entries);
  std::map<JournalFile, std::pair<std::size_t, std::uint64_t>>
      by_place;  // which file, and how far it is home
  for (const auto& entry : contents.entries) {
    report_.highest_seq = std::max(report_.highest_seq, entry.home_seq);
    by_place[entry.file] = {0, entry.home_seq};
  }
  for (std::size_t i = 0; i < files_.size(); ++i) {
    for (const auto place : files_[i].places) by_place[place].first = i;
  }
  for (auto& orphan : orphans_) {
    if (!orphan.damaged && orphan.contents.header.ledger_id != ledger_.id()) {
      orphan.damaged = true;
      report_.refused += orphan.contents.records.size();
      remark(report_, orphan.name + ": the ledger that names its files is gone");
      continue;
    }
    std::uint64_t without_file = 0;
    for (const auto& record : orphan.contents.records) {
      report_.highest_seq = std::max(report_.highest_seq, record.seq);
      if (const auto known = by_place.find(record.file); known != by_place.end()) {
        if (record.seq <= known->second.second) {
          ++report_.already_home;
        } else {
          files_[known->second.first].records.push_back({&record, &orphan});
        }
        continue;
      }
      FOREBAY_ASSIGN(const auto home, ledger_.home_seq(record.file));
      ++(home == HomeLedger::kAllHome ? report_.already_home : without_file);
    }
    orphan.damaged |= orphan.contents.lost > 0 || without_file > 0;
    report_damage(orphan, report_);
    report_.refused += without_file;
    if (without_file > 0) {
      remark(report_, orphan.name + ": the ledger does not name the file of " + std::to_string(without_file) +
                          " records");
    }
  }
  // Only when it costs something: a mark torn by the power loss is the usual case.
  for (auto& file : files_) {
    for (const auto place : file.places) {
      if (!file.records.empty() && std::ranges::binary_search(contents.damaged, place.place)) {
        remark(report_, file.entry.identity.path + ": how far it is home is known from an older mark only");
      }
    }
    std::ranges::sort(file.records, [](const Reference& one, const Reference& two) {
      return std::pair(one.record->seq, one.record->payload_position) <
             std::pair(two.record->seq, two.record->payload_position);
    });
  }
  return {};
}

Status Replay::carry_records(const Victim& file, ReplayVisitor& visitor) {
  for (const auto& [record, journal] : file.records) {
    if (record->kind == RecordKind::kTruncate) {
      FOREBAY_TRY(visitor.truncate(record->offset));
      continue;
    }
    FOREBAY_TRY(read_payload(journal->fd.get(), journal->name, *record, payload_.get()));
    FOREBAY_TRY(visitor.write(record->offset, {payload_.get(), record->length}));
  }
  return {};
}

Status Replay::carry_file(const Victim& file, ReplayVisitor& visitor) {
  FOREBAY_TRY(visitor.begin(file.entry.identity));
  FOREBAY_TRY(carry_records(file, visitor));
  FOREBAY_TRY(visitor.end());
  // From here on none of these records counts any more, whichever of the journals is removed first.
  const auto seq = file.records.back().record->seq;
  for (const auto place : file.places) FOREBAY_TRY(ledger_.mark_home(place, seq));
  return {};
}

void Replay::carry_home(ReplayVisitor& visitor) {
  for (const auto& file : files_) {
    if (file.records.empty()) continue;
    if (auto carried = carry_file(file, visitor); !carried) {
      report_.failures.push_back({file.entry.identity, std::move(carried).error()});
      for (const auto& reference : file.records) reference.journal->waiting = true;
      continue;
    }
    ++report_.files;
    report_.records += file.records.size();
    for (const auto& reference : file.records) report_.bytes += reference.record->length;
  }
}

// What is home goes, what is damaged changes its name, what waits stays.
Status put_away(const Fd& directory, const std::vector<Orphan>& orphans, ReplayReport& report) {
  for (const auto& orphan : orphans) {
    if (orphan.waiting) continue;
    const auto kept = std::string(kDamagedPrefix) + orphan.name.substr(kJournalPrefix.size());
    const int code = orphan.damaged
                         ? ::renameat(directory.get(), orphan.name.c_str(), directory.get(), kept.c_str())
                         : ::unlinkat(directory.get(), orphan.name.c_str(), 0);
    if (code != 0 && errno != ENOENT) return fail_errno(errno, "put away", orphan.name);
    if (orphan.damaged) remark(report, orphan.name + " is kept as " + kept);
  }
  return sync_directory(directory);
}

// Without a ledger no journal says of which files it speaks. A damaged one makes room for a new one, unless
// somebody is using it.
Status give_up_on_ledger(const Fd& directory, std::vector<Orphan>& orphans, const Error& error,
                         ReplayReport& report) {
  if (error.code != ENOENT && error.code != EBADMSG) return std::unexpected(error);
  if (error.code == EBADMSG || !orphans.empty()) remark(report, error.message);
  for (auto& orphan : orphans) {
    orphan.damaged = true;
    report.refused += orphan.contents.records.size();
  }
  if (error.code == EBADMSG && report.living == 0) {
    FOREBAY_ASSIGN(const auto id, random_id());
    const auto kept = std::string(kDamagedPrefix) + "ledger-" + hexadecimal(id);
    if (::renameat(directory.get(), HomeLedger::kFileName, directory.get(), kept.c_str()) != 0) {
      return fail_errno(errno, "put away", HomeLedger::kFileName);
    }
  }
  return put_away(directory, orphans, report);
}

}  // namespace

Result<ReplayReport> replay(const Fd& directory, ReplayVisitor& visitor) {
  ReplayReport report;
  FOREBAY_ASSIGN(const auto lock, lock_replay(directory));
  FOREBAY_ASSIGN(auto orphans, take_orphans(directory, report));
  auto ledger = HomeLedger::open(directory, Create::kNever);
  if (!ledger) {
    FOREBAY_TRY(give_up_on_ledger(directory, orphans, ledger.error(), report));
    return report;
  }
  Replay work(*ledger, orphans, report);
  FOREBAY_TRY(work.sort_out());
  work.carry_home(visitor);
  FOREBAY_TRY(put_away(directory, orphans, report));
  if (report.failures.empty()) FOREBAY_TRY(ledger->clear_if_unused(directory));
  return report;
}

Result<std::uint64_t> remove_finished_journals(const Fd& directory) {
  ReplayReport report;
  FOREBAY_ASSIGN(const auto lock, lock_replay(directory));
  FOREBAY_ASSIGN(const auto orphans, take_orphans(directory, report));
  if (orphans.empty()) return 0;
  FOREBAY_ASSIGN(const auto ledger, HomeLedger::open(directory, Create::kNever));
  std::uint64_t remaining = 0;
  for (const auto& orphan : orphans) {
    bool done = !orphan.damaged && orphan.contents.header.ledger_id == ledger.id();
    for (const auto& record : orphan.contents.records) {
      FOREBAY_ASSIGN(const auto home, ledger.home_seq(record.file));
      done &= record.seq <= home;
    }
    if (!done) {
      ++remaining;
    } else if (::unlinkat(directory.get(), orphan.name.c_str(), 0) != 0 && errno != ENOENT) {
      return fail_errno(errno, "remove", orphan.name);
    }
  }
  FOREBAY_TRY(sync_directory(directory));
  return remaining;
}

}  // namespace forebay
