// forebay-demo: checkpoints to a slow file system, plainly and through Forebay.
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/bytes.hpp"
#include "base/duration.hpp"
#include "base/format.hpp"
#include "tools/demo/compare.hpp"
#include "tools/demo/plan.hpp"
#include "tools/demo/progress.hpp"
#include "tools/demo/report.hpp"
#include "tools/demo/run.hpp"
#include "tools/demo/slow_home.hpp"
#include "tools/demo/worker.hpp"

namespace forebay::demo {
namespace {

namespace fs = std::filesystem;

struct Places {
  fs::path disk = fs::temp_directory_path();  // for what home holds
  fs::path memory = "/dev/shm";               // for the buffer
  fs::path slowfs = fs::canonical("/proc/self/exe").parent_path().parent_path() / "slowfs" / "slowfs";
};

// A fresh private directory with room for `wanted`, gone with everything in it at the end.
class Folder {
 public:
  Folder(const fs::path& parent, std::uint64_t wanted) : path_(parent / "forebay-demo-XXXXXX") {
    struct statvfs found{};
    if (::statvfs(parent.c_str(), &found) != 0) {
      throw std::system_error(errno, std::generic_category(), "cannot examine " + parent.string());
    }
    const auto free = std::uint64_t{found.f_bavail} * found.f_frsize;
    if (free < wanted) {
      throw std::runtime_error(
          format_text("the demo needs {} in {}, which has {} free: make room, or ask for less (--help)",
                      format_bytes(wanted), parent.string(), format_bytes(free)));
    }
    std::string pattern = path_;
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(),
                              "cannot make a directory in " + parent.string());
    }
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// In what home really holds, not through the buffer nor through the slow file system.
std::string compare_all(const Plan& plan, const fs::path& plain, const fs::path& forebay,
                        Progress& progress) {
  const auto all = plan.processes * plan.checkpoints;
  for (unsigned i = 0; i < all; ++i) {
    check_interrupted();
    progress.show("comparing", i, all);
    const auto name = checkpoint_name(i % plan.processes, i / plan.processes);
    if (auto found = difference(plain / name, forebay / name); !found.empty()) return found;
  }
  return "";
}

int run_demo(const Plan& plan, const Places& places) {
  const Folder disk(places.disk, 2 * plan.bytes());
  const Folder memory(places.memory, plan.buffer_size());
  const SlowHome home(places.slowfs, disk.path(), plan);
  for (const auto* way : {"plain", "forebay"}) fs::create_directory(home.source() / way);

  std::fputs(describe(plan).c_str(), stdout);
  std::fflush(stdout);
  Progress progress;
  const auto shows = [&](const char* what) {
    return [&progress, what](unsigned done, unsigned all) { progress.show(what, done, all); };
  };
  const auto plain = run(plan, home.path() / "plain", make_plain_writer, shows("plainly"));
  const std::vector<std::string> settings{
      "buffer.directory=" + (memory.path() / "buffer").string(),
      format_text("tiers=memory:{}:{}", memory.path().string(), plan.buffer_size())};
  const auto forebay = run(
      plan, home.path() / "forebay", [&] { return make_forebay_writer(settings); }, shows("through Forebay"));
  const auto differs = compare_all(plan, home.source() / "plain", home.source() / "forebay", progress);
  progress.clear();
  if (!differs.empty()) {
    std::fprintf(stderr, "forebay-demo: FAILED: %s\n", differs.c_str());
    return 1;
  }
  std::fputs(report(plain, forebay, plan.processes * plan.checkpoints).c_str(), stdout);
  return 0;
}

// Turns "8MiB" and the like into numbers; CLI11 reports what is wrong with them.
template <class T, class Parse>
CLI::Option* add_quantity(CLI::App& app, const char* name, T& value, Parse parse, const char* help,
                          std::string usual) {
  return app
      .add_option_function<std::string>(
          name,
          [&value, parse](const std::string& text) {
            const auto parsed = parse(text);
            if (!parsed) throw CLI::ValidationError(parsed.error().message);
            value = *parsed;
          },
          help)
      ->default_str(std::move(usual));
}

void add_options(CLI::App& app, Plan& plan, Places& places) {
  app.add_option("--processes", plan.processes,
                 "processes, all of one program: they write when all have computed")
      ->check(CLI::Range(1U, kMostProcesses))
      ->capture_default_str();
  app.add_option("--checkpoints", plan.checkpoints, "checkpoints of each process")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  add_quantity(app, "--size", plan.size, parse_bytes, "bytes of a checkpoint", format_bytes_exact(plan.size));
  add_quantity(app, "--compute", plan.compute, parse_duration,
               "computing before each checkpoint (waiting, as for an accelerator)",
               format_duration_exact(plan.compute));
  add_quantity(app, "--bandwidth", plan.bandwidth, parse_bytes, "of the slow file system, bytes a second",
               format_bytes_exact(plan.bandwidth));
  add_quantity(app, "--latency", plan.latency, parse_duration, "of the slow file system, for each request",
               format_duration_exact(plan.latency));
  app.add_option("--disk", places.disk, "where the slow file system keeps its files")->capture_default_str();
  app.add_option("--memory", places.memory, "where the buffer lies")->capture_default_str();
  app.add_option("--slowfs", places.slowfs, "the slow file system's program")->capture_default_str();
}

void on_signal(int signal) { interrupted_by = signal; }

}  // namespace
}  // namespace forebay::demo

int main(int argc, char** argv) {
  using namespace forebay::demo;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, on_signal);
  CLI::App app(
      "Writes checkpoints to a slow file system, once plainly (open, pwrite, close) and once through "
      "Forebay, compares\n"
      "the files byte for byte and shows the times. Observed write time is all that a program waits for "
      "because of its\n"
      "files: attaching, opening, writing, closing, and at the end until everything is home. Computing is "
      "waiting, as a\n"
      "program does whose work runs on an accelerator. The slow file system (slowfs) has no cache: plain "
      "writes take the\n"
      "time that its bandwidth gives them.",
      "forebay-demo");
  Plan plan;
  try {
    Places places;
    add_options(app, plan, places);
    app.parse(argc, argv);
    return run_demo(plan, places);
  } catch (const CLI::Error& error) {
    return app.exit(error);
  } catch (const Interrupted& interrupted) {
    std::fputs("forebay-demo: interrupted; everything is cleaned up\n", stderr);
    return 128 + interrupted.signal;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "forebay-demo: %s\n", error.what());
    return 1;
  }
}
