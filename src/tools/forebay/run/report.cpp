#include "tools/forebay/run/report.hpp"

#include <algorithm>
#include <filesystem>

#include "base/bytes.hpp"
#include "base/duration.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/status_report.hpp"

namespace forebay {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kShown = 5;

double seconds(nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

nanoseconds span(std::uint64_t count) { return nanoseconds(static_cast<std::int64_t>(count)); }

// What a living process of somebody else's has open goes home with that one.
std::vector<const FileStatus*> unsaved_files(const Ending& ending) {
  std::vector<const FileStatus*> files;
  if (!ending.status) return files;
  for (const auto& file : ending.status->files) {
    if (!file.scratch && file.unsaved != 0 && !file.carried) files.push_back(&file);
  }
  return files;
}

std::string line(std::string_view words) { return format_text("forebay: {}\n", words); }

// What to do about bytes that could not go home.
std::string advice(const std::string& buffer) {
  return line(
      format_text("once that is mended `forebay recover --buffer {0}` carries them home; `forebay clean "
                  "--buffer {0} --force` gives them up",
                  buffer));
}

std::string leftover_lines(const std::vector<Leftover>& leftovers) {
  std::string text;
  for (const auto& one : leftovers) {
    if (one.carried != 0 || one.left == 0) {
      text += line(
          format_text("recovered {} in {} file(s) that an earlier run left in buffer {} when it was killed",
                      format_bytes(one.carried), one.files, one.buffer));
    }
    if (!one.why.empty()) {
      text += line(format_text("{} of an earlier run stay in buffer {}: {}", format_bytes(one.left),
                               one.buffer, printable(one.why)));
      text += advice(one.buffer);
    }
  }
  return text;
}

std::string write_line(const RunFigures& figures) {
  if (figures.staged == 0 && figures.straight_home == 0) return {};
  auto text = format_text("staged {}", format_bytes(figures.staged));
  if (figures.straight_home != 0)
    text += format_text(", {} straight home", format_bytes(figures.straight_home));
  text += format_text("; {} written home in {}, of which {} hidden behind the program",
                      format_bytes(figures.carried_home), format_duration(figures.writing),
                      format_duration(figures.hidden));
  return line(text);
}

// Where programs waited for home, and what would change it. What nobody notices is not worth a line.
std::string wait_lines(const RunReport& report) {
  const auto& figures = report.figures;
  const auto matters = [&](nanoseconds waited) {
    return waited >= std::chrono::milliseconds(100) && waited * 20 >= report.elapsed;
  };
  std::string text;
  if (matters(figures.in_closes))
    text += line(format_text(
        "closes waited {} until their files were home (--on-close detach lets them return at once)",
        format_duration(figures.in_closes)));
  const auto others = figures.waited - figures.in_closes - figures.for_room;
  if (matters(others))
    text += line(format_text("fsync, locks, renames and the like waited {} until their files were home",
                             format_duration(others)));
  if (matters(figures.for_room))
    text +=
        line(format_text("writes waited {} for room in the tiers (larger ones would help: --set tiers=...)",
                         format_duration(figures.for_room)));
  return text;
}

std::string read_line(const RunFigures& figures) {
  if (figures.hit == 0 && figures.missed == 0) return {};
  return line(format_text("read {} hit, {} missed", format_bytes(figures.hit), format_bytes(figures.missed)));
}

std::string passed_lines(const RunReport& report) {
  std::string text;
  if (report.figures.passed_bytes != 0)
    text += line(format_text("passed through {} of files that are not buffered",
                             format_bytes(report.figures.passed_bytes)));
  for (const auto& [why, times] : report.passed)
    text += line(format_text("passed through {} time(s): {}", times, printable(why)));
  for (const auto& program : report.unseen)
    text +=
        line(format_text("not seen: {}; what it does in a home goes past the buffer", printable(program)));
  return text;
}

std::string unsaved_lines(const RunReport& report) {
  const auto files = unsaved_files(report.ending);
  if (files.empty()) return {};
  std::uint64_t total = 0;
  for (const auto* file : files) total += file->unsaved;
  auto text =
      report.ending.detached
          ? line(format_text("{} in {} file(s) are on their way home in the background", format_bytes(total),
                             files.size()))
          : line(format_text("{} in {} file(s) are not home, and stay in buffer {}{}", format_bytes(total),
                             files.size(), report.buffer,
                             report.ending.trouble.empty() ? "" : ": " + printable(report.ending.trouble)));
  for (std::size_t i = 0; i < std::min(files.size(), kShown); ++i)
    text += line(format_text("  {} of {}", format_bytes(files[i]->unsaved), name_of(*files[i])));
  if (files.size() > kShown) text += line(format_text("  ... and {} more", files.size() - kShown));
  if (!report.ending.detached) text += advice(report.buffer);
  return text;
}

void write_leftovers(JsonWriter& json, const std::vector<Leftover>& leftovers) {
  json.key("recovered").begin_array();
  for (const auto& one : leftovers) {
    json.begin_object().member("buffer", one.buffer).member("files", one.files).member("bytes", one.carried);
    json.member("left_bytes", one.left).key("why");
    one.why.empty() ? json.value(nullptr) : json.value(one.why);
    json.end_object();
  }
  json.end_array();
}

void write_figures(JsonWriter& json, const RunFigures& figures) {
  json.member("staged_bytes", figures.staged).member("straight_home_bytes", figures.straight_home);
  json.member("carried_home_bytes", figures.carried_home);
  json.member("hit_bytes", figures.hit).member("missed_bytes", figures.missed);
  json.member("passed_bytes", figures.passed_bytes);
  json.member("writing_home_seconds", seconds(figures.writing))
      .member("waited_seconds", seconds(figures.waited))
      .member("waited_in_closes_seconds", seconds(figures.in_closes))
      .member("waited_for_room_seconds", seconds(figures.for_room));
  json.member("hidden_seconds", seconds(figures.hidden)).member("saved_seconds", seconds(figures.saved));
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).begin_array();
  for (const auto& text : texts) json.value(text);
  json.end_array();
}

}  // namespace

