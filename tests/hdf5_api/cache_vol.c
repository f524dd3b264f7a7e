/* A program as the Cache VOL's users write them: its headers, its names, and nothing of Forebay's. */
#include "H5LS.h"
#include "cache_new_h5api.h"
#include "hdf5.h"

enum { kCount = 1000 };

/* The number of the step that failed, or 0. */
static int program(const char* path) {
  static int data[kCount], back[kCount];
  const hsize_t dims[1] = {kCount};
  hid_t plist_id = H5Pcreate(H5P_FILE_ACCESS);
  bool p = true;
  H5Pset_fapl_cache(plist_id, "HDF5_CACHE_WR", &p);
  for (int i = 0; i < kCount; i++) data[i] = i;

  hid_t fd = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, plist_id);
  if (H5Fcache_async_close_set(fd) < 0) return 1;
  hid_t space = H5Screate_simple(1, dims, NULL);
  if (H5Fcache_async_op_pause(fd) < 0) return 2;
  hid_t dset = H5Dcreate(fd, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  if (H5Fcache_async_op_start(fd) < 0) return 3;
  H5Dclose(dset);
  if (H5Fcache_async_close_wait(fd) < 0) return 4;
  H5Fclose(fd);

  fd = H5Fopen(path, H5F_ACC_RDONLY, plist_id);
  cache_purpose_t purpose = READ;
  cache_duration_t duration = TEMPORAL;
  cache_claim_t claim = HARD;
  cache_replacement_policy_t policy = LFU;
  if (claim == SOFT || policy == LRU || policy == FIFO || policy == LIFO) return 9;
  if (H5Fcache_create(fd, H5P_DEFAULT, 1 << 20, purpose, duration) < 0) return 5;
  if (H5Freserve_cache(fd, H5P_DEFAULT, 1 << 20, RDWR, PERMANENT) < 0) return 6;
  dset = H5Dopen(fd, "x", H5P_DEFAULT);
  hid_t es_id = H5EScreate();
  if (H5Dprefetch_async(dset, H5S_ALL, H5P_DEFAULT, es_id) < 0) return 7;
  size_t num_in_progress;
  hbool_t error_occurred;
  H5ESwait(es_id, H5ES_WAIT_FOREVER, &num_in_progress, &error_occurred);
  H5ESclose(es_id);
  if (H5Dmmap_remap(dset) < 0) return 8;
  if (H5Dread_to_cache(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) < 0) return 9;
  for (int i = 0; i < kCount; i++) {
    if (back[i] != i) return 10;
  }
  char name[] = "x";
  if (H5Dcache_create(dset, name) < 0 || H5Dcache_remove(dset) < 0) return 11;
  H5Dclose(dset);
  if (H5Fcache_remove(fd) < 0) return 12;
  H5Fclose(fd);
  H5Sclose(space);
  H5Pclose(plist_id);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) return 100;
  const int step = program(argv[1]);
  if (step != 0) fprintf(stderr, "step %d failed\n", step);
  return step;
}
