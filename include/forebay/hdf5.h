/*
 * Forebay's own calls for programs that use HDF5: prefetching, and control of what is buffered.
 *
 * Link libforebay_h5_serial, _mpich or _openmpi, whichever HDF5 the program links (pkg-config
 * forebay_h5_serial). The library holds nothing but these calls: the work is done by the connector `forebay`,
 * which HDF5 loads as HDF5_VOL_CONNECTOR or H5Pset_fapl_forebay say, alone or anywhere in a stack of
 * connectors.
 *
 * Every call returns a negative value when it failed, with an entry on HDF5's error stack. Where the
 * connector is not loaded, or the object was not opened through it, the call does nothing else. Where a file
 * is open through the connector but not buffered (its settings, its driver), there is nothing to control:
 * reads read, the other calls succeed and do nothing.
 *
 * On the MPI-IO driver only what is open for reading is prefetched. Every rank asks for itself; what several
 * ranks of a node ask for comes from home once. Where HDF5 reads metadata collectively, the calls for
 * datasets are collective.
 *
 * The calls take the place they are made from in front, as the Cache VOL's did; macros of the same names see
 * to that. Programs written for the Cache VOL find its header in <forebay/compat/cache_new_h5api.h>.
 *
 * Thread safety is that of the HDF5 in use.
 */
#ifndef FOREBAY_HDF5_H
#define FOREBAY_HDF5_H

#include <hdf5.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOREBAY_H5_API __attribute__((visibility("default")))
#define FOREBAY_H5_PLACE const char *app_file, const char *app_func, unsigned app_line

/* What a cache is for, and how long it is kept. Forebay shares room between reads and writes: the first is
 * taken and not used. What is clean of a file with a temporal cache is forgotten when the last process on the
 * node has closed it (the setting `after_close: drop`); of others it stays until the room is needed. */
enum forebay_cache_purpose { FOREBAY_CACHE_READ, FOREBAY_CACHE_WRITE, FOREBAY_CACHE_RDWR };
enum forebay_cache_duration { FOREBAY_CACHE_PERMANENT, FOREBAY_CACHE_TEMPORAL };

/* ---- How files are opened ---- */

/* Files opened with `fapl` go through the connector `forebay`, on the native one. `config`: a configuration
 * file, or NULL. `settings`: "key=value;key=value" for these files alone, such as
 * "on_close=detach;prefetch.at_open=file", or NULL. The list's file driver stays as it is. */
FOREBAY_H5_API herr_t H5Pset_fapl_forebay(hid_t fapl, const char* config, const char* settings);

/* Switches buffering of writes ("HDF5_CACHE_WR") or reads ("HDF5_CACHE_RD") on or off for files opened with
 * `fapl`. `value` points to an hbool_t. A get of what was never set is an error. Under the connector's other
 * name, cache_ext, environment variables of these names win, and what nobody switches on is off. Both work
 * without the connector; nobody looks at the wish then. */
FOREBAY_H5_API herr_t H5Pset_fapl_cache(hid_t fapl, const char* flag, const void* value);
FOREBAY_H5_API herr_t H5Pget_fapl_cache(hid_t fapl, const char* flag, void* value);

/* ---- Prefetching ---- */

/* Brings what `file_space_id` selects of a dataset into the buffer; H5S_ALL: all of it. Returns when it is
 * there. Room that others have reserved is not taken: what finds no room stays home. */
FOREBAY_H5_API herr_t H5Dprefetch(FOREBAY_H5_PLACE, hid_t dset_id, hid_t file_space_id, hid_t dxpl_id);
/* Returns at once; the event completes when the bytes are there. */
FOREBAY_H5_API herr_t H5Dprefetch_async(FOREBAY_H5_PLACE, hid_t dset_id, hid_t file_space_id, hid_t dxpl_id,
                                        hid_t es_id);

/* H5Dread that keeps what it reads in the buffer, whatever `admission.read` says. The selection is brought in
 * whole chunks. */
FOREBAY_H5_API herr_t H5Dread_to_cache(FOREBAY_H5_PLACE, hid_t dset_id, hid_t mem_type_id, hid_t mem_space_id,
                                       hid_t file_space_id, hid_t dxpl_id, void* buf);
/* H5Dread. What the buffer has comes from there, the rest from home. */
FOREBAY_H5_API herr_t H5Dread_from_cache(FOREBAY_H5_PLACE, hid_t dset_id, hid_t mem_type_id,
                                         hid_t mem_space_id, hid_t file_space_id, hid_t dxpl_id, void* buf);
/* The same for event sets. They have completed when they return. */
FOREBAY_H5_API herr_t H5Dread_to_cache_async(FOREBAY_H5_PLACE, hid_t dset_id, hid_t mem_type_id,
                                             hid_t mem_space_id, hid_t file_space_id, hid_t dxpl_id,
                                             void* buf, hid_t es_id);
FOREBAY_H5_API herr_t H5Dread_from_cache_async(FOREBAY_H5_PLACE, hid_t dset_id, hid_t mem_type_id,
                                               hid_t mem_space_id, hid_t file_space_id, hid_t dxpl_id,
                                               void* buf, hid_t es_id);

/* ---- Room ---- */

/* Reserves room in the buffer for a file, in place of what it had reserved: `size` bytes, or as much as other
 * files have left. Both do the same. */
