// forebay-bench SUITE: measures, and prints one JSON line a result on standard output; all else goes to
// standard error.
#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <regex>

#include "bench/figures.hpp"
#include "support/places.hpp"

namespace {

using forebay::bench::Options;
using forebay::bench::Run;

int measure(const Options& options, const forebay::bench::Suite& suite) {
  const std::regex wanted(options.filter);
  const Run run(options);
  int failed = 0;
  bool any = false;
  for (const auto& figure : suite.figures) {
    if (!std::regex_search(figure.name, wanted)) continue;
    any = true;
    run.say(std::string(figure.name) + ": " + figure.goal);
    try {
      figure.measure(run);
    } catch (const std::exception& error) {
      run.say(std::string(figure.name) + " could not be measured: " + error.what());
      failed = 1;
    }
  }
  if (!any) run.say("no figure matches " + options.filter);
  return any ? failed : 2;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.disk = std::filesystem::canonical("/proc/self/exe").parent_path();
  options.docs = forebay::testing::in_checkout("docs");
  std::string suite = "engine";
  CLI::App app("Measures Forebay against plain ways of doing the same.");
  app.add_option("suite", suite, "what to measure")
      ->check(CLI::IsMember({"engine", "hdf5", "mpiio", "posix"}))
      ->capture_default_str();
  app.add_option("--filter", options.filter,
                 "measure only figures whose name has a match of this regular expression");
  app.add_flag("--quick", options.quick, "fewer turns and less data: to see that it works");
  app.add_option("--repeat", options.repeat, "turns of each comparison")->check(CLI::Range(1u, 1000u));
  app.add_option("--disk", options.disk, "a folder on the disk to measure")->check(CLI::ExistingDirectory);
  app.add_flag("--write-docs", options.write_docs, "also rewrite the tables that docs/ shows");
  CLI11_PARSE(app, argc, argv);
  try {
    for (const auto& known : forebay::bench::kSuites) {
      if (suite == known.name) return measure(options, known);
    }
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "forebay-bench: %s\n", error.what());
    return 2;
  }
}
