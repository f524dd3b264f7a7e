// Which names may mean a file of a home. Text only: links are resolved by the kernel, and who has a
// descriptor asks for its real name.
#pragma once

#include <sys/types.h>

namespace forebay::posix {

// Takes the homes ("/a:/b") as they stand. False if there are none. To be called once.
bool set_homes(const char* list);

// Is this absolute, normal name one of a file below a home?
[[nodiscard]] bool lies_in_home(const char* path);

// May `path`, seen from directory `at`, be one? Links aside.
[[nodiscard]] bool may_lie_in_home(int at, const char* path);

// Asks where homes lie that are named by a link. Until then only their names count, as they stand.
void find_real_homes();

// Does a file of this device lie in a home, as far as the devices of the homes tell, and of what was met
// below them?
[[nodiscard]] bool on_home_device(dev_t device);
// The same of one with a name (or null), which tells of what is mounted below a home.
[[nodiscard]] bool on_home_device(dev_t device, int at, const char* path);
// One that was met below a home.
void note_home_device(dev_t device);

// Does a name that seems to lie elsewhere lead into a home, by a link on its way? Asks the kernel.
[[nodiscard]] bool leads_into_home(int at, const char* path);

// The working directory is another one now.
void directory_changed();

// The kernel's name of a descriptor. False where there is none.
bool name_of(int fd, char* path, unsigned long size);
// The absolute, normal form of a name, links aside.
bool absolute_name(int at, const char* path, char* out, unsigned long size);

}  // namespace forebay::posix
