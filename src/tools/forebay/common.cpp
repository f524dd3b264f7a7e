#include "tools/forebay/common.hpp"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/format.hpp"
#include "base/log.hpp"
#include "config/load.hpp"
#include "engine/status.hpp"

namespace forebay {
namespace {

// Without what CLI11 adds by itself: the descriptions say it in words.
class PlainFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const auto type = option->get_type_name();
    const auto name = type.substr(0, type.find(':'));  // a check of the value describes itself behind it
    return name.empty() ? "" : " " + name;
  }
  // A group of options that are not shown leaves a line of its own.
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    auto text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (auto gap = text.find("\n\n\n"); gap != std::string::npos; gap = text.find("\n\n\n"))
      text.erase(gap, 1);
    return text;
  }
};

}  // namespace

void add_common(CLI::App& verb, CommonOptions& options) {
  verb.add_option("--config", options.config, "Settings file, in place of the one FOREBAY_CONFIG names")
      ->type_name("FILE");
  verb.add_option("--set", options.set, "A setting, in place of file and environment; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--buffer", options.buffer, "Name of the buffer (setting buffer.name)")->type_name("NAME");
  verb.footer(kExitCodes);
}

void add_all(CLI::App& verb, CommonOptions& options, const std::string& help) {
  verb.add_flag("--all", options.all, help)->excludes("--buffer");
}

void add_json(CLI::App& verb, CommonOptions& options) {
  verb.add_flag("--json", options.json, "One JSON document on standard output");
}

Result<Settings> load_settings(const CommonOptions& options) {
  LoadOptions load_options{
      .file = options.config, .overrides = options.set, .overrides_from = "command line"};
  if (!options.buffer.empty()) load_options.overrides.push_back("buffer.name=" + options.buffer);
  FOREBAY_ASSIGN(auto settings, load(load_options));
  set_log_level(settings.origins.contains("log.level") ? settings.log.level : LogLevel::Error);
  FOREBAY_TRY(set_log_file(settings.log.file));
  return settings;
}

Result<std::vector<Settings>> chosen_buffers(const CommonOptions& options) {
  FOREBAY_ASSIGN(auto settings, load_settings(options));
  if (!options.all) return std::vector{std::move(settings)};
  FOREBAY_ASSIGN(const auto names, buffer_names(settings));
  std::vector<Settings> each(names.size(), settings);
  for (std::size_t i = 0; i < names.size(); ++i) each[i].buffer.name = names[i];
  return each;
}

void complain(std::string_view words) {
  std::fflush(stdout);
  const auto line = format_text("forebay: {}\n", words);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int refuse(const Error& error) {
  complain(error.message);
  return kAttention;
}

int refuse_settings(const Error& error) {
  complain(error.message);
  return kUsage;
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::string error_words(int code) {
  switch (code) {
    case ESTALE:
      return "gone from home, or another file lies there now";
    case EBADMSG:
      return "the buffer's record of it is damaged";
    case ETIMEDOUT:
      return "home does not answer";
    default:
      return std::generic_category().message(code);
  }
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += format_text("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::shared_ptr<CLI::Formatter> help_formatter() {
  auto formatter = std::make_shared<PlainFormatter>();
  formatter->column_width(22);
  return formatter;
}

}  // namespace forebay
