/* The native API from plain C11, against the shared library: what a C program needs compiles, links and
 * works. */
#include <fcntl.h>
#include <forebay/forebay.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                            \
  do {                                                                                              \
    if (!(condition)) {                                                                             \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, forebay_error_message()); \
      exit(1);                                                                                      \
    }                                                                                               \
  } while (0)

static char folder[] = "/dev/shm/forebay-test-XXXXXX";

static void remove_folder(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  if (system(command) != 0) _exit(2);
}

int main(void) {
  char directory[128], tiers[128], path[128];
  CHECK(mkdtemp(folder) != NULL);
  atexit(remove_folder);
  snprintf(directory, sizeof directory, "buffer.directory=%s/control", folder);
  snprintf(tiers, sizeof tiers, "tiers=memory:%s:1MiB", folder);
  snprintf(path, sizeof path, "%s/file", folder);
  const char* const settings[] = {directory, tiers, "buffer.bucket_size=4KiB", NULL};

  forebay_buffer* buffer = NULL;
  CHECK(forebay_attach(NULL, "from_c", settings, &buffer) == 0);
  forebay_file* file = NULL;
  CHECK(forebay_open(buffer, path, O_RDONLY, 0, NULL, &file) < 0);
  CHECK(strstr(forebay_error_message(), path) != NULL);

  const char* const per_file[] = {"on_flush=home", NULL};
  CHECK(forebay_open(buffer, path, O_RDWR | O_CREAT, 0600, per_file, &file) == 0);
  CHECK(forebay_write(file, "hello", 5, 0) == 5);
  CHECK(forebay_append(file, " world", 6) == 5);
  CHECK(forebay_size(file) == 11);
  char text[12] = "";
  CHECK(forebay_read(file, text, sizeof text, 0) == 11);
  CHECK(strcmp(text, "hello world") == 0);
  CHECK(forebay_sync(file) == 0);

  forebay_ticket* ticket = NULL;
  CHECK(forebay_prefetch(file, 0, 11, &ticket) == 0);
  CHECK(forebay_ticket_wait(ticket, -1) >= 0);
  CHECK(forebay_ticket_test(ticket) == 1);
  forebay_ticket_free(ticket);
  CHECK(forebay_hint(file, FOREBAY_HINT_SEQUENTIAL, 0, 0) == 0);

  forebay_statistics statistics = {.size = sizeof statistics};
  CHECK(forebay_get_statistics(buffer, FOREBAY_SCOPE_PROCESS, &statistics) == 0);
  CHECK(statistics.written_bytes == 11);

  CHECK(forebay_close(file) == 0);
  CHECK(forebay_detach(buffer) == 0);

  FILE* home = fopen(path, "r");
  CHECK(home != NULL);
  CHECK(fread(text, 1, sizeof text, home) == 11 && memcmp(text, "hello world", 11) == 0);
  fclose(home);
  printf("forebay %s from C: fine\n", forebay_version());
  return 0;
}
