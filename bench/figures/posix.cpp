// Programs with plain files: the same command plainly and through `forebay run`, in the same run.
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>

#include "base/format.hpp"
#include "bench/figures.hpp"
#include "support/command.hpp"
#include "support/places.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::bench {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Seconds = std::map<std::string, double>;

constexpr double kWriteBandwidth = 200e6;  // of home, bytes a second
const std::string kProgram = testing::built("bench/posix/posix_bench");

std::unique_ptr<testing::SlowfsMount> slow_home(const Run& run) {
  if (!testing::SlowfsMount::available())
    throw std::runtime_error("this machine does not let us mount with FUSE");
  return std::make_unique<testing::SlowfsMount>(
      Words{"--write-bandwidth=200MB", "--read-bandwidth=400MB", "--latency=1ms"},
      run.scratch().on_disk("slowfs"));
}

testing::Ran checked(const std::string& program, const Words& words) {
  auto ran = testing::run(program, words);
  if (ran.code != 0)
    throw std::runtime_error(format_text("{} ended with {}, signal {}: {}", program, ran.code, ran.signal,
                                         (ran.out + ran.err).substr(0, 2000)));
  return ran;
}

class Command {
 public:
  Command(const Run& run, std::string home, Words settings = {})
      : run_(run), home_(std::move(home)), settings_(std::move(settings)) {}

  // What the program says: names and seconds.
  [[nodiscard]] Seconds plainly(const Words& words) const { return told(checked(kProgram, words)); }
  [[nodiscard]] Seconds with_door(const Words& words) const {
    Words command{kProgram};
    command.insert(command.end(), words.begin(), words.end());
    return told(through_forebay(command));
  }

  testing::Ran through_forebay(const Words& command) const {
    const auto memory = run_.scratch().in_memory("posix");
    Words words{"run",     "--quiet",
                "--doors", "posix",
                "--home",  home_,
                "--set",   "buffer.directory=" + memory + "/control",
                "--set",   "tiers=memory:" + memory + ":1GiB"};
    for (const auto& one : settings_) words.insert(words.end(), {"--set", one});
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    auto ran = checked(testing::built("src/tools/forebay/forebay"), words);
    std::error_code ignored;
    fs::remove_all(memory, ignored);
    return ran;
  }

 private:
  static Seconds told(const testing::Ran& ran) {
    Seconds seconds;
    std::istringstream lines(ran.out);
    std::string name;
    for (double value = 0; lines >> name >> value;) seconds[name] = value;
    return seconds;
  }

  const Run& run_;
  std::string home_;
  Words settings_;
};

void small_io(const Run& run, const std::string& home, std::uint64_t size, const std::string& suffix,
              std::uint64_t ours, std::uint64_t plain) {
  const Command command(run, home);
  const auto bytes = std::to_string(32u << 20);
  const auto times = compare(
      run.turns(3),
      [&] {
        return command.with_door({"small_io", home, bytes, std::to_string(ours), std::to_string(size)})
            .at("each");
      },
      [&] {
        return command.plainly({"small_io", home, bytes, std::to_string(plain), std::to_string(size)})
            .at("each");
      });
  run.report_time("small_io/" + std::to_string(size) + suffix, times, "the same command plainly");
}

double elapsed(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return seconds_since(start);
}

}  // namespace

void measure_posix_ckpt(const Run& run) {
  const auto home = slow_home(run);
  const auto path = home->path().string();
  constexpr unsigned kProcesses = 2;
  const unsigned steps = run.quick() ? 3 : 5;
  const std::uint64_t bytes = 32u << 20;
  const double compute = 1.5 * kProcesses * static_cast<double>(bytes) / kWriteBandwidth;
  const Words words{
      "checkpoint",           path, std::to_string(kProcesses), std::to_string(steps), std::to_string(bytes),
      std::to_string(compute)};
  const Command command(run, path, {"on_close=detach"});
  const auto times = compare(
      run.turns(3), [&] { return command.with_door(words).at("write"); },
      [&] { return command.plainly(words).at("write"); });
  run.report_rate("ckpt", times, static_cast<double>(kProcesses * steps) * static_cast<double>(bytes),
                  "the same command plainly; on_close detach");
  const Command closing(run, path);
  const auto waited = compare(
      run.turns(3), [&] { return closing.with_door(words).at("write"); },
      [&] { return closing.plainly(words).at("write"); });
  run.report_rate("ckpt/on_close_home", waited,
                  static_cast<double>(kProcesses * steps) * static_cast<double>(bytes),
                  "the same command plainly");
}

