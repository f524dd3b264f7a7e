/* PnetCDF: every rank writes its rows of a variable, collectively and by itself, and reads them back.
 * usage: pnetcdf FILE */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>

#define MUST(call)                                              \
  do {                                                          \
    const int code = call;                                      \
    if (code != NC_NOERR) {                                     \
      fprintf(stderr, "%s: %s\n", #call, ncmpi_strerror(code)); \
      MPI_Abort(MPI_COMM_WORLD, 3);                             \
    }                                                           \
  } while (0)

enum { kColumns = 300, kRows = 20 };

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int file = 0;
  int dims[2];
  int together = 0;
  int apart = 0;
  MUST(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  MUST(ncmpi_def_dim(file, "row", (MPI_Offset)kRows * ranks, &dims[0]));
  MUST(ncmpi_def_dim(file, "column", kColumns, &dims[1]));
  MUST(ncmpi_def_var(file, "together", NC_DOUBLE, 2, dims, &together));
  MUST(ncmpi_def_var(file, "apart", NC_INT, 2, dims, &apart));
  MUST(ncmpi_put_att_text(file, NC_GLOBAL, "title", 5, "rows!"));
  MUST(ncmpi_enddef(file));
  static double values[kRows * kColumns];
  static double back[kRows * kColumns];
  static int numbers[kRows * kColumns];
  for (int i = 0; i < kRows * kColumns; ++i) {
    values[i] = rank * 1e6 + i;
    numbers[i] = rank * 1000000 - i;
  }
  /* Every rank has every so manieth row. */
  const MPI_Offset start[2] = {rank, 0};
  const MPI_Offset count[2] = {kRows, kColumns};
  const MPI_Offset stride[2] = {ranks, 1};
  MUST(ncmpi_put_vars_double_all(file, together, start, count, stride, values));
  MUST(ncmpi_begin_indep_data(file));
  MUST(ncmpi_put_vars_int(file, apart, start, count, stride, numbers));
  MUST(ncmpi_end_indep_data(file));
  MUST(ncmpi_get_vars_double_all(file, together, start, count, stride, back));
  for (int i = 0; i < kRows * kColumns; ++i) {
    if (back[i] != values[i]) MPI_Abort(MPI_COMM_WORLD, 4);
  }
  MUST(ncmpi_close(file));
  MPI_Finalize();
  return 0;
}
