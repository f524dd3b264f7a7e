// The words of the last failure of each thread, for forebay_error_message().
//
// Kept in plain memory of the thread: they can be set and read before main, after exit has begun and in a
// thread that is ending.
#pragma once

#include <string_view>

namespace forebay::native {

void set_last_error(std::string_view words);
[[nodiscard]] const char* last_error();

}  // namespace forebay::native
