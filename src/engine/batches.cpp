#include "engine/batches.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/log.hpp"
#include "engine/crash_point.hpp"
#include "engine/dirty_filter.hpp"

namespace forebay {

Status Batches::carry_out(const std::shared_ptr<HomeFile>& home, const FileSettings& settings,
                          const Batch& batch) {
  const auto file = home->file();
  FOREBAY_ASSIGN(const auto lock, FileLock::take(core_, drain_, file, home.get()));
  FOREBAY_TRY(finish_locked(file, lock, Writer::kLives));
  auto& record = core_.control.file(file);
  FOREBAY_ASSIGN(const auto word, write_down(core_, file, batch, record.batch.load()));
  FOREBAY_CRASH_POINT("batch.before_commit");
  replace(file, word);
  FOREBAY_CRASH_POINT("batch.committed");
  FOREBAY_TRY(stage(home, settings, lock, batch));
  FOREBAY_CRASH_POINT("batch.staged");
  if (batch.wills.empty()) {
    replace(file, 0);
  } else if (batch.pieces.empty() && !batch.size) {
    record.batch.store(word | kBatchStaged, std::memory_order_release);
  } else {
    // What has been staged need not be kept with the will.
    FOREBAY_ASSIGN(const auto will, write_down(core_, file, {.wills = batch.wills}, word));
    replace(file, will | kBatchStaged);
  }
  FOREBAY_CRASH_POINT("batch.done");
  return {};
}

Status Batches::stage(const std::shared_ptr<HomeFile>& home, const FileSettings& settings,
                      const FileLock& lock, const Batch& batch) {
  for (const auto& piece : batch.pieces) {
    for (std::uint64_t taken = 0; taken < piece.data.size();) {
      const Piece rest{piece.offset + taken, piece.data.subspan(taken)};
      FOREBAY_ASSIGN(const auto more, stager_.put(home, settings, {&rest, 1}));
      taken += more;
    }
    FOREBAY_CRASH_POINT("batch.piece");
  }
  if (!batch.size || core_.control.file(home->file()).size.load() == *batch.size) return {};
  return truncate_locked(core_, drain_, lock, home->file(), home.get(), *batch.size);
}

// What is not home yet is what the dead left; home may have been changed by others since.
bool Batches::stands(const HomeFile& home, const Batch::Will& will) {
  std::vector<std::byte> there(will.before.size());
  const auto got = home.read(there.data(), there.size(), will.offset);
  if (got && *got == there.size() && std::ranges::equal(there, will.before)) return true;
  const auto block = core_.block_of(will.offset);
  return !unsaved_blocks(core_, home.file(), block, block).empty();
}

Status Batches::withdraw_will(const HomeFile& home) {
  FOREBAY_ASSIGN(const auto lock, FileLock::take(core_, drain_, home.file(), &home));
  if ((core_.control.file(home.file()).batch.load() & kBatchStaged) != 0) replace(home.file(), 0);
  return {};
}

void Batches::replace(std::uint32_t file, std::uint32_t word) {
  const auto before = core_.control.file(file).batch.exchange(word, std::memory_order_acq_rel);
  FOREBAY_CRASH_POINT("batch.before_discard");
  if (before != 0) discard_batch(core_, file, before);
}

Status Batches::finish_locked(std::uint32_t file, const FileLock& lock, Writer writer) {
  const auto word = core_.control.file(file).batch.load(std::memory_order_acquire);
  const bool staged = (word & kBatchStaged) != 0;
  if (word == 0 || (staged && writer == Writer::kLives)) return {};
  const auto found = find_batch(core_, file, word);
  if (!found) {
    const auto code = found.error().code;
    if (code != EBADMSG && code != ENOENT) return std::unexpected(found.error());
    log_error("a change of {} was damaged in the buffer and is not carried out: {}", core_.files.path(file),
              found.error().message);
    count(core_.counters().damaged);
    replace(file, 0);
    return {};
  }
  FOREBAY_ASSIGN(const auto home, HomeFile::reopen(core_, file));
  const auto settings = core_.settings.for_path(home->path());
  if (!staged) FOREBAY_TRY(stage(home, settings, lock, found->batch));
  for (const auto& will : found->batch.wills) {
    if (writer == Writer::kDead && stands(*home, will))
      FOREBAY_TRY(stage(home, settings, lock, {.pieces = {{will.offset, will.after}}}));
  }
  replace(file, 0);
  return {};
}

Status Batches::finish(std::uint32_t file, Writer writer) {
  if (core_.control.file(file).batch.load(std::memory_order_acquire) == 0) return {};
  FOREBAY_ASSIGN(const auto lock, FileLock::take(core_, drain_, file, nullptr));
  return finish_locked(file, lock, writer);
}

void Batches::finish_all() {
  for (const auto file : core_.files.all()) {
    if (core_.control.file(file).batch.load() == 0) continue;
    const auto writer = core_.files.written_by_somebody(file) ? Writer::kLives : Writer::kDead;
    if (const auto status = finish(file, writer); !status)
      log_warn("a change of {} cannot be finished yet: {}", core_.files.path(file), status.error().message);
  }
}

}  // namespace forebay
