// forebay profile: how fast the tiers and home are, measured and kept for placement.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/duration.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "config/profile.hpp"
#include "config/resolve.hpp"
#include "os/private_file.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/measure.hpp"
#include "tools/forebay/terminal.hpp"
#include "tools/forebay/text_table.hpp"
#include "tools/forebay/verbs.hpp"

namespace forebay {
namespace {

struct Options : CommonOptions {
  std::vector<std::string> homes;
  double seconds = 2;
};

struct Row {
  std::string name;  // of the tier; "home"
  std::string kind;
  std::string path;
  Measured measured;
};

// What placement reads is the speed of writing: it decides where bytes are staged.
Figures figures_of(const Row& row) {
  return {.path = row.path, .bandwidth = row.measured.write.bandwidth, .latency = row.measured.write.latency};
}

void replace(std::vector<Figures>& homes, const Figures& figures) {
  std::erase_if(homes, [&](const Figures& old) { return old.path == figures.path; });
  homes.push_back(figures);
}

void replace(std::vector<TierFigures>& tiers, const TierFigures& figures) {
  std::erase_if(tiers,
                [&](const TierFigures& old) { return old.path == figures.path && old.kind == figures.kind; });
  tiers.push_back(figures);
}

// The file is replaced as a whole: a reader finds the old figures or the new ones.
Status save(const Profile& profile, const Settings& settings) {
  const auto& path = settings.profile.file;
  const auto directory = std::filesystem::path(path).parent_path().string();
  if (directory == settings.buffer.directory) FOREBAY_TRY(open_private_directory(directory));
  const auto part = format_text("{}.{}", path, ::getpid());
  const auto text = format_profile(profile);
  const Fd file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return fail_errno(errno, "make", part);
  auto status = write_fully(file.get(), text.data(), text.size(), 0);
  if (!status) status = fail_errno(status.error().code, "write", part);
  if (status && ::rename(part.c_str(), path.c_str()) != 0) status = fail_errno(errno, "replace", path);
  if (!status) ::unlink(part.c_str());
  return status;
}

std::string table_of(const std::vector<Row>& rows) {
  using enum TextTable::Align;
  TextTable table({{"PLACE"},
                   {"KIND"},
                   {"WRITE", kRight},
                   {"READ", kRight},
                   {"WRITE 4KiB", kRight},
                   {"READ 4KiB", kRight},
                   {"WHERE"}});
  const auto rate = [](const Speed& speed) { return format_bytes(speed.bandwidth) + "/s"; };
  for (const auto& [name, kind, path, measured] : rows) {
    table.add({name, kind, rate(measured.write), rate(measured.read), format_duration(measured.write.latency),
               format_duration(measured.read.latency), printable(path)});
  }
  return table.text();
}

void write(JsonWriter& json, const Row& row) {
  json.begin_object().member("name", row.name).member("kind", row.kind).member("path", row.path);
  json.member("write_bytes_per_second", row.measured.write.bandwidth);
  json.member("read_bytes_per_second", row.measured.read.bandwidth);
  json.member("write_latency_ns", row.measured.write.latency.count());
  json.member("read_latency_ns", row.measured.read.latency.count()).end_object();
}

int run(const Options& options) {
  const auto loaded = load_settings(options);
  if (!loaded) return refuse_settings(loaded.error());
  const auto settings = resolve(*loaded);
  if (!settings) return refuse(settings.error());
  auto profile = read_profile(settings->profile.file).value_or(Profile{});
  const auto time =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.seconds));
  int code = kDone;
  std::vector<Row> rows;
  Progress progress;
  for (const auto& tier : settings->tiers) {
    progress.show(format_text("measuring tier {} in {}", tier.name, tier.path));
    const auto measured = measure_tier(tier, settings->buffer.bucket_size, time);
    progress.clear();
    if (!measured) {
      code = refuse({measured.error().code, format_text("tier {}: {}", tier.name, measured.error().message)});
      continue;
    }
    rows.push_back({tier.name, std::string(to_string(tier.kind)), tier.path, *measured});
    replace(profile.tiers, TierFigures{figures_of(rows.back()), tier.kind});
  }
  for (const auto& home : options.homes) {
    std::error_code error;
    const auto path = std::filesystem::canonical(home, error);
    if (error) {
      code = refuse({error.value(), format_text("cannot use {}: {}", home, error.message())});
      continue;
    }
    progress.show(format_text("measuring home in {}", path.string()));
    const auto measured = measure_home(path, settings->drain, time);
    progress.clear();
    if (!measured) {
      code = refuse(measured.error());
      continue;
    }
    rows.push_back({"home", "", path, *measured});
    replace(profile.homes, figures_of(rows.back()));
  }
  if (const auto saved = save(profile, *settings); !saved) code = refuse(saved.error());
  if (options.json) {
    JsonWriter json;
    json.begin_object().member("file", settings->profile.file).key("places").begin_array();
    for (const auto& row : rows) write(json, row);
    json.end_array().end_object();
    print(json.text() + "\n");
  } else {
    print(table_of(rows));
    if (code == kDone) print(format_text("kept in {}\n", settings->profile.file));
  }
  return code;
}

}  // namespace

void add_profile(CLI::App& app, int& code) {
  auto options = std::make_shared<Options>();
  auto* verb =
      app.add_subcommand("profile", "Measure the tiers and home, and keep the figures for placement");
  add_common(*verb, *options);
  add_json(*verb, *options);
  verb->add_option("--home", options->homes, "Also measure this directory at home; may be repeated")
      ->type_name("DIR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--seconds", options->seconds, "About how long to measure each place (2 unless given)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.01, 600.0).description(""))
      ->default_str("");
  verb->callback([options, &code] { code = run(*options); });
}

}  // namespace forebay
