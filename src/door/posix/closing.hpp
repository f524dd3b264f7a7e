// Closing where home wants to hear of it.
//
// Some file systems tell home of every close and wait for the answer. Where that is slow, and the program is
// promised nothing by it (the file was read, or may go home later), the descriptor is closed by a thread
// aside. Its number is free when the call returns: the kernel frees it before it tells anybody.
#pragma once

#include <cstdint>
#include <memory>

namespace forebay::posix {

struct Open;

// Do closes take long here, of late?
[[nodiscard]] bool closing_is_slow();
// One took this long.
void closing_took(std::uint64_t nanoseconds);

// Closes `fd`, and then gives up `last`. False: it must be closed here, by who asks (`last` is kept).
bool close_aside(int fd, std::shared_ptr<Open>& last);

// Waits for those under way: a close ends every lock that the process has on the file.
void wait_for_closes();

}  // namespace forebay::posix
