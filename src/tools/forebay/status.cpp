// forebay status: what lies in a buffer, seen without joining it.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <limits>
#include <thread>

#include "base/json.hpp"
#include "engine/status.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/status_report.hpp"
#include "tools/forebay/terminal.hpp"
#include "tools/forebay/verbs.hpp"

namespace forebay {
namespace {

struct Options : CommonOptions {
  double watch = 0;
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
  std::size_t files = 20;
};

struct Seen {
  std::vector<BufferStatus> buffers;
  int code = kDone;
};

Seen look(const std::vector<Settings>& each, bool quiet) {
  Seen seen;
  for (const auto& settings : each) {
    auto status = look_at_buffer(settings);
    if (status) {
      if (needs_attention(*status)) seen.code = kAttention;
      seen.buffers.push_back(std::move(*status));
    } else if (status.error().code != ENOENT) {
      seen.code = refuse(status.error());
    } else if (!quiet && each.size() == 1) {
      complain(status.error().message + ": nothing is buffered");
    }
  }
  return seen;
}

std::string describe(const Seen& seen, const Options& options) {
  if (options.json) {
    JsonWriter json;
    json.begin_object().key("buffers").begin_array();
    for (const auto& status : seen.buffers) write_status(json, status);
    json.end_array().end_object();
    return json.text() + "\n";
  }
  std::string text;
  if (seen.buffers.empty() && options.all) return "no buffer of this user holds anything\n";
  for (const auto& status : seen.buffers)
    text += (text.empty() ? "" : "\n") + status_text(status, options.files);
  return text;
}

int run(const Options& options) {
  const bool watching = options.watch > 0;
  const auto rounds = watching ? options.count : 1;
  const bool redraw = watching && !options.json && is_terminal(STDOUT_FILENO);
  int code = kDone;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto chosen = chosen_buffers(options);
    if (!chosen) return refuse_settings(chosen.error());
    if (round > 0) std::this_thread::sleep_for(std::chrono::duration<double>(options.watch));
    const auto seen = look(*chosen, watching || options.json);
    code = seen.code;
    auto text = describe(seen, options);
    if (redraw) text = "\033[H\033[J" + (text.empty() ? "nothing is buffered\n" : text);
    if (watching && !redraw && !options.json && round > 0) text = "\n" + text;
    print(text);
    if (std::fflush(stdout) != 0) return kAttention;
  }
  return code;
}

}  // namespace

void add_status(CLI::App& app, int& code) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("status", "Show what is buffered, unsaved, where, since when and whose");
  add_common(*verb, *options);
  add_all(*verb, *options, "Every buffer of this user below buffer.directory");
  add_json(*verb, *options);
  verb->add_option("--watch", options->watch, "Look again every SECONDS (2 unless given), until interrupted")
      ->type_name("[SECONDS]")
      ->expected(0, 1)
      ->default_str("2")
      ->check(CLI::Range(0.05, 86400.0).description(""));
  verb->add_option("--count", options->count, "With --watch: how many times to look")
      ->type_name("N")
      ->default_str("");
  verb->add_option("--files", options->files, "How many files to list at most; 0: all (the default is 20)")
      ->type_name("N")
      ->default_str("");
  verb->callback([options, &code] { code = run(*options); });
}

}  // namespace forebay
