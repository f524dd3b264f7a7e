/* Calls of <forebay/hdf5.h> by several ranks that share a file on the MPI-IO driver.
 *
 * usage: ranks FILE
 */
#include <forebay/hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 1 << 20 };

static int failures = 0;
static int rank = 0;
static int ranks = 1;
static int* values = NULL;

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      fprintf(stderr, "%s:%d: rank %d: not so: %s\n", __FILE__, __LINE__, rank, #condition); \
      H5Eprint2(H5E_DEFAULT, stderr);                                                        \
      ++failures;                                                                            \
    }                                                                                        \
  } while (0)

static hid_t access_list(void) {
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
  return fapl;
}

static hid_t part_of(hid_t dataset, int of) {
  const hsize_t start = (hsize_t)(kCount / ranks * of), count = (hsize_t)(kCount / ranks);
  const hid_t space = H5Dget_space(dataset);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
  return space;
}

static hid_t make_dataset(hid_t file, const char* name, int chunked) {
  const hsize_t count = kCount, chunk = 50000;
  const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  if (chunked) H5Pset_chunk(dcpl, 1, &chunk);
  const hid_t space = H5Screate_simple(1, &count, NULL);
  const hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  H5Sclose(space);
  H5Pclose(dcpl);
  const hid_t mine = part_of(dataset, rank);
  for (int i = 0; i < kCount; ++i) values[i] = i;
  CHECK(H5Dwrite(dataset, H5T_NATIVE_INT, mine, mine, H5P_DEFAULT, values) >= 0);
  H5Sclose(mine);
  return dataset;
}

/* Open for writing: calls that control, from ranks that do different things between collective ones. */
static void write_file(const char* path) {
  const hid_t fapl = access_list();
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  hsize_t room = 0;
  CHECK(H5Freserve_cache(file, H5P_DEFAULT, 4 * kCount * sizeof(int), FOREBAY_CACHE_RDWR,
                         FOREBAY_CACHE_PERMANENT) >= 0);
  CHECK(H5Fquery_cache(file, H5P_DEFAULT, &room) >= 0 && room > 0);
  if (rank == 0) CHECK(H5Fcache_async_op_pause(file) >= 0);
  const hid_t plain = make_dataset(file, "plain", 0);
  const hid_t chunked = make_dataset(file, "chunked", 1);
  if (rank == 0) CHECK(H5Fcache_async_op_start(file) >= 0);
  if (rank == ranks - 1) {
    CHECK(H5Dcache_create(plain, "ignored") >= 0);
    CHECK(H5Dprefetch(chunked, H5S_ALL, H5P_DEFAULT) >= 0); /* nothing: it is open for writing */
    CHECK(H5Fcache_async_close_wait(file) >= 0);
    CHECK(H5Dcache_remove(plain) >= 0);
  }
  CHECK(H5Dclose(plain) >= 0 && H5Dclose(chunked) >= 0);
  CHECK(H5Fclose(file) >= 0);
  H5Pclose(fapl);
}

static void expect_values(void) {
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += values[i] != i;
  CHECK(wrong == 0);
  memset(values, 0, kCount * sizeof(int));
}

/* All ranks bring all of it, in different ways. */
static void bring(hid_t dataset) {
  size_t left = 1;
  hbool_t failed = 1;
  const hid_t events = H5EScreate();
  const hid_t next = part_of(dataset, (rank + 1) % ranks);
  CHECK(H5Dprefetch_async(dataset, next, H5P_DEFAULT, events) >= 0);
  CHECK(H5Dprefetch(dataset, H5S_ALL, H5P_DEFAULT) >= 0);
  CHECK(H5ESwait(events, H5ES_WAIT_FOREVER, &left, &failed) >= 0 && left == 0 && !failed);
  H5ESclose(events);
  H5Sclose(next);
}

static void read_file(const char* path) {
  const hid_t fapl = access_list();
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, fapl);
  const hid_t all = H5S_ALL, type = H5T_NATIVE_INT;
  const char* const names[] = {"plain", "chunked"};
  for (int i = 0; i < 2; ++i) {
    const hid_t dataset = H5Dopen2(file, names[i], H5P_DEFAULT);
    bring(dataset);
    CHECK(H5Dread(dataset, type, all, all, H5P_DEFAULT, values) >= 0);
    expect_values();
    /* Some do more than others. */
    for (int again = 0; again < rank; ++again) {
      CHECK(H5Dread_to_cache(dataset, type, all, all, H5P_DEFAULT, values) >= 0);
      expect_values();
      CHECK(H5Dread_from_cache(dataset, type, all, all, H5P_DEFAULT, values) >= 0);
      expect_values();
    }
    H5Dclose(dataset);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(H5Fcache_remove(file) >= 0);
  CHECK(H5Fclose(file) >= 0);
  H5Pclose(fapl);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  values = malloc(kCount * sizeof(int));
  write_file(argv[1]);
  read_file(argv[1]);
  free(values);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
