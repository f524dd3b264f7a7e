// forebay bench: workloads natively, through Forebay and in other ways, side by side, every byte checked.
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

#include "base/duration.hpp"
#include "base/format.hpp"
#include "config/load.hpp"
#include "config/machine.hpp"
#include "tools/forebay/bench/child.hpp"
#include "tools/forebay/bench/config.hpp"
#include "tools/forebay/bench/home.hpp"
#include "tools/forebay/bench/launch.hpp"
#include "tools/forebay/bench/needs.hpp"
#include "tools/forebay/bench/results.hpp"
#include "tools/forebay/bench/round.hpp"
#include "tools/forebay/bench/table.hpp"
#include "tools/forebay/bench/ways.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/report/write_report.hpp"
#include "tools/forebay/terminal.hpp"
#include "tools/forebay/verbs.hpp"

namespace forebay {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<std::string> files{};
  std::string home{};
  std::string disk = "/tmp";
  std::string memory = "/dev/shm";
  std::string output{};
  std::string html{};
  std::string only{};
  std::vector<std::string> compare{};
  LaunchChoice launch{};
  unsigned repeat = 0;  // 0: as the files say, or three times
  bool verify = true;
  bool null = false;
  RoundOptions rounds{};
};

// Gone with everything in it at the end.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& parent) : path_(parent + "/forebay-bench-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A path, or the name of a workload that comes with Forebay.
std::string path_of(const std::string& file) {
  const auto ready = workloads_folder() + "/" + file + ".json";
  return !fs::exists(file) && !file.contains('/') && fs::exists(ready) ? ready : file;
}

Status apply_options(const Options& options, Suite& suite) {
  std::vector<Way> ways;
  for (const auto& name : options.compare) {
    FOREBAY_ASSIGN(auto way, named_way(name));
    ways.push_back(std::move(way));
  }
  for (auto& workload : suite.workloads) {
    if (!ways.empty()) workload.ways = ways;
    const bool has_null =
        std::ranges::any_of(workload.ways, [](const Way& w) { return w.kind == Way::Kind::kNull; });
    if (options.null && !has_null) workload.ways.push_back(*named_way("null"));
  }
  if (!options.only.empty())
    std::erase_if(suite.workloads, [&](const Workload& one) { return !one.name.contains(options.only); });
  return {};
}

// Those of the command line hold for all ways through Forebay: alone they must make sense, and with each
// way's own.
Status check_settings(const std::vector<std::string>& set, const Suite& suite) {
  if (const auto loaded = load({.overrides = set, .overrides_from = "--set"}); !loaded)
    return std::unexpected(loaded.error());
  for (const auto& workload : suite.workloads) {
    for (const auto& way : workload.ways) {
      auto all = set;
      for (const auto& [key, value] : way.settings) all.push_back(format_text("{}={}", key, value));
      if (const auto loaded = load({.overrides = std::move(all), .overrides_from = "--set"}); !loaded)
        return fail(EINVAL,
                    format_text("{}: compare: {}: {}", workload.name, way.name, loaded.error().message));
    }
  }
  return {};
}

// All files as one: their workloads in order, the home of those that name one.
Result<Suite> read_all(const Options& options) {
  Suite all;
  for (const auto& file : options.files) {
    FOREBAY_ASSIGN(auto suite, read_suite(path_of(file), options.launch));
    if (suite.home && all.home && suite.home->directory != all.home->directory)
      return fail(EINVAL,
                  format_text("{}: home: one run has one home, and an earlier file names another", file));
    if (suite.home) all.home = suite.home;
    const auto before = all.workloads.size();
    for (auto& workload : suite.workloads) {
      if (std::ranges::contains(all.workloads, workload.name, &Workload::name))
        return fail(EINVAL, format_text("{}: name: there is a {} already", file, workload.name));
      // Only those of one workload file know of each other.
      const auto uses_it = [&](const Workload& other) { return other.file == workload.file; };
      const auto begin = all.workloads.begin() + static_cast<std::ptrdiff_t>(before);
      if (std::any_of(all.workloads.begin(), begin, uses_it) &&
          std::none_of(begin, all.workloads.end(), uses_it))
        workload.fresh = true;
      all.workloads.push_back(std::move(workload));
    }
  }
  FOREBAY_TRY(apply_options(options, all));
  FOREBAY_TRY(check_settings(options.rounds.set, all));
  if (all.workloads.empty()) return fail(EINVAL, "no workload is left to be run");
  if (!options.home.empty()) all.home = named_home(options.home);
  return all;
}

