/* MPI's own calls write pieces with gaps, while other nodes' bytes for those gaps are still on their way
 * home.
 *
 * usage: between HOW FILE, on two ranks; prints how many bytes of the file are not what was written.
 *   shared   by the shared pointer
 *   ordered  by the shared pointer, together
 *   odd      in a view of another data representation
 *
 * Rank 0 has written the gaps before, in a view of its own; nobody but rank 1 calls MPI while they go home.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPiece = 64, kPieces = 512, kTurns = 8 };

static char byte_of(int piece, int half) { return (char)(piece * 7 + half * 101 + 1); }

/* Every other piece of the file, from the first or from the second on. */
static void look_at(MPI_File file, int half, const char* representation) {
  MPI_Datatype piece, every_other;
  MPI_Type_contiguous(kPiece, MPI_BYTE, &piece);
  MPI_Type_create_resized(piece, 0, 2 * kPiece, &every_other);
  MPI_Type_commit(&every_other);
  if (MPI_File_set_view(file, half * kPiece, MPI_BYTE, every_other, representation, MPI_INFO_NULL) !=
      MPI_SUCCESS)
    exit(3);
  MPI_Type_free(&piece);
  MPI_Type_free(&every_other);
}

static char* pieces(int first, int count, int half) {
  char* bytes = malloc((size_t)count * kPiece);
  for (int i = 0; i < count; ++i) memset(bytes + i * kPiece, byte_of(first + i, half), kPiece);
  return bytes;
}

static int wrong_bytes(const char* path) {
  FILE* file = fopen(path, "r");
  int wrong = 0;
  for (int i = 0; i < 2 * kPieces * kPiece; ++i) {
    if ((char)fgetc(file) != byte_of(i / (2 * kPiece), i / kPiece % 2)) ++wrong;
  }
  fclose(file);
  return wrong;
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_File file;
  MPI_Init(&argc, &argv);
  if (argc != 3) return 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* how = argv[1];
  if (rank == 0) fclose(fopen(argv[2], "w"));
  MPI_Barrier(MPI_COMM_WORLD);
  if (MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS) return 4;
  MPI_File_set_size(file, 2 * kPieces * kPiece);
  look_at(file, 0, "native");
  if (rank == 0) {
    char* bytes = pieces(0, kPieces, 0);
    MPI_File_write_at(file, 0, bytes, kPieces * kPiece, MPI_BYTE, MPI_STATUS_IGNORE);
    free(bytes);
  }
  look_at(file, 1, strcmp(how, "odd") == 0 ? "external32" : "native");
  const int each = kPieces / kTurns;
  for (int turn = 0; turn < kTurns; ++turn) {
    char* bytes = pieces(turn * each, each, 1);
    if (strcmp(how, "ordered") == 0) {
      MPI_File_write_ordered(file, bytes, rank == 1 ? each * kPiece : 0, MPI_BYTE, MPI_STATUS_IGNORE);
    } else if (rank == 1 && strcmp(how, "shared") == 0) {
      MPI_File_write_shared(file, bytes, each * kPiece, MPI_BYTE, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_File_write(file, bytes, each * kPiece, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    free(bytes);
  }
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%d bytes are wrong\n", wrong_bytes(argv[2]));
  MPI_Finalize();
  return 0;
}
