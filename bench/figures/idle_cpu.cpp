// What an attached process costs while it does nothing.
#include <sys/resource.h>

#include <thread>

#include "bench/figures.hpp"
#include "bench/memory.hpp"
#include "bench/workers.hpp"

namespace forebay::bench {
namespace {

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

void measure_idle_cpu(const Run& run) {
  const Node node(run, {.memory = "256MiB", .disk = "256MiB"});
  const double seconds = run.quick() ? 2 : 10;
  // It has worked before, so that everything that could go on running does.
  const auto answers = in_processes(1, [&](Crowd&) {
    const auto buffer = node.attach();
    const auto file = open(*buffer, node.home("data"), O_RDWR | O_CREAT);
    const auto data = some_bytes(kMi);
    for (std::uint64_t at = 0; at < 32 * kMi; at += kMi) must(file->write(at, data));
    must(file->drain());
    std::this_thread::sleep_for(std::chrono::seconds(5));
    const auto before = cpu_seconds();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    return std::vector<double>{(cpu_seconds() - before) / seconds};
  });
  run.report({"idle_cpu", answers[0][0] * 1e6, "us/s", answers[0][0], "one core"});
}

}  // namespace forebay::bench
