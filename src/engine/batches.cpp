#include "engine/batches.hpp"

#include <cerrno>

#include "base/log.hpp"
#include "engine/crash_point.hpp"

namespace forebay {

Status Batches::carry_out(const std::shared_ptr<HomeFile>& home, const FileSettings& settings,
                          const Batch& batch) {
  const auto file = home->file();
  FOREBAY_ASSIGN(const auto lock, FileLock::take(core_, drain_, file, home.get()));
  FOREBAY_TRY(finish_locked(file, lock));
  FOREBAY_ASSIGN(const auto word, write_down(core_, file, batch));
  FOREBAY_CRASH_POINT("batch.before_commit");
  core_.control.file(file).batch.store(word, std::memory_order_release);
  FOREBAY_CRASH_POINT("batch.committed");
  FOREBAY_TRY(stage(home, settings, lock, batch));
  done(file);
  return {};
}

Status Batches::stage(const std::shared_ptr<HomeFile>& home, const FileSettings& settings,
                      const FileLock& lock, const Batch& batch) {
  for (const auto& piece : batch.pieces) {
    for (std::uint64_t taken = 0; taken < piece.data.size();) {
      FOREBAY_ASSIGN(const auto more,
                     stager_.put_range(home, settings, piece.offset + taken, piece.data.subspan(taken)));
      taken += more;
    }
    FOREBAY_CRASH_POINT("batch.piece");
  }
  if (!batch.size || core_.control.file(home->file()).size.load() == *batch.size) return {};
  return truncate_locked(core_, drain_, lock, home->file(), home.get(), *batch.size);
}

void Batches::done(std::uint32_t file) {
  FOREBAY_CRASH_POINT("batch.before_done");
  core_.control.file(file).batch.store(0, std::memory_order_release);
  FOREBAY_CRASH_POINT("batch.done");
  discard_batch(core_, file);
}

Status Batches::finish_locked(std::uint32_t file, const FileLock& lock) {
  const auto word = core_.control.file(file).batch.load(std::memory_order_acquire);
  if (word == 0) return {};
  const auto found = find_batch(core_, file, word);
  if (!found) {
    const auto code = found.error().code;
    if (code != EBADMSG && code != ENOENT) return std::unexpected(found.error());
    log_error("a change of {} was damaged in the buffer and is not carried out: {}", core_.files.path(file),
              found.error().message);
    count(core_.counters().damaged);
    done(file);
    return {};
  }
  FOREBAY_ASSIGN(const auto home, HomeFile::reopen(core_, file));
  FOREBAY_TRY(stage(home, core_.settings.for_path(home->path()), lock, found->batch));
  done(file);
  return {};
}

Status Batches::finish(std::uint32_t file) {
  if (core_.control.file(file).batch.load(std::memory_order_acquire) == 0) return {};
  FOREBAY_ASSIGN(const auto lock, FileLock::take(core_, drain_, file, nullptr));
  return finish_locked(file, lock);
}

void Batches::finish_all() {
  for (const auto file : core_.files.all()) {
    if (const auto status = finish(file); !status)
      log_warn("a change of {} cannot be finished yet: {}", core_.files.path(file), status.error().message);
  }
}

}  // namespace forebay
