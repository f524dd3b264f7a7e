/* The words of the Cache VOL that its users' programs hold: see cache_new_h5api.h. */
#ifndef FOREBAY_COMPAT_H5LS_H
#define FOREBAY_COMPAT_H5LS_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* In the order of <forebay/hdf5.h>. */
typedef enum cache_purpose { READ, WRITE, RDWR } cache_purpose_t;
typedef enum cache_duration { PERMANENT, TEMPORAL } cache_duration_t;
/* No call takes these. */
typedef enum cache_claim { SOFT, HARD } cache_claim_t;
typedef enum cache_replacement_policy { FIFO, LIFO, LRU, LFU } cache_replacement_policy_t;

#endif
