// Carrying out batches: one's own, and what the dead committed.
//
// Thread-safe. A batch of a file is carried out by one process at a time, under the file's lock.
#pragma once

#include <cstdint>
#include <memory>

#include "base/error.hpp"
#include "config/settings.hpp"
#include "engine/batch.hpp"
#include "engine/core.hpp"
#include "engine/drain.hpp"
#include "engine/home_file.hpp"
#include "engine/stage.hpp"
#include "engine/truncate.hpp"

namespace forebay {

class Batches {
 public:
  Batches(Core& core, Stager& stager, Drain& drain) : core_(core), stager_(stager), drain_(drain) {}

  // Returns when all of the batch is staged.
  Status carry_out(const std::shared_ptr<HomeFile>& home, const FileSettings& settings, const Batch& batch);

  // What its writer would have wanted, had it died: no longer.
  Status withdraw_will(const HomeFile& home);

  // Does its writer live, whose will the batch has?
  enum class Writer { kLives, kDead };
  // Finishes what was committed for a file and not carried out, if anything.
  Status finish(std::uint32_t file, Writer writer);
  // Of every file. What cannot be finished now is logged and stays.
  void finish_all();

 private:
  Status finish_locked(std::uint32_t file, const FileLock& lock, Writer writer);
  Status stage(const std::shared_ptr<HomeFile>& home, const FileSettings& settings, const FileLock& lock,
               const Batch& batch);
  bool stands(const HomeFile& home, const Batch::Will& will);
  // The record's word, and what it stood for until then.
  void replace(std::uint32_t file, std::uint32_t word);

  Core& core_;
  Stager& stager_;
  Drain& drain_;
};

}  // namespace forebay
