/* The Cache VOL's header, for programs written for it: they compile with this one's folder in the include
 * path and link libforebay_h5_<flavour> in place of its library. */
#ifndef FOREBAY_COMPAT_CACHE_NEW_H5API_H
#define FOREBAY_COMPAT_CACHE_NEW_H5API_H

#include "H5LS.h"

#include <forebay/hdf5.h>

/* The connector under the Cache VOL's name, for H5Pset_vol. */
static inline hid_t H5VL_cache_ext_register(void) {
  return H5VLregister_connector_by_name("cache_ext", H5P_DEFAULT);
}

/* The Cache VOL mapped its files anew, to measure without the page cache: there is nothing to do here. */
static inline herr_t H5Dmmap_remap(hid_t dset_id) {
  (void)dset_id;
  return 0;
}

#endif
