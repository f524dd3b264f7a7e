// Sustained staging beyond memory: what goes to the NVMe tier, against plain direct writes of many in flight.
#include "bench/direct_file.hpp"
#include "bench/figures.hpp"
#include "bench/memory.hpp"

namespace forebay::bench {
namespace {

constexpr std::uint32_t kBucket = 256u << 10;
constexpr unsigned kDepth = 16;

}  // namespace

void measure_nvme_stage(const Run& run) {
  const auto size = run.scaled(2048, 512) * kMi;
  DirectFile direct(run.scratch().on_disk("direct") + "/data", size, kBucket, kDepth);

  const Node node(run, {.memory = "128MiB", .disk = "3GiB"});
  const auto buffer = node.attach();
  buffer->pause_drain(true);  // home takes nothing meanwhile
  const auto file = open(*buffer, node.home("data"), O_RDWR | O_CREAT);
  const auto data = some_bytes(kMi);
  // Bytes a second that reached the disk while the application wrote: what is still in memory does not count.
  const auto stage = [&] {
    must(file->truncate(0));
    const auto& demotions = buffer->core().counters().demotions;
    const auto before = demotions.load();
    const auto start = Clock::now();
    for (std::uint64_t at = 0; at < size; at += kMi) must(file->write(at, data));
    const auto seconds = seconds_since(start);
    return seconds / static_cast<double>((demotions.load() - before) * kBucket);
  };
  stage();
  const auto times =
      compare(run.turns(5), stage, [&] { return direct.write_all() / static_cast<double>(size); });
  must(file->truncate(0));
  run.report_rate("nvme_stage", times, 1, "O_DIRECT at queue depth 16");
}

}  // namespace forebay::bench
