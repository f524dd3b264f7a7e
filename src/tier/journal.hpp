// The log behind `node` durability: what was appended survives power loss, and replay() carries it home.
//
// One file per writing process. Bytes of an acknowledged record are not written again until its file is home,
// so nothing that happens to later records can hurt it. docs/journal.md has the format and the argument.
//
// The protocol with the caller: add the file; append each write with a greater seq than every earlier write
// of that file on this node had; once home has been synced, mark_home() it. When the log is full (ENOSPC) the
// caller brings its files home, syncs them and marks them: the write that found the log full is then durable
// at home and needs no record. A part of it may be in the log: mark at least its seq.
//
// Thread-safe: threads that append at the same time share one write to the disk. Lives in one process: a
// forked child must not touch it. The destructor leaves the file: only remove() takes it away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "os/fd.hpp"
#include "tier/home_ledger.hpp"

namespace forebay {

class Journal {
 public:
  // kFile: any file system. kPmem: mapped, for DAX file systems; elsewhere it works, with msync.
  enum class Medium : std::uint8_t { kFile, kPmem };

  // A journal of `size` bytes (at least 104 KiB; a sixteenth of it should take the largest usual write),
  // written through once so that appending never waits for the file system's own metadata. ENOSPC leaves
  // nothing behind.
  static Result<std::unique_ptr<Journal>> create(const Fd& directory, std::uint64_t size, Medium medium);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  // ENOSPC when the ledger is full.
  Result<JournalFile> add_file(const FileIdentity& identity);

  // Returns when the bytes survive power loss. ENOSPC: see above. EIO and its like stay: after a failed write
  // the disk promises nothing, and every later call fails too; what was acknowledged before is still there
  // and is replayed unless it is marked home.
  Status append(JournalFile file, std::uint64_t seq, std::uint64_t offset, std::span<const std::byte> data);
  Status truncate(JournalFile file, std::uint64_t seq, std::uint64_t size);

  // Everything of this file up to `seq`, whoever wrote it, is home and was synced there. Until this has
  // returned, power loss lets the replay write those bytes again, so nothing newer may reach home unlogged
  // before.
  Status mark_home(JournalFile file, std::uint64_t seq);
  // Everything of this file is home, and no process of the node will log anything for it any more.
  Status release_file(JournalFile file);

  // Bytes, about, that can be appended before the log is full.
  [[nodiscard]] std::uint64_t room() const;
  // The files that keep the log from being reused.
  [[nodiscard]] std::vector<JournalFile> unfinished() const;

  // Takes the file away; the last one of a directory leaves an empty ledger. EBUSY while a record is not
  // home.
  Status remove();

  // False on tmpfs: then the log survives processes, but not power loss.
  [[nodiscard]] bool is_persistent() const;
  [[nodiscard]] const std::string& path() const;

 private:
  struct State;
  explicit Journal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace forebay
