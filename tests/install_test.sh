#!/bin/sh
# What `cmake --install` puts down is enough to use: the program finds its doors and benchmarks, and programs
# build and run against the library, with pkg-config in C, with find_package in C++, and with HDF5. The installed tree is moved first: nothing in it may be an absolute path.
# usage: install_test.sh SOURCE_DIR BUILD_DIR
set -eu
source=$1
build=$2
place=$(mktemp -d "$build/install-test-XXXXXX")
trap 'rm -rf "$place"' EXIT
cmake --install "$build" --prefix "$place/first" >/dev/null
mv "$place/first" "$place/moved"
library=$(dirname "$(find "$place/moved" -name libforebay.so)")

export PKG_CONFIG_PATH="$library/pkgconfig"
cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror "$source/examples/checkpoint.c" -o "$place/c" \
  $(pkg-config --cflags --libs forebay) "-Wl,-rpath,$library"
"$source/examples/run.sh" "$place/c"

mkdir "$place/project"
cp "$source/examples/checkpoint.cpp" "$place/project"
cat >"$place/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(forebay 0.1 REQUIRED)
add_executable(cpp checkpoint.cpp)
target_compile_features(cpp PRIVATE cxx_std_17)
target_link_libraries(cpp PRIVATE forebay::forebay)
END
cmake -S "$place/project" -B "$place/project/build" -G Ninja "-DCMAKE_PREFIX_PATH=$place/moved" >/dev/null
cmake --build "$place/project/build" >/dev/null
"$source/examples/run.sh" "$place/project/build/cpp"

cc -std=c11 -Wall -Wextra -Werror "$source/tests/hdf5_api/api.c" -o "$place/h5" \
  $(pkg-config --cflags --libs forebay_h5_serial) "-Wl,-rpath,$library"
cc -std=c11 -Wall -Wextra -Werror "$source/tests/hdf5_api/cache_vol.c" -o "$place/cache_vol" \
  $(pkg-config --cflags --libs forebay_h5_serial) "-Wl,-rpath,$library"
"$source/tests/hdf5_api/run.sh" "$place/h5" "$place/cache_vol" \
  "$(pkg-config --variable=plugindir forebay_h5_serial)"

# Each door, and the benchmark suite, from where they were put.
forebay=$place/moved/bin/forebay
mkdir "$place/home" "$place/buffer"
tiers="memory:/dev/shm:32MiB"
"$forebay" run --quiet --report "$place/report" --home "$place/home" --set "tiers=$tiers" \
  --set "buffer.directory=$place/buffer/1" -- sh -c "echo through the door >'$place/home/file'"
grep -q '"staged_bytes":17' "$place/report" || { cat "$place/report"; exit 1; }
[ "$(cat "$place/home/file")" = "through the door" ]
# on_close: detach starts the installed program from a library that lies deeper than it.
cat >"$place/suite.json" <<END
{"mpi": {"command": "mpiexec.mpich", "ranks": "2"}, "home": "$place/home", "repeat": 1,
 "compare": ["native", {"name": "forebay", "settings": {"tiers": "$tiers", "admission.write": "always",
                                                        "on_close": "detach"}}],
 "benchmarks": [{"benchmark": "write", "configuration": {"TIMESTEPS": 2, "DIM_1": 4096}},
                {"benchmark": "mpiio", "configuration": {"operations": 64, "size": 512}}]}
END
"$forebay" bench "$place/suite.json" --output "$place/suite.jsonl" >"$place/said" 2>&1 || { cat "$place/said"; exit 1; }
grep -q "every element as it was written" "$place/said"
if grep -q "nothing went through the buffer" "$place/said"; then cat "$place/said"; exit 1; fi
grep -q "<svg" "$place/suite.html"
