#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.hpp"
#include "config/environment.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/run/doors.hpp"
#include "tools/forebay/verbs.hpp"

namespace {

constexpr const char* kAbout =
    "Keeps files in fast memory and storage of this node, in front of a slow file system.\n"
    "`forebay run` does so for a command; the other verbs look after the buffers, or measure.";

// What CLI11 says of words that it has no use for names them in any order, and none where a verb is missing.
std::string in_words(const CLI::App& app, const CLI::ParseError& error) {
  using namespace forebay;
  const auto is = [&](CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); };
  if (is(CLI::ExitCodes::RequiredError) || is(CLI::ExitCodes::ExtrasError)) {
    const auto words = app.remaining(true);
    const auto option = std::ranges::find_if(words, [](const auto& word) { return word.starts_with('-'); });
    if (option != words.end()) return format_text("there is no option {}", printable(*option));
    if (!words.empty()) return format_text("\"{}\" is of no use here", printable(words.front()));
    if (app.get_subcommands().empty()) return "it is not said what to do";
  }
  return error.what();
}

int explain(const CLI::App& app, const CLI::ParseError& error) {
  using namespace forebay;
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
  std::string verb;
  for (const auto* used : app.get_subcommands()) verb = " " + used->get_name();
  complain(format_text("{} (`forebay{} --help` says more)", in_words(app, error), verb));
  return verb == " run" ? kRunFailed : kUsage;
}

struct Verb {
  std::string_view name;
  void (*add)(CLI::App& app, int& code);
};
constexpr auto kVerbs = std::to_array<Verb>({{"run", forebay::add_run},
                                             {"status", forebay::add_status},
                                             {"drain", forebay::add_drain},
                                             {"recover", forebay::add_recover},
                                             {"clean", forebay::add_clean},
                                             {"profile", forebay::add_profile},
                                             {"doctor", forebay::add_doctor},
                                             {"settings", forebay::add_settings},
                                             {"bench", forebay::add_bench},
                                             {"report", forebay::add_report}});

// Options cost more than most verbs do with them: only those of the one that is meant are made. False when
// the first word is none; CLI11 would only say that a verb is missing.
bool add_verbs(CLI::App& app, const std::vector<std::string>& words, int& code) {
  const bool all = words.empty() || words.front().starts_with('-');
  bool any = false;
  for (const auto& [name, add] : kVerbs) {
    if (!all && name != words.front()) continue;
    add(app, code);
    any = true;
  }
  return any;
}

// Under `forebay run` the doors are open for this program too: its own reading and writing at home would land
// in the buffer that it looks after.
void leave_own_doors(char** argv) {
  using namespace forebay;
  auto variables = Environment::current().variables();
  const auto preloaded = variables.find("LD_PRELOAD");
  if (preloaded == variables.end() || !preloaded->second.contains("/libforebay_")) return;
  preloaded->second = without_doors(preloaded->second);
  if (preloaded->second.empty()) variables.erase(preloaded);
  std::vector<std::string> texts;
  for (const auto& [name, value] : variables) texts.push_back(name + "=" + value);
  std::vector<char*> words;
  for (auto& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  ::execve("/proc/self/exe", argv, words.data());
}

}  // namespace

int main(int argc, char** argv) {
  using namespace forebay;
  leave_own_doors(argv);
  CLI::App app{kAbout, "forebay"};
  app.formatter(help_formatter());
  app.set_version_flag("--version", std::string("forebay ") + FOREBAY_VERSION, "Show the version");
  app.set_help_flag("-h,--help", "Show this text");
  app.require_subcommand(1);
  app.footer(kExitCodes);
  int code = kDone;
  try {
    std::vector<std::string> words(argv + 1, argv + argc);
    if (!add_verbs(app, words, code)) {
      complain(
          format_text("there is no \"{}\" (`forebay --help` shows what there is)", printable(words.front())));
      return kUsage;
    }
    drop_separator(app, words);
    std::ranges::reverse(words);
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return explain(app, error);
  } catch (const std::exception& error) {
    complain(error.what());
    return kAttention;
  }
  // What could not be written was not said: a full disk behind a redirection, for one.
  if (std::fflush(stdout) != 0) {
    complain("cannot write to standard output");
    return kAttention;
  }
  return code;
}
