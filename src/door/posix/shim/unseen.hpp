// Programs that this library will not see: what they find must be home before they start, and if they seem to
// mean files of a home, the report of the run names them.
#pragma once

namespace forebay::posix {

// Why the program at `path` (seen from directory `at`) will not be seen, or not all that it does. Null: it
// will. Scripts are seen by their interpreter.
const char* why_unseen(int at, const char* path, char* const* environment);

// Where the program that execvp would run lies: `file` itself if there is a slash in it. False where none is
// found.
bool find_program(const char* file, char* path, unsigned long size);

// Do these words, or the working directory, lie in a home, or is standard input or output a file of one?
bool mean_home(char* const* words);

// For the report. Without memory, locks and errors: also for the child of a vfork.
void note_unseen(const char* path, const char* why);

}  // namespace forebay::posix
