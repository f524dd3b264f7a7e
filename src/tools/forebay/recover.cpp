// forebay recover: what dead processes left unsaved is verified and carried home.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <map>

#include "base/duration.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "config/resolve.hpp"
#include "engine/attach.hpp"
#include "engine/node_log.hpp"
#include "engine/salvage.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/errand.hpp"
#include "tools/forebay/rescue.hpp"
#include "tools/forebay/status_report.hpp"
#include "tools/forebay/verbs.hpp"

namespace forebay {
namespace {

struct Options : CommonOptions {
  std::string rescue;
  bool forget = false;
  std::string timeout = "1d";
};

// What became of one file.
struct Account {
  std::uint32_t file = 0;
  std::string path;   // empty: not known
  std::string name;   // for people
  std::string whose;  // as it was before
  std::uint64_t found = 0;
  std::uint64_t left = 0;
  std::uint32_t damaged = 0;  // buckets
  bool in_use = false;        // by a living process, whose business it is
  std::string why{};          // something is left
  RescuedFile rescued{};
  bool forgotten = false;
};

struct Report {
  std::string buffer;
  ReplayReport journals{};  // of a node that was lost
  std::vector<Account> files{};
  std::uint64_t stray = 0;
  bool stuck = false;
};

const FileStatus* find(const BufferStatus& status, std::uint32_t number) {
  const auto found = std::ranges::find(status.files, number, &FileStatus::number);
  return found == status.files.end() ? nullptr : &*found;
}

std::string why_left(const FileStatus& file, const std::optional<Status>& outcome) {
  if (!outcome) return "home does not answer";
  if (!*outcome) return outcome->error().message;
  return file.damaged != 0 ? "damaged in the buffer" : "the buffer's record of it is damaged";
}

std::vector<Account> open_accounts(const BufferStatus& status, const BufferStatus& before) {
  std::vector<Account> accounts;
  for (const auto& file : status.files) {
    if (file.scratch || (file.unsaved == 0 && file.damaged == 0)) continue;
    const auto* earlier = find(before, file.number);
    accounts.push_back({.file = file.number,
                        .path = file.path,
                        .name = name_of(file),
                        .whose = earlier == nullptr ? "nobody" : owners_of(before, *earlier),
                        .found = file.unsaved,
                        .left = file.unsaved,
                        .damaged = file.damaged,
                        .in_use = status.has_living_opener(file)});
  }
  return accounts;
}

void close_accounts(std::vector<Account>& accounts, const BufferStatus& after,
                    const std::vector<Carrier::Outcome>& outcomes) {
  for (auto& account : accounts) {
    const auto* file = find(after, account.file);
    account.left = file == nullptr ? 0 : file->unsaved;
    account.damaged = file == nullptr ? 0 : file->damaged;
    const auto outcome = std::ranges::find(outcomes, account.file, &Carrier::Outcome::file);
    if (file == nullptr || outcome == outcomes.end()) continue;
    if (account.left != 0 || account.damaged != 0) account.why = why_left(*file, outcome->status);
  }
}

Status rescue_what_is_left(Core& core, const Options& options, const std::string& identity, Report& report) {
  std::vector<RescuedFile> files;
  for (const auto& account : report.files) {
    if (account.in_use || account.why.empty()) continue;
    files.push_back({.file = account.file, .home = account.path, .why = account.why});
  }
  if (files.empty()) return {};
  FOREBAY_TRY(rescue(core, options.rescue, identity, files));
  for (auto& file : files) {
    auto& account = *std::ranges::find(report.files, file.file, &Account::file);
    if (options.forget) {
      FOREBAY_TRY(abandon(core, file.file));
      account.forgotten = true;
    }
    account.rescued = std::move(file);
  }
  return {};
}

Result<Report> recover(const Settings& settings, const Options& options, std::chrono::nanoseconds timeout) {
  FOREBAY_ASSIGN(auto errand, Errand::join(settings, timeout));
  auto& core = errand.buffer().core();
  Report report{.buffer = settings.buffer.name};
  FOREBAY_ASSIGN(const auto status, errand.look());
  report.files = open_accounts(status, errand.before());
  const auto files = files_to_carry(status, true);
  std::vector<Carrier::Outcome> outcomes;
  if (!files.empty()) outcomes = errand.carry(files, timeout);
  if (!errand.stuck()) retire_journals(core);
  FOREBAY_ASSIGN(const auto after, errand.look());
  report.stray = after.stray_unsaved;
  report.stuck = errand.stuck();
  close_accounts(report.files, after, outcomes);
  for (const auto& account : report.files) {
    if (!account.in_use)
      count(core.counters().recovered_bytes, account.found - std::min(account.found, account.left));
  }
  if (!options.rescue.empty() && !report.stuck) {
    const auto identity =
        format_text("{} made {}", printable(status.directory), core.control.header().created_ns);
    FOREBAY_TRY(rescue_what_is_left(core, options, identity, report));
  }
  return report;
}

// The node was lost, and its buffer with it: what had been promised to survive that lies in journals, which
// whoever makes the buffer again carries home. It is removed again, so that journals of files that are still
// out of reach are replayed by the next to come.
Result<Report> recover_journals(const Settings& settings) {
  Report report{.buffer = settings.buffer.name};
  {
    FOREBAY_ASSIGN(const auto buffer, Buffer::attach(settings, {.background = false}));
    report.journals = buffer->replayed();
  }
  FOREBAY_TRY(remove_buffer(settings, false));
  return report;
}

// Is there a buffer of this boot, or are there only journals of one that is gone?
bool only_journals_left(const Settings& settings) {
  const auto status = look_at_buffer(settings);
  if (status ? status->finding != ControlFinding::kUnfinished && status->finding != ControlFinding::kOtherBoot
             : status.error().code != ENOENT) {
    return false;
  }
  const auto resolved = resolve(settings);
  return resolved && journals_left(*resolved);
}

// Is this file's matter settled, so that nobody need come back for it?
bool settled(const Account& account) { return account.in_use || account.forgotten || account.why.empty(); }

std::string line_for(const Account& account) {
  if (account.in_use) {
    return format_text("{}: {} unsaved in use by {}, which carries them home", account.name,
                       format_bytes(account.found), account.whose);
  }
  const auto carried = account.found - std::min(account.found, account.left);
  auto text = account.name + ":";
  if (carried != 0) text += format_text(" {} carried home", format_bytes(carried));
  if (carried != 0 && account.whose != "nobody") text += format_text(" (left by {})", account.whose);
  if (account.why.empty()) return text;
  text += format_text("{} {} kept in the buffer: {}", carried != 0 ? ";" : "", format_bytes(account.left),
                      account.why);
  if (account.damaged != 0) text += format_text("; {} damaged bucket(s) never go home", account.damaged);
  const auto& rescued = account.rescued;
  if (!rescued.name.empty()) {
    text += format_text("; {} rescued as {}", format_bytes(rescued.bytes), printable(rescued.name));
    if (rescued.damaged_bytes != 0)
      text += format_text(", {} damaged as {}.damaged", format_bytes(rescued.damaged_bytes),
                          printable(rescued.name));
    if (rescued.unreadable_blocks != 0)
      text += format_text(", {} block(s) unreadable", rescued.unreadable_blocks);
  }
  if (account.forgotten) text += "; given up in the buffer";
  return text;
}

void say(const Report& report) {
  const auto& journals = report.journals;
  if (journals.journals != 0) {
    print(format_text(
        "journals of a lost node: {} in {} file(s) carried home, {} record(s) were home already\n",
        format_bytes(journals.bytes), journals.files, journals.already_home));
  }
  for (const auto& [file, error] : journals.failures) {
    print(format_text("{}: kept in its journal: {}\n", printable(file.path), printable(error.message)));
  }
  for (const auto& remark : journals.remarks) print(format_text("journal: {}\n", printable(remark)));
  for (const auto& account : report.files) print(line_for(account) + "\n");
  if (report.stray != 0) {
    print(format_text("{} belong to no file that buffer {} knows: its index was damaged; they are kept\n",
                      format_bytes(report.stray), report.buffer));
  }
  if (report.files.empty() && report.stray == 0 && journals.journals == 0)
    print(format_text("buffer {}: nothing to recover\n", report.buffer));
}

void write(JsonWriter& json, const Report& report) {
  const auto& journals = report.journals;
  json.begin_object().member("buffer", report.buffer).key("journals").begin_object();
  json.member("found", journals.journals)
      .member("files", journals.files)
      .member("carried_bytes", journals.bytes);
  json.member("refused_records", journals.refused).key("failures").begin_array();
  for (const auto& [file, error] : journals.failures) {
    json.begin_object().member("path", file.path).member("why", error.message).end_object();
  }
  json.end_array().end_object().member("stray_unsaved_bytes", report.stray).key("files").begin_array();
  for (const auto& account : report.files) {
    json.begin_object().key("path");
    account.path.empty() ? json.value(nullptr) : json.value(account.path);
    json.member("found_bytes", account.found)
        .member("left_bytes", account.left)
        .member("in_use", account.in_use);
    json.member("left_by", account.whose).member("damaged_buckets", account.damaged).key("why");
    account.why.empty() ? json.value(nullptr) : json.value(account.why);
    json.key("rescued_as");
    account.rescued.name.empty() ? json.value(nullptr) : json.value(account.rescued.name);
    json.member("rescued_bytes", account.rescued.bytes).member("given_up", account.forgotten).end_object();
  }
  json.end_array().end_object();
}

int run(const Options& options) {
  const auto chosen = chosen_buffers(options);
  if (!chosen) return refuse_settings(chosen.error());
  const auto timeout = parse_duration(options.timeout);
  if (!timeout) return refuse_settings(timeout.error());
  int code = kDone;
  bool stuck = false;
  JsonWriter json;
  json.begin_object().key("buffers").begin_array();
  for (const auto& settings : *chosen) {
    const auto report =
        only_journals_left(settings) ? recover_journals(settings) : recover(settings, options, *timeout);
    if (!report && report.error().code == ENOENT) {
      if (!options.json && !options.all) print(report.error().message + ": nothing to recover\n");
      continue;
    }
    if (!report) {
      code = refuse(report.error());
      continue;
    }
    if (!report->journals.failures.empty() || report->journals.refused != 0) code = kAttention;
    if (report->stray != 0 || !std::ranges::all_of(report->files, settled)) code = kAttention;
    if (!options.json) say(*report);
    write(json, *report);
    stuck = stuck || report->stuck;
  }
  json.end_array().end_object();
  if (options.json) print(json.text() + "\n");
  if (stuck) end_now(code);
  return code;
}

}  // namespace

void add_recover(CLI::App& app, int& code) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("recover", "Carry home what processes left unsaved when they died");
  add_common(*verb, *options);
  add_all(*verb, *options, "Every buffer of this user below buffer.directory");
  add_json(*verb, *options);
  auto* rescue = verb->add_option("--rescue", options->rescue,
                                  "Write what cannot go home into this directory: sparse files and INDEX.txt")
                     ->type_name("DIR");
  verb->add_flag("--forget", options->forget, "With --rescue: then give up in the buffer what was rescued")
      ->needs(rescue);
  verb->add_option("--timeout", options->timeout, "Give up after this time (1d unless given)")
      ->type_name("DURATION")
      ->default_str("");
  verb->callback([options, &code] { code = run(*options); });
}

}  // namespace forebay
