/* Files that one rank opens by itself: what of MPI is called for them, by others than MPI.
 *
 * usage: alone FILE; prints how often functions were called that make communicators, or wait for other ranks.
 * Rank 0 does all of it while the others do something else. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int duplicates, waits;

/* MPI's own calls count for nothing: its library, and what Open MPI loads. */
static int by_others(const void* caller) {
  Dl_info from;
  if (dladdr(caller, &from) == 0) return 1;
  const char* slash = strrchr(from.dli_fname, '/');
  const char* name = slash == NULL ? from.dli_fname : slash + 1;
  return strncmp(name, "libmpi", 6) != 0 && strncmp(name, "mca_", 4) != 0;
}

/* Stand before the library's own. */
#define COUNTED(NAME, COUNT, PARAMETERS, ARGUMENTS)            \
  __attribute__((visibility("default"))) int NAME PARAMETERS { \
    int(*next) PARAMETERS = NULL;                              \
    *(void**)&next = dlsym(RTLD_NEXT, #NAME);                  \
    COUNT += by_others(__builtin_return_address(0));           \
    return next ARGUMENTS;                                     \
  }
COUNTED(PMPI_Comm_dup, duplicates, (MPI_Comm comm, MPI_Comm* made), (comm, made))
COUNTED(PMPI_Barrier, waits, (MPI_Comm comm), (comm))
COUNTED(PMPI_Bcast, waits, (void* data, int n, MPI_Datatype type, int root, MPI_Comm comm),
        (data, n, type, root, comm))
COUNTED(PMPI_Allreduce, waits,
        (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, n, type, op, comm))
COUNTED(PMPI_Exscan, waits, (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, n, type, op, comm))
COUNTED(PMPI_Allgather, waits,
        (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype kind, MPI_Comm comm),
        (in, n, type, out, m, kind, comm))

static void check(int code) {
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
}

static void use(MPI_Comm comm, const char* path) {
  MPI_File file;
  MPI_Datatype tile;
  char bytes[1000] = "something", back[1000];
  MPI_Offset size = 0;
  check(MPI_File_open(comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  check(MPI_File_write_at(file, 0, bytes, 1000, MPI_BYTE, MPI_STATUS_IGNORE));
  check(MPI_File_write_all(file, bytes, 1000, MPI_BYTE, MPI_STATUS_IGNORE));
  check(MPI_File_write_ordered(file, bytes, 1000, MPI_BYTE, MPI_STATUS_IGNORE));
  check(MPI_Type_vector(5, 10, 20, MPI_BYTE, &tile));
  check(MPI_Type_commit(&tile));
  check(MPI_File_set_view(file, 0, MPI_BYTE, tile, "native", MPI_INFO_NULL));
  check(MPI_Type_free(&tile));
  check(MPI_File_read_all(file, back, 500, MPI_BYTE, MPI_STATUS_IGNORE));
  check(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  check(MPI_File_set_size(file, 5000));
  check(MPI_File_preallocate(file, 6000));
  check(MPI_File_sync(file));
  check(MPI_File_get_size(file, &size));
  check(MPI_File_set_atomicity(file, 1));
  check(MPI_File_set_atomicity(file, 0));
  check(MPI_File_close(&file));
  if (size != 6000) MPI_Abort(MPI_COMM_WORLD, 4);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Comm one;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &one));
  duplicates = waits = 0;
  if (rank == 0) {
    use(MPI_COMM_SELF, argv[1]);
    printf("by MPI_COMM_SELF: %d duplicates, %d waits\n", duplicates, waits);
    duplicates = waits = 0;
    use(one, argv[1]);
    printf("by a communicator of one: %d duplicates, %d waits\n", duplicates, waits);
  }
  MPI_Comm_free(&one);
  MPI_Finalize();
  return 0;
}
