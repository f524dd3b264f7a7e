#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <format>
#include <string>

#include "tools/forebay/common.hpp"
#include "tools/forebay/verbs.hpp"

namespace {

constexpr const char* kAbout =
    "Looks after the buffers of this node: what lies in them, carrying it home, the tiers beneath.";

int explain(const CLI::App& app, const CLI::ParseError& error) {
  using namespace forebay;
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
  std::string verb;
  for (const auto* used : app.get_subcommands()) verb = " " + used->get_name();
  complain(std::format("{} (`forebay{} --help` says more)", error.what(), verb));
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace forebay;
  CLI::App app{kAbout, "forebay"};
  app.formatter(help_formatter());
  app.set_version_flag("--version", std::string("forebay ") + FOREBAY_VERSION);
  app.set_help_flag("-h,--help", "Show this text");
  app.require_subcommand(1);
  app.footer(kExitCodes);
  int code = kDone;
  for (const auto add :
       {add_status, add_drain, add_recover, add_clean, add_profile, add_doctor, add_settings}) {
    add(app, code);
  }
  try {
    app.parse(argc, argv);
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
