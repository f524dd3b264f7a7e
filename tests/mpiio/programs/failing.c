/* One rank cannot bring home what it has staged, and all ranks make calls together that are MPI's own: nobody
 * waits for ever, and the error is that rank's alone.
 *
 * usage: failing ERROR CONTROL FILE, on two ranks; CONTROL is slowfs's, which is told to fail writes with
 * ERROR. Prints the class of error that each rank got from each call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 4096 };

static int rank, size;
static const char* control;
static char bytes[kBytes];

static void tell(const char* line) {
  if (rank == 0) {
    FILE* out = fopen(control, "w");
    if (out == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    fputs(line, out);
    if (fclose(out) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void say(const char* what, int code) {
  int class = 0;
  int all[2] = {0, 0};
  MPI_Error_class(code, &class);
  const int name = class == MPI_SUCCESS ? 0 : class == MPI_ERR_IO ? 1 : class == MPI_ERR_NO_SPACE ? 2 : 3;
  MPI_Gather(&name, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const char* names[] = {"well", "IO", "NO_SPACE", "otherwise"};
  if (rank == 0) printf("%s: %s, %s\n", what, names[all[0]], names[all[1]]);
  if (rank == 0) fflush(stdout);
}

static int wait_for(int code, MPI_Request* request) {
  return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

static int end_of(int code, MPI_File file) {
  return code == MPI_SUCCESS ? MPI_File_read_all_end(file, bytes, MPI_STATUS_IGNORE) : code;
}

static void calls(MPI_File file) {
  MPI_Request request = MPI_REQUEST_NULL;
  const MPI_Offset at = (MPI_Offset)rank * kBytes;
  MPI_File_seek(file, at, MPI_SEEK_SET);
  say("read_all", MPI_File_read_all(file, bytes, kBytes, MPI_BYTE, MPI_STATUS_IGNORE));
  say("read_at_all", MPI_File_read_at_all(file, at, bytes, kBytes, MPI_BYTE, MPI_STATUS_IGNORE));
  say("read_all_begin", end_of(MPI_File_read_all_begin(file, bytes, kBytes, MPI_BYTE), file));
  say("iread_at_all", wait_for(MPI_File_iread_at_all(file, at, bytes, kBytes, MPI_BYTE, &request), &request));
  say("read_at", MPI_File_read_at(file, at, bytes, kBytes, MPI_BYTE, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
  MPI_File file, other = MPI_FILE_NULL;
  char line[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4 || size != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  control = argv[2];
  if (rank == 0) fclose(fopen(argv[3], "w"));
  MPI_Barrier(MPI_COMM_WORLD);
  if (MPI_File_open(MPI_COMM_WORLD, argv[3], MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS) return 4;
  MPI_File_set_size(file, 16 * kBytes);
  MPI_File_set_atomicity(file, 1);
  /* Another handle stages what the calls below are to find at home. */
  if (rank == 0) {
    MPI_File_open(MPI_COMM_SELF, argv[3], MPI_MODE_RDWR, MPI_INFO_NULL, &other);
    MPI_File_write_at(other, 15 * kBytes, bytes, kBytes, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  snprintf(line, sizeof line, "fail_write=%s\n", argv[1]);
  tell(line);
  calls(file);
  say("set_atomicity", MPI_File_set_atomicity(file, 0));
  tell("fail_write=none\n");
  calls(file);
  /* Not before: ROMIO writes its shared pointer to a file beside this one. */
  say("read_ordered", MPI_File_read_ordered(file, bytes, kBytes, MPI_BYTE, MPI_STATUS_IGNORE));
  if (rank == 0) MPI_File_close(&other);
  say("close", MPI_File_close(&file));
  MPI_Finalize();
  return 0;
}
