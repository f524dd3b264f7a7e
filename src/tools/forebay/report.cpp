// forebay report: a page for people from results of `forebay bench`.
#include <CLI/CLI.hpp>

#include "base/format.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/report/write_report.hpp"
#include "tools/forebay/verbs.hpp"

namespace forebay {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string output;
  bool markdown = false;
};

int print_markdown(const Options& options) {
  const auto text = report::markdown_of_files(options.files);
  if (!text) return refuse(text.error());
  return print(*text), kDone;
}

int run(const Options& options) {
  if (options.markdown) return print_markdown(options);
  const auto page = report::page_of_files(options.files, std::string("forebay ") + FOREBAY_VERSION);
  if (!page) return refuse(page.error());
  if (options.output == "-") return print(*page), kDone;
  const auto path = options.output.empty() ? report::page_beside(options.files.front()) : options.output;
  if (const auto written = report::write_page(*page, path); !written) return refuse(written.error());
  print(format_text("{}\n", printable(path)));
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
  verb->add_flag("--markdown", options->markdown, "Tables in Markdown on standard output instead of a page");
  verb->footer(kExitCodes);
  verb->callback([options, &code] { code = run(*options); });
}

}  // namespace forebay
