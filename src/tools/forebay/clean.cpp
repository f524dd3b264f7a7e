// forebay clean: a buffer's files are removed.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>

#include "base/bytes.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "engine/attach.hpp"
#include "engine/node_log.hpp"
#include "engine/status.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/errand.hpp"
#include "tools/forebay/terminal.hpp"
#include "tools/forebay/verbs.hpp"

namespace forebay {
namespace {

struct Options : CommonOptions {
  bool force = false;
  bool yes = false;
};

// True unless a person at a terminal thinks better of it. A script has said --force and means it.
bool agreed(const Settings& settings, const Options& options) {
  if (!options.force || options.yes || !is_terminal(STDIN_FILENO) || !is_terminal(STDERR_FILENO)) return true;
  const auto status = look_at_buffer(settings);
  if (!status) return true;
  if (status->finding == ControlFinding::kUsable && status->unsaved() == 0) return true;
  const auto what = status->finding == ControlFinding::kUsable
                        ? format_bytes(status->unsaved()) + " that are not home"
                        : "whatever lies in it: it is damaged";
  return ask(format_text("Buffer {} holds {}. Give that up?", status->directory, what));
}

// What is home need not be replayed from a journal later, when home may have newer bytes.
void retire_journals_of(const Settings& settings) {
  const auto status = look_at_buffer(settings);
  if (!status || status->finding != ControlFinding::kUsable || status->anybody_alive() ||
      status->unsaved() != 0)
    return;
  const auto errand = Errand::join(settings, settings.limits.home_wait);
  if (errand && !errand->stuck()) retire_journals(errand->buffer().core());
}

int run(const Options& options) {
  const auto chosen = chosen_buffers(options);
  if (!chosen) return refuse_settings(chosen.error());
  int code = kDone;
  JsonWriter json;
  json.begin_object().key("removed").begin_array();
  for (const auto& settings : *chosen) {
    if (!agreed(settings, options)) {
      complain(format_text("buffer {} is kept", settings.buffer.name));
      code = kAttention;
      continue;
    }
    retire_journals_of(settings);
    const auto removed = remove_buffer(settings, options.force);
    if (!removed && removed.error().code == ENOENT) {
      if (!options.json && !options.all) print(removed.error().message + ": nothing to remove\n");
      continue;
    }
    if (!removed) {
      code = refuse(removed.error());
      continue;
    }
    for (const auto& [path, bytes] : *removed) {
      if (!options.json) print(format_text("removed {} ({})\n", printable(path), format_bytes(bytes)));
      json.begin_object().member("path", path).member("bytes", bytes).end_object();
    }
  }
  json.end_array().end_object();
  if (options.json) print(json.text() + "\n");
  return code;
}

}  // namespace

void add_clean(CLI::App& app, int& code) {
  auto options = std::make_shared<Options>();
  auto* verb =
      app.add_subcommand("clean", "Remove a buffer that nobody uses and in which nothing is unsaved");
  add_common(*verb, *options);
  add_all(*verb, *options, "Every buffer of this user below buffer.directory");
  add_json(*verb, *options);
  verb->add_flag("--force", options->force,
                 "Also if bytes in it are not home or it is damaged: they are lost");
  verb->add_flag("--yes", options->yes, "Do not ask at a terminal before --force gives bytes up");
  verb->callback([options, &code] { code = run(*options); });
}

}  // namespace forebay
