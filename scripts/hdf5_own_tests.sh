#!/usr/bin/env bash
# HDF5's own tests, natively and with the connector: what differs is listed, and decides the exit status.
#
#   ./dev build release && ./dev exec scripts/hdf5_own_tests.sh [FOLDER]
#
# The sources are those of the distribution's package, fetched from its configured sources into FOLDER (default:
# build/hdf5-own-tests) and left there; the tests are built against the installed shared libraries, nothing of
# HDF5 is built. FOREBAY_PLUGINS names another folder of plugins than build/release/plugins. Not part of
# ./dev test: it takes the network, and half an hour.
set -uo pipefail

checkout=$(cd -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/.." && pwd -P)
work=$(realpath -m -- "${1:-$checkout/build/hdf5-own-tests}")
plugins=${FOREBAY_PLUGINS:-$checkout/build/release/plugins}
libraries=/usr/lib/$(gcc -print-multiarch)
# Those that a connector can be under: no internals of the native one, no drivers of their own.
serial=(testhdf5 dsets dtypes enum extend external fillval getname links mount ntypes objcopy_ref set_extent
  unlink vds event_set)
parallel=(testphdf5 t_shapesame t_bigio)

say() { echo "hdf5_own_tests: $*" >&2; }
die() { say "$*"; exit 2; }

fetch() {
  [[ -d $work/source ]] && return
  mkdir -p "$work/lists/partial"
  cd "$work" || exit 2
  local options=(-o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$work/lists" -o APT::Sandbox::User=root)
  cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | sed -n 's/^deb /deb-src /p' >sources.list
  [[ -s sources.list ]] || die "apt has no one-line sources to take the package from"
  say "fetching the source package"
  { apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only hdf5; } >fetch.log 2>&1 ||
    die "the source package cannot be fetched: see $work/fetch.log"
  dpkg-source -x hdf5_*.dsc source >>fetch.log 2>&1 || die "it cannot be unpacked: see $work/fetch.log"
}

# The .c files that an automake file names for a program; its own if it names none.
sources_of() {
  local found
  found=$(sed -e ':a' -e '/\\$/N' -e 's/\\\n//' -e 'ta' "$1/Makefile.am" | sed -n "s/^$2_SOURCES *= *//p" | head -n 1)
  echo "${found:-$2.c}"
}

# build FLAVOUR FOLDER COMPILER PROGRAM...
build() {
  local flavour=$1 folder=$work/source/$2 compiler=$3 program file files
  shift 3
  mkdir -p "$work/$flavour"
  # What configuring would make of its .in file.
  echo "const char *config_srcdir = \"$folder\";" >"$work/$flavour/H5srcdir_str.h"
  local flags=(-O1 -w -DNDEBUG -I"$work/$flavour" -I"$work/source/src" -I"$work/source/test" -isystem "/usr/include/hdf5/$flavour"
    -DH5_USE_114_API_DEFAULT)
  for file in h5test testframe cache_common external_common swmr_common; do
    [[ -f $work/source/test/$file.c ]] || continue
    "$compiler" "${flags[@]}" -c "$work/source/test/$file.c" -o "$work/$flavour/lib_$file.o" || return
  done
  for program in "$@"; do
    files=()
    for file in $(sources_of "$folder" "$program"); do files+=("$folder/$file"); done
    "$compiler" "${flags[@]}" "${files[@]}" "$work/$flavour"/lib_*.o -o "$work/$flavour/$program" \
      "$libraries/libhdf5_$flavour.so" -lm -ldl -lpthread 2>"$work/$flavour/$program.log" ||
      say "$flavour: $program cannot be built: see $work/$flavour/$program.log"
  done
}

# What counts of a program's words: verdicts, without times and places.
verdicts() { grep -aE 'Testing|PASSED|FAILED|SKIP|[Ee]rror|success' "$1" | sed -E 's/0x[0-9a-f]+|[0-9]+\.[0-9]+|line [0-9]+//g'; }

# compare FLAVOUR FOLDER PROGRAM STARTER...
compare() {
  local flavour=$1 folder=$2 program=$3 way code codes=()
  shift 3
  [[ -x $work/$flavour/$program ]] || return 1
  for way in native connector; do
    local place=$work/$flavour/$program.$way
    rm -rf "$place" && mkdir -p "$place/memory" && cd "$place" || exit 2
    local env=(env "srcdir=$work/source/$folder" HDF5_TEST_EXPRESS=3 HDF5TestExpress=3)
    if [[ $way == connector ]]; then
      env+=("HDF5_PLUGIN_PATH=$plugins/$flavour" HDF5_VOL_CONNECTOR=forebay
        "FOREBAY_BUFFER_DIRECTORY=$place/memory/control" "FOREBAY_TIERS=memory:$place/memory:256MiB")
    fi
    timeout 900 "${env[@]}" "$@" "$work/$flavour/$program" >"$place.out" 2>"$place.err"
    code=$?
    codes+=("$code")
    verdicts "$place.out" >"$place.verdicts"
  done
  local out=$work/$flavour/$program
  if [[ ${codes[0]} == "${codes[1]}" ]] && cmp -s "$out.native.verdicts" "$out.connector.verdicts"; then
    echo "same     $flavour $program: exit ${codes[0]}, $(wc -l <"$out.native.verdicts") verdicts"
    return 0
  fi
  echo "differs  $flavour $program: exit ${codes[0]} natively, ${codes[1]} with the connector"
  diff "$out.native.verdicts" "$out.connector.verdicts" | head -n 20
  return 1
}

fetch
worst=0
build serial test gcc "${serial[@]}" || die "HDF5's test library cannot be built"
for program in "${serial[@]}"; do compare serial test "$program" || worst=1; done
for mpi in mpich openmpi; do
  command -v mpicc.$mpi >/dev/null && [[ -d $plugins/$mpi ]] || continue
  root=()
  [[ $mpi == openmpi ]] && root=(--allow-run-as-root --oversubscribe)
  build $mpi testpar mpicc.$mpi "${parallel[@]}" || die "HDF5's test library cannot be built for $mpi"
  for program in "${parallel[@]}"; do
    compare $mpi testpar "$program" mpiexec.$mpi "${root[@]}" -n 3 || worst=1
  done
done
exit $worst
