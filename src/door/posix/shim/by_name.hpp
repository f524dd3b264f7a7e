// For calls that name a file: is there a buffer that may know it?
#pragma once

#include "door/posix/shim/homes.hpp"
#include "door/posix/shim/state.hpp"
#include "door/posix/shim/user_text.hpp"

namespace forebay::posix {

// The engine, if this process has it already, or if the name may lie in a home and the buffer is there. Null
// where there is nothing to ask, or no name.
const Engine* engine_for(int at, const char* path);
// The same also by a link from elsewhere. Asks the kernel: for names of files on the device of a home.
const Engine* engine_by_links(int at, const char* path);
// The same before the kernel has seen the name, which may be none at all. `follow`: the call follows a link
// at the name's end.
const Engine* engine_before(int at, const char* path, bool follow = true);
// The engine, if there is a buffer, whatever it is to be asked for.
const Engine* engine_of_buffer();

enum class Kind : uint8_t { kNone, kFile, kFolder };

// Who a name means, before it goes away: a regular file or a folder on the device of a home. `how` is for
// statx: with AT_STATX_DONT_SYNC home is not asked, and the number of links may be an old one.
Kind look_at(int at, const char* path, bool follow, Names* found, int how = 0);

// Its status was changed a moment ago, which a drain under way would hide. `flags` as for statx.
void tell_changed(const Engine* there, int at, const char* path, int flags);

// Does anybody have it open, or is some of it unsaved?
bool matters(const Engine* there, const Names& file);

// What is unsaved of it, which has that name, is home. False: it cannot be (errno is set).
bool drained(const Engine* there, const Names& file, int at, const char* path);

// The name without links, as the buffer has it, in PATH_MAX bytes. `flags` as O_NOFOLLOW for open.
bool real_name(int at, const char* path, int flags, char* name);

}  // namespace forebay::posix
