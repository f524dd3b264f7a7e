// Homes that are memory themselves (tmpfs, ramfs): nothing is gained by buffering their files.
#pragma once

#include "config/settings.hpp"

namespace forebay {

// Would home alone give what is asked for, were it memory? Not if every write is to be staged, or if a mode
// or a durability is wanted that only the buffer has.
[[nodiscard]] inline bool memory_would_do(const FileSettings& settings) {
  return settings.admission_write == Admission::Auto && settings.mode == Mode::Async &&
         settings.durability == Durability::Process;
}

}  // namespace forebay
