// HDF5 programs that write: checkpoints with and without computing between them, and many small writes.
#include "base/format.hpp"
#include "bench/figures.hpp"
#include "bench/hdf5_job.hpp"
#include "bench/memory.hpp"
#include "bench/node.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::bench {
namespace {

constexpr double kWriteBandwidth = 200e6;  // of home, bytes a second
constexpr std::uint64_t kStep = 32 * kMi;

std::unique_ptr<testing::SlowfsMount> slow_home(const Run& run) {
  if (!testing::SlowfsMount::available()) {
    throw std::runtime_error("this machine does not let us mount with FUSE");
  }
  return std::make_unique<testing::SlowfsMount>(
      std::vector<std::string>{"--write-bandwidth=200MB", "--read-bandwidth=400MB", "--latency=1ms"},
      run.scratch().on_disk("slowfs"));
}

// Bytes a second at which the engine takes what one process writes in pieces of a step.
double staging_rate(const Run& run) {
  const Node node(run, {.memory = "512MiB", .settings = {"drain.trigger=never"}});
  const auto buffer = node.attach();
  buffer->pause_drain(true);
  const auto data = some_bytes(kStep);
  const auto file = open(*buffer, node.home("staged"), O_RDWR | O_CREAT);
  std::vector<double> times;
  for (unsigned i = 0; i < 6; ++i) {
    const auto start = Clock::now();
    must(file->write(i * kStep, data));
    times.push_back(seconds_since(start));
  }
  must(file->truncate(0));
  return static_cast<double>(kStep) / median(times);
}

void checkpoint(const Run& run, const testing::SlowfsMount& home, unsigned ranks) {
  const Hdf5Job job(run, ranks);
  const unsigned steps = run.quick() ? 3 : 6;
  const auto drain = static_cast<double>(kStep) / kWriteBandwidth;
  const auto computing = 1.3 * drain;
  const auto path = (home.path() / "checkpoint.h5").string();
  const std::vector<std::string> words{"checkpoint", path, std::to_string(steps), std::to_string(kStep),
                                       std::to_string(computing)};
  std::vector<double> shares;
  std::vector<double> totals;
  std::vector<double> ideals;
  const auto times = compare(
      run.turns(3),
      [&] {
        const auto seconds = job.with_door(words);
        totals.push_back(seconds.at("total"));
        ideals.push_back(steps * computing + seconds.at("write") + drain);
        shares.push_back(steps * static_cast<double>(kStep) / seconds.at("write") / staging_rate(run));
        return seconds.at("write");
      },
      [&] { return job.natively(words).at("write"); });
  const auto bytes = steps * static_cast<double>(kStep);
  run.report_rate("checkpoint" + job.suffix(), times, bytes, "native, same home");
  run.report({"checkpoint/of_staging" + job.suffix(), median(shares), "", median(shares),
              "the engine staging the same in one process"});
  run.report({"checkpoint/total" + job.suffix(), median(totals), "s", median(totals) / median(ideals),
              format_text("compute + staging + last drain: {:.3g} s", median(ideals))});
}

void checkpoint_no_compute(const Run& run, const testing::SlowfsMount& home, unsigned ranks) {
  const Hdf5Job job(run, ranks);
  const unsigned steps = run.quick() ? 3 : 6;
  const std::vector<std::string> words{"checkpoint", (home.path() / "no_compute.h5").string(),
                                       std::to_string(steps), std::to_string(kStep), "0"};
  const auto times = compare(
      run.turns(3), [&] { return job.with_door(words).at("total"); },
      [&] { return job.natively(words).at("total"); });
  run.report_rate("checkpoint_no_compute" + job.suffix(), times, steps * static_cast<double>(kStep),
                  "native, same home");
}

void small_writes(const Run& run, const testing::SlowfsMount& home, unsigned ranks) {
  const Hdf5Job job(run, ranks);
  const auto count = run.scaled(100'000, 10'000);
  // Native takes a latency for each: a part of them tells the rate.
  const auto native_count = run.scaled(5'000, 1'000);
  const auto bytes = static_cast<double>(count) * 4096;
  const auto path = (home.path() / "small.h5").string();
  const auto seconds = [&](const Seconds& all, std::uint64_t of) {
    return all.at("write") / static_cast<double>(of);
  };
  const auto times = compare(
      run.turns(3),
      [&] {
        return seconds(job.with_door({"small_writes", path, std::to_string(count),
                                      std::to_string(1.3 * bytes / kWriteBandwidth)}),
                       count);
      },
      [&] {
        return seconds(job.natively({"small_writes", path, std::to_string(native_count), "0"}), native_count);
      });
  run.report_time("small_writes" + job.suffix(), times, "native, same home");
}

}  // namespace

void measure_hdf5_checkpoint(const Run& run) {
  const auto home = slow_home(run);
  for (const auto ranks : kHdf5Ranks) checkpoint(run, *home, ranks);
}

void measure_hdf5_checkpoint_no_compute(const Run& run) {
  const auto home = slow_home(run);
  for (const auto ranks : kHdf5Ranks) checkpoint_no_compute(run, *home, ranks);
}

void measure_hdf5_small_writes(const Run& run) {
  const auto home = slow_home(run);
  for (const auto ranks : kHdf5Ranks) small_writes(run, *home, ranks);
}

}  // namespace forebay::bench
