#include "door/mpiio/file_table.hpp"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "base/log.hpp"
#include "session/session.hpp"

namespace forebay::mpiio {
namespace {

struct Table {
  std::shared_mutex mutex;
  std::unordered_map<MPI_File, std::shared_ptr<OpenFile>> files;  // guarded by mutex
};

// Never freed: programs close files after static destructors have run.
Table& table() {
  static auto* const kTable = new Table;
  return *kTable;
}

// Raised whenever the table changes: what a thread remembers from before does not count.
constinit std::atomic<std::uint64_t> changes = 1;

struct Remembered {
  std::uint64_t at = 0;
  MPI_File file = nullptr;
  OpenFile* found = nullptr;
};
// As the threads' slots for types (type_cache.hpp).
[[gnu::tls_model("initial-exec")]] constinit thread_local Remembered last{};

// All of them were left open.
void bring_home(const Table& all) {
  for (const auto& [_, opened] : all.files) {
    if (const auto status = opened->writable() ? opened->engine().drain() : Status{}; !status)
      log_error("MPI-IO: a file was left open: {}", status.error().message);
  }
}

}  // namespace

OpenFile* find(MPI_File file) {
  const auto now = changes.load(std::memory_order_acquire);
  if (last.at == now && last.file == file) return last.found;
  auto& all = table();
  const std::shared_lock lock(all.mutex);
  const auto there = all.files.find(file);
  last = {now, file, there == all.files.end() ? nullptr : there->second.get()};
  return last.found;
}

void insert(MPI_File file, std::shared_ptr<OpenFile> opened) {
  auto& all = table();
  const std::unique_lock lock(all.mutex);
  auto& there = all.files[file];
  // Left open when its session ended, and MPI has used its handle again. Destroying it would be collective.
  if (there) (void)new auto(std::move(there));
  there = std::move(opened);
  changes.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<OpenFile> remove(MPI_File file) {
  auto& all = table();
  const std::unique_lock lock(all.mutex);
  auto node = all.files.extract(file);
  changes.fetch_add(1, std::memory_order_release);
  return node ? std::move(node.mapped()) : nullptr;
}

void settle_all() {
  auto& all = table();
  const std::shared_lock lock(all.mutex);
  bring_home(all);
}

void leave() {
  auto& all = table();
  const std::unique_lock lock(all.mutex);
  bring_home(all);
  for (const auto& [_, opened] : all.files) {
    // Its pointer goes on where ours stopped.
    if (!opened->passes(Pointer::kIndividual)) opened->hand_over_pointer();
  }
  // Not destroyed: that would be collective.
  (void)new auto(std::move(all.files));
  all.files.clear();
  changes.fetch_add(1, std::memory_order_release);
  (void)leave_all();
}

}  // namespace forebay::mpiio
