// forebay doctor: is this machine fit for Forebay, and what should be mended?
#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/format.hpp"
#include "base/json.hpp"
#include "config/environment.hpp"
#include "config/load.hpp"
#include "config/resolve.hpp"
#include "config/table.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/doctor/checks.hpp"
#include "tools/forebay/verbs.hpp"

namespace forebay {
namespace {

std::string_view word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGood:
      return "good";
    case Verdict::kNote:
      return "note";
    case Verdict::kFix:
      return "FIX";
  }
  return "";
}

// Which settings hold here, by where they come from. Bad ones are a finding: the other checks go on with the
// defaults.
Settings check_settings(const CommonOptions& options, Findings& findings) {
  const auto add = [&](Verdict verdict, std::string what, std::string remedy = {}) {
    findings.push_back({"settings", verdict, std::move(what), std::move(remedy)});
  };
  const auto file = options.config.empty() ? std::string(Environment::current().get_or(kConfigVariable, ""))
                                           : options.config;
  auto settings = load_settings(options);
  if (!settings) {
    add(Verdict::kFix, printable(settings.error().message),
        "docs/settings.md says what is allowed; what follows is about the defaults");
    return {};
  }
  add(Verdict::kGood, file.empty() ? "no settings file: defaults, environment and command line"
                                   : "settings file " + printable(file));
  for (const auto& [name, origin] : settings->origins) {
    const auto* row = find_setting(name);
    add(Verdict::kGood, format_text("{}{} (from {})", name,
                                    row == nullptr ? "" : " = " + printable(row->value(*settings)), origin));
  }
  return std::move(*settings);
}

Findings examine(const CommonOptions& options) {
  Findings findings;
  const auto loaded = check_settings(options, findings);
  auto settings = resolve(loaded);
  if (!settings) {
    findings.push_back({"tiers", Verdict::kFix, printable(settings.error().message),
                        "make the directory, make room, or change `tiers`"});
    settings = resolve_paths(loaded);
  }
  check_machine(*settings, findings);
  check_logind(*settings, findings);
  check_tiers(*settings, findings);
  check_directories(*settings, findings);
  check_buffers(loaded, findings);
  check_libraries(findings);
  return findings;
}

void say(const Findings& findings) {
  std::string area;
  for (const auto& finding : findings) {
    if (finding.area != area) print(finding.area + "\n");
    area = finding.area;
    print(format_text("  {:4}  {}\n", word(finding.verdict), finding.what));
    if (!finding.remedy.empty()) print(format_text("        -> {}\n", finding.remedy));
  }
  const auto count = [&](Verdict verdict) {
    return std::ranges::count(findings, verdict, &Finding::verdict);
  };
  const auto fixes = count(Verdict::kFix);
  const auto notes = count(Verdict::kNote);
  print(fixes == 0
            ? format_text("\nready to use{}\n", notes == 0 ? "" : format_text(", {} note(s) above", notes))
            : format_text("\n{} to fix, {} note(s)\n", fixes, notes));
}

int run(const CommonOptions& options) {
  const auto findings = examine(options);
  const bool fit =
      std::ranges::none_of(findings, [](const Finding& f) { return f.verdict == Verdict::kFix; });
  if (!options.json) {
    say(findings);
    return fit ? kDone : kAttention;
  }
  JsonWriter json;
  json.begin_object().member("fit", fit).key("findings").begin_array();
  for (const auto& [area, verdict, what, remedy] : findings) {
    json.begin_object()
        .member("area", area)
        .member("verdict", verdict == Verdict::kFix ? "fix" : word(verdict));
    json.member("what", what).key("remedy");
    remedy.empty() ? json.value(nullptr) : json.value(remedy);
    json.end_object();
  }
  json.end_array().end_object();
  print(json.text() + "\n");
  return fit ? kDone : kAttention;
}

}  // namespace

void add_doctor(CLI::App& app, int& code) {
  auto options = std::make_shared<CommonOptions>();
  auto* verb =
      app.add_subcommand("doctor", "Check machine, tiers, permissions, settings, libraries; say what to fix");
  add_common(*verb, *options);
  add_json(*verb, *options);
  verb->callback([options, &code] { code = run(*options); });
}

}  // namespace forebay
