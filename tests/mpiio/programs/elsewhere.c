/* What one rank wrote and synced, or closed, is what another rank on another node reads, also where that one
 * had read the bytes before and wrote others of the same file later.
 *
 * usage: elsewhere HOW FILE, on two ranks; prints how many bytes were not those that had been written last.
 *   together  both ranks open the file together
 *   apart     each by itself
 *
 * Rank 0 writes the first half of the file, rank 1 the second. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kHalf = 65536, kRounds = 40 };

static int rank;
static const char* path;
static MPI_Comm whose;

static MPI_File open_it(void) {
  MPI_File file;
  if (MPI_File_open(whose, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS) exit(4);
  return file;
}

static void write_half(MPI_File file, int half, int round) {
  char* bytes = malloc(kHalf);
  memset(bytes, round * 2 + half, kHalf);
  if (MPI_File_write_at(file, (MPI_Offset)half * kHalf, bytes, kHalf, MPI_BYTE, MPI_STATUS_IGNORE) !=
      MPI_SUCCESS)
    exit(5);
  free(bytes);
}

static int wrong_in_half(MPI_File file, int half, int round) {
  char* bytes = malloc(kHalf);
  int wrong = 0;
  if (MPI_File_read_at(file, (MPI_Offset)half * kHalf, bytes, kHalf, MPI_BYTE, MPI_STATUS_IGNORE) !=
      MPI_SUCCESS)
    exit(6);
  for (int i = 0; i < kHalf; ++i) wrong += bytes[i] != (char)(round * 2 + half);
  free(bytes);
  return wrong;
}

/* Each rank writes its half in its turn, and reads the other's when that one was written. */
static int turn(MPI_File* file, int half, int round, int by_sync) {
  int wrong = 0;
  if (half == rank) write_half(*file, half, round);
  if (by_sync) {
    MPI_File_sync(*file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(*file);
  } else {
    MPI_File_close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    *file = open_it();
  }
  if (half != rank) wrong = wrong_in_half(*file, half, round);
  MPI_Barrier(MPI_COMM_WORLD);
  return wrong;
}

int main(int argc, char** argv) {
  int size, wrong = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 3 || size != 2) return 2;
  whose = strcmp(argv[1], "together") == 0 ? MPI_COMM_WORLD : MPI_COMM_SELF;
  path = argv[2];
  if (rank == 0) fclose(fopen(path, "w"));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File file = open_it();
  write_half(file, rank, 0);
  for (int round = 1; round < kRounds; ++round) {
    for (int half = 0; half < 2; ++half) wrong += turn(&file, half, round, round % 4 < 2);
  }
  MPI_File_close(&file);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d bytes were old\n", all);
  MPI_Finalize();
  return 0;
}
