// forebay settings: what holds here and where it comes from, and the pages made from the table of settings.
#include <CLI/CLI.hpp>

#include "base/format.hpp"
#include "base/json.hpp"
#include "config/pages.hpp"
#include "config/resolve.hpp"
#include "config/table.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/text_table.hpp"
#include "tools/forebay/verbs.hpp"

namespace forebay {
namespace {

struct Options : CommonOptions {
  bool page = false;
  bool sample = false;
};

std::string origin_of(const Settings& settings, std::string_view name) {
  const auto found = settings.origins.find(name);
  return found == settings.origins.end() ? "default" : found->second;
}

std::string tier_line(const TierSettings& tier) {
  auto text = format_text("{} {} {}", to_string(tier.kind), printable(tier.path), format_amount(tier.size));
  if (tier.bandwidth) text += format_text(", {}/s", format_bytes(*tier.bandwidth));
  return text;
}

std::string effective_text(const Settings& settings) {
  TextTable table({{"SETTING"}, {"VALUE"}, {"FROM"}});
  for (const auto& row : settings_table()) {
    const auto value = row.value(settings);
    table.add({std::string(row.name), value.empty() ? std::string(row.limits.empty) : printable(value),
               origin_of(settings, row.name)});
  }
  for (std::size_t i = 0; i < settings.tiers.size(); ++i) {
    const auto& tier = settings.tiers[i];
    table.add({format_text("tiers[{}]", i), format_text("{}: {}", tier.name, tier_line(tier)),
               tier.origin.empty() ? "default" : tier.origin});
  }
  for (std::size_t i = 0; i < settings.rules.size(); ++i) {
    const auto& rule = settings.rules[i];
    std::string given;
    for (const auto name : rule.given) {
      const auto* row = find_setting(name);
      given += format_text("{}{}={}", given.empty() ? "" : " ", name,
                           row->write({&settings, &rule.values}, row->limits));
    }
    std::string patterns;
    for (const auto& pattern : rule.patterns) patterns += (patterns.empty() ? "" : " ") + printable(pattern);
    table.add({format_text("files[{}]", i), format_text("{}: {}", patterns, given), rule.origin});
  }
  return table.text();
}

std::string effective_json(const Settings& settings) {
  JsonWriter json;
  json.begin_object().key("settings").begin_object();
  for (const auto& row : settings_table()) {
    json.key(row.name).begin_object().member("value", row.value(settings));
    json.member("from", origin_of(settings, row.name)).end_object();
  }
  json.end_object().key("tiers").begin_array();
  for (const auto& tier : settings.tiers) {
    json.begin_object()
        .member("name", tier.name)
        .member("kind", to_string(tier.kind))
        .member("path", tier.path);
    json.member("size", format_amount(tier.size)).key("bandwidth");
    tier.bandwidth ? json.value(*tier.bandwidth) : json.value(nullptr);
    json.key("latency_ns");
    tier.latency ? json.value(tier.latency->count()) : json.value(nullptr);
    json.member("from", tier.origin.empty() ? "default" : tier.origin).end_object();
  }
  json.end_array().member("rules", settings.rules.size()).end_object();
  return json.text() + "\n";
}

int run(const Options& options) {
  if (options.page) return print(settings_markdown()), kDone;
  if (options.sample) return print(settings_sample()), kDone;
  auto settings = load_settings(options);
  if (!settings) return refuse_settings(settings.error());
  int code = kDone;
  if (auto resolved = resolve(*settings)) {
    settings = std::move(*resolved);
  } else {
    code = refuse(resolved.error());
    *settings = resolve_paths(std::move(*settings));
  }
  print(options.json ? effective_json(*settings) : effective_text(*settings));
  return code;
}

}  // namespace

void add_settings(CLI::App& app, int& code) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("settings", "Show every setting, its value here and where that comes from");
  add_common(*verb, *options);
  add_json(*verb, *options);
  auto* page =
      verb->add_flag("--page", options->page, "Print the settings page of the manual (Markdown) instead");
  verb->add_flag("--sample", options->sample, "Print a settings file with every default (YAML) instead")
      ->excludes(page);
  verb->callback([options, &code] { code = run(*options); });
}

}  // namespace forebay
