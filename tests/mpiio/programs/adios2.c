/* ADIOS2, with an engine that goes through MPI-IO (HDF5): every rank writes its part of an array in three
 * steps, and reads another's back.
 *
 * usage: adios2 FILE */
#include <adios2_c.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kPart = 5000, kSteps = 3 };

static void must(int good) {
  if (!good) MPI_Abort(MPI_COMM_WORLD, 3);
}

static adios2_io* through_hdf5(adios2_adios* all, const char* name) {
  adios2_io* io = adios2_declare_io(all, name);
  must(io != NULL && adios2_set_engine(io, "HDF5") == adios2_error_none);
  return io;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  adios2_adios* all = adios2_init_mpi(MPI_COMM_WORLD);
  must(all != NULL);

  adios2_io* io = through_hdf5(all, "out");
  const size_t shape = (size_t)size * kPart;
  const size_t start = (size_t)rank * kPart;
  const size_t count = kPart;
  adios2_variable* values = adios2_define_variable(io, "values", adios2_type_double, 1, &shape, &start,
                                                   &count, adios2_constant_dims_true);
  adios2_engine* out = adios2_open(io, argv[1], adios2_mode_write);
  must(values != NULL && out != NULL);
  double mine[kPart];
  for (int step = 0; step < kSteps; ++step) {
    adios2_step_status status;
    must(adios2_begin_step(out, adios2_step_mode_append, -1, &status) == adios2_error_none);
    for (int i = 0; i < kPart; ++i) mine[i] = step * 1e6 + rank * 1e4 + i;
    must(adios2_put(out, values, mine, adios2_mode_sync) == adios2_error_none);
    must(adios2_end_step(out) == adios2_error_none);
  }
  must(adios2_close(out) == adios2_error_none);
  MPI_Barrier(MPI_COMM_WORLD);

  io = through_hdf5(all, "in");
  adios2_engine* in = adios2_open(io, argv[1], adios2_mode_read);
  must(in != NULL);
  double sum = 0;
  for (int step = 0; step < kSteps; ++step) {
    adios2_step_status status;
    must(adios2_begin_step(in, adios2_step_mode_read, -1, &status) == adios2_error_none);
    adios2_variable* there = adios2_inquire_variable(io, "values");
    const size_t from = (size_t)((rank + 1) % size) * kPart;
    must(there != NULL && adios2_set_selection(there, 1, &from, &count) == adios2_error_none);
    must(adios2_get(in, there, mine, adios2_mode_sync) == adios2_error_none);
    for (int i = 0; i < kPart; ++i) sum += mine[i] * (step + 1);
    must(adios2_end_step(in) == adios2_error_none);
  }
  must(adios2_close(in) == adios2_error_none);
  adios2_finalize(all);
  double whole = 0;
  MPI_Reduce(&sum, &whole, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %.17g\n", whole);
  MPI_Finalize();
  return 0;
}
