/* Every rank writes and reads by the shared pointer at once: nobody's piece is overwritten, left out or read
 * twice. Prints what was found, which does not depend on who came first.
 *
 * usage: together FILE */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kNumbers = 25, kEach = 200, kOrdered = 20 };

static int rank, size;

static void make(int* piece, int number) {
  for (int i = 0; i < kNumbers; ++i) piece[i] = (rank * 1000 + number) * 100 + i;
}

static void write_by_turns(MPI_File file) {
  int piece[kNumbers];
  for (int number = 0; number < kEach; ++number) {
    make(piece, number);
    if (number % 3 == 0) {
      MPI_Request request;
      MPI_File_iwrite_shared(file, piece, kNumbers, MPI_INT, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_File_write_shared(file, piece, kNumbers, MPI_INT, MPI_STATUS_IGNORE);
    }
  }
}

/* How often each piece was read, by all ranks together; *broken counts those that are no piece. */
static int* read_by_turns(MPI_File file, int pieces, int* broken) {
  int* seen = calloc((size_t)size * 1000, sizeof *seen);
  int piece[kNumbers];
  for (int i = 0; i < pieces; ++i) {
    MPI_File_read_shared(file, piece, kNumbers, MPI_INT, MPI_STATUS_IGNORE);
    const int name = piece[0] / 100;
    int good = name >= 0 && name < size * 1000;
    for (int k = 0; k < kNumbers; ++k) good = good && piece[k] == name * 100 + k;
    if (good) ++seen[name];
    *broken += !good;
  }
  MPI_Allreduce(MPI_IN_PLACE, seen, size * 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, broken, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return seen;
}

static void say_position(MPI_File file, const char* when) {
  MPI_Offset at = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_get_position_shared(file, &at);
  if (rank == 0) printf("%s: at %lld\n", when, (long long)at);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void sync_all(MPI_File file) {
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
}

int main(int argc, char** argv) {
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) fclose(fopen(argv[1], "w"));
  MPI_Barrier(MPI_COMM_WORLD);
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS) return 3;
  MPI_File_set_view(file, 12, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  write_by_turns(file);
  say_position(file, "written");
  int piece[kNumbers];
  for (int number = kEach; number < kEach + kOrdered; ++number) {
    make(piece, number);
    MPI_File_write_ordered(file, piece, kNumbers, MPI_INT, MPI_STATUS_IGNORE);
  }
  say_position(file, "written in order");
  sync_all(file);
  /* In atomic mode the pointer is MPI's own, and comes back. */
  MPI_File_set_atomicity(file, 1);
  say_position(file, "atomic");
  make(piece, kEach + kOrdered);
  MPI_File_write_ordered(file, piece, kNumbers, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_set_atomicity(file, 0);
  say_position(file, "not atomic");
  sync_all(file);
  MPI_File_seek_shared(file, 0, MPI_SEEK_END);
  say_position(file, "end");
  MPI_File_seek_shared(file, -(MPI_Offset)size * kNumbers, MPI_SEEK_CUR);
  say_position(file, "before the last");
  MPI_File_read_ordered(file, piece, kNumbers, MPI_INT, MPI_STATUS_IGNORE);
  if (piece[0] / 100 != rank * 1000 + kEach + kOrdered) printf("rank %d read %d in order\n", rank, piece[0]);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  int broken = 0;
  int* seen = read_by_turns(file, kEach + kOrdered + 1, &broken);
  say_position(file, "read");
  int once = 0;
  for (int i = 0; i < size * 1000; ++i) once += seen[i] == 1;
  if (rank == 0) printf("%d pieces once, %d broken\n", once, broken);
  free(seen);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
