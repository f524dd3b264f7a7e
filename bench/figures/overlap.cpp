// Compute and write by turns: does the way home hide behind the computing?
#include "base/format.hpp"
#include "bench/figures.hpp"
#include "bench/memory.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::bench {
namespace {

constexpr double kBandwidth = 200e6;  // of home, bytes a second
constexpr std::uint64_t kStep = 32 * kMi;

// A program that writes kStep bytes and computes, `steps` times; computing takes `share` of the time that
// home takes.
struct Program {
  const char* name;
  double share;
};
constexpr Program kPrograms[] = {{"overlap", 1.25}, {"overlap/balanced", 1.0}, {"overlap/drain_bound", 0.5}};

struct Times {
  double total;
  double staging;  // of total, as is
  double closing;
};

void compute(double seconds) {
  const auto start = Clock::now();
  volatile double sum = 0;
  while (seconds_since(start) < seconds) {
    for (int i = 0; i < 10'000; ++i) sum = sum + 1.0 / (i + 1);
  }
}

Times run_program(Buffer& buffer, const std::string& path, unsigned steps, double compute_seconds) {
  const auto data = some_bytes(kMi);
  const auto file = open(buffer, path, O_RDWR | O_CREAT);
  const auto start = Clock::now();
  double staging = 0;
  for (unsigned step = 0; step < steps; ++step) {
    const auto began = Clock::now();
    for (std::uint64_t at = 0; at < kStep; at += kMi) must(file->write(step * kStep + at, data));
    staging += seconds_since(began);
    compute(compute_seconds);
  }
  const auto closing = Clock::now();
  must(file->close());
  const Times times{seconds_since(start), staging, seconds_since(closing)};
  ::unlink(path.c_str());
  return times;
}

void measure(const Run& run, Buffer& buffer, const std::string& path, const Program& program) {
  const unsigned steps = run.quick() ? 3 : 8;
  const auto compute_seconds = program.share * static_cast<double>(kStep) / kBandwidth;
  std::vector<double> totals;
  std::vector<double> ideals;
  std::vector<double> ratios;
  for (unsigned i = 0; i < run.turns(3); ++i) {
    const auto alone = run_program(buffer, path + std::to_string(2 * i), steps, 0);
    const auto both = run_program(buffer, path + std::to_string(2 * i + 1), steps, compute_seconds);
    const auto drain = alone.total - alone.staging;
    totals.push_back(both.total);
    ideals.push_back(std::max(compute_seconds * steps, drain) + both.staging);
    ratios.push_back(totals.back() / ideals.back());
    run.say(format_text(
        "  {}: compute {:.3f} s, drain {:.3f} s, staging {:.3f} s, close {:.3f} s, total {:.3f} s",
        program.name, compute_seconds * steps, drain, both.staging, both.closing, both.total));
  }
  run.report({program.name, median(totals), "s", median(ratios),
              format_text("max(compute, drain) + staging: {:.3g} s", median(ideals))});
}

}  // namespace

void measure_overlap(const Run& run) {
  if (!testing::SlowfsMount::available())
    throw std::runtime_error("this machine does not let us mount with FUSE");
  const testing::SlowfsMount home(
      {format_text("--write-bandwidth={}", static_cast<std::uint64_t>(kBandwidth)), "--latency=1ms"},
      run.scratch().on_disk("slowfs"));
  const Node node(run, {.memory = "512MiB", .home = home.path()});
  const auto buffer = node.attach();
  for (const auto& program : kPrograms)
    measure(run, *buffer, node.home("data" + std::to_string(program.share)), program);
}

}  // namespace forebay::bench
