#!/bin/sh
# Runs an example in a directory and with a buffer of its own, both gone afterwards.
# usage: run.sh PROGRAM
set -eu
place=$(mktemp -d /dev/shm/forebay-example-XXXXXX)
trap 'rm -rf "$place"' EXIT
mkdir "$place/home"
export FOREBAY_BUFFER_DIRECTORY="$place/buffer" FOREBAY_TIERS="memory:$place:32MiB"
"$1" "$place/home"
for file in "$place"/home/*.dat; do
  [ -s "$file" ] || { echo "$file is missing or empty" >&2; exit 1; }
done
