// forebay run: a command and all it starts, with the doors open and a buffer of its own.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <ranges>

#include "base/format.hpp"
#include "base/real_path.hpp"
#include "config/load.hpp"
#include "config/resolve.hpp"
#include "config/table.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/errand.hpp"
#include "tools/forebay/run/buffer.hpp"
#include "tools/forebay/run/child.hpp"
#include "tools/forebay/run/doors.hpp"
#include "tools/forebay/run/report.hpp"
#include "tools/forebay/run/report_file.hpp"
#include "tools/forebay/verbs.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr int kCannotRun = 126;
constexpr int kNoCommand = 127;

struct Options : CommonOptions {
  std::vector<std::string> homes;
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  std::string doors = "hdf5,mpiio,posix";
  std::string mode;
  std::string durability;
  std::string on_close;
  std::string report;
  bool quiet = false;
  std::vector<std::string> command;
};

int refuse_run(const Error& error) {
  complain(error.message);
  return kRunFailed;
}

// Items of a list setting, joined as config/value.hpp wants it.
std::string joined(const std::vector<std::string>& items, bool patterns) {
  std::string text;
  for (const auto& item : items) {
    text += text.empty() ? "" : ":";
    for (const char c : item) {
      if (patterns && c == ':') text += '\\';
      text += c;
    }
  }
  return text;
}

Result<std::string> absolute_homes(const std::vector<std::string>& homes) {
  std::vector<std::string> all;
  for (const auto& home : homes) {
    std::error_code failed;
    all.push_back(fs::absolute(home, failed).string());
    if (home.empty() || failed) return fail(EINVAL, format_text("--home: \"{}\" is no directory", home));
    if (home.contains(':'))
      return fail(EINVAL, format_text("--home: \"{}\" holds a colon, which separates homes", home));
  }
  return joined(all, false);
}

// What the options say beyond --set, as settings.
Status add_overrides(Options& options) {
  if (!options.homes.empty()) {
    FOREBAY_ASSIGN(const auto homes, absolute_homes(options.homes));
    options.set.push_back("homes=" + homes);
  }
  if (!options.include.empty()) options.set.push_back("include=" + joined(options.include, true));
  if (!options.exclude.empty()) options.set.push_back("exclude=" + joined(options.exclude, true));
  if (!options.mode.empty()) options.set.push_back("mode=" + options.mode);
  if (!options.durability.empty()) options.set.push_back("durability=" + options.durability);
  if (!options.on_close.empty()) options.set.push_back("on_close=" + options.on_close);
  if (!options.config.empty()) {
    std::error_code failed;
    options.config = fs::absolute(options.config, failed).string();
  }
  return {};
}

// Within another run, on its buffer: what that one buffers is unsaved in there, and past it nobody may go.
void add_homes_of_outer_run(Settings& settings) {
  const auto environment = Environment::current();
  const auto given = [&](std::string_view setting) { return environment.get(variable_name(setting)); };
  if (given("buffer.name") != settings.buffer.name || given("buffer.directory") != settings.buffer.directory)
    return;
  for (const auto part : given("homes").value_or("") | std::views::split(':')) {
    const std::string home(std::string_view{part});
    if (!home.empty() && !std::ranges::contains(settings.choice.homes, home))
      settings.choice.homes.push_back(home);
  }
}

Result<Settings> settings_of(const Options& options) {
  FOREBAY_ASSIGN(auto settings, load_settings(options));
  if (!options.homes.empty()) add_homes_of_outer_run(settings);
  if (settings.choice.homes.empty()) {
    std::error_code failed;
    settings.choice.homes.push_back(fs::current_path(failed).string());
    if (failed)
      return fail(failed.value(), "there is no current directory to take as home: name one with --home");
  }
  return resolve_paths(std::move(settings));
}

// How every process of the tree comes to these settings.
void tell_settings(const Options& options, const Settings& settings, Environment::Variables& variables) {
  if (!options.config.empty()) variables[std::string(kConfigVariable)] = options.config;
  for (const auto& text : options.set) {
    const auto equals = text.find('=');
    variables[variable_name(text.substr(0, equals))] = text.substr(equals + 1);
  }
  variables[variable_name("homes")] = joined(settings.choice.homes, false);
  variables[variable_name("buffer.name")] = settings.buffer.name;
  variables[variable_name("buffer.directory")] = settings.buffer.directory;
}

