// Files that somebody wrote past the buffer: another node, or a program that makes system calls by itself.
#pragma once

#include "engine/buffer.hpp"

namespace forebay::posix {

// Of a file that was just opened, and not truncated: is it another one at home than the buffer left there?
// For the statistics: whoever opens it beside us may have noticed first, and then this says no.
[[nodiscard]] bool changed_past_us(Buffer& buffer, int fd);

// Its times were set: what home says next is no sign of anybody else.
void forget_mark(FileRecord& record);

}  // namespace forebay::posix