Result<RunFacts> facts_of(const std::string& flavour, const std::string& scratch) {
  FOREBAY_ASSIGN(const auto program, kernels_program(flavour));
  FOREBAY_ASSIGN(const auto end,
                 run_watched({program, "--about"}, {}, scratch + "/about", std::chrono::seconds(60), [] {}));
  const auto line = end.said.find('\n');
  return RunFacts{.command = "",
                  .hdf5 = end.said.substr(0, line),
                  .mpi = line == std::string::npos ? "" : end.said.substr(line + 1)};
}

std::string bar(double done) {
  constexpr int kWidth = 24;
  const int filled = static_cast<int>(std::clamp(done, 0.0, 1.0) * kWidth);
  return "[" + std::string(static_cast<std::size_t>(filled), '#') +
         std::string(static_cast<std::size_t>(kWidth - filled), '.') + "]";
}

// The rounds of all workloads, one after the other: ways take turns, so that neighbours in time share the
// noise.
class Bench {
 public:
  Bench(const Suite& suite, const Options& options, const Rounds& rounds, BenchResults& results)
      : suite_(suite), options_(options), rounds_(rounds), results_(results) {
    for (const auto& workload : suite.workloads) all_ += workload.ways.size() * rounds_of(workload);
  }

  // False when it was stopped.
  bool run() {
    for (std::size_t i = 0; i < suite_.workloads.size() && stop_signal() == 0; ++i) {
      const auto& workload = suite_.workloads[i];
      run_workload(workload);
      const bool used_again =
          std::any_of(suite_.workloads.begin() + static_cast<std::ptrdiff_t>(i) + 1, suite_.workloads.end(),
                      [&](const Workload& later) { return later.file == workload.file; });
      if (!used_again) rounds_.clean(workload);
    }
    progress_.clear();
    return stop_signal() == 0;
  }

  [[nodiscard]] const std::vector<WorkloadRounds>& done() const { return done_; }
  [[nodiscard]] bool all_right() const { return right_; }

 private:
  [[nodiscard]] unsigned rounds_of(const Workload& workload) const {
    return options_.repeat != 0 ? options_.repeat : workload.rounds.value_or(3);
  }

  void run_workload(const Workload& workload) {
    if (workload.fresh) rounds_.clean(workload);
    results_.workload(workload, rounds_of(workload));
    auto& done = done_.emplace_back(workload, std::vector<WayRounds>{}, rounds_of(workload));
    for (const auto& way : workload.ways) done.ways.push_back({way});
    run_rounds(workload, done);
    write_csv(done);
    if (!progress_.shown() && stop_signal() == 0) report_done(workload);
  }

  void run_rounds(const Workload& workload, WorkloadRounds& done) {
    for (unsigned round = 1; round <= rounds_of(workload); ++round) {
      for (auto& way : done.ways) {
        if (stop_signal() != 0) return;
        const auto what =
            format_text("{}, {}, round {} of {}", workload.name, way.way.name, round, rounds_of(workload));
        show(what, 0);  // a round is prepared before it can tell how far it is
        auto result = rounds_.run(workload, way.way, round, [&](double part) { show(what, part); });
        results_.result(workload, way.way, round, result);
        right_ = right_ && result.ok();
        // Whatever reads the file after this would be blamed for it.
        if (!result.ok()) rounds_.clean(workload, way.way);
        way.rounds.push_back(std::move(result));
        ++finished_;
      }
    }
  }

