// The figures of each suite, in the order in which they are measured. They are in bench/figures.
#pragma once

#include <span>

#include "bench/run.hpp"

namespace forebay::bench {

void measure_stage_1m(const Run& run);
void measure_stage_1m_vs_tmpfs(const Run& run);
void measure_stage_4k(const Run& run);
void measure_read_4k(const Run& run);
void measure_read_64(const Run& run);
void measure_index_ops(const Run& run);
void measure_pool(const Run& run);
void measure_drain_merge(const Run& run);
void measure_overlap(const Run& run);
void measure_nvme_stage(const Run& run);
void measure_overhead_memory(const Run& run);
void measure_idle_cpu(const Run& run);
void measure_growth(const Run& run);

inline constexpr Figure kEngineFigures[] = {
    {"stage_1m", "at least 0.8 of memcpy", measure_stage_1m},
    {"stage_1m_vs_tmpfs", "at least 3 times pwrite to a new tmpfs file", measure_stage_1m_vs_tmpfs},
    {"stage_4k", "at most 0.7 us, and faster than pwrite", measure_stage_4k},
    {"read_4k", "at most 0.7 us, and faster than pread", measure_read_4k},
    {"read_64", "at least 5 times pread", measure_read_64},
    {"index_ops", "at least 100 times Memcached over a unix socket", measure_index_ops},
    {"pool", "at least 3 times malloc, not below tcmalloc", measure_pool},
    {"drain_merge", "4 KiB writes in random order reach home in writes of at least 1 MiB",
     measure_drain_merge},
    {"overlap", "total at most 1.05 of max(compute, drain) plus staging", measure_overlap},
    {"nvme_stage", "at least 0.9 of O_DIRECT at queue depth 16", measure_nvme_stage},
    {"overhead_memory", "at most 0.01 of the buckets", measure_overhead_memory},
    {"idle_cpu", "nothing to be measured", measure_idle_cpu},
    {"growth", "ten times as much costs ten times, not more", measure_growth},
};

void measure_hdf5_checkpoint(const Run& run);
void measure_hdf5_checkpoint_no_compute(const Run& run);
void measure_hdf5_epochs(const Run& run);
void measure_hdf5_small_writes(const Run& run);
void measure_hdf5_metadata(const Run& run);
void measure_hdf5_overhead(const Run& run);

inline constexpr Figure kHdf5Figures[] = {
    {"checkpoint", "at least 8 times native, 0.7 of staging; total at most 1.05 of the ideal",
     measure_hdf5_checkpoint},
    {"checkpoint_no_compute", "never below 0.95 of native", measure_hdf5_checkpoint_no_compute},
    {"epoch", "cold at least 0.95 of native; warm 8 times native, and 0.9 of a file in memory",
     measure_hdf5_epochs},
    {"small_writes", "at least 10 times native", measure_hdf5_small_writes},
    {"metadata", "at most 1.1 of native's time on tmpfs", measure_hdf5_metadata},
    {"overhead", "at most 1.1 of native's time on tmpfs, without buffering", measure_hdf5_overhead},
};

void measure_posix_ckpt(const Run& run);
void measure_posix_reread(const Run& run);
void measure_posix_small_io(const Run& run);
void measure_posix_small_files(const Run& run);
void measure_posix_untouched(const Run& run);
void measure_posix_startup(const Run& run);

inline constexpr Figure kPosixFigures[] = {
    {"ckpt", "observed write rate at least 8 times plain", measure_posix_ckpt},
    {"reread", "at least 11 times plain from the second read on", measure_posix_reread},
    {"small_io", "at least 5 times plain on slowfs, not below plain on tmpfs", measure_posix_small_io},
    {"small_files", "at least 3 times plain", measure_posix_small_files},
    {"untouched", "at most 1.02 of plain", measure_posix_untouched},
    {"startup", "at most 30 ms over plain", measure_posix_startup},
};

void measure_mpiio_chunks(const Run& run);
void measure_mpiio_hit_64(const Run& run);
void measure_mpiio_map_search(const Run& run);
void measure_mpiio_random_walk(const Run& run);
void measure_mpiio_collective(const Run& run);
void measure_mpiio_strided(const Run& run);
void measure_mpiio_gapped(const Run& run);

inline constexpr Figure kMpiioFigures[] = {
    {"chunks", "at least 10 times plain up to 4 KiB, never below plain at 1 MiB", measure_mpiio_chunks},
    {"hit_64", "at least 5 times ROMIO on tmpfs", measure_mpiio_hit_64},
    {"map_search", "time against plain, and speed-up with ranks", measure_mpiio_map_search},
    {"random_walk", "time against plain", measure_mpiio_random_walk},
    {"collective", "at least 3 times collective buffering", measure_mpiio_collective},
    {"strided", "not below plain", measure_mpiio_strided},
    {"gapped", "not below plain", measure_mpiio_gapped},
};

struct Suite {
  const char* name;
  std::span<const Figure> figures;
};
inline constexpr Suite kSuites[] = {
    {"engine", kEngineFigures}, {"hdf5", kHdf5Figures}, {"mpiio", kMpiioFigures}, {"posix", kPosixFigures}};

}  // namespace forebay::bench
