// The files the buffer knows: who they are at home, and which processes have them open.
//
// Thread-safe: everything here takes the table lock, which comes before all others. A record found or made by
// `open` stays this file's until `close`, and beyond that while it has buckets.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "engine/bucket_table.hpp"
#include "engine/control.hpp"
#include "engine/peers.hpp"

namespace forebay {

// What tells a file at home from any other, also from one of the same name made later.
struct HomeIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t born_ns = 0;  // 0 where the file system does not say

  bool operator==(const HomeIdentity&) const = default;
};

struct HomeStamp {
  HomeIdentity identity;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  // its status
  bool regular = false;
  bool birth_told = false;
};
// Looks at an open home file; `how` as for statx (AT_STATX_DONT_SYNC: home_stamps.hpp).
Result<HomeStamp> stamp_of(int fd, std::string_view path, int how = 0);

// The check of a record's identity and path.
[[nodiscard]] std::uint32_t path_check(const FileRecord& record, std::string_view path);

// What marks a scratch file, which is removed in the end: not one bit, which damage could set on any file.
[[nodiscard]] std::uint32_t scratch_mark(const FileRecord& record);
[[nodiscard]] inline bool is_scratch(const FileRecord& record) {
  return record.scratch.load() != 0 && record.scratch.load() == scratch_mark(record);
}

class FileTable {
 public:
  FileTable(const Control& control, const Peers& peers, BucketTable& buckets)
      : control_(control), peers_(peers), buckets_(buckets) {}

  struct Opened {
    std::uint32_t file;
    bool fresh;   // the record was made now
    bool shared;  // another process had it open already
  };
  // Notes that this process has the file open, with those of kOpenMarks that apply. ENFILE: the table is full
  // of files in use. EMFILE: this process has too many open. ENAMETOOLONG: no room to keep so long a path.
  Result<Opened> open(const HomeStamp& home, std::string_view path, std::uint32_t marks);
  // Takes one such note back; of several the one with the fewest marks. `alone` is called first if no other
  // process has the file open; none can open it meanwhile.
  void close(std::uint32_t file, const std::function<void()>& alone = {});

  // Calls `action` if no living process has the file open; none can open it meanwhile.
  void unless_in_use(std::uint32_t file, const std::function<void()>& action) const;
  // Calls `action` while nobody opens or closes a file.
  Status undisturbed(const std::function<void()>& action) const;

  // Between the two no other process begins to carry bytes of the file home, but those that have it open with
  // kOpenPast as well: they hold it by themselves where that matters. This process has it open. Ends with the
  // process.
  void hold(std::uint32_t file);
  void let_go(std::uint32_t file);
  // Is it held by another living process, whose hold counts for this one?
  [[nodiscard]] bool held_by_others(std::uint32_t file) const;
  // Is any process attached for which a hold of this one would count?
  [[nodiscard]] bool others_may_carry(std::uint32_t file) const;

  // Has any living process the file open? One other than this?
  [[nodiscard]] bool in_use(std::uint32_t file) const;
  [[nodiscard]] bool used_by_others(std::uint32_t file) const;
  // Has any living process it open for writing, and so carries it home?
  [[nodiscard]] bool written_by_somebody(std::uint32_t file) const;
  // Its path; empty if the record is damaged.
  [[nodiscard]] std::string path(std::uint32_t file) const;
  [[nodiscard]] Key key(std::uint32_t file, std::uint64_t block) const {
    return make_key(file, control_.file(file).generation.load(std::memory_order_relaxed), block);
  }

  // The record of an inode, if there is one; without its birth, for those who cannot ask for that.
  [[nodiscard]] std::optional<std::uint32_t> look_up(std::uint64_t device, std::uint64_t inode) const;
  // The file has another name now. What is not its identity any more is left alone.
  Status rename(const HomeIdentity& identity, std::string_view path);

  // Every linked record.
  [[nodiscard]] std::vector<std::uint32_t> all() const;

  // After deaths: records in dead hands are freed, open counts made true.
  void sweep();

  // Forgets a file that nobody has open and that has no bucket. `drop` is called first, to see to the latter,
  // if nobody has it open and its record is still the one with that `key`; none can open it until the file is
  // forgotten. EBUSY: somebody has it open, or it has a bucket left.
  Status forget(std::uint32_t file, std::uint64_t key, const std::function<void()>& drop);

 private:
  [[nodiscard]] Status lock() const;
  [[nodiscard]] std::uint32_t chain_of(const HomeIdentity& identity) const;
  [[nodiscard]] std::uint32_t find(const HomeIdentity& identity) const;  // index + 1
  Result<std::uint32_t> make(const HomeStamp& home, std::string_view path);
  [[nodiscard]] std::uint32_t take_free() const;  // index + 1
  void unlink(std::uint32_t file) const;
  Status set_path(std::uint32_t file, std::string_view path);
  [[nodiscard]] std::uint32_t take_long_path(std::uint32_t file) const;  // index + 1
  void clear_path(std::uint32_t file) const;
  void take_name(std::uint32_t file, std::string_view name);
  // By the process of that slot, with all of these marks; `listed`: by any that lives.
  [[nodiscard]] bool lists(std::uint32_t slot, std::uint32_t file, std::uint32_t marks) const;
  // This process's entry of the file with the fewest marks; null if it has none.
  [[nodiscard]] Word* own_entry(std::uint32_t file) const;
  // Clears a flag that stands for a mark which no living process has on the file any more.
  void end_flag(std::uint32_t file, std::uint32_t flag, std::uint32_t mark) const;
  [[nodiscard]] bool listed(std::uint32_t file, std::uint32_t marks = 0,
                            std::uint32_t except_slot = ~0u) const;
  bool free_unlocked(std::uint32_t file);
  // Evicts the clean buckets of files of which it is true and which nobody has open, the longest unused
  // first, and frees the records that are left with none, until there are enough.
  bool forget_closed(const std::function<bool(const FileRecord&)>& which,
                     const std::function<bool()>& enough);
  // One of the records freed so, taken: index + 1.
  std::uint32_t make_room();

  const Control& control_;
  const Peers& peers_;
  BucketTable& buckets_;
};

}  // namespace forebay
