// The figures of the engine, in the order in which they are measured. Each is one file in bench/figures.
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

inline constexpr Figure kEngineFigures[] = {
    {"stage_1m", "at least 0.8 of memcpy", measure_stage_1m},
    {"stage_1m_vs_tmpfs", "at least 3 times pwrite to a new tmpfs file", measure_stage_1m_vs_tmpfs},
    {"stage_4k", "at most 0.7 us, and faster than pwrite", measure_stage_4k},
    {"read_4k", "at most 0.7 us, and faster than pread", measure_read_4k},
    {"read_64", "at least 5 times pread", measure_read_64},
    {"index_ops", "at least 100 times Memcached over a unix socket", measure_index_ops},
    {"pool", "at least 3 times malloc, not below tcmalloc", measure_pool},
};

}  // namespace forebay::bench
