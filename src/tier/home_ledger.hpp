// Which files the journals of a node speak of, and how far each of them is home.
//
// One small file beside the journals, shared by all processes of the node. It is what keeps a replay from
// writing old bytes over newer ones: a journal's record counts only while its file is not home up to the
// record's seq. That is a statement about the file, so it is kept once for all journals and not in each: a
// process that carries home what another one logged cannot write to the other's journal.
//
// Every change is one block, written beside the block it replaces, and durable when the call returns: power
// loss at any instant leaves the old or the new state. Changes exclude each other across processes and
// threads; reading takes no lock.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/steady_file.hpp"
#include "tier/journal_format.hpp"

namespace forebay {

struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t born_ns = 0;
  std::string path;  // absolute; at most 4,016 bytes
};

// A file in the ledger. The generation tells a file from the ones that had its place before.
struct JournalFile {
  std::uint32_t place = 0;
  std::uint32_t generation = 0;
  auto operator<=>(const JournalFile&) const = default;
};

class HomeLedger {
 public:
  static constexpr std::uint64_t kAllHome = ~std::uint64_t{0};
  static constexpr auto kFileName = "home.ledger";

  // Opens the ledger in a journal directory, making it if `create` says so. EBADMSG when it is damaged beyond
  // use.
  static Result<HomeLedger> open(const Fd& directory, Create create);

  [[nodiscard]] std::uint64_t id() const { return id_; }

  // Finds the file by device, inode and birth, entering it if it is not there. The path is where it was last.
  // ENOSPC when kLedgerFiles are entered or the disk is full, ENAMETOOLONG when the path is.
  Result<JournalFile> enter(const FileIdentity& identity);
  [[nodiscard]] Result<std::optional<JournalFile>> find(const FileIdentity& identity) const;

  // Everything of this file up to `seq`, whoever wrote it, is home and was synced there. Never takes back
  // what was said before. Nothing to do for a file whose place was given up.
  Status mark_home(JournalFile file, std::uint64_t seq);

  // Everything of this file is home, and nobody will log anything for it any more: its place becomes free.
  Status release(JournalFile file);

  // Up to where the file is home; kAllHome when its place was given up; 0 when damage leaves it open. Waits
  // for a change that is under way: a mark can be read before it is durable, and who relied on that to throw
  // records away could leave older ones behind that count again after power loss.
  [[nodiscard]] Result<std::uint64_t> home_seq(JournalFile file) const;

  struct Entry {
    JournalFile file;
    FileIdentity identity;
    std::uint64_t home_seq;
  };
  struct Contents {
    std::vector<Entry> entries;          // those in use
    std::vector<std::uint32_t> damaged;  // places of which a copy is damaged: torn by power loss, or worse
  };
  [[nodiscard]] Result<Contents> contents() const;

  // Frees every place, unless a journal exists in the directory.
  Status clear_if_unused(const Fd& directory);

 private:
  struct Found {
    LedgerEntry entry;     // all zero where nothing was ever written
    unsigned spare = 0;    // the copy to write next
    bool damaged = false;  // a copy is neither intact nor untouched
  };
  class Locked;

  explicit HomeLedger(SteadyFile file, std::uint64_t id) : file_(std::move(file)), id_(id) {}
  [[nodiscard]] Result<Found> look(std::uint32_t place) const;
  [[nodiscard]] Result<std::uint32_t> places() const;
  Status store(std::uint32_t place, const Found& found, LedgerEntry entry);
  Status free_place(std::uint32_t place, const Found& found);

  SteadyFile file_;
  std::uint64_t id_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

}  // namespace forebay
