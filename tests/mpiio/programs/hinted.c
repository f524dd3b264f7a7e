/* One file, opened with hints and modes, and a few things done to it.
 *
 * usage: hinted STEPS FILE [KEY=VALUE]...; STEPS are letters, done in this order by all ranks together:
 *   x  rank 0 removes the file
 *   d  it is opened with MPI_MODE_DELETE_ON_CLOSE
 *   u  it is opened with MPI_MODE_UNIQUE_OPEN
 *   w  every rank writes its pieces, which lie by turns
 *   g  the same, in a view, but the pieces are of 8 bytes and lie 64 apart, and nobody writes what is between
 *   c  the same, by a collective call
 *   p  the same, each piece by a call of its own, without a view
 *   s  MPI_File_sync
 *   r  every rank reads all of it; rank 0 prints the sum
 *   k  FILE.ready is made, and nothing happens until FILE.go is there
 *   a  the end of all ranks, without closing
 * The file is opened only if there is something to do with it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kPiece = 4096, kPieces = 32, kSmall = 8, kApart = 64, kSmalls = 4096 };

static int rank_here, rank_count;

static void write_pieces(MPI_File file) {
  char piece[kPiece];
  for (int number = 0; number < kPieces; ++number) {
    memset(piece, 'a' + (rank_here * 7 + number) % 26, sizeof piece);
    const MPI_Offset at = ((MPI_Offset)number * rank_count + rank_here) * kPiece;
    if (MPI_File_write_at(file, at, piece, kPiece, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS) exit(4);
  }
}

static void write_with_gaps(MPI_File file, int together) {
  MPI_Datatype piece, apart;
  MPI_Type_contiguous(kSmall, MPI_BYTE, &piece);
  MPI_Type_create_resized(piece, 0, kApart, &apart);
  MPI_Type_commit(&apart);
  MPI_File_set_view(file, rank_here * kSmall, MPI_BYTE, apart, "native", MPI_INFO_NULL);
  char* bytes = malloc(kSmalls * kSmall);
  for (int turn = 0; turn < 2; ++turn) {
    memset(bytes, 'A' + rank_here * 7 + turn, kSmalls * kSmall);
    const int code = together ? MPI_File_write_all(file, bytes, kSmalls * kSmall, MPI_BYTE, MPI_STATUS_IGNORE)
                              : MPI_File_write(file, bytes, kSmalls * kSmall, MPI_BYTE, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) exit(4);
    /* What one rank wrote is there for the others on the node, and the pointer is behind it. */
    MPI_Offset at = 0;
    MPI_File_get_position(file, &at);
    if (at != (MPI_Offset)(turn + 1) * kSmalls * kSmall) exit(6);
    memset(bytes, 0, kSmalls * kSmall);
    MPI_File_read_at(file, at - kSmalls * kSmall, bytes, kSmalls * kSmall, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int i = 0; i < kSmalls * kSmall; ++i) {
      if (bytes[i] != 'A' + rank_here * 7 + turn) exit(7);
    }
  }
  free(bytes);
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_Type_free(&piece);
  MPI_Type_free(&apart);
}

static void write_one_by_one(MPI_File file) {
  char piece[kSmall];
  for (int i = 0; i < 2 * kSmalls; ++i) {
    memset(piece, 'A' + rank_here * 7 + i / kSmalls, sizeof piece);
    const MPI_Offset at = (MPI_Offset)i * kApart + rank_here * kSmall;
    if (MPI_File_write_at(file, at, piece, kSmall, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS) exit(4);
  }
}

static void read_all(MPI_File file) {
  MPI_Offset size = 0;
  MPI_File_get_size(file, &size);
  char* bytes = malloc((size_t)size);
  unsigned long long sum = 0;
  MPI_File_read_at(file, 0, bytes, (int)size, MPI_BYTE, MPI_STATUS_IGNORE);
  for (MPI_Offset i = 0; i < size; ++i) sum = sum * 31 + (unsigned char)bytes[i];
  if (rank_here == 0) printf("%lld bytes, sum %llx\n", (long long)size, sum);
  free(bytes);
}

static void wait_to_go(const char* path) {
  char name[4096];
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(name, sizeof name, "%s.ready", path);
  if (rank_here == 0) fclose(fopen(name, "w"));
  snprintf(name, sizeof name, "%s.go", path);
  for (int i = 0; i < 6000 && access(name, F_OK) != 0; ++i) usleep(10000);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* steps = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  MPI_Info info;
  MPI_Info_create(&info);
  for (int i = 3; i < argc; ++i) {
    char* const value = strchr(argv[i], '=');
    *value = 0;
    MPI_Info_set(info, argv[i], value + 1);
  }
  if (strchr(steps, 'x') != NULL && rank_here == 0 && MPI_File_delete(argv[2], info) != MPI_SUCCESS) return 5;
  int amode = MPI_MODE_RDWR | MPI_MODE_CREATE;
  if (strchr(steps, 'd') != NULL) amode |= MPI_MODE_DELETE_ON_CLOSE;
  if (strchr(steps, 'u') != NULL) amode |= MPI_MODE_UNIQUE_OPEN;
  if (strcmp(steps, "x") != 0) {
    MPI_File file;
    if (rank_here == 0) fclose(fopen(argv[2], "a"));
    MPI_Barrier(MPI_COMM_WORLD);
    if (MPI_File_open(MPI_COMM_WORLD, argv[2], amode, info, &file) != MPI_SUCCESS) return 3;
    for (const char* step = steps; *step != 0; ++step) {
      if (*step == 'w') write_pieces(file);
      if (*step == 'g') write_with_gaps(file, 0);
      if (*step == 'c') write_with_gaps(file, 1);
      if (*step == 'p') write_one_by_one(file);
      if (*step == 's') MPI_File_sync(file);
      if (*step == 'r') read_all(file);
      if (*step == 'k') wait_to_go(argv[2]);
      if (*step == 'a') {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank_here == 0) MPI_Abort(MPI_COMM_WORLD, 9);
        sleep(60);
      }
    }
    if (MPI_File_close(&file) != MPI_SUCCESS) return 8;
  }
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
