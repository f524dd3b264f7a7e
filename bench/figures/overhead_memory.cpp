// Memory beside the buckets themselves.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/format.hpp"
#include "bench/figures.hpp"
#include "bench/memory.hpp"

namespace forebay::bench {
namespace {

constexpr std::uint64_t kTier = 1024 * kMi;

// Storage of everything in the control folder: what is reserved in a sparse file, not its length.
double stored_beside(const Node& node) {
  double total = 0;
  for (const auto& entry : std::filesystem::directory_iterator(node.control_folder())) {
    struct stat found{};
    if (::stat(entry.path().c_str(), &found) == 0) total += static_cast<double>(found.st_blocks) * 512;
  }
  return total;
}

double page_tables() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmPTE:")) return std::stod(line.substr(6)) * 1024;
  }
  return 0;
}

void report(const Run& run, const char* name, double bytes) {
  run.report({name, bytes / static_cast<double>(kMi), "MiB", bytes / static_cast<double>(kTier),
              format_text("the buckets themselves: {} MiB", kTier / kMi)});
}

}  // namespace

void measure_overhead_memory(const Run& run) {
  const Node node(run, {.memory = "1GiB", .settings = {"drain.trigger=never"}});
  const auto tables_before = page_tables();
  const auto buffer = node.attach();
  buffer->pause_drain(true);
  const auto file = open(*buffer, node.home("data"), O_RDWR | O_CREAT);
  const auto data = some_bytes(kMi);
  const auto size = kTier / 10 * 9;
  for (std::uint64_t at = 0; at + kMi <= size; at += kMi) must(file->write(at, data));
  report(run, "overhead_memory", stored_beside(node));
  report(run, "overhead_memory/page_tables", page_tables() - tables_before);
  // Every other page of every bucket.
  must(file->truncate(0));
  for (std::uint64_t at = 0; at + 8192 <= size; at += 8192)
    must(file->write(at, std::span(data).first(4096)));
  report(run, "overhead_memory/fragmented", stored_beside(node));
  must(file->truncate(0));
}

}  // namespace forebay::bench
