// The engine's own descriptors keep out of the application's way: the lowest number is the application's.
#pragma once

#include <sys/types.h>

#include <atomic>

namespace forebay::posix {

// The lowest number that is ours. Not higher than need be: the kernel keeps a table as long as the highest
// number, and where threads share it, makes a longer one only after every processor has come by (18 ms were
// measured in the first open of an MPI program).
int choose_own_descriptors();

// The same, chosen when it is first asked for.
int own_from();

// What the engine has just opened, where it belongs. Returns it.
int raise_own(int fd);
// As fcntl(F_DUPFD_CLOEXEC) for the engine. Where it has many already it takes numbers beyond the limit of
// open files, so that they are not the program's.
int duplicate_own(int fd, int from);
// As openat for the engine, also where the program has used all that its limit allows.
int open_own(int at, const char* path, int flags, mode_t mode);

// How many there are.
extern constinit std::atomic<int> own_count;
// After a fork: the parent's are closed.
void own_in_child();

}  // namespace forebay::posix
