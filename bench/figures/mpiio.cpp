// MPI-IO programs with the door, against the same programs by themselves in the same run.
#include <filesystem>

#include "base/format.hpp"
#include "bench/figures.hpp"
#include "bench/hdf5_job.hpp"
#include "bench/memory.hpp"
#include "support/places.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::bench {
namespace {

using Words = std::vector<std::string>;

const std::string kProgram = testing::built("bench/mpiio_bench_mpich");

class MpiioJob {
 public:
  // `settings`: NAME=VALUE for the door's environment.
  MpiioJob(const Run& run, unsigned ranks, Words settings = {})
      : run_(run), ranks_(ranks), settings_(std::move(settings)) {}

  [[nodiscard]] Seconds natively(const Words& words) const {
    return run_workload({}, ranks_, kProgram, words);
  }
  // With a buffer of its own. The file is words[1].
  [[nodiscard]] Seconds with_door(const Words& words) const {
    const auto memory = run_.scratch().in_memory("mpiio");
    Words environment{"LD_PRELOAD=" + testing::built("lib/libforebay_mpiio_mpich.so"),
                      "FOREBAY_HOMES=" + std::filesystem::path(words[1]).parent_path().string(),
                      "FOREBAY_BUFFER_DIRECTORY=" + memory + "/control",
                      "FOREBAY_TIERS=memory:" + memory + ":1GiB"};
    environment.insert(environment.end(), settings_.begin(), settings_.end());
    auto answer = run_workload(std::move(environment), ranks_, kProgram, words);
    std::error_code ignored;
    std::filesystem::remove_all(memory, ignored);
    return answer;
  }
  // The seconds called `what`, by turns.
  void compare_and_report(const std::string& name, const Words& words,
                          const std::string& what = "total") const {
    const auto times = compare(
        run_.turns(3), [&] { return with_door(words).at(what); }, [&] { return natively(words).at(what); });
    run_.report({name, times.ours * 1e3, "ms", times.quotient,
                 format_text("plain MPI-IO, same home: {:.4g} ms", times.baseline * 1e3)});
  }

 private:
  const Run& run_;
  unsigned ranks_;
  Words settings_;
};

testing::SlowfsMount slow_home(const Run& run) {
  if (!testing::SlowfsMount::available())
    throw std::runtime_error("this machine does not let us mount with FUSE");
  return testing::SlowfsMount({"--write-bandwidth=200MB", "--read-bandwidth=400MB", "--latency=1ms"},
                              run.scratch().on_disk("slowfs"));
}

std::string made(const Run& run, const std::string& path, std::uint64_t size) {
  (void)MpiioJob(run, 1).natively({"make", path, std::to_string(size)});
  return path;
}

const char* const kPrefetch = "FOREBAY_PREFETCH_AT_OPEN=file";

void chunks_at(const Run& run, const std::string& folder, const char* where) {
  const auto size = run.scaled(64 * kMi, 16 * kMi);
  const auto path = made(run, folder + "/chunks", size);
  // Who only writes has no use for what is there.
  const MpiioJob readers(run, 4, {kPrefetch});
  const MpiioJob writers(run, 4);
  for (const std::uint64_t chunk : {64ull, 512ull, 1024ull, 4096ull, 65536ull, 1048576ull}) {
    const auto calls = std::clamp<std::uint64_t>(size / chunk, 8, run.scaled(4000, 1000));
    for (const bool writes : {false, true}) {
      const auto& job = writes ? writers : readers;
      job.compare_and_report(format_text("chunks/{}_{}{}", writes ? "write" : "read", chunk, where),
                             {"chunks", path, std::to_string(chunk), std::to_string(size),
                              std::to_string(calls), writes ? "1" : "0"});
    }
  }
}

}  // namespace

void measure_mpiio_chunks(const Run& run) {
  const auto home = slow_home(run);
  chunks_at(run, home.path().string(), "");
  chunks_at(run, run.scratch().in_memory("chunks"), "/tmpfs");
}

