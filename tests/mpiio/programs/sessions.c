/* MPI by sessions; with Open MPI without MPI_Init, so that there is neither MPI_COMM_WORLD nor MPI_COMM_SELF.
 * MPICH opens no file then: there, sessions are beside the world.
 *
 * usage: sessions FILE: in two sessions, one after the other, all ranks write to it and read what was there.
 * The first one leaves it open. Fails unless all comes as it should. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPiece = 5000 };

static void check(int code, int where) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "failed at %d\n", where);
  exit(where);
}

static int at_home(const char* path, MPI_Offset at, const char* bytes) {
  char back[kPiece] = "";
  FILE* file = fopen(path, "r");
  if (file == NULL) return 0;
  fseek(file, at, SEEK_SET);
  const size_t came = fread(back, 1, kPiece, file);
  fclose(file);
  return came == kPiece && memcmp(back, bytes, kPiece) == 0;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
#ifndef OPEN_MPI
  MPI_Init(&argc, &argv);
#endif
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_File file;
    int rank, size, count = -1;
    MPI_Status status;
    char bytes[kPiece], back[kPiece];
    check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), 10);
    check(MPI_Group_from_session_pset(session, "mpi://WORLD", &group), 11);
    check(MPI_Comm_create_from_group(group, "forebay test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), 12);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    check(MPI_File_open(comm, argv[1], MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file), 13);
    for (int i = 0; i < kPiece; ++i) bytes[i] = (char)(turn * 100 + rank * 10 + i);
    const MPI_Offset mine = (MPI_Offset)(turn * size + rank) * kPiece;
    check(MPI_File_write_at_all(file, mine, bytes, kPiece, MPI_BYTE, &status), 14);
    check(MPI_File_sync(file), 15);
    MPI_Barrier(comm);
    check(MPI_File_sync(file), 16);
    MPI_Barrier(comm);
    const MPI_Offset others = (MPI_Offset)(size - 1 - rank) * kPiece;
    check(MPI_File_read_at(file, others, back, kPiece, MPI_BYTE, &status), 17);
    MPI_Get_count(&status, MPI_BYTE, &count);
    int right = count == kPiece;
    for (int i = 0; i < kPiece; ++i) right = right && back[i] == (char)((size - 1 - rank) * 10 + i);
    /* After the last sync: only the end of the session, or a close, carries it home. */
    const MPI_Offset last = (MPI_Offset)(2 * size + rank) * kPiece;
    check(MPI_File_write_at(file, last, bytes, kPiece, MPI_BYTE, &status), 18);
    MPI_Barrier(comm);
    if (turn == 1) check(MPI_File_close(&file), 19);
    MPI_Comm_free(&comm);
    check(MPI_Session_finalize(&session), 20);
    if (!at_home(argv[1], last, bytes)) right = 0;
    if (!right) check(MPI_ERR_OTHER, 30 + turn);
  }
#ifndef OPEN_MPI
  MPI_Finalize();
#endif
  return 0;
}
