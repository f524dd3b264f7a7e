// Programs that test one thing each, in the folder they are run in, and say on standard output what came of
// every call: the same in a home and in a plain folder.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace cases {

// A call's name, its result and, if it failed, its errno.
inline long say(const char* what, long result) {
  if (result < 0) {
    std::printf("%s: %ld, %s\n", what, result, strerrorname_np(errno));
  } else {
    std::printf("%s: %ld\n", what, result);
  }
  std::fflush(stdout);
  return result;
}

// Size and a sum of the bytes of a file.
void show_file(const char* path);

int bad_pointers();
int interrupted();
int cancelled();
int vforked();
int descriptors();
int appending();
int spawned();
int on_a_terminal();
int numbers_of_pipes();
int spawned_unseen();
int watched();
int times_set();
int change_times();
int streams_at_the_end();
int numbers_of_streams();
int streams_that_append();
int bad_names();
int several_names();
int without_name();
int folders_renamed();
int by_links();
int not_files();
int far_offsets();
int limited();
int allocated();
int mapped();
int by_number();
int streams_reopened();
int walked();
int in_background();
int modes();
int crashing();
int unnamed_across_exec();
int crashed();
int rights();
int truncated_by_name();
int dangling();
int held_by_path();
int handlers_told();
int handlers_that_exit();
int handlers_that_jump();
int handlers_that_write();
int executed();
int table_of_descriptors();
int by_handle();
int read_beside_writes();
int many_open();
int spawned_elsewhere();
int first_names_gone();

}  // namespace cases
