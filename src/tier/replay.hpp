// Carrying home what the journals of a node held when it lost its power.
//
// To be called before anything else touches the files: after a reboot, by the first process that attaches,
// and never while the buffer that held the same bytes still exists, for then the buffer is right and newer.
// Journals whose owner lives are left alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "os/fd.hpp"
#include "tier/home_ledger.hpp"

namespace forebay {

// Who writes a file's bytes home. For each file: begin, then writes and truncations in the order in which
// they were made, then end. After a failure of one of them nothing more comes for that file, and the next
// begin follows.
class ReplayVisitor {
 public:
  ReplayVisitor() = default;
  ReplayVisitor(const ReplayVisitor&) = delete;
  ReplayVisitor& operator=(const ReplayVisitor&) = delete;
  virtual ~ReplayVisitor() = default;

  // Is the file at the path still this one? A failure keeps its records for a later replay.
  virtual Status begin(const FileIdentity& file) = 0;
  virtual Status write(std::uint64_t offset, std::span<const std::byte> data) = 0;
  virtual Status truncate(std::uint64_t size) = 0;
  // Returns when all of it is durable at home: then its records are forgotten.
  virtual Status end() = 0;
};

struct ReplayReport {
  std::uint64_t journals = 0;  // without an owner
  std::uint64_t living = 0;    // with one: left alone
  std::uint64_t files = 0;     // brought home
  std::uint64_t records = 0;   // given to the visitor, of files brought home
  std::uint64_t bytes = 0;
  std::uint64_t already_home = 0;  // records
  std::uint64_t torn = 0;          // records at the end of a log that were being written: never acknowledged
  std::uint64_t refused = 0;  // records that had been acknowledged and are damaged or without a file: lost
  std::uint64_t highest_seq = 0;     // of any record or mark found: new ones must be greater
  std::vector<std::string> remarks;  // what was refused and where; at most 100
  struct Failure {
    FileIdentity file;
    Error error;
  };
  std::vector<Failure> failures;  // files whose records stay for later
};

// Safe against kill and power loss at any instant: what is not known to be home is replayed again, in the
// same order, with the same outcome. A journal that is all home is removed; one that was damaged is renamed
// to damaged-*, for people to look at. EBUSY when another process is replaying.
Result<ReplayReport> replay(const Fd& directory, ReplayVisitor& visitor);

// For a node that did not lose its power: removes journals of dead processes whose files are home, because
// the buffer was drained. The number of journals that remain because they are not.
Result<std::uint64_t> remove_finished_journals(const Fd& directory);

}  // namespace forebay