FOREBAY_H5_API herr_t H5Fcache_create(FOREBAY_H5_PLACE, hid_t file_id, hid_t fapl_id, hsize_t size,
                                      int purpose, int duration);
FOREBAY_H5_API herr_t H5Freserve_cache(FOREBAY_H5_PLACE, hid_t file_id, hid_t dxpl_id, hsize_t size,
                                       int purpose, int duration);
/* Room that the file may still fill: not reserved by other files, and not filled by it already. 0 if the file
 * is not buffered. */
FOREBAY_H5_API herr_t H5Fquery_cache(FOREBAY_H5_PLACE, hid_t file_id, hid_t dxpl_id, hsize_t* size);
/* Forgets what the buffer holds of the file, but for bytes that are not home yet, and gives its reservation
 * back. */
FOREBAY_H5_API herr_t H5Fcache_remove(FOREBAY_H5_PLACE, hid_t file_id);
/* Adds what the dataset takes up to its file's reservation. `name` is not used. */
FOREBAY_H5_API herr_t H5Dcache_create(FOREBAY_H5_PLACE, hid_t dset_id, const char* name);
/* Forgets the dataset, and takes that much off its file's reservation. */
FOREBAY_H5_API herr_t H5Dcache_remove(FOREBAY_H5_PLACE, hid_t dset_id);
/* The same for event sets. They have completed when they return. */
FOREBAY_H5_API herr_t H5Fcache_create_async(FOREBAY_H5_PLACE, hid_t file_id, hid_t fapl_id, hsize_t size,
                                            int purpose, int duration, hid_t es_id);
FOREBAY_H5_API herr_t H5Fcache_remove_async(FOREBAY_H5_PLACE, hid_t file_id, hid_t es_id);
FOREBAY_H5_API herr_t H5Dcache_create_async(FOREBAY_H5_PLACE, hid_t dset_id, const char* name, hid_t es_id);
FOREBAY_H5_API herr_t H5Dcache_remove_async(FOREBAY_H5_PLACE, hid_t dset_id, hid_t es_id);

/* ---- Background movement ---- */

/* Between pause and start nothing of the file is carried home in the background by this process, so that it
 * does not compete with the program. Room that gets short, a flush and a close still carry bytes home. For a
 * dataset: the whole file it lies in. */
FOREBAY_H5_API herr_t H5Fcache_async_op_pause(FOREBAY_H5_PLACE, hid_t file_id);
FOREBAY_H5_API herr_t H5Fcache_async_op_start(FOREBAY_H5_PLACE, hid_t file_id);
FOREBAY_H5_API herr_t H5Dcache_async_op_pause(FOREBAY_H5_PLACE, hid_t dset_id);
FOREBAY_H5_API herr_t H5Dcache_async_op_start(FOREBAY_H5_PLACE, hid_t dset_id);
FOREBAY_H5_API herr_t H5Fasync_pause(FOREBAY_H5_PLACE, hid_t file_id);
FOREBAY_H5_API herr_t H5Fasync_start(FOREBAY_H5_PLACE, hid_t file_id);

/* H5Fclose of this file will not wait for home, as with `on_close: detach`. Closing datasets and groups never
 * waits. */
FOREBAY_H5_API herr_t H5Fcache_async_close_set(FOREBAY_H5_PLACE, hid_t file_id);
/* Returns when everything staged of the file is home. What HDF5 itself still holds back (its chunk cache) is
 * not staged: H5Fflush asks for that too. */
FOREBAY_H5_API herr_t H5Fcache_async_close_wait(FOREBAY_H5_PLACE, hid_t file_id);

#ifndef FOREBAY_H5_NO_MACROS
#define H5Dprefetch(...) H5Dprefetch(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Dprefetch_async(...) H5Dprefetch_async(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Dread_to_cache(...) H5Dread_to_cache(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Dread_to_cache_async(...) H5Dread_to_cache_async(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Dread_from_cache(...) H5Dread_from_cache(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Dread_from_cache_async(...) H5Dread_from_cache_async(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Fcache_create(...) H5Fcache_create(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Fcache_create_async(...) H5Fcache_create_async(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Fcache_remove(...) H5Fcache_remove(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Fcache_remove_async(...) H5Fcache_remove_async(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Freserve_cache(...) H5Freserve_cache(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Fquery_cache(...) H5Fquery_cache(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Dcache_create(...) H5Dcache_create(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Dcache_create_async(...) H5Dcache_create_async(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Dcache_remove(...) H5Dcache_remove(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Dcache_remove_async(...) H5Dcache_remove_async(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Fcache_async_op_pause(...) H5Fcache_async_op_pause(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Fcache_async_op_start(...) H5Fcache_async_op_start(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Dcache_async_op_pause(...) H5Dcache_async_op_pause(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Dcache_async_op_start(...) H5Dcache_async_op_start(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Fasync_pause(...) H5Fasync_pause(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Fasync_start(...) H5Fasync_start(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Fcache_async_close_set(...) H5Fcache_async_close_set(__FILE__, __func__, __LINE__, __VA_ARGS__)
#define H5Fcache_async_close_wait(...) H5Fcache_async_close_wait(__FILE__, __func__, __LINE__, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif /* FOREBAY_HDF5_H */
