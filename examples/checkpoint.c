/* Writes checkpoints through Forebay while it computes, then restarts from the last one.
 *
 *   checkpoint_c [DIRECTORY]      where the file goes (default: the working directory) */
#include <fcntl.h>
#include <forebay/forebay.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCells = 1 << 18, kSteps = 5 };

static void fail(const char* action) {
  fprintf(stderr, "cannot %s: %s\n", action, forebay_error_message());
  exit(1);
}

static void compute(double* cells, int step) {
  for (int i = 0; i < kCells; ++i) cells[i] = 0.5 * cells[i] + step + i;
}

/* A write is short only if an error came after some bytes had been taken: asking for the rest reports it. */
static void write_all(forebay_file* file, const char* data, size_t size, uint64_t offset) {
  while (size > 0) {
    const int64_t taken = forebay_write(file, data, size, offset);
    if (taken < 0) fail("write the checkpoint");
    data += taken;
    size -= (size_t)taken;
    offset += (uint64_t)taken;
  }
}

int main(int argc, char** argv) {
  static double cells[kCells], restored[kCells];
  char path[4096];
  snprintf(path, sizeof path, "%s/checkpoint_c.dat", argc > 1 ? argv[1] : ".");

  forebay_buffer* buffer;
  if (forebay_attach(NULL, NULL, NULL, &buffer) < 0) fail("attach to the buffer");

  forebay_file* file;
  if (forebay_open(buffer, path, O_WRONLY | O_CREAT | O_TRUNC, 0644, NULL, &file) < 0)
    fail("open the checkpoint");
  for (int step = 0; step < kSteps; ++step) {
    compute(cells, step);
    /* Returns at memory speed. The next step runs while the bytes are carried home. */
    write_all(file, (const char*)cells, sizeof cells, (uint64_t)step * sizeof cells);
  }
  /* Returns when everything is home; an error that the background met is reported here. */
  if (forebay_close(file) < 0) fail("bring the checkpoint home");

  if (forebay_open(buffer, path, O_RDONLY, 0, NULL, &file) < 0) fail("open the checkpoint again");
  const uint64_t last = (kSteps - 1) * sizeof cells;
  forebay_ticket* ticket;
  if (forebay_prefetch(file, last, sizeof restored, &ticket) < 0) fail("prefetch the last step");
  /* ... other work of a restart ... */
  if (forebay_ticket_wait(ticket, -1) < 0) fail("prefetch the last step");
  forebay_ticket_free(ticket);
  if (forebay_read(file, restored, sizeof restored, last) != (int64_t)sizeof restored)
    fail("read the last step");
  for (int i = 0; i < kCells; ++i) {
    if (restored[i] != cells[i]) {
      fprintf(stderr, "cell %d differs\n", i);
      return 1;
    }
  }
  if (forebay_close(file) < 0) fail("close the checkpoint");

  forebay_statistics statistics = {.size = sizeof statistics};
  if (forebay_get_statistics(buffer, FOREBAY_SCOPE_PROCESS, &statistics) < 0) fail("get statistics");
  printf(
      "staged %.1f MB in %llu writes, carried home in %llu; read back %.1f MB, %.0f %% of it from the "
      "buffer\n",
      (double)statistics.staged_bytes / 1e6, (unsigned long long)statistics.writes,
      (unsigned long long)statistics.home_writes, (double)statistics.read_bytes / 1e6,
      100.0 * (double)statistics.hit_bytes / (double)statistics.read_bytes);
  if (forebay_detach(buffer) < 0) fail("detach");
  return 0;
}
