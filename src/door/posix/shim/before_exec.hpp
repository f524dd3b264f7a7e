// What must be home before another program starts.
#pragma once

#include <errno.h>
#include <unistd.h>

namespace forebay::posix {

// How a name without a slash is meant.
enum class Search : bool { kHere, kInPath };

// Before this process becomes `path`.
// True: its file is one that the buffer knows.
bool before_exec(int at, const char* path, Search search, char* const* words, char* const* environment);
// Before a child is started with it.
bool before_spawn(const char* path, Search search, char* const* words, char* const* environment);

// Whoever wrote the program may have closed it (`on_close: detach`), and its descriptor be ours for a moment
// more. `call` says ETXTBSY then.
template <class Call>
int when_written(bool known, Call call) {
  int result = call();
  for (int turn = 0; known && turn < 100 && (result == ETXTBSY || (result == -1 && errno == ETXTBSY));
       ++turn) {
    ::usleep(5'000);
    result = call();
  }
  return result;
}

}  // namespace forebay::posix
