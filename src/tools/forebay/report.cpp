// forebay report: a page for people from results of `forebay bench`.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <format>
#include <fstream>

#include "tools/forebay/common.hpp"
#include "tools/forebay/report/page.hpp"
#include "tools/forebay/report/results.hpp"
#include "tools/forebay/verbs.hpp"

namespace forebay {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string output;
};

// results.jsonl: results.html, beside it.
std::string beside(const std::string& file) {
  return std::filesystem::path(file).replace_extension(".html").string();
}

int run(const Options& options) {
  std::vector<report::Run> runs;
  for (const auto& file : options.files) {
    auto read = report::read_results(file);
    if (!read) return refuse(read.error());
    for (auto& each : *read) runs.push_back(std::move(each));
  }
  const auto page = report::report_page(runs, std::string("forebay ") + FOREBAY_VERSION);
  if (options.output == "-") return print(page), kDone;
  const auto path = options.output.empty() ? beside(options.files.front()) : options.output;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out) return refuse(fail_errno(errno, "write", path).error());
  out << page;
  out.close();
  if (!out) return refuse(fail_errno(errno, "write", path).error());
  print(std::format("{}\n", printable(path)));
  return kDone;
}

}  // namespace

void add_report(CLI::App& app, int& code) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("report", "Make a page (HTML) from results of `forebay bench`");
  verb->add_option("FILE", options->files, "Results, as `forebay bench` writes them (JSON lines)")
      ->type_name("")
      ->required();
  verb->add_option("-o,--output", options->output,
                   "Where the page goes, - for standard output; else beside the first file, as .html")
      ->type_name("FILE");
  verb->footer(kExitCodes);
  verb->callback([options, &code] { code = run(*options); });
}

}  // namespace forebay
