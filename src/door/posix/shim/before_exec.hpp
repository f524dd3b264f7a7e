// What must be home before another program starts.
#pragma once

namespace forebay::posix {

// Before this process becomes `path`: a name without a slash is looked for as execvp does.
void before_exec(int at, const char* path, char* const* words, char* const* environment);
// Before a child is started with it.
void before_spawn(const char* path, char* const* words, char* const* environment);

}  // namespace forebay::posix
