/* One scene of MPI-IO after the other, for tests that look at what is left of them.
 *
 * usage: scenes SCENE FILE
 *   abort     every rank writes its megabyte, says so, and rank 0 calls MPI_Abort
 *   killed    every rank writes its megabyte, says so, and goes on writing the same bytes until it is killed
 *   between   the same, but then it waits to be killed
 *   closed    the same, after a close
 *   path      every rank writes its megabyte to a file for which FILE.tier is to be the tier
 *   unclosed  every rank writes its megabyte and finalizes without closing
 *   exit      the same, without finalizing
 *   read      prints the sum of the file's bytes
 *   info      prints what MPI_File_get_info tells of Forebay
 *   errors    prints the classes of errors that mistakes give
 *   pieces    rank 0 writes from memory that lies in 2.2 million pieces
 *   threads   four threads of each rank write and read at once */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kPiece = 4096, kPieces = 256 };

static int rank_here, rank_count;

static void fill(char* piece, int rank, int number) {
  for (int i = 0; i < kPiece; ++i) piece[i] = (char)(rank * 37 + number * 11 + i);
}

static void write_all(MPI_File file) {
  char piece[kPiece];
  for (int number = 0; number < kPieces; ++number) {
    fill(piece, rank_here, number);
    const MPI_Offset at = ((MPI_Offset)number * rank_count + rank_here) * kPiece;
    if (MPI_File_write_at(file, at, piece, kPiece, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS) exit(4);
  }
}

static int class_of(int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  return class;
}

/* On the output, and by a file beside it. */
static void say_written(const char* path) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_here == 0) {
    char name[4096];
    puts("written");
    fflush(stdout);
    snprintf(name, sizeof name, "%s.written", path);
    fclose(fopen(name, "w"));
  }
}

static void print_info(MPI_File file) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_File_get_info(file, &info);
  const char* keys[] = {"forebay_mode",         "forebay_durability",       "forebay_drain_trigger",
                        "forebay_reserve_size", "forebay_prefetch_at_open", "forebay_path"};
  for (int i = 0; i < 6; ++i) {
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int there = 0;
    MPI_Info_get(info, keys[i], MPI_MAX_INFO_VAL, value, &there);
    if (rank_here == 0) printf("%s=%s\n", keys[i], there ? value : "(none)");
  }
  MPI_Info_free(&info);
}

static void print_errors(const char* path) {
  char name[4096];
  MPI_File file = MPI_FILE_NULL;
  int value = 7;
  MPI_Status status;
  snprintf(name, sizeof name, "%s.missing", path);
  printf("missing %d\n", class_of(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file)));
  printf("modes %d\n",
         class_of(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_RDONLY, MPI_INFO_NULL, &file)));
  printf("exists %d\n",
         class_of(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR,
                                MPI_INFO_NULL, &file)));
  printf("delete %d\n", class_of(MPI_File_delete(name, MPI_INFO_NULL)));
  MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  printf("write %d\n", class_of(MPI_File_write_at(file, 0, &value, 1, MPI_INT, &status)));
  printf("set_size %d\n", class_of(MPI_File_set_size(file, 5)));
  printf("sync %d\n", class_of(MPI_File_sync(file)));
  MPI_File_close(&file);
  MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  printf("read %d\n", class_of(MPI_File_read_at(file, 0, &value, 1, MPI_INT, &status)));
  MPI_File_close(&file);
  MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  printf("uncommitted %d\n", class_of(MPI_File_write_at(file, 0, &value, 0, type, &status)));
  printf("negative count %d\n", class_of(MPI_File_write_at(file, 0, &value, -1, MPI_INT, &status)));
  printf("negative count, pointer %d\n", class_of(MPI_File_read(file, &value, -1, MPI_INT, &status)));
  printf("negative count, all %d\n", class_of(MPI_File_write_all(file, &value, -1, MPI_INT, &status)));
  printf("no type %d\n", class_of(MPI_File_write(file, &value, 1, MPI_DATATYPE_NULL, &status)));
  printf("no type, view %d\n",
         class_of(MPI_File_set_view(file, 0, MPI_BYTE, MPI_DATATYPE_NULL, "native", MPI_INFO_NULL)));
#ifndef OPEN_MPI /* which crashes */
  printf("end of nothing %d\n", class_of(MPI_File_read_all_end(file, &value, &status)));
#endif
  MPI_Offset size = 0;
  printf("no file, read %d\n", class_of(MPI_File_read_at(MPI_FILE_NULL, 0, &value, 1, MPI_INT, &status)));
  printf("no file, write %d\n", class_of(MPI_File_write_all(MPI_FILE_NULL, &value, 1, MPI_INT, &status)));
  printf("no file, size %d\n", class_of(MPI_File_get_size(MPI_FILE_NULL, &size)));
  printf("no file, sync %d\n", class_of(MPI_File_sync(MPI_FILE_NULL)));
  printf("no file, seek %d\n", class_of(MPI_File_seek(MPI_FILE_NULL, 0, MPI_SEEK_SET)));
  MPI_File none = MPI_FILE_NULL;
  printf("no file, close %d\n", class_of(MPI_File_close(&none)));
  printf("a folder %d\n", class_of(MPI_File_open(MPI_COMM_SELF, "/", MPI_MODE_RDWR, MPI_INFO_NULL, &none)));
  printf("negative size %d\n", class_of(MPI_File_set_size(file, -1)));
  printf("whence %d\n", class_of(MPI_File_seek(file, 0, 77)));
  printf("representation %d\n",
         class_of(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "no such thing", MPI_INFO_NULL)));
  /* It shrinks behind our back. */
  char bytes[100] = "";
  if (truncate(path, 10) != 0) exit(5);
  printf("shrunk %d\n", class_of(MPI_File_read_at(file, 50, bytes, 20, MPI_BYTE, &status)));
  MPI_File_close(&file);
  fflush(stdout);
}

