// The calls of <forebay/hdf5.h>.
#define FOREBAY_H5_NO_MACROS
#include <forebay/hdf5.h>

#include "door/hdf5/api/call.hpp"

using forebay::hdf5::call;
using forebay::hdf5::DatasetOperation;
using forebay::hdf5::FileOperation;
using forebay::hdf5::Place;
using forebay::hdf5::PrefetchArguments;
using forebay::hdf5::QueryArguments;
using forebay::hdf5::ReadArguments;
using forebay::hdf5::refuse;
using forebay::hdf5::ReserveArguments;

#define FOREBAY_HERE (Place{app_file, app_func, app_line})

extern "C" {

herr_t H5Dprefetch_async(FOREBAY_H5_PLACE, hid_t dset_id, hid_t file_space_id, hid_t dxpl_id, hid_t es_id) {
  PrefetchArguments args{file_space_id};
  return call(FOREBAY_HERE, DatasetOperation::kPrefetch, dset_id, &args, dxpl_id, es_id);
}

herr_t H5Dprefetch(FOREBAY_H5_PLACE, hid_t dset_id, hid_t file_space_id, hid_t dxpl_id) {
  return H5Dprefetch_async(app_file, app_func, app_line, dset_id, file_space_id, dxpl_id, H5ES_NONE);
}

herr_t H5Dread_to_cache_async(FOREBAY_H5_PLACE, hid_t dset_id, hid_t mem_type_id, hid_t mem_space_id,
                              hid_t file_space_id, hid_t dxpl_id, void* buf, hid_t es_id) {
  ReadArguments args{mem_type_id, mem_space_id, file_space_id, buf};
  return call(FOREBAY_HERE, DatasetOperation::kReadToCache, dset_id, &args, dxpl_id, es_id);
}

herr_t H5Dread_to_cache(FOREBAY_H5_PLACE, hid_t dset_id, hid_t mem_type_id, hid_t mem_space_id,
                        hid_t file_space_id, hid_t dxpl_id, void* buf) {
  return H5Dread_to_cache_async(app_file, app_func, app_line, dset_id, mem_type_id, mem_space_id,
                                file_space_id, dxpl_id, buf, H5ES_NONE);
}

herr_t H5Dread_from_cache_async(FOREBAY_H5_PLACE, hid_t dset_id, hid_t mem_type_id, hid_t mem_space_id,
                                hid_t file_space_id, hid_t dxpl_id, void* buf, hid_t es_id) {
  ReadArguments args{mem_type_id, mem_space_id, file_space_id, buf};
  return call(FOREBAY_HERE, DatasetOperation::kReadFromCache, dset_id, &args, dxpl_id, es_id);
}

herr_t H5Dread_from_cache(FOREBAY_H5_PLACE, hid_t dset_id, hid_t mem_type_id, hid_t mem_space_id,
                          hid_t file_space_id, hid_t dxpl_id, void* buf) {
  return H5Dread_from_cache_async(app_file, app_func, app_line, dset_id, mem_type_id, mem_space_id,
                                  file_space_id, dxpl_id, buf, H5ES_NONE);
}

herr_t H5Fcache_create_async(FOREBAY_H5_PLACE, hid_t file_id, hid_t /*fapl_id*/, hsize_t size,
                             int /*purpose*/, int duration, hid_t es_id) {
  ReserveArguments args{size, duration != FOREBAY_CACHE_TEMPORAL};
  return call(FOREBAY_HERE, FileOperation::kReserve, file_id, &args, es_id);
}

herr_t H5Fcache_create(FOREBAY_H5_PLACE, hid_t file_id, hid_t fapl_id, hsize_t size, int purpose,
                       int duration) {
  return H5Fcache_create_async(app_file, app_func, app_line, file_id, fapl_id, size, purpose, duration,
                               H5ES_NONE);
}

herr_t H5Freserve_cache(FOREBAY_H5_PLACE, hid_t file_id, hid_t /*dxpl_id*/, hsize_t size, int purpose,
                        int duration) {
  return H5Fcache_create_async(app_file, app_func, app_line, file_id, H5P_DEFAULT, size, purpose, duration,
                               H5ES_NONE);
}

herr_t H5Fquery_cache(FOREBAY_H5_PLACE, hid_t file_id, hid_t /*dxpl_id*/, hsize_t* size) {
  if (size == nullptr) return refuse(FOREBAY_HERE, H5E_BADVALUE, "there is no place for the size");
  QueryArguments args{size};
  return call(FOREBAY_HERE, FileOperation::kQuery, file_id, &args, H5ES_NONE);
}

herr_t H5Fcache_remove_async(FOREBAY_H5_PLACE, hid_t file_id, hid_t es_id) {
  return call(FOREBAY_HERE, FileOperation::kRemove, file_id, nullptr, es_id);
}

herr_t H5Fcache_remove(FOREBAY_H5_PLACE, hid_t file_id) {
  return H5Fcache_remove_async(app_file, app_func, app_line, file_id, H5ES_NONE);
}

herr_t H5Dcache_create_async(FOREBAY_H5_PLACE, hid_t dset_id, const char* /*name*/, hid_t es_id) {
  return call(FOREBAY_HERE, DatasetOperation::kCacheCreate, dset_id, nullptr, H5P_DEFAULT, es_id);
}

herr_t H5Dcache_create(FOREBAY_H5_PLACE, hid_t dset_id, const char* name) {
  return H5Dcache_create_async(app_file, app_func, app_line, dset_id, name, H5ES_NONE);
}

herr_t H5Dcache_remove_async(FOREBAY_H5_PLACE, hid_t dset_id, hid_t es_id) {
  return call(FOREBAY_HERE, DatasetOperation::kCacheRemove, dset_id, nullptr, H5P_DEFAULT, es_id);
}

herr_t H5Dcache_remove(FOREBAY_H5_PLACE, hid_t dset_id) {
  return H5Dcache_remove_async(app_file, app_func, app_line, dset_id, H5ES_NONE);
}

herr_t H5Fcache_async_op_pause(FOREBAY_H5_PLACE, hid_t file_id) {
  return call(FOREBAY_HERE, FileOperation::kPause, file_id, nullptr, H5ES_NONE);
}

herr_t H5Fcache_async_op_start(FOREBAY_H5_PLACE, hid_t file_id) {
  return call(FOREBAY_HERE, FileOperation::kStart, file_id, nullptr, H5ES_NONE);
}

herr_t H5Dcache_async_op_pause(FOREBAY_H5_PLACE, hid_t dset_id) {
  return call(FOREBAY_HERE, DatasetOperation::kPause, dset_id, nullptr, H5P_DEFAULT, H5ES_NONE);
}

herr_t H5Dcache_async_op_start(FOREBAY_H5_PLACE, hid_t dset_id) {
  return call(FOREBAY_HERE, DatasetOperation::kStart, dset_id, nullptr, H5P_DEFAULT, H5ES_NONE);
}

herr_t H5Fasync_pause(FOREBAY_H5_PLACE, hid_t file_id) {
  return H5Fcache_async_op_pause(app_file, app_func, app_line, file_id);
}

herr_t H5Fasync_start(FOREBAY_H5_PLACE, hid_t file_id) {
  return H5Fcache_async_op_start(app_file, app_func, app_line, file_id);
}

herr_t H5Fcache_async_close_set(FOREBAY_H5_PLACE, hid_t file_id) {
  return call(FOREBAY_HERE, FileOperation::kDetachOnClose, file_id, nullptr, H5ES_NONE);
}

herr_t H5Fcache_async_close_wait(FOREBAY_H5_PLACE, hid_t file_id) {
  return call(FOREBAY_HERE, FileOperation::kWaitForHome, file_id, nullptr, H5ES_NONE);
}

}  // extern "C"
