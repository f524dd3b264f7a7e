/* netCDF-4 in C, on one rank or, built with NETCDF_PARALLEL, on several.
   `write FILE` makes a file, `read FILE` says what is in it. */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef NETCDF_PARALLEL
#include <mpi.h>
#include <netcdf_par.h>
#endif

enum { kColumns = 60, kRows = 24 };

static int rank = 0;
static int ranks = 1;

static void must(int code, const char* what) {
  if (code == NC_NOERR) return;
  fprintf(stderr, "%s: %s\n", what, nc_strerror(code));
  exit(1);
}

static unsigned long long digest(const void* bytes, size_t size) {
  const unsigned char* at = bytes;
  unsigned long long value = 1469598103934665603ULL;
  for (size_t i = 0; i < size; ++i) value = (value ^ at[i]) * 1099511628211ULL;
  return value;
}

static int create(const char* path) {
  int file = 0;
#ifdef NETCDF_PARALLEL
  must(nc_create_par(path, NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &file), "create");
#else
  must(nc_create(path, NC_NETCDF4, &file), "create");
#endif
  return file;
}

static int open_file(const char* path, int mode) {
  int file = 0;
#ifdef NETCDF_PARALLEL
  must(nc_open_par(path, mode, MPI_COMM_WORLD, MPI_INFO_NULL, &file), "open");
#else
  must(nc_open(path, mode, &file), "open");
#endif
  return file;
}

static void collective(int file, int variable) {
#ifdef NETCDF_PARALLEL
  must(nc_var_par_access(file, variable, NC_COLLECTIVE), "access");
#else
  (void)file;
  (void)variable;
#endif
}

static void put_rows(int file, int variable, int step) {
  const size_t start[] = {(size_t)(kRows * rank / ranks), 0};
  const size_t count[] = {(size_t)(kRows * (rank + 1) / ranks) - start[0], kColumns};
  double* data = malloc(count[0] * kColumns * sizeof(double));
  for (size_t i = 0; i < count[0] * kColumns; ++i)
    data[i] = (double)(step * 10000) + (double)(start[0] * kColumns + i);
  must(nc_put_vara_double(file, variable, start, count, data), "put");
  free(data);
}

static void write_file(const char* path) {
  const int file = create(path);
  int dims[2];
  int plain = 0;
  int floats = 0;
  int growing = 0;
  int record[2];
  const size_t chunks[] = {5, 17};
  must(nc_def_dim(file, "row", kRows, &dims[0]), "dim");
  must(nc_def_dim(file, "column", kColumns, &dims[1]), "dim");
  must(nc_def_dim(file, "time", NC_UNLIMITED, &record[0]), "dim");
  record[1] = dims[1];
  must(nc_def_var(file, "plain", NC_DOUBLE, 2, dims, &plain), "var");
  must(nc_def_var(file, "floats", NC_FLOAT, 2, dims, &floats), "var");
  must(nc_def_var_chunking(file, floats, NC_CHUNKED, chunks), "chunks");
  must(nc_def_var(file, "growing", NC_INT, 2, record, &growing), "var");
  must(nc_put_att_text(file, plain, "unit", 1, "m"), "attribute");
  must(nc_enddef(file), "enddef");
  collective(file, growing);
  put_rows(file, plain, 1);
  put_rows(file, floats, 2);
  put_rows(file, plain, 3);
  int row[kColumns];
  for (int step = 0; step < 9; ++step) {
    const size_t start[] = {(size_t)(step * ranks + rank), 0};
    const size_t count[] = {1, kColumns};
    for (int i = 0; i < kColumns; ++i) row[i] = step * 100 + rank * 7 + i;
    must(nc_put_vara_int(file, growing, start, count, row), "put growing");
  }
  must(nc_sync(file), "sync");
  must(nc_close(file), "close");
}

static void say(int file, const char* name, size_t rows) {
  int variable = 0;
  must(nc_inq_varid(file, name, &variable), name);
  collective(file, variable);
  double* data = calloc(rows * kColumns, sizeof(double));
  const size_t start[] = {0, 0};
  const size_t count[] = {rows, kColumns};
  must(nc_get_vara_double(file, variable, start, count, data), "get");
  if (rank == 0) printf("%s %zu %016llx\n", name, rows, digest(data, rows * kColumns * sizeof(double)));
  free(data);
}

static void read_file(const char* path) {
  const int file = open_file(path, NC_NOWRITE);
  int time = 0;
  size_t length = 0;
  must(nc_inq_dimid(file, "time", &time), "time");
  must(nc_inq_dimlen(file, time, &length), "time");
  say(file, "plain", kRows);
  say(file, "floats", kRows);
  say(file, "growing", length);
  must(nc_close(file), "close");
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
#ifdef NETCDF_PARALLEL
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#endif
  if (strcmp(argv[1], "write") == 0) write_file(argv[2]);
  read_file(argv[2]);
#ifdef NETCDF_PARALLEL
  MPI_Finalize();
#endif
  return 0;
}
