/* Every call of <forebay/hdf5.h>, by an application that knows nothing of the connector.
 *
 * usage: api EXPECTED FOLDER
 *   connector  files go through the connector and are buffered
 *   off        through the connector, and not buffered
 *   below      as `connector`, without event sets: HDF5's pass_through uses requests after it freed them
 *   typed      H5Pset_fapl_forebay brings the connector; the environment does not
 *   none       there is no connector: every call says so, and does nothing else
 */
#include <forebay/hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 500000 };

static int failures = 0;
static int with_events = 1;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                             \
    }                                                                         \
  } while (0)

static herr_t describe(unsigned n, const H5E_error2_t* entry, void* text) {
  (void)n;
  snprintf(text, 300, "%s", entry->desc);
  return 0;
}

/* A refusal is one entry that names the reason. */
static void check_refused(herr_t result, const char* reason, int line) {
  char text[300] = "";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, describe, text);
  if (result < 0 && H5Eget_num(H5E_DEFAULT) == 1 && strstr(text, reason) != NULL) return;
  fprintf(stderr, "%s:%d: returned %d with %d entries: %s\n", __FILE__, line, (int)result,
          (int)H5Eget_num(H5E_DEFAULT), text);
  ++failures;
}
#define REFUSED(call, reason) check_refused(call, reason, __LINE__)

static int values[kCount];