void measure_mpiio_hit_64(const Run& run) {
  const auto path = made(run, run.scratch().in_memory("hit") + "/file", 2 * kMi);
  // A file in memory is left to MPI unless its writes are to be staged.
  const MpiioJob job(run, 1, {"FOREBAY_ADMISSION_WRITE=always"});
  const Words words{"hit", path, std::to_string(2 * kMi), std::to_string(run.scaled(2'000'000, 200'000))};
  const auto times = compare(
      run.turns(5), [&] { return job.with_door(words).at("call"); },
      [&] { return job.natively(words).at("call"); });
  run.report({"hit_64", times.ours * 1e9, "ns", times.quotient,
              format_text("ROMIO, same tmpfs: {:.4g} ns", times.baseline * 1e9)});
}

void measure_mpiio_map_search(const Run& run) {
  const auto home = slow_home(run);
  const auto rows = run.scaled(256, 16);
  const auto path = made(run, (home.path() / "map").string(), rows * 1024);
  for (const unsigned ranks : {1u, 2u, 4u}) {
    for (const unsigned block : {1u, 512u}) {
      // Byte by byte plain takes a millisecond each: a part of the map will do.
      const auto some = block == 1 ? std::max<std::uint64_t>(rows / 16, ranks) : rows;
      MpiioJob(run, ranks, {kPrefetch})
          .compare_and_report(format_text("map_search/{}_byte/{}_ranks", block, ranks),
                              {"map_search", path, std::to_string(some), "1024", std::to_string(block)});
    }
  }
}

void measure_mpiio_random_walk(const Run& run) {
  const auto home = slow_home(run);
  for (const std::uint64_t size : {10ull, 100ull, 1000ull}) {
    if (run.quick() && size > 100) continue;
    const auto path = made(run, (home.path() / format_text("walk{}", size)).string(), size * 1'000'000);
    MpiioJob(run, 4).compare_and_report(
        format_text("random_walk/{}MB", size),
        {"random_walk", path, std::to_string(size * 1'000'000), std::to_string(run.scaled(1000, 200))});
    std::filesystem::remove(path);
  }
}

void measure_mpiio_collective(const Run& run) {
  const auto home = slow_home(run);
  const auto steps = std::to_string(run.scaled(8, 3));
  const auto path = (home.path() / "array").string();
  const MpiioJob job(run, 4);
  for (const char* const what : {"written", "total"}) {
    job.compare_and_report(format_text("collective/2d_{}", what), {"collective", path, "2", "1024", steps},
                           what);
    job.compare_and_report(format_text("collective/3d_{}", what), {"collective", path, "3", "96", steps},
                           what);
  }
}

void measure_mpiio_strided(const Run& run) {
  const auto home = slow_home(run);
  const auto size = run.scaled(64 * kMi, 16 * kMi);
  const auto path = made(run, (home.path() / "strided").string(), size);
  const MpiioJob job(run, 4);
  for (const std::uint64_t piece : {16ull, 256ull}) {
    for (const char* const turn : {"first", "again"}) {
      job.compare_and_report(
          format_text("strided/{}_{}", piece, turn),
          {"strided", path, std::to_string(size), std::to_string(piece), std::to_string(size / 16)}, turn);
    }
  }
}

void measure_mpiio_gapped(const Run& run) {
  const auto home = slow_home(run);
  const auto doubles = run.scaled(1u << 18, 1u << 14);
  const auto path = made(run, (home.path() / "gapped").string(), 4 * doubles * 64);
  const MpiioJob job(run, 4);
  for (const bool unique : {false, true}) {
    for (const bool together : {false, true}) {
      job.compare_and_report(
          format_text("gapped/{}{}", together ? "together" : "apart", unique ? "_unique" : ""),
          {"gapped", path, std::to_string(doubles), "56", together ? "1" : "0", unique ? "1" : "0"});
    }
  }
}

}  // namespace forebay::bench
