// forebay drain: everything unsaved in a buffer goes home now, whoever wrote it.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <thread>

#include "base/duration.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/errand.hpp"
#include "tools/forebay/run/lock.hpp"
#include "tools/forebay/status_report.hpp"
#include "tools/forebay/terminal.hpp"
#include "tools/forebay/verbs.hpp"

namespace forebay {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kRetry = std::chrono::milliseconds(500);
constexpr auto kMoment = std::chrono::milliseconds(200);
constexpr auto kNext = std::chrono::milliseconds(10);

struct Options : CommonOptions {
  bool wait = false;
  bool detached = false;
  std::string timeout = "1d";
};

struct Left {
  std::string file;
  std::uint64_t bytes;
  std::string why;
};

struct Report {
  std::string buffer;
  std::uint64_t carried = 0;
  std::vector<Left> left{};
};

std::vector<Left> what_is_left(const BufferStatus& status, const std::vector<Carrier::Outcome>& outcomes) {
  std::map<std::uint32_t, std::string> why;
  for (const auto& [file, outcome] : outcomes) {
    if (!outcome) why[file] = "home does not answer";
    if (outcome && !*outcome) why[file] = outcome->error().message;
  }
  std::vector<Left> left{};
  for (const auto& file : status.files) {
    if (file.scratch || file.unsaved == 0) continue;
    const auto found = why.find(file.number);
    std::string words = found != why.end() ? found->second : "written meanwhile";
    if (found == why.end() && file.damaged != 0) words = "damaged in the buffer";
    left.push_back({name_of(file), file.unsaved, words});
  }
  if (status.stray_unsaved != 0)
    left.push_back({"(no known file)", status.stray_unsaved, "the buffer's index is damaged"});
  return left;
}

Result<Report> drain(const Settings& settings, const Options& options, std::chrono::nanoseconds timeout,
                     bool& stuck) {
  const auto deadline = Clock::now() + timeout;
  FOREBAY_ASSIGN(auto errand, Errand::join(settings, timeout));
  Report report{.buffer = settings.buffer.name};
  for (bool first = true;; first = false) {
    FOREBAY_ASSIGN(const auto status, errand.look());
    const auto files = files_to_carry(status, false);
    if (first) report.carried = status.unsaved();
    std::vector<Carrier::Outcome> outcomes;
    if (!files.empty()) outcomes = errand.carry(files, deadline - Clock::now());
    if (!errand.stuck()) retire_journals(errand.buffer().core());
    FOREBAY_ASSIGN(const auto after, errand.look());
    report.left = what_is_left(after, outcomes);
    const bool enough = !options.wait || Clock::now() + kRetry >= deadline;
    if (report.left.empty() || enough || errand.stuck()) break;
    std::this_thread::sleep_for(kRetry);
  }
  for (const auto& left : report.left) report.carried -= std::min(report.carried, left.bytes);
  stuck = stuck || errand.stuck();
  return report;
}

// Is there work again? Below `forebay run` one short process may leave after the other: an heir that waits a
// moment for the next one spares it the start of another heir.
bool more_is_left(const Errand& errand) {
  const auto& buffer = errand.buffer().core().settings.buffer;
  const auto until = Clock::now() + (is_marked_by_run(buffer.directory, buffer.name) ? kMoment : kMoment * 0);
  while (Clock::now() < until) {
    std::this_thread::sleep_for(kNext);
    const auto status = errand.look();
    if (!status) return false;
    if (!files_to_carry(*status, true).empty()) return true;
  }
  return false;
}

// In the role of heir, until nothing is left that nobody living carries home. What does not go home for
// limits.home_wait stays in the buffer.
Status inherit(const Settings& settings, Clock::time_point deadline, bool& stuck) {
  FOREBAY_ASSIGN(auto errand, Errand::join(settings, deadline - Clock::now()));
  const auto& core = errand.buffer().core();
  const auto nothing_left = [&] {
    const auto status = errand.look();
    return !status || files_to_carry(*status, true).empty();
  };
  bool any = true;
  while (any && !errand.stuck() && Clock::now() < deadline) {
    auto taken = core.peers.become_heir();
    if (!taken) return {};
    std::optional<Mapping> role(std::move(*taken));
    auto give_up = Clock::now() + core.settings.limits.home_wait;
    std::uint64_t left = ~std::uint64_t{0};
    // The first time everything, later what nobody else carries.
    for (bool all = true; !errand.stuck() && Clock::now() < std::min(give_up, deadline); all = false) {
      FOREBAY_ASSIGN(const auto status, errand.look());
      const auto files = files_to_carry(status, !all);
      if (files.empty()) {
        if (!more_is_left(errand)) break;
        give_up = Clock::now() + core.settings.limits.home_wait;
        left = ~std::uint64_t{0};
        continue;
      }
      if (status.unsaved() < left) give_up = Clock::now() + core.settings.limits.home_wait;
      left = std::min(left, status.unsaved());
      const auto outcomes = errand.carry(files, deadline - Clock::now());
      const auto failed = [](const auto& outcome) { return !outcome.status || !*outcome.status; };
      if (std::ranges::any_of(outcomes, failed)) std::this_thread::sleep_for(kRetry);
    }
    if (!errand.stuck()) retire_journals(errand.buffer().core());
    const bool failing = Clock::now() >= give_up;
    role.reset();
    // Who left meanwhile saw the role taken.
    any = !failing && !nothing_left();
  }
  stuck = stuck || errand.stuck();
  return {};
}

int run_detached(const std::vector<Settings>& buffers, std::chrono::nanoseconds timeout) {
  for (const auto& settings : buffers) {
    const auto status = look_at_buffer(settings);
    if (!status && status.error().code != ENOENT) return refuse(status.error());
    if (status && status->finding != ControlFinding::kUsable) return refuse({EBADMSG, status->why});
  }
  if (!go_into_background()) return kDone;
  const auto deadline = Clock::now() + timeout;
  bool stuck = false;
  int code = kDone;
  for (const auto& settings : buffers) {
    const auto status = inherit(settings, deadline, stuck);
    if (!status && status.error().code != ENOENT) code = kAttention;
  }
  end_now(code);
}

void say(const Report& report) {
  for (const auto& [file, bytes, why] : report.left) {
    complain(format_text("{} of {} are not home: {}", format_bytes(bytes), file, why));
  }
  if (report.left.empty() && is_terminal(STDOUT_FILENO)) {
    print(report.carried == 0
              ? format_text("buffer {}: nothing was unsaved\n", report.buffer)
              : format_text("buffer {}: {} carried home\n", report.buffer, format_bytes(report.carried)));
  }
}

void write(JsonWriter& json, const Report& report) {
  json.begin_object()
      .member("buffer", report.buffer)
      .member("carried_bytes", report.carried)
      .key("left")
      .begin_array();
  for (const auto& [file, bytes, why] : report.left) {
    json.begin_object().member("file", file).member("bytes", bytes).member("why", why).end_object();
  }
  json.end_array().end_object();
}

int run(const Options& options) {
  const auto chosen = chosen_buffers(options);
  if (!chosen) return refuse_settings(chosen.error());
  const auto timeout = parse_duration(options.timeout);
  if (!timeout) return refuse_settings(timeout.error());
  if (options.detached) return run_detached(*chosen, *timeout);
  int code = kDone;
  bool stuck = false;
  JsonWriter json;
  json.begin_object().key("buffers").begin_array();
  for (const auto& settings : *chosen) {
    const auto report = drain(settings, options, *timeout, stuck);
    if (!report && report.error().code == ENOENT) continue;
    if (!report) {
      code = refuse(report.error());
      continue;
    }
    if (!report->left.empty()) code = kAttention;
    say(*report);
    write(json, *report);
  }
  json.end_array().end_object();
  if (options.json) print(json.text() + "\n");
  if (stuck) end_now(code);
  return code;
}

}  // namespace

void add_drain(CLI::App& app, int& code) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("drain", "Carry everything unsaved home, also that of living processes");
  add_common(*verb, *options);
  add_all(*verb, *options, "Every buffer of this user below buffer.directory");
  add_json(*verb, *options);
  verb->add_flag("--wait", options->wait,
                 "Go on until nothing is unsaved: try again what failed, follow what is written");
  verb->add_flag("--detached", options->detached,
                 "Return at once, and go on in the background until the living carry home all that is left")
      ->excludes("--wait")
      ->excludes("--json");
  verb->add_option("--timeout", options->timeout, "Give up after this time (1d unless given)")
      ->type_name("DURATION")
      ->default_str("");
  verb->callback([options, &code] { code = run(*options); });
}

}  // namespace forebay