  // Where no bar can be shown, as in a log: what there is to wait for.
  void report_done(const Workload& workload) const {
    complain(format_text("{} done, {:.0f} % of all rounds, {}", workload.name,
                         static_cast<double>(finished_) / static_cast<double>(all_) * 100,
                         format_duration(Clock::now() - began_)));
  }

  void show(const std::string& what, double part) {
    const double share = (static_cast<double>(finished_) + part) / static_cast<double>(all_);
    progress_.show(format_text("{} {:3.0f} %  {}  {}", bar(share), share * 100,
                               format_duration(Clock::now() - began_), what));
  }

  // Workloads of one run that name the same file follow each other in it.
  static void write_csv(const WorkloadRounds& done) {
    if (done.workload.csv.empty()) return;
    std::ofstream out(done.workload.csv, std::ios::app);
    out << bench_csv(done);
    if (!out.flush()) complain("CSV_FILE: cannot write to " + done.workload.csv);
  }

  const Suite& suite_;
  const Options& options_;
  const Rounds& rounds_;
  BenchResults& results_;
  Progress progress_;
  Clock::time_point began_ = Clock::now();
  std::size_t all_ = 0;
  std::size_t finished_ = 0;
  std::vector<WorkloadRounds> done_;
  bool right_ = true;
};

std::string command_of(const Options& options) {
  std::string command = "forebay bench";
  for (const auto& file : options.files) command += " " + file;
  if (!options.home.empty()) command += " --home " + options.home;
  if (!options.launch.command.empty()) command += " --launcher " + options.launch.command;
  if (options.launch.ranks != 0) command += format_text(" --ranks {}", options.launch.ranks);
  if (options.repeat != 0) command += format_text(" --repeat {}", options.repeat);
  if (!options.verify) command += " --no-verify";
  if (options.null) command += " --null";
  if (!options.only.empty()) command += " --only " + options.only;
  if (options.rounds.seed != RoundOptions{}.seed) command += format_text(" --seed {}", options.rounds.seed);
  for (std::size_t i = 0; i < options.compare.size(); ++i)
    command += (i == 0 ? " --compare " : ",") + options.compare[i];
  for (const auto& setting : options.rounds.set) command += " --set " + setting;
  return command;
}

int list_workloads() {
  std::error_code failed;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(workloads_folder(), failed)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  complain("name a file, or one of the workloads that come with Forebay:");
  for (const auto& name : names) print("  " + name + "\n");
  return kUsage;
}

// Of what the machine has, what a workload may want.
Status check_sizes(const Suite& suite, const BenchHome& home) {
  std::error_code failed;
  const auto space = fs::space(home.direct(), failed);
  if (failed) return fail_errno(failed.value(), "look at the home", home.direct().string());
  for (const auto& workload : suite.workloads)
    FOREBAY_TRY(check_room(workload, {.home = space.available, .memory = Machine::current().memory}));
  return {};
}

// What an earlier run left in a CSV_FILE would be taken for this one's.
Status begin_tables(const Suite& suite) {
  for (const auto& workload : suite.workloads) {
    if (workload.csv.empty()) continue;
    errno = 0;
    if (!std::ofstream(workload.csv, std::ios::trunc))
      return fail(errno, format_text("{}: CSV_FILE: cannot write to {}: {}", workload.name, workload.csv,
                                     std::strerror(errno)));
  }
  return {};
}

// The page beside the results, or where it is wanted.
bool write_report(const Options& options) {
  const auto page =
      report::page_of_files(std::span(&options.output, 1), std::string("forebay ") + FOREBAY_VERSION);
  if (!page) return refuse(page.error()), false;
  const auto path = options.html.empty() ? report::page_beside(options.output) : options.html;
  if (const auto written = report::write_page(*page, path); !written) return refuse(written.error()), false;
  print(format_text("Report:  {}\n", path));
  return true;
}

