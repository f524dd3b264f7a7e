// Whose a tier's data file is.
//
// Data files are named after the buffer and lie where the tier does, so that two buffers of one name in
// different directories would meet in one file, each taking the other's bytes for its own. A small file
// beside it names the control directory it belongs to.
#pragma once

#include <string>

#include "base/error.hpp"
#include "os/fd.hpp"

namespace forebay {

// Notes that `file` in `directory` belongs to the buffer in `control_directory`. EBUSY: it belongs to another
// one, which is still there. The caller holds its own buffer's whole lock.
Status claim_data_file(const Fd& directory, const std::string& file, const std::string& control_directory);

// EBADMSG: it belongs to another buffer.
Status check_data_file(const Fd& directory, const std::string& file, const std::string& control_directory);

// False when it belongs to another buffer that is still there. Otherwise it belongs to nobody any more.
bool release_data_file(const Fd& directory, const std::string& file, const std::string& control_directory);

}  // namespace forebay
