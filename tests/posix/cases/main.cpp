// posix_cases NAME: runs one case in the current directory.
#include <cstdlib>
#include <cstring>

#include "cases/cases.hpp"

namespace cases {

void show_file(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    say(path, fd);
    return;
  }
  unsigned char room[4096];
  unsigned long sum = 0;
  long size = 0;
  for (ssize_t n = 0; (n = ::read(fd, room, sizeof room)) > 0; size += n) {
    for (ssize_t i = 0; i < n; ++i) sum = sum * 31 + room[i];
  }
  ::close(fd);
  std::printf("%s: %ld bytes, %lx\n", path, size, sum);
  std::fflush(stdout);
}

}  // namespace cases

int main(int argc, char** argv) {
  struct {
    const char* name;
    int (*run)();
  } const all[] = {{"bad_pointers", cases::bad_pointers},
                   {"interrupted", cases::interrupted},
                   {"cancelled", cases::cancelled},
                   {"vforked", cases::vforked},
                   {"descriptors", cases::descriptors},
                   {"appending", cases::appending},
                   {"spawned", cases::spawned},
                   {"on_a_terminal", cases::on_a_terminal},
                   {"numbers_of_pipes", cases::numbers_of_pipes},
                   {"spawned_unseen", cases::spawned_unseen},
                   {"watched", cases::watched},
                   {"times_set", cases::times_set},
                   {"change_times", cases::change_times},
                   {"streams_that_append", cases::streams_that_append},
                   {"numbers_of_streams", cases::numbers_of_streams},
                   {"streams_at_the_end", cases::streams_at_the_end},
                   {"bad_names", cases::bad_names},
                   {"several_names", cases::several_names},
                   {"without_name", cases::without_name},
                   {"folders_renamed", cases::folders_renamed},
                   {"by_links", cases::by_links},
                   {"not_files", cases::not_files},
                   {"far_offsets", cases::far_offsets},
                   {"limited", cases::limited},
                   {"allocated", cases::allocated},
                   {"mapped", cases::mapped},
                   {"by_number", cases::by_number},
                   {"streams_reopened", cases::streams_reopened},
                   {"walked", cases::walked},
                   {"in_background", cases::in_background},
                   {"modes", cases::modes},
                   {"crashing", cases::crashing},
                   {"crashed", cases::crashed},
                   {"rights", cases::rights},
                   {"truncated_by_name", cases::truncated_by_name},
                   {"dangling", cases::dangling},
                   {"held_by_path", cases::held_by_path},
                   {"handlers_told", cases::handlers_told},
                   {"handlers_that_exit", cases::handlers_that_exit},
                   {"handlers_that_jump", cases::handlers_that_jump},
                   {"handlers_that_write", cases::handlers_that_write},
                   {"executed", cases::executed},
                   {"unnamed_across_exec", cases::unnamed_across_exec},
                   {"first_names_gone", cases::first_names_gone},
                   {"spawned_elsewhere", cases::spawned_elsewhere},
                   {"many_open", cases::many_open},
                   {"read_beside_writes", cases::read_beside_writes},
                   {"by_handle", cases::by_handle},
                   {"table_of_descriptors", cases::table_of_descriptors}};
  for (const auto& one : all) {
    if (argc == 2 && std::strcmp(argv[1], one.name) == 0) return one.run();
  }
  return 2;
}