RunFigures figures_of(const Counters& before, const Counters& after) {
  const auto grown = [&](Wide Counters::* counter) {
    const auto now = (after.*counter).load();
    return now - std::min(now, (before.*counter).load());
  };
  RunFigures figures{
      .staged = grown(&Counters::staged_bytes),
      .straight_home = grown(&Counters::straight_home_bytes),
      .carried_home = grown(&Counters::home_written_bytes),
      .hit = grown(&Counters::hit_bytes),
      .missed = grown(&Counters::miss_bytes),
      .passed_bytes = grown(&Counters::passed_through),
      .writing = span(grown(&Counters::home_write_ns)),
      .waited = span(grown(&Counters::home_wait_ns) + grown(&Counters::wait_ns)),
      .in_closes = span(grown(&Counters::close_wait_ns)),
      .for_room = span(grown(&Counters::wait_ns)),
  };
  figures.hidden = std::max(nanoseconds(0), figures.writing - figures.waited);
  figures.saved = figures.hidden;
  if (const auto read = grown(&Counters::home_read_bytes); read != 0) {
    const auto per_byte = static_cast<double>(grown(&Counters::home_read_ns)) / static_cast<double>(read);
    figures.saved += nanoseconds(static_cast<std::int64_t>(per_byte * static_cast<double>(figures.hit)));
  }
  return figures;
}

std::string report_text(const RunReport& report) {
  auto text =
      write_line(report.figures) + wait_lines(report) + read_line(report.figures) + passed_lines(report);
  if (report.figures.saved != nanoseconds(0))
    text += line(format_text("saved about {} of waiting in {}", format_duration(report.figures.saved),
                             format_duration(report.elapsed)));
  text += unsaved_lines(report);
  if (text.empty()) {
    std::string homes;
    for (const auto& home : report.homes) homes += (homes.empty() ? "" : ", ") + printable(home);
    text = line(format_text("no file of {} was buffered", homes.empty() ? "any home" : homes));
    for (const auto& home : report.homes) {
      std::error_code failed;
      if (!std::filesystem::is_directory(home, failed))
        text += line(format_text("{} is no directory", printable(home)));
    }
  }
  return text;
}

std::string report_leftovers(const std::vector<Leftover>& leftovers) { return leftover_lines(leftovers); }

std::string report_json(const RunReport& report) {
  JsonWriter json;
  json.begin_object().member("buffer", report.buffer);
  write_texts(json, "homes", report.homes);
  write_texts(json, "doors", report.doors);
  write_leftovers(json, report.leftovers);
  json.member("elapsed_seconds", seconds(report.elapsed))
      .member("exit_status", report.ended.code)
      .key("signal");
  report.ended.signal == 0 ? json.value(nullptr) : json.value(report.ended.signal);
  write_figures(json, report.figures);
  json.key("passed").begin_array();
  for (const auto& [why, times] : report.passed)
    json.begin_object().member("why", why).member("times", times).end_object();
  json.end_array();
  write_texts(json, "not_seen", report.unseen);
  json.key("unsaved").begin_array();
  for (const auto* file : unsaved_files(report.ending))
    json.begin_object().member("path", file->path).member("bytes", file->unsaved).end_object();
  json.end_array().member("in_background", report.ending.detached).key("trouble");
  report.ending.trouble.empty() ? json.value(nullptr) : json.value(report.ending.trouble);
  json.member("buffer_removed", report.ending.removed).end_object();
  return json.text() + "\n";
}

}  // namespace forebay
