// The engine's own descriptors keep out of the application's way: the lowest number is the application's.
#pragma once

namespace forebay::posix {

// The lowest number that is ours. Not higher than need be: the kernel keeps a table as long as the highest
// number, and where threads share it, makes a longer one only after every processor has come by (18 ms were
// measured in the first open of an MPI program).
int choose_own_descriptors();

// The same, chosen when it is first asked for.
int own_from();

// What the engine has just opened, where it belongs. Returns it.
int raise_own(int fd);

}  // namespace forebay::posix
