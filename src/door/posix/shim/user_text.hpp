// The caller's memory, for those who look at it before the kernel does: it may not be there, and then the
// kernel's word is EFAULT.
#pragma once

#include <stddef.h>

namespace forebay::posix {

// Can these bytes be read?
[[nodiscard]] bool is_readable(const void* memory, size_t size);
// Is there a text, as long as a name can be?
[[nodiscard]] bool is_text(const char* text);
// Are there texts, and a null after them?
[[nodiscard]] bool are_texts(char* const* words);

}  // namespace forebay::posix
