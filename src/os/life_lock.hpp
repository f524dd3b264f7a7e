// A lock on a file that lasts exactly as long as this process's memory does.
//
// It is an open-file-description lock kept by a mapping of the file, not by a descriptor: closing descriptors
// does not drop it, fork does not hand it on (MADV_DONTFORK), and the kernel ends it with the process,
// however it ends, after the last thread has left its last system call.
#pragma once

#include <string>

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/mapping.hpp"

namespace forebay {

// Locks byte 0 of `file` and closes the descriptor; the Mapping is the lock. EAGAIN when somebody has it. The
// open file description must not be shared with another descriptor.
Result<Mapping> lock_for_life(Fd file, const std::string& name);

// The same lock held by the descriptor itself, for short. EAGAIN when somebody has it.
Status lock_with_descriptor(const Fd& file, const std::string& name);

}  // namespace forebay
