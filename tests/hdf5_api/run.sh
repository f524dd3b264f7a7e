#!/bin/sh
# Runs the two programs of this folder with the connector, without it, and with it in other guises, all by the
# environment.
# usage: run.sh API CACHE_VOL PLUGINS
set -eu
api=$1
cache_vol=$2
plugins=$3
place=$(mktemp -d /dev/shm/forebay-hdf5-api-XXXXXX)
# The tiers of a .cfg file with type MEMORY lie in /dev/shm, below the buffer's name: this one is ours alone.
name=hdf5-api-$$
trap 'rm -rf "$place" "/dev/shm/$name"' EXIT
unset HDF5_VOL_CONNECTOR HDF5_CACHE_WR HDF5_CACHE_RD
cat >"$place/config.yaml" <<END
buffer: {directory: $place/control}
tiers: [{kind: memory, path: $place, size: 32MiB}]
END
cat >"$place/cache_1.cfg" <<END
HDF5_CACHE_STORAGE_SCOPE: LOCAL # the scope of the storage [LOCAL|GLOBAL]
HDF5_CACHE_STORAGE_PATH: NULL
HDF5_CACHE_STORAGE_SIZE: 33554432 # in bytes
HDF5_CACHE_WRITE_BUFFER_SIZE: 8388608
HDF5_CACHE_STORAGE_TYPE: MEMORY # [SSD|BURST_BUFFER|MEMORY|GPU]
HDF5_CACHE_REPLACEMENT_POLICY: LRU # [LRU|LFU|FIFO|LIFO]
END
cache="config=$place/cache_1.cfg;under_vol=512;under_info={under_vol=0;under_info={}}"

case_of() {
  echo "-- $1" >&2
  shift
  env "$@"
}
case_of "no connector" HDF5_PLUGIN_PATH=/nonexistent "$api" none "$place"
export HDF5_PLUGIN_PATH="$plugins"
case_of "connector by property list" "$api" typed "$place"
case_of "connector" "HDF5_VOL_CONNECTOR=forebay config=$place/config.yaml" "$api" connector "$place"
# Not as under_info={config=...}: the pass_through of HDF5 1.14 puts a stray byte behind that.
case_of "connector below another" "FOREBAY_CONFIG=$place/config.yaml" \
  "HDF5_VOL_CONNECTOR=pass_through under_vol=419;under_info={}" "$api" below "$place"
case_of "connector above another" \
  "HDF5_VOL_CONNECTOR=forebay config=$place/config.yaml;under_vol=1;under_info={under_vol=0;under_info={}}" \
  "$api" connector "$place"
export FOREBAY_BUFFER_DIRECTORY="$place/control" FOREBAY_BUFFER_NAME="$name"
case_of "cache_ext" "HDF5_VOL_CONNECTOR=cache_ext $cache" HDF5_CACHE_WR=yes HDF5_CACHE_RD=yes \
  HDF5_CACHE_LOG_LEVEL=WARN "$api" connector "$place"
case_of "cache_ext, caches off" "HDF5_VOL_CONNECTOR=cache_ext $cache" "$api" off "$place"
case_of "a program of the Cache VOL" "HDF5_VOL_CONNECTOR=cache_ext $cache" HDF5_CACHE_RD=yes \
  HDF5_CACHE_DELAY_CLOSE=yes DATASET_PREFETCH_AT_OPEN=yes "$cache_vol" "$place/cache_vol.h5"