void measure_posix_reread(const Run& run) {
  const auto home = slow_home(run);
  const auto path = home->path().string();
  const Command command(run, path);
  for (const int times : {4, 16}) {
    const auto bytes = std::to_string(64u << 20);
    Seconds last;
    Seconds plain;
    std::vector<double> firsts;
    const auto compared = compare(
        run.turns(3),
        [&] {
          last = command.with_door({"reread", path, bytes, std::to_string(times)});
          return last.at("later");
        },
        [&] {
          plain = command.plainly({"reread", path, bytes, std::to_string(times)});
          firsts.push_back(plain.at("first") / last.at("first"));
          return plain.at("later");
        });
    run.report_rate("reread/" + std::to_string(times), compared, 64 << 20,
                    "the same command plainly; from the second read on");
    run.report({"reread/" + std::to_string(times) + "/first", last.at("first"), "s", median(firsts),
                "the first read plainly"});
  }
}

void measure_posix_small_io(const Run& run) {
  const auto home = slow_home(run);
  const auto memory = run.scratch().in_memory("tmpfs");
  for (const std::uint64_t size : {64, 512, 4096}) {
    small_io(run, home->path().string(), size, "", run.scaled(200'000, 20'000), run.scaled(2'000, 500));
    small_io(run, memory, size, "/tmpfs", run.scaled(400'000, 50'000), run.scaled(400'000, 50'000));
  }
}

void measure_posix_small_files(const Run& run) {
  const auto home = slow_home(run);
  const auto path = home->path().string();
  const auto count = run.scaled(100'000, 2'000);
  // Plainly each takes several latencies: a part of them tells the rate.
  const auto plain_count = run.scaled(3'000, 1'000);
  const Command command(run, path, {"on_close=detach"});
  const auto times = compare(
      run.turns(1),
      [&] {
        return command.with_door({"small_files", path, std::to_string(count)}).at("total") /
               static_cast<double>(count);
      },
      [&] {
        return command.plainly({"small_files", path, std::to_string(plain_count)}).at("total") /
               static_cast<double>(plain_count);
      });
  run.report_time("small_files", times, "the same command plainly; on_close detach");
}

void measure_posix_untouched(const Run& run) {
  const auto outside = run.scratch().on_disk("outside");
  const auto home = run.scratch().on_disk("home");
  const auto script = format_text(
      "cd {} && rm -rf p && mkdir p && cd p && git init -q . && for i in $(seq {}); do echo \"int f$i(int "
      "x){{return x+$i;}}\" > f$i.c; "
      "done && git add . && for i in 1 2 3; do git status >/dev/null; done && for i in 1 2 3 4; do gcc -O1 "
      "-c f$i.c; done",
      outside, run.scaled(400, 100));
  const Command command(run, home);
  const auto times = compare(
      run.turns(7), [&] { return elapsed([&] { (void)command.through_forebay({"sh", "-ec", script}); }); },
      [&] { return elapsed([&] { (void)checked("sh", {"-ec", script}); }); });
  // The start of `forebay run` itself is the next figure's.
  run.report({"untouched", times.ours, "s", 1 / times.quotient, "plainly; with the start of forebay run"});
}

void measure_posix_startup(const Run& run) {
  const Command command(run, run.scratch().on_disk("home"));
  const auto times = compare(
      run.turns(15), [&] { return elapsed([&] { (void)command.through_forebay({"true"}); }); },
      [&] { return elapsed([&] { (void)checked("true", {}); }); });
  run.report(
      {"startup", (times.ours - times.baseline) * 1e3, "ms", times.ours / times.baseline, "true, plainly"});
}

}  // namespace forebay::bench