int bench(Options options) {
  if (options.files.empty()) return list_workloads();
  auto suite = read_all(options);
  if (!suite) return refuse_settings(suite.error());
  options.rounds.verify = options.verify;
  stop_on_signals();
  const ScratchFolder scratch(options.memory);
  if (scratch.path().empty()) return refuse(fail_errno(errno, "make a directory in", options.memory).error());
  auto facts = facts_of(suite->workloads.front().launch.flavour, scratch.path());
  if (!facts) return refuse(facts.error());
  facts->command = command_of(options);
  auto home = BenchHome::make(suite->home.value_or(HomeChoice{}), options.disk);
  if (!home) return refuse(home.error());
  if (const auto fits = check_sizes(*suite, **home); !fits) return refuse_settings(fits.error());
  if (const auto begun = begin_tables(*suite); !begun) return refuse_settings(begun.error());
  if (options.output.empty()) options.output = format_text("forebay-bench-{}.jsonl", utc_now());
  auto results = BenchResults::create(options.output);
  if (!results) return refuse(results.error());
  results->run(*facts, **home);
  const Rounds rounds(**home, scratch.path(), options.rounds);
  Bench bench(*suite, options, rounds, *results);
  const bool complete = bench.run();
  results->end(complete);
  print(bench_table(bench.done(), options.rounds.verify));
  print(format_text("Results: {}\n", options.output));
  const bool reported = write_report(options);
  if (const auto written = results->status(); !written) return refuse(written.error());
  if (!complete) {
    complain("stopped: the results are partial, and say so");
    return 128 + stop_signal();
  }
  return bench.all_right() && reported ? kDone : kAttention;
}

}  // namespace

void add_bench(CLI::App& app, int& code) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand(
      "bench", "Run I/O workloads natively and through Forebay side by side, and check every byte");
  verb->add_option("FILE", options->files,
                   "Workloads: h5bench's JSON configuration, or the name of one that comes with Forebay")
      ->type_name("");
  verb->add_option(
          "--home", options->home,
          "Directory for the files; \"slowfs\" mounts a slow file system (used unless a file names a home)")
      ->type_name("DIR");
  verb->add_option("--repeat", options->repeat, "Rounds of each workload and way (3)")
      ->type_name("N")
      ->check(CLI::Range(1U, 1000U));
  verb->add_option("--output", options->output, "Results file (forebay-bench-TIME.jsonl)")->type_name("FILE");
  verb->add_option("--html", options->html, "Report, a page for people (beside the results, as .html)")
      ->type_name("FILE");
  verb->add_option("--compare", options->compare, "Ways in place of the files': native, forebay, null")
      ->type_name("LIST")
      ->delimiter(',');
  verb->add_option("--launcher", options->launch.command,
                   "MPI's launcher in place of the files' mpi.command, as mpiexec.mpich or mpirun.openmpi")
      ->type_name("COMMAND");
  verb->add_option("--ranks", options->launch.ranks, "Ranks in place of the files'")
      ->type_name("N")
      ->check(CLI::Range(1U, 4096U));
  verb->add_option("--only", options->only, "Only workloads whose name holds this")->type_name("TEXT");
  auto* const verify = verb->add_flag("--verify", "Check all that is read and left at home (the default)");
  verb->add_flag_callback(
          "--no-verify", [options] { options->verify = false; }, "Do not check it")
      ->excludes(verify);
  verb->add_flag("--null", options->null, "Also show what the kernels themselves cost");
  verb->add_option("--seed", options->rounds.seed, "Of the data (1)")->type_name("N");
  verb->add_option("--set", options->rounds.set, "A setting for all ways through Forebay; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--limit", options->rounds.limit_seconds,
                   "Seconds that a stage of a round may take (3600)")
      ->type_name("N");
  verb->add_option("--disk", options->disk, "Where a slow file system keeps its files (/tmp)")
      ->type_name("DIR");
  verb->add_option("--memory", options->memory, "Where jobs and buffers' control files lie (/dev/shm)")
      ->type_name("DIR");
  // For the suite's own tests.
  verb->add_option("--plant", options->rounds.plant)->group("");
  verb->add_option("--plant-way", options->rounds.plant_way)->group("");
  verb->footer(kExitCodes);
  verb->callback([options, &code] { code = bench(std::move(*options)); });
}

}  // namespace forebay
