// For calls that name a file: is there a buffer that may know it?
#pragma once

#include "door/posix/shim/homes.hpp"
#include "door/posix/shim/state.hpp"

namespace forebay::posix {

// The engine, if this process has it already, or if the name may lie in a home and the buffer is there. Null
// where there is nothing to ask, or no name.
const Engine* engine_for(int at, const char* path);

// Is there memory where the name should be? For those who look at it before the kernel does.
[[nodiscard]] bool is_text(const char* path);

// Who a name means, before it goes away. False: no regular file. With AT_STATX_DONT_SYNC home is not asked:
// the number of links may be an old one.
bool look_at(int at, const char* path, bool follow, Names* found, int how = 0);

}  // namespace forebay::posix
