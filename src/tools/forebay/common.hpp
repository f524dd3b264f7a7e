// What the verbs have in common: options, settings, words, exit statuses.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/settings.hpp"

// CLI11 is slow to compile: for the files that name options, not for all.
namespace CLI {
class App;
class Formatter;
}  // namespace CLI

namespace forebay {

enum ExitCode : int {
  kDone = 0,
  kAttention = 1,    // something is left, damaged, refused or to be fixed; it was named
  kUsage = 2,        // the command line or the settings are wrong; nothing was done
  kRunFailed = 125,  // of `forebay run`, whose other statuses are those of its command
};
inline constexpr const char* kExitCodes =
    "Exit status: 0 all is well, 1 something needs attention (it is named), 2 the command line or a setting "
    "is wrong.";

struct CommonOptions {
  std::string config;
  std::string buffer;
  std::vector<std::string> set;
  bool all = false;
  bool json = false;
};
void add_common(CLI::App& verb, CommonOptions& options);
void add_all(CLI::App& verb, CommonOptions& options, const std::string& help);
void add_json(CLI::App& verb, CommonOptions& options);

// File, environment and command line; the log is set up as they say, but stays silent below errors unless
// they say so: what the engine would log, the verb says in its own words.
Result<Settings> load_settings(const CommonOptions& options);

// The settings once for each buffer meant: the one named, or with --all every one there is.
Result<std::vector<Settings>> chosen_buffers(const CommonOptions& options);

// "forebay: ..." on standard error, on a line of its own.
void complain(std::string_view words);
// The same, and the exit status that goes with the error.
int refuse(const Error& error);
// For errors of load_settings: nothing was done.
int refuse_settings(const Error& error);

void print(std::string_view text);  // on standard output

// An errno value in words for people who do not know errno values.
std::string error_words(int code);

// A path or name as it may go to a terminal: control characters become \xNN.
std::string printable(std::string_view text);

std::shared_ptr<CLI::Formatter> help_formatter();

}  // namespace forebay
