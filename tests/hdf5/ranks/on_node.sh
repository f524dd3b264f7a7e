#!/bin/sh
# on_node.sh PLACE COMMAND...: runs a rank as if on one of two nodes that share a file system. Even and odd
# ranks have a host name, a control directory and memory of their own, and PLACE/shared in common.
place=$1
shift
node=node$((${PMI_RANK:-${OMPI_COMM_WORLD_RANK:?is not set}} % 2))
mkdir -p "$place/$node" "$place/shared"
export FOREBAY_BUFFER_DIRECTORY="$place/$node/control"
if [ -n "${CACHE_CFG_NAME:-}" ]; then
  # Tiers are those of the Cache VOL's file; memory lies in /dev/shm, below the buffer's name.
  export FOREBAY_BUFFER_NAME="$CACHE_CFG_NAME-$node"
  unset FOREBAY_TIERS
else
  export FOREBAY_TIERS="memory:$place/$node:1MiB,shared:$place/shared:32MiB"
fi
exec unshare --uts sh -c 'hostname "$0" && exec "$@"' "$node" "$@"
