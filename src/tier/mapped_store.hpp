// A tier that is memory: one mapped file, cut into slots of one bucket each.
//
// The whole address range is mapped at open, so that slot addresses never move; storage is reserved in steps
// by grow(), and only reserved slots may be touched. A touched slot that is not reserved is SIGBUS; the store
// never touches one. Which slots are in use, and by what, is the engine's business: the store only moves
// bytes.
//
// Any number of processes open the same file. Within a process everything is thread-safe; calls to grow() for
// one file must exclude each other across processes. The mapping is not inherited by fork (the child attaches
// anew, and fork stays cheap) and not part of a core dump.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/mapping.hpp"
#include "os/steady_file.hpp"

namespace forebay {

// Who wants storage: the program, in a call of its own, or a thread in the background.
enum class Asker : std::uint8_t { kCaller, kBackground };

class MappedStore {
 public:
  enum class Kind : std::uint8_t { kMemory, kPmem };

  // EINVAL when the bucket size is no power of two from 4 KiB to 16 MiB or there are no slots.
  static Result<MappedStore> open(const Fd& directory, const std::string& file_name,
                                  std::uint64_t bucket_size, std::uint64_t slots, Kind kind,
                                  Create create = Create::kIfMissing);

  [[nodiscard]] std::byte* slot(std::uint64_t index) const { return mapping_.data() + index * bucket_size_; }
  [[nodiscard]] std::uint64_t slots() const { return slots_; }
  [[nodiscard]] std::uint64_t bucket_size() const { return bucket_size_; }

  // Reserves storage of the slots [from, to). ENOSPC, with nothing changed, when the file system or the
  // memory that this process may use has no room; EOPNOTSUPP when the file system cannot promise storage;
  // ESTALE when the file was removed behind our back.
  // In the background nothing is opened to find out how much memory is left: EAGAIN where it is not known to
  // be plenty.
  Status grow(std::uint64_t from, std::uint64_t to, Asker asker = Asker::kCaller);

  // How many slots from the first on have storage, by what the file says now. An attaching process refuses a
  // file that has less than the control file claims: it was truncated or is sparse.
  [[nodiscard]] Result<std::uint64_t> reserved_slots() const;

  // Enters the slots [from, to) into this process's page tables, so that later copies run at full speed. What
  // is not reserved is left out. Best effort.
  void populate(std::uint64_t from, std::uint64_t to);

  // Writes into a reserved slot by a system call, if this process has not entered it into its page tables and
  // that is the quicker way: the system need not clear memory first that it is about to fill. Once a slot;
  // false: nothing was written, or not all of it.
  [[nodiscard]] bool write_unentered(std::uint64_t index, std::uint64_t offset, const std::byte* data,
                                     std::uint64_t length);

  // Returns when the bytes survive power loss (kPmem), or at once (kMemory).
  [[nodiscard]] Status persist(const void* data, std::size_t size) const;

  // Does persist() reach the medium by flushing the processor's caches (real persistent memory, mapped
  // MAP_SYNC)?
  [[nodiscard]] bool is_real_pmem() const { return real_pmem_; }
  // Is there anything left after power loss? Never on tmpfs, whatever the kind says.
  [[nodiscard]] bool is_persistent() const { return kind_ == Kind::kPmem && !in_memory_; }

 private:
  MappedStore(SteadyFile file, Mapping mapping, std::uint64_t bucket_size, std::uint64_t slots, Kind kind)
      : file_(std::move(file)),
        mapping_(std::move(mapping)),
        bucket_size_(bucket_size),
        slots_(slots),
        kind_(kind),
        entered_(std::make_unique<std::atomic<bool>[]>(slots)) {}
  void note_entered(std::uint64_t from, std::uint64_t to);

  SteadyFile file_;
  Mapping mapping_;
  std::uint64_t bucket_size_;
  std::uint64_t slots_;
  Kind kind_;
  bool real_pmem_ = false;
  bool in_memory_ = false;                        // on tmpfs or a relative
  std::unique_ptr<std::atomic<bool>[]> entered_;  // by slot, as far as it is known
};

}  // namespace forebay