static void write_pieces(MPI_File file) {
  enum { kCount = 2200000 };
  MPI_Datatype scattered;
  MPI_Type_vector(kCount, 1, 2, MPI_BYTE, &scattered);
  MPI_Type_commit(&scattered);
  char* memory = malloc(2 * kCount);
  for (int i = 0; i < 2 * kCount; ++i) memory[i] = (char)(i * 7 + i / 1000);
  MPI_Status status;
  MPI_Offset at = 0;
  int bytes = 0;
  MPI_File_write(file, memory, 1, scattered, &status);
  MPI_Get_elements(&status, MPI_BYTE, &bytes);
  MPI_File_get_position(file, &at);
  printf("%d bytes, at %lld\n", bytes, (long long)at);
  MPI_Type_free(&scattered);
  free(memory);
}

struct Work {
  MPI_File file;
  int number;
  int wrong;
};

static void* work(void* argument) {
  struct Work* mine = argument;
  char piece[kPiece];
  char back[kPiece];
  for (int i = mine->number; i < kPieces; i += 4) {
    fill(piece, rank_here, i);
    const MPI_Offset at = ((MPI_Offset)i * rank_count + rank_here) * kPiece;
    MPI_File_write_at(mine->file, at, piece, kPiece, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at(mine->file, at, back, kPiece, MPI_BYTE, MPI_STATUS_IGNORE);
    if (memcmp(piece, back, kPiece) != 0) mine->wrong = 1;
  }
  return NULL;
}

static void run_threads(MPI_File file) {
  pthread_t threads[4];
  struct Work all[4];
  for (int i = 0; i < 4; ++i) {
    all[i] = (struct Work){file, i, 0};
    pthread_create(&threads[i], NULL, work, &all[i]);
  }
  for (int i = 0; i < 4; ++i) {
    pthread_join(threads[i], NULL);
    if (all[i].wrong) exit(6);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const char* scene = argv[1];
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, strcmp(scene, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  MPI_File file = MPI_FILE_NULL;
  MPI_Info info = MPI_INFO_NULL;
  if (strcmp(scene, "info") == 0) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "forebay_drain_trigger", "close");
    MPI_Info_set(info, "forebay_reserve_size", "1MiB");
    MPI_Info_set(info, "forebay_mode", "no such mode");
    MPI_Info_set(info, "forebay_prefetch_at_open", "part");
  }
  if (strcmp(scene, "path") == 0 || strcmp(scene, "info") == 0) {
    char tier[4096];
    snprintf(tier, sizeof tier, "%s.tier", argv[2]);
    if (info == MPI_INFO_NULL) MPI_Info_create(&info);
    MPI_Info_set(info, rank_here == 0 ? "forebay_path" : "pmem_path", tier);
  }
  if (MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file) != MPI_SUCCESS)
    return 3;
  if (strcmp(scene, "errors") == 0) {
    MPI_File_set_size(file, 1000);
    MPI_File_close(&file);
    print_errors(argv[2]);
  } else if (strcmp(scene, "info") == 0) {
    print_info(file);
    MPI_File_close(&file);
  } else if (strcmp(scene, "pieces") == 0) {
    if (rank_here == 0) write_pieces(file);
    MPI_File_close(&file);
  } else if (strcmp(scene, "threads") == 0) {
    if (level == MPI_THREAD_MULTIPLE) run_threads(file);
    MPI_File_close(&file);
  } else if (strcmp(scene, "read") == 0) {
    char piece[kPiece];
    MPI_Status status;
    unsigned long long sum = 0;
    int count = 0;
    do {
      MPI_File_read(file, piece, kPiece, MPI_BYTE, &status);
      MPI_Get_count(&status, MPI_BYTE, &count);
      for (int i = 0; i < count; ++i) sum = sum * 31 + (unsigned char)piece[i];
    } while (count == kPiece);
    if (rank_here == 0) printf("sum %llx\n", sum);
    MPI_File_close(&file);
  } else {
    write_all(file);
    if (strcmp(scene, "closed") == 0 || strcmp(scene, "path") == 0) MPI_File_close(&file);
    if (strcmp(scene, "unclosed") != 0 && strcmp(scene, "path") != 0) say_written(argv[2]);
    if (strcmp(scene, "between") == 0 || strcmp(scene, "closed") == 0) sleep(60);
    if (strcmp(scene, "abort") == 0 && rank_here == 0) MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(scene, "abort") == 0) sleep(60);
    for (int i = 0; strcmp(scene, "killed") == 0 && i < 100000; ++i) write_all(file);
    if (strcmp(scene, "exit") == 0) _Exit(0);
  }
  MPI_Finalize();
  return 0;
}