static hid_t make_dataset(hid_t file, const char* name) {
  const hsize_t count = kCount;
  const hid_t space = H5Screate_simple(1, &count, NULL);
  const hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sclose(space);
  for (int i = 0; i < kCount; ++i) values[i] = i;
  CHECK(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  return dataset;
}

static void expect_values(void) {
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += values[i] != i;
  CHECK(wrong == 0);
  memset(values, 0, sizeof values);
}

static hsize_t room(hid_t file) {
  hsize_t size = 12345;
  CHECK(H5Fquery_cache(file, H5P_DEFAULT, &size) >= 0);
  return size;
}

static void wait_for(hid_t events) {
  if (!with_events) return;
  size_t left = 1;
  hbool_t failed = 1;
  CHECK(H5ESwait(events, H5ES_WAIT_FOREVER, &left, &failed) >= 0);
  CHECK(left == 0 && !failed);
}

static void read_with_all(hid_t dataset, hid_t events) {
  const hid_t type = H5T_NATIVE_INT, all = H5S_ALL, list = H5P_DEFAULT;
  CHECK(H5Dread_to_cache(dataset, type, all, all, list, values) >= 0);
  expect_values();
  CHECK(H5Dread_from_cache(dataset, type, all, all, list, values) >= 0);
  expect_values();
  CHECK(H5Dread_to_cache_async(dataset, type, all, all, list, values, events) >= 0);
  wait_for(events);
  expect_values();
  CHECK(H5Dread_from_cache_async(dataset, type, all, all, list, values, events) >= 0);
  wait_for(events);
  expect_values();
}

static void control_all(hid_t file, hid_t dataset, hid_t events) {
  const hid_t list = H5P_DEFAULT;
  CHECK(H5Fcache_create(file, list, 1 << 20, FOREBAY_CACHE_RDWR, FOREBAY_CACHE_TEMPORAL) >= 0);
  CHECK(H5Freserve_cache(file, list, 2 << 20, FOREBAY_CACHE_READ, FOREBAY_CACHE_PERMANENT) >= 0);
  CHECK(H5Fcache_create_async(file, list, 1 << 20, FOREBAY_CACHE_WRITE, FOREBAY_CACHE_TEMPORAL, events) >= 0);
  CHECK(H5Dcache_create(dataset, "x") >= 0);
  CHECK(H5Dcache_create_async(dataset, "x", events) >= 0);
  CHECK(H5Dcache_remove_async(dataset, events) >= 0);
  CHECK(H5Dcache_remove(dataset) >= 0);
  CHECK(H5Fcache_async_op_pause(file) >= 0);
  CHECK(H5Fcache_async_op_start(file) >= 0);
  CHECK(H5Dcache_async_op_pause(dataset) >= 0);
  CHECK(H5Dcache_async_op_start(dataset) >= 0);
  CHECK(H5Fasync_pause(file) >= 0);
  CHECK(H5Fasync_start(file) >= 0);
  CHECK(H5Fcache_async_close_wait(file) >= 0);
  CHECK(H5Fcache_remove_async(file, events) >= 0);
  CHECK(H5Fcache_remove(file) >= 0);
  wait_for(events);
}

static void use(const char* path, hid_t fapl, int is_buffered) {
  const hid_t events = with_events ? H5EScreate() : H5ES_NONE;
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  CHECK(file >= 0);
  CHECK(H5Fcache_async_close_set(file) >= 0);
  CHECK(H5Dclose(make_dataset(file, "x")) >= 0);
  CHECK(H5Fclose(file) >= 0);

  file = H5Fopen(path, H5F_ACC_RDWR, fapl);
  const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
  CHECK(H5Fcache_async_close_wait(file) >= 0);
  CHECK(H5Fcache_remove(file) >= 0);
  const hsize_t before = room(file);
  CHECK((before > 0) == is_buffered);
  CHECK(H5Dprefetch(dataset, H5S_ALL, H5P_DEFAULT) >= 0);
  if (is_buffered) CHECK(room(file) < before - sizeof values / 2);
  CHECK(H5Dprefetch_async(dataset, H5S_ALL, H5P_DEFAULT, events) >= 0);
  wait_for(events);
  read_with_all(dataset, events);
  control_all(file, dataset, events);
  const hid_t space = H5Dget_space(dataset);
  const hsize_t start = 1000, count = 100;
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
  CHECK(H5Dprefetch(dataset, space, H5P_DEFAULT) >= 0);
  H5Sclose(space);
  CHECK(H5Dclose(dataset) >= 0);
  CHECK(H5Fclose(file) >= 0);
  if (with_events) CHECK(H5ESclose(events) >= 0);
}

static void use_without(const char* path, const char* reason) {
  const hid_t events = H5EScreate();
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t dataset = make_dataset(file, "x");
  const hid_t type = H5T_NATIVE_INT, all = H5S_ALL, list = H5P_DEFAULT;
  hsize_t size = 5;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  REFUSED(H5Dprefetch(dataset, all, list), reason);
  REFUSED(H5Dprefetch_async(dataset, all, list, events), reason);
  REFUSED(H5Dread_to_cache(dataset, type, all, all, list, values), reason);
  REFUSED(H5Dread_to_cache_async(dataset, type, all, all, list, values, events), reason);
  REFUSED(H5Dread_from_cache(dataset, type, all, all, list, values), reason);
  REFUSED(H5Dread_from_cache_async(dataset, type, all, all, list, values, events), reason);
  REFUSED(H5Fcache_create(file, list, 1, FOREBAY_CACHE_RDWR, FOREBAY_CACHE_TEMPORAL), reason);
  REFUSED(H5Fcache_create_async(file, list, 1, FOREBAY_CACHE_RDWR, FOREBAY_CACHE_TEMPORAL, events), reason);
  REFUSED(H5Freserve_cache(file, list, 1, FOREBAY_CACHE_RDWR, FOREBAY_CACHE_TEMPORAL), reason);
  REFUSED(H5Fquery_cache(file, list, &size), reason);
  REFUSED(H5Fcache_remove(file), reason);
  REFUSED(H5Fcache_remove_async(file, events), reason);
  REFUSED(H5Dcache_create(dataset, "x"), reason);
  REFUSED(H5Dcache_create_async(dataset, "x", events), reason);
  REFUSED(H5Dcache_remove(dataset), reason);
  REFUSED(H5Dcache_remove_async(dataset, events), reason);
  REFUSED(H5Fcache_async_op_pause(file), reason);
  REFUSED(H5Fcache_async_op_start(file), reason);
  REFUSED(H5Dcache_async_op_pause(dataset), reason);
  REFUSED(H5Dcache_async_op_start(dataset), reason);
  REFUSED(H5Fasync_pause(file), reason);
  REFUSED(H5Fasync_start(file), reason);
  REFUSED(H5Fcache_async_close_set(file), reason);
  REFUSED(H5Fcache_async_close_wait(file), reason);
  CHECK(size == 5);
  expect_values();
  size_t left = 1;
  CHECK(H5ESget_count(events, &left) >= 0 && left == 0);
  CHECK(H5Dclose(dataset) >= 0);
  CHECK(H5Fclose(file) >= 0);
  CHECK(H5ESclose(events) >= 0);
}

static void check_lists(void) {
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  hbool_t value = 1, back = 0;
  CHECK(H5Pset_fapl_cache(fapl, "HDF5_CACHE_WR", &value) >= 0);
  CHECK(H5Pget_fapl_cache(fapl, "HDF5_CACHE_WR", &back) >= 0 && back);
  value = 0;
  CHECK(H5Pset_fapl_cache(fapl, "HDF5_CACHE_WR", &value) >= 0);
  CHECK(H5Pget_fapl_cache(fapl, "HDF5_CACHE_WR", &back) >= 0 && !back);
  H5E_auto2_t print = NULL;
  void* data = NULL;
  H5Eget_auto2(H5E_DEFAULT, &print, &data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  CHECK(H5Pget_fapl_cache(fapl, "HDF5_CACHE_RD", &back) < 0);
  REFUSED(H5Pset_fapl_cache(fapl, "HDF5_CACHE", &value), "neither");
  REFUSED(H5Pget_fapl_cache(fapl, "HDF5_CACHE_RD", NULL), "no place");
  H5Eset_auto2(H5E_DEFAULT, print, data);
  CHECK(H5Pclose(fapl) >= 0);
}

static void use_typed(const char* path, const char* config) {
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  CHECK(H5Pset_fapl_forebay(fapl, config, "drain.trigger=close;reserve.size=1MiB") >= 0);
  use(path, fapl, 1);
  CHECK(H5Pset_fapl_forebay(fapl, config, "mode=bypass") >= 0);
  use(path, fapl, 0);
  /* The connector is there now, and this file is not its own. */
  use_without(path, "was not opened through");
  CHECK(H5Pset_fapl_forebay(fapl, config, "mode=asinc") < 0);
  CHECK(H5Eget_num(H5E_DEFAULT) > 0);
  CHECK(H5Pclose(fapl) >= 0);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  char path[4096], config[4096];
  snprintf(path, sizeof path, "%s/api.h5", argv[2]);
  snprintf(config, sizeof config, "%s/config.yaml", argv[2]);
  check_lists();
  if (strcmp(argv[1], "none") == 0) {
    use_without(path, "is not loaded");
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    CHECK(H5Pset_fapl_forebay(fapl, NULL, NULL) < 0);
    CHECK(H5Eget_num(H5E_DEFAULT) > 0);
    CHECK(H5Pclose(fapl) >= 0);
  } else if (strcmp(argv[1], "typed") == 0) {
    use_typed(path, config);
  } else {
    with_events = strcmp(argv[1], "below") != 0;
    use(path, H5P_DEFAULT, strcmp(argv[1], "off") != 0);
  }
  if (failures != 0) fprintf(stderr, "%s: %d failures\n", argv[1], failures);
  return failures != 0;
}
