// Small writes in random order that together cover a file: how large are the writes that reach home?
#include <thread>

#include "base/format.hpp"
#include "bench/figures.hpp"
#include "bench/memory.hpp"

namespace forebay::bench {
namespace {

constexpr std::uint64_t kPiece = 4096;

struct Drained {
  double mean_write;  // bytes
  double stage_us;    // a write of the application
  double seconds;     // until all was home
};

Drained write_randomly(const Run& run, std::uint64_t pieces) {
  const Node node(run, {.memory = "1GiB"});
  const auto buffer = node.attach();
  const auto file = open(*buffer, node.home("data"), O_RDWR | O_CREAT);
  const auto data = some_bytes(kPiece);
  const auto order = shuffled(pieces);
  const auto start = Clock::now();
  for (const auto piece : order) must(file->write(piece * kPiece, data));
  const auto staged = seconds_since(start);
  must(file->close());
  const auto seconds = seconds_since(start);
  const auto& counters = buffer->core().counters();
  const auto writes = counters.home_writes.load();
  const auto bytes = counters.home_written_bytes.load();
  if (bytes < pieces * kPiece) throw std::runtime_error("not everything is home");
  return {static_cast<double>(bytes) / static_cast<double>(writes),
          staged / static_cast<double>(pieces) * 1e6, seconds};
}

}  // namespace

void measure_drain_merge(const Run& run) {
  std::vector<double> sizes;
  for (unsigned i = 0; i < run.turns(3); ++i) {
    const auto drained = write_randomly(run, run.scaled(100'000, 10'000));
    sizes.push_back(drained.mean_write);
    run.say(format_text("  {:.3g} us a write of the application, {:.3g} s until all was home",
                        drained.stage_us, drained.seconds));
  }
  const auto size = median(sizes);
  run.report({"drain_merge", size / static_cast<double>(kMi), "MiB", size / static_cast<double>(kPiece),
              "the application's writes: 4 KiB"});
}

}  // namespace forebay::bench
