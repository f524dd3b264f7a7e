// Unsaved bytes that cannot go home, written into a directory of the user's choice.
//
// Each file becomes a sparse file of the same length that holds the unsaved bytes at their places; those that
// fail their checksum go into a second one, NAME.damaged. INDEX.txt says which ranges hold bytes, and what
// the file was. Names depend on the buffer only, and each file takes its name when it is whole: doing it
// again, also after a kill, gives the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine/core.hpp"

namespace forebay {

struct RescuedFile {
  std::uint32_t file = 0;
  std::string home;    // where it belongs; empty: not known
  std::string why;     // it could not go there
  std::string name{};  // in the directory; empty when no byte was whole
  std::uint64_t bytes = 0;
  std::uint64_t damaged_bytes = 0;
  std::uint64_t unreadable_blocks = 0;
};

// Fills `name` and what follows of each file. The directory is made if need be; EEXIST when it holds anything
// but an earlier rescue from the same buffer. `buffer` identifies that.
Status rescue(Core& core, const std::string& directory, const std::string& buffer,
              std::vector<RescuedFile>& files);

}  // namespace forebay
