// Ten times the data, the files or the processes: does a unit still cost the same?
#include <sys/resource.h>

#include <fstream>

#include "base/format.hpp"
#include "bench/figures.hpp"
#include "bench/memory.hpp"
#include "bench/workers.hpp"

namespace forebay::bench {
namespace {

// One kind of growth: the cost in seconds of `units` of something.
struct Axis {
  const char* name;
  const char* unit;
  const char* what;
  std::uint64_t few;
  double (*cost)(const Run& run, std::uint64_t units);
};

// Staged and carried home.
double data_cost(const Run& run, std::uint64_t mebibytes) {
  const Node node(run, {.memory = "1536MiB"});
  const auto buffer = node.attach();
  const auto file = open(*buffer, node.home("data"), O_RDWR | O_CREAT);
  const auto data = some_bytes(kMi);
  const auto start = Clock::now();
  for (std::uint64_t i = 0; i < mebibytes; ++i) must(file->write(i * kMi, data));
  must(file->close());
  return seconds_since(start);
}

// The same bytes twice into new memory, without Forebay: how the machine itself grows.
double plain_data_cost(const Run& run, std::uint64_t mebibytes) {
  const auto folder = run.scratch().in_memory("plain");
  const auto data = some_bytes(kMi);
  const auto start = Clock::now();
  const PlainFile first(folder + "/first");
  const PlainFile second(folder + "/second");
  for (const auto* file : {&first, &second}) {
    for (std::uint64_t i = 0; i < mebibytes; ++i) file->write(i * kMi, data);
  }
  return seconds_since(start);
}

// Opened, written, all open at the same time, closed.
double files_cost(const Run& run, std::uint64_t files) {
  const Node node(run, {.memory = "512MiB", .settings = {"buffer.bucket_size=64KiB"}});
  const auto buffer = node.attach();
  const auto data = some_bytes(16u << 10);
  std::vector<std::shared_ptr<File>> handles;
  const auto start = Clock::now();
  for (std::uint64_t i = 0; i < files; ++i) {
    handles.push_back(open(*buffer, node.home(std::to_string(i)), O_RDWR | O_CREAT));
    must(handles.back()->write(0, data));
  }
  for (const auto& file : handles) must(file->close());
  return seconds_since(start);
}

// Attached, each with a file of its own, detached, all at the same time. Processor time, because there are
// more processes than processors.
double processes_cost(const Run& run, std::uint64_t processes) {
  const Node node(run, {.memory = "512MiB"});
  const auto answers = in_processes(static_cast<unsigned>(processes), [&](Crowd& crowd) {
    const auto data = some_bytes(kMi);
    crowd.meet();
    rusage before{};
    ::getrusage(RUSAGE_SELF, &before);
    {
      const auto buffer = node.attach();
      const auto file = open(*buffer, node.home(std::to_string(crowd.index())), O_RDWR | O_CREAT);
      for (std::uint64_t i = 0; i < 16; ++i) must(file->write(i * kMi, data));
      must(file->close());
    }
    rusage after{};
    ::getrusage(RUSAGE_SELF, &after);
    const auto seconds = [](const rusage& r) {
      return static_cast<double>(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
             static_cast<double>(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6;
    };
    return std::vector<double>{seconds(after) - seconds(before)};
  });
  double sum = 0;
  for (const auto& answer : answers) sum += answer[0];
  return sum;
}

constexpr Axis kAxes[] = {
    {"data", "MiB", "staged by 1 MiB writes and carried home", 100, data_cost},
    {"plain_data", "MiB", "written to two new files in memory, without Forebay", 100, plain_data_cost},
    {"files", "file", "16 KiB each, all open at once: open, write, close", 100, files_cost},
    {"processes", "process", "attach, write 16 MiB to a file of its own, close, detach (processor time)", 2,
     processes_cost},
};

std::string row(const Axis& axis, std::uint64_t few, const Comparison& cost) {
  return format_text("| {} | {} | {:.4g} | {} | {:.4g} | {:.2f} |\n", axis.name, few, cost.baseline * 1e6,
                     few * 10, cost.ours * 1e6, 1 / cost.quotient);
}

void write_page(const std::string& path, const std::string& rows) {
  std::ofstream page(path);
  page << "# Growth\n\n"
          "<!-- Made by `./dev bench engine --filter growth --write-docs`. -->\n\n"
          "What one unit costs when there are few of them and when there are ten times as many. A growth of "
          "1 means that "
          "ten times as much costs ten times as much; below 1, it costs less.\n\n"
          "| what grows | few | us a unit | many | us a unit | growth |\n"
          "| --- | --- | --- | --- | --- | --- |\n"
       << rows << "\n";
  for (const auto& axis : kAxes)
    page << "- **" << axis.name << "**: one unit is a " << axis.unit << ", " << axis.what << ".\n";
  if (!page.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace

void measure_growth(const Run& run) {
  std::string rows;
  for (const auto& axis : kAxes) {
    const auto few = run.quick() ? std::max<std::uint64_t>(axis.few / 10, 1) : axis.few;
    const auto cost = [&](std::uint64_t units) { return axis.cost(run, units) / static_cast<double>(units); };
    // Memory that a virtual machine has never used costs its host a fault: not in a turn that counts.
    (void)cost(few * 10);
    const auto times = compare(run.turns(5), [&] { return cost(few * 10); }, [&] { return cost(few); });
    run.report({std::string("growth/") + axis.name, times.ours * 1e6, std::string("us/") + axis.unit,
                1 / times.quotient,
                format_text("a tenth of them: {:.3g} us/{}", times.baseline * 1e6, axis.unit)});
    rows += row(axis, few, times);
  }
  if (run.options().write_docs) write_page(run.options().docs + "/growth.md", rows);
}

}  // namespace forebay::bench
