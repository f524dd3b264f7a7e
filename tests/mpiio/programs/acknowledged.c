/* Writes without end, to be killed, and then tells whether every acknowledged byte is there.
 *
 * usage: acknowledged HOW FILE
 *   independent   one write after the other
 *   collective    the same by a collective call, in a view in which the ranks take turns
 *   nonblocking   four at a time
 *   check         one process that reads the file and prints how many bytes are wrong
 *
 * FILE.acks, which is mapped, tells each rank's process and how many of its writes were acknowledged; the
 * next job goes on from there. Every rank syncs now and then. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPiece = 3000, kSlots = 128, kRanks = 2, kTogether = 4 };

struct Rank {
  long process;
  long acknowledged;
};

static struct Rank* ranks;
static int rank;

static char byte_of(int of_rank, long number, int i) {
  return (char)(number * 131 + of_rank * 17 + i * 7 + (number >> 8) * 29);
}

static MPI_Offset place_of(int of_rank, long number) {
  return ((number % kSlots) * kRanks + of_rank) * kPiece;
}

static void map_ranks(const char* path) {
  char name[4096];
  snprintf(name, sizeof name, "%s.acks", path);
  const int file = open(name, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(struct Rank) * kRanks) != 0) exit(3);
  ranks = mmap(NULL, sizeof(struct Rank) * kRanks, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (ranks == MAP_FAILED) exit(3);
}

/* Of each byte the last acknowledged write is there, or one that was under way. */
static long wrong_bytes(MPI_File file, int of_rank) {
  const long done = ranks[of_rank].acknowledged;
  char bytes[kPiece];
  long wrong = 0;
  for (long slot = 0; slot < kSlots; ++slot) {
    memset(bytes, 0, kPiece);
    MPI_File_read_at(file, place_of(of_rank, slot), bytes, kPiece, MPI_BYTE, MPI_STATUS_IGNORE);
    const long last = done > slot ? slot + (done - 1 - slot) / kSlots * kSlots : slot - kSlots;
    const int under_way = last + kSlots < done + kTogether;
    for (int i = 0; i < kPiece; ++i) {
      const char wanted = last < slot ? 0 : byte_of(of_rank, last, i);
      if (bytes[i] != wanted && !(under_way && bytes[i] == byte_of(of_rank, last + kSlots, i))) ++wrong;
    }
  }
  return wrong;
}

/* By itself. */
static void check(const char* path) {
  MPI_File file;
  if (MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS) exit(5);
  for (int i = 0; i < kRanks; ++i) {
    const long wrong = wrong_bytes(file, i);
    printf("rank %d: %ld wrong\n", i, wrong);
  }
  fflush(stdout);
  MPI_File_close(&file);
}

static void fill(char* bytes, long number) {
  for (int i = 0; i < kPiece; ++i) bytes[i] = byte_of(rank, number, i);
}

static void write_one(MPI_File file, long number, int together) {
  char bytes[kPiece];
  fill(bytes, number);
  const int code =
      together ? MPI_File_write_at_all(file, (number % kSlots) * kPiece, bytes, kPiece, MPI_BYTE,
                                       MPI_STATUS_IGNORE)
               : MPI_File_write_at(file, place_of(rank, number), bytes, kPiece, MPI_BYTE, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) exit(4);
}

static void write_some(MPI_File file, long number) {
  static char bytes[kTogether][kPiece];
  MPI_Request requests[kTogether];
  for (int i = 0; i < kTogether; ++i) {
    fill(bytes[i], number + i);
    if (MPI_File_iwrite_at(file, place_of(rank, number + i), bytes[i], kPiece, MPI_BYTE, &requests[i]) !=
        MPI_SUCCESS)
      exit(4);
  }
  if (MPI_Waitall(kTogether, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS) exit(4);
}

static void take_turns(MPI_File file) {
  MPI_Datatype piece, turns;
  MPI_Type_contiguous(kPiece, MPI_BYTE, &piece);
  MPI_Type_create_resized(piece, 0, kRanks * kPiece, &turns);
  MPI_Type_commit(&turns);
  MPI_File_set_view(file, rank * kPiece, MPI_BYTE, turns, "native", MPI_INFO_NULL);
  MPI_Type_free(&piece);
  MPI_Type_free(&turns);
}

static void write_without_end(MPI_File file, const char* how) {
  const int together = strcmp(how, "collective") == 0;
  const int step = strcmp(how, "nonblocking") == 0 ? kTogether : 1;
  struct Rank* const mine = &ranks[rank];
  if (together) take_turns(file);
  mine->process = getpid();
  for (long turn = 0;; ++turn) {
    if (step == 1) {
      write_one(file, mine->acknowledged, together);
    } else {
      write_some(file, mine->acknowledged);
    }
    __atomic_fetch_add(&mine->acknowledged, step, __ATOMIC_RELEASE);
    if (turn % 32 == 31) MPI_File_sync(file);
    if (turn % 16 == 15) usleep(1000);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  map_ranks(argv[2]);
  if (strcmp(argv[1], "check") != 0) {
    MPI_File file;
    if (MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file) !=
        MPI_SUCCESS)
      return 4;
    write_without_end(file, argv[1]);
  }
  check(argv[2]);
  MPI_Finalize();
  return 0;
}