std::vector<std::string> as_list(const Environment::Variables& variables) {
  std::vector<std::string> all;
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

// Does the command look as if it meant a file of a home?
bool touches_a_home(const Command& command, const Settings& settings) {
  const auto inside = [&](const std::string& path) {
    const auto real = real_path(path);
    return std::ranges::any_of(settings.choice.homes, [&](const auto& home) { return lies_in(real, home); });
  };
  if (inside(".")) return true;
  return std::ranges::any_of(command.words,
                             [&](const auto& word) { return word.contains('/') && inside(word); });
}

// Said before the command runs: it may take long, and make the directory by itself.
void complain_of_homes(const std::vector<std::string>& homes) {
  for (const auto& home : homes) {
    std::error_code failed;
    if (fs::is_directory(home, failed)) continue;
    const bool other = fs::exists(home, failed);
    complain(
        format_text("home {} is no directory{}", printable(home),
                    other ? ": nothing is buffered there" : " yet: nothing is buffered there until it is"));
  }
}

// Each process would say so by itself, or, where none opens a file of a home, none.
void complain_of_tiers(const Settings& settings) {
  if (settings.tiers.empty()) return;
  if (const auto resolved = resolve(settings); !resolved)
    complain(format_text("nothing is buffered: {}", printable(resolved.error().message)));
}

void say(const std::string& text) {
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// Returns only when the command did not start.
int run(Options options) {
  if (const auto added = add_overrides(options); !added) return refuse_run(added.error());
  auto settings = settings_of(options);
  if (!settings) return refuse_run(settings.error());
  const auto doors = parse_doors(options.doors);
  if (!doors) return refuse_run({EINVAL, "--doors: " + doors.error().message});
  const auto environment = Environment::current();
  const auto path_variable = environment.get_or("PATH", "/usr/local/bin:/usr/bin:/bin");
  const auto program = find_command(options.command.front(), path_variable);
  if (!program) {
    complain(program.error().message);
    return program.error().code == ENOENT ? kNoCommand : kCannotRun;
  }

  const ReportFile file(options.report);
  if (const auto checked = file.check(); !checked) return refuse_run(checked.error());
  const auto chosen = choose_buffer(*settings, environment);
  settings->buffer.name = chosen.name;
  auto buffer = RunBuffer::join(*settings, chosen.kept);
  if (!buffer) return refuse_run(buffer.error());
  file.empty();
  RunReport report{
      .buffer = chosen.name, .homes = settings->choice.homes, .leftovers = buffer->recover_leftovers()};
  say(report_leftovers(report.leftovers));

  complain_of_homes(settings->choice.homes);
  complain_of_tiers(*settings);
  const auto command = examine_command(options.command, *program, path_variable);
  if (touches_a_home(command, *settings)) report.unseen = unseen_programs(command);
  auto variables = environment.variables();
  tell_settings(options, *settings, variables);
  auto opened = open_doors(*doors, DoorPlaces::beside_this_program(), command, variables);
  for (const auto& remark : opened.remarks) complain(remark);
  report.doors = std::move(opened.doors);

  const auto began = Clock::now();
  const auto ended = run_child(*program, options.command, as_list(variables));
  if (!ended) {
    complain(ended.error().message);
    (void)buffer->end();
    return ended.error().code == ENOENT ? kNoCommand : kCannotRun;
  }
  report.ended = *ended;
  report.elapsed = Clock::now() - began;
  report.ending = buffer->end();
  for (const auto& unseen : report.ending.unseen) {
    if (!std::ranges::contains(report.unseen, unseen)) report.unseen.push_back(unseen);
  }
  if (report.ending.status && report.ending.status->totals) {
    report.figures = figures_of(*report.ending.before.counters, *report.ending.status->totals);
    report.passed = passed_since(report.ending.before.passed, report.ending.status->passed);
  }
  if (report.ending.reports && !options.quiet) say(report_text(report));
  const auto written = report.ending.reports ? file.write(report_json(report)) : file.leave_to_another();
  if (!written) complain(written.error().message);
  if ((report.ending.detached || report.ending.removed_later) && go_into_background()) {
    buffer->end_detached();
    end_now(kDone);
  }
  end_like(*ended);
}

}  // namespace

void drop_separator(CLI::App& app, std::vector<std::string>& words) {
  if (words.empty() || words.front() != "run") return;
  const auto* verb = app.get_subcommand("run");
  for (auto word = words.begin() + 1; word != words.end() && word->starts_with('-'); ++word) {
    if (*word == "--") {
      words.erase(word);
      return;
    }
    const auto* option = verb->get_option_no_throw(*word);
    const bool takes_the_next = option != nullptr && option->get_items_expected_max() > 0;
    if (takes_the_next && ++word == words.end()) return;
  }
}

void add_run(CLI::App& app, int& code) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("run",
                                  "Run a command with the doors open: it and all it starts use a buffer, and "
                                  "a report says what came of it");
  verb->usage("Usage: forebay run [OPTIONS] [--] COMMAND [ARGUMENTS...]");
  add_common(*verb, *options);
  const auto list = [&](const char* name, std::vector<std::string>& values, const char* type,
                        const char* help) {
    verb->add_option(name, values, help)
        ->type_name(type)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  list("--home", options->homes, "DIR",
       "Buffer the files below this directory; may be repeated (unless given or set: the current directory)");
  list("--include", options->include, "PATTERN", "Only files that match; may be repeated");
  list("--exclude", options->exclude, "PATTERN", "No files that match; may be repeated");
  verb->add_option("--doors", options->doors,
                   "Of hdf5, mpiio and posix, those to open (all, as far as they fit)")
      ->type_name("LIST")
      ->default_str("");
  verb->add_option("--mode", options->mode, "async, sync, scratch or bypass (setting mode)")
      ->type_name("WORD");
  verb->add_option("--durability", options->durability, "process, node or home (setting durability)")
      ->type_name("WORD");
  verb->add_option("--on-close", options->on_close,
                   "home: a close returns when the file is home; detach: at once (setting on_close)")
      ->type_name("WORD");
  verb->add_option("--report", options->report, "Write the report to this file, as JSON")->type_name("FILE");
  verb->add_flag("--quiet", options->quiet, "No report on standard error");
  verb->prefix_command();
  verb->footer(
      "Exit status: that of the command; 125 forebay itself failed, 126 the command cannot be run, 127 there "
      "is no "
      "such command.");
  verb->callback([options, verb, &code] {
    options->command = verb->remaining();
    if (options->command.empty()) throw CLI::ParseError("no command is given", CLI::ExitCodes::RequiredError);
    if (options->command.front().starts_with('-')) throw CLI::ExtrasError({options->command.front()});
    code = run(std::move(*options));
  });
}

}  // namespace forebay
