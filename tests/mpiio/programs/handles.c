/* A file that is open more than once, or in ways that are not MPI's daily ones. Prints what was found, which
 * is the same with the door and without.
 *
 * usage: handles SCENE FILE
 *   reader   rank 0 has written what is not home yet, rank 1 has the file open for reading only and meets its
 *            end
 *   atomic   bytes are written in atomic mode, and read in the other
 *   scratch  a file that is asked to be scratch: its end, and calls that are MPI's own
 *   nowhere  memory that is not there
 *   prefix   a name that begins as ROMIO's names of file systems do, beside a file of the rest of the name */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kBytes = 20000 };

static int rank;
static char bytes[2 * kBytes];

static MPI_File open(MPI_Comm comm, const char* path, int amode, MPI_Info info) {
  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_open(comm, path, amode, info, &file) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
  return file;
}

static int class_of(int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  return class;
}

static void write_letters(MPI_File file, MPI_Offset at, int count, char letter) {
  memset(bytes, letter, sizeof bytes);
  printf("write -> %d\n", class_of(MPI_File_write_at(file, at, bytes, count, MPI_BYTE, MPI_STATUS_IGNORE)));
}

/* As many as there are, of twice as many as that. */
static void read_all_there_is(MPI_File file, const char* when) {
  MPI_Status status;
  int count = -1;
  memset(bytes, '-', sizeof bytes);
  const int code = MPI_File_read_at(file, 0, bytes, sizeof bytes, MPI_BYTE, &status);
  if (code == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &count);
  printf("%s: class %d, %d bytes:", when, class_of(code), count);
  for (int i = 0; i < count; ++i) {
    if (i == 0 || bytes[i] != bytes[i - 1]) printf(" %c from %d", bytes[i], i);
  }
  printf("\n");
}

/* Rank 1 alone prints: what ranks print does not come in one order. */
static void reader(const char* path) {
  MPI_File file = MPI_FILE_NULL;
  int codes[2] = {0, 0};
  if (rank == 0) {
    file = open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL);
    memset(bytes, 'a', kBytes / 2);
    memset(bytes + kBytes / 2, 'b', kBytes / 2);
    MPI_File_write(file, bytes, kBytes / 2, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_write(file, bytes + kBytes / 2, kBytes / 2, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_File other = open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL);
    MPI_Offset end = -1;
    read_all_there_is(other, "reader");
    printf("seek -> %d\n", class_of(MPI_File_seek(other, 0, MPI_SEEK_END)));
    MPI_File_get_position(other, &end);
    printf("end %lld\n", (long long)end);
    MPI_File_close(&other);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    codes[0] = class_of(MPI_File_sync(file));
    codes[1] = class_of(MPI_File_close(&file));
    MPI_Send(codes, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(codes, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("writer: sync -> %d, close -> %d\n", codes[0], codes[1]);
  }
}

static void atomic(const char* path) {
  MPI_File file = open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL);
  write_letters(file, 0, kBytes, 'a');
  MPI_File_sync(file);
  read_all_there_is(file, "before");
  MPI_File_set_atomicity(file, 1);
  write_letters(file, 100, kBytes / 2, 'b');
  read_all_there_is(file, "atomic");
  MPI_File_set_atomicity(file, 0);
  read_all_there_is(file, "after");
  MPI_File_close(&file);
}

static void scratch(const char* path) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "forebay_mode", "scratch");
  MPI_File file = open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE, info);
  MPI_Info_free(&info);
  MPI_Offset end = -1;
  write_letters(file, 0, kBytes, 'a');
  read_all_there_is(file, "its end");
  MPI_File_seek(file, 0, MPI_SEEK_END);
  MPI_File_get_position(file, &end);
  printf("end %lld\n", (long long)end);
  write_letters(file, 10, 10, 'b');
  MPI_File_set_atomicity(file, 1);
  read_all_there_is(file, "atomic");
  write_letters(file, 30, 10, 'c');
  MPI_File_set_atomicity(file, 0);
  read_all_there_is(file, "after");
  MPI_File_close(&file);
}

static void nowhere(const char* path) {
  MPI_File file = open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL);
  write_letters(file, 0, kBytes, 'a');
  printf("write -> %d\n", class_of(MPI_File_write_at(file, 0, NULL, 10, MPI_INT, MPI_STATUS_IGNORE)));
  printf("read -> %d\n", class_of(MPI_File_read_at(file, 0, NULL, 10, MPI_INT, MPI_STATUS_IGNORE)));
  printf("nothing -> %d\n", class_of(MPI_File_write_at(file, 0, NULL, 0, MPI_INT, MPI_STATUS_IGNORE)));
  read_all_there_is(file, "after");
  MPI_File_close(&file);
}

static void show(const char* path) {
  char some[8] = "";
  FILE* file = fopen(path, "r");
  if (file != NULL && fread(some, 1, 6, file) == 0) some[0] = '-';
  if (file != NULL) fclose(file);
  printf("%s: %s\n", path, file == NULL ? "none" : some);
}

static void prefix(const char* path) {
  char folder[4096];
  snprintf(folder, sizeof folder, "%s.folder", path);
  if (mkdir(folder, 0700) != 0 || chdir(folder) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
  FILE* plain = fopen("plain", "w");
  fputs("plain bytes", plain);
  fclose(plain);
  MPI_File file = open(MPI_COMM_SELF, "ufs:plain", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL);
  write_letters(file, 0, 3, 'x');
  MPI_File_close(&file);
  file = open(MPI_COMM_SELF, "ufs:other", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL);
  write_letters(file, 0, 3, 'y');
  MPI_File_close(&file);
  show("plain");
  show("ufs:plain");
  show("other");
  show("ufs:other");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  if (strcmp(argv[1], "reader") == 0) reader(argv[2]);
  if (strcmp(argv[1], "atomic") == 0) atomic(argv[2]);
  if (strcmp(argv[1], "scratch") == 0) scratch(argv[2]);
  if (strcmp(argv[1], "nowhere") == 0) nowhere(argv[2]);
  if (strcmp(argv[1], "prefix") == 0) prefix(argv[2]);
  MPI_Finalize();
  return 0;
}
