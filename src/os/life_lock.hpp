// Locks on a byte of a file, which the kernel ends with their holder.
//
// They are open-file-description locks. One for life is kept by a mapping of the file, not by a descriptor:
// closing descriptors does not drop it, fork does not hand it on (MADV_DONTFORK), and the kernel ends it with
// the process, however it ends, after the last thread has left its last system call. A fork between open and
// close of the descriptor keeps it in the child until exec or exit: that only delays the finding of a death.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/mapping.hpp"

namespace forebay {

// Locks and closes the descriptor; the Mapping is the lock. EAGAIN when somebody has it. The open file
// description must not be shared with another descriptor.
Result<Mapping> lock_for_life(Fd file, const std::string& name, off_t byte = 0);

// The same lock held by the descriptor itself, for short. EAGAIN when somebody has it.
Status lock_with_descriptor(int file, const std::string& name, off_t byte = 0);
// Waits for it, looking every `pause`. ETIMEDOUT.
Status lock_with_descriptor(int file, const std::string& name, off_t byte, std::chrono::milliseconds patience,
                            std::chrono::microseconds pause);
void unlock_with_descriptor(int file, off_t byte = 0);

// Does anybody else hold it? True when in doubt.
[[nodiscard]] bool is_locked(int file, off_t byte);

}  // namespace forebay
