#include "tools/forebay/status_report.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"
#include "base/duration.hpp"
#include "base/format.hpp"
#include "tools/forebay/common.hpp"
#include "tools/forebay/text_table.hpp"

namespace forebay {
namespace {

using Align = TextTable::Align;

std::string plural(std::uint64_t count, const char* one, const char* many) {
  return format_text("{} {}", count, count == 1 ? one : many);
}

std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? ""
                    : format_text("{:.0f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string headline(const BufferStatus& status) {
  std::string text = format_text("{}  {}  ", status.name, status.directory);
  if (status.finding != ControlFinding::kUsable)
    return text + format_text("cannot be used: {}\n", status.why);
  text += format_text("made {} ago, buckets of {}\n", format_duration(status.age),
                      format_bytes(status.bucket_size));
  std::uint64_t unsaved_files = 0;
  for (const auto& file : status.files) unsaved_files += !file.scratch && file.unsaved != 0 ? 1 : 0;
  text += format_text("buffered {} in {}", format_bytes(status.buffered()),
                      plural(status.files.size(), "file", "files"));
  text += status.unsaved() == 0 ? ", all of it home"
                                : format_text(", unsaved {} in {}", format_bytes(status.unsaved()),
                                              plural(unsaved_files, "file", "files"));
  if (const auto orphaned = orphaned_bytes(status); orphaned != 0)
    text += format_text(", of which {} have no living owner (forebay recover)", format_bytes(orphaned));
  text += "\n";
  if (status.stray_unsaved != 0) {
    text += format_text("! {} unsaved belong to no file that the buffer knows: it was damaged\n",
                        format_bytes(status.stray_unsaved));
  }
  if (status.damaged != 0) {
    text += format_text("! {} damaged: kept, and never written home (forebay recover names them)\n",
                        plural(status.damaged, "bucket is", "buckets are"));
  }
  return text;
}

std::string tier_table(const BufferStatus& status) {
  TextTable table({{"TIER"},
                   {"KIND"},
                   {"SIZE", Align::kRight},
                   {"IN USE", Align::kRight},
                   {"", Align::kRight},
                   {"UNSAVED", Align::kRight},
                   {"STATE"},
                   {"WHERE"}});
  for (const auto& tier : status.tiers) {
    std::string state = "good";
    if (tier.failed != 0) state = format_text("failed: {}", error_words(tier.failed));
    table.add({tier.name, std::string(to_string(tier.kind)), format_bytes(tier.size), format_bytes(tier.used),
               percent_of(tier.used, tier.size), format_bytes(tier.unsaved), state,
               printable(tier.directory)});
  }
  return table.text();
}

std::string process_table(const BufferStatus& status) {
  if (status.processes.empty()) return "no process is attached\n";
  TextTable table({{"PROCESS", Align::kRight},
                   {"COMMAND"},
                   {"STATE"},
                   {"ATTACHED", Align::kRight},
                   {"FILES", Align::kRight}});
  for (const auto& process : status.processes) {
    table.add({std::to_string(process.pid), printable(process.command), process.alive ? "alive" : "dead",
               format_duration(process.attached_for), std::to_string(process.open_files)});
  }
  return table.text();
}

std::string tiers_of(const BufferStatus& status, const FileStatus& file) {
  std::string names;
  for (std::size_t i = 0; i < file.by_tier.size(); ++i) {
    if (file.by_tier[i] != 0) names += (names.empty() ? "" : "+") + status.tiers[i].name;
  }
  return names.empty() ? "-" : names;
}

std::string file_table(const BufferStatus& status, std::size_t limit) {
  if (status.files.empty()) return "no file has anything in it\n";
  TextTable table({{"UNSAVED", Align::kRight},
                   {"SINCE", Align::kRight},
                   {"BUFFERED", Align::kRight},
                   {"SIZE", Align::kRight},
                   {"WHERE"},
                   {"WHOSE"},
                   {"FILE"}});
  const auto shown = limit == 0 ? status.files.size() : std::min(limit, status.files.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& file = status.files[i];
    table.add({file.scratch ? "scratch" : format_bytes(file.unsaved),
               file.oldest_unsaved && !file.scratch ? format_duration(*file.oldest_unsaved) : "-",
               format_bytes(file.buffered), format_bytes(file.size), tiers_of(status, file),
               owners_of(status, file), name_of(file)});
    if (file.error != 0) {
      table.remark(format_text("      ! not home since {}: {}", format_duration(file.error_age),
                               error_words(file.error)));
    }
    if (file.damaged != 0)
      table.remark(format_text("      ! {} damaged", plural(file.damaged, "bucket", "buckets")));
  }
  auto text = table.text();
  if (shown < status.files.size())
    text += format_text("... and {} more (--files 0 shows all)\n", status.files.size() - shown);
  return text;
}

std::string totals_lines(const Counters& c) {
  const auto bytes = [](const Wide& counter) { return format_bytes(counter.load()); };
  const auto hits = c.hit_bytes.load();
  auto text = format_text("written  {} in {} writes: {} staged, {} straight home\n", bytes(c.written_bytes),
                          c.writes.load(), bytes(c.staged_bytes), bytes(c.straight_home_bytes));
  text += format_text("read     {} in {} reads: {} hits{}, {} misses; {} read ahead, {} prefetched\n",
                      bytes(c.read_bytes), c.reads.load(), bytes(c.hit_bytes),
                      hits == 0 ? "" : " (" + percent_of(hits, hits + c.miss_bytes.load()) + ")",
                      bytes(c.miss_bytes), bytes(c.readahead_bytes), bytes(c.prefetched_bytes));
  text += format_text("home     {} in {} writes, {} in {} reads, {} errors; {} recovered\n",
                      bytes(c.home_written_bytes), c.home_writes.load(), bytes(c.home_read_bytes),
                      c.home_reads.load(), c.home_errors.load(), bytes(c.recovered_bytes));
  text += format_text("tiers    {} evictions, {} moved down, {} moved up; {} waits for room ({})\n",
                      c.evictions.load(), c.demotions.load(), c.promotions.load(), c.waits_for_room.load(),
                      format_duration(std::chrono::nanoseconds(c.wait_ns.load() & INT64_MAX)));
  return text;
}

double seconds(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

void write_file(JsonWriter& json, const BufferStatus& status, const FileStatus& file) {
  json.begin_object().member("number", file.number);
  file.path.empty() ? json.member("path", nullptr) : json.member("path", file.path);
  json.member("size", file.size)
      .member("buffered_bytes", file.buffered)
      .member("unsaved_bytes", file.unsaved);
  json.member("under_way_bytes", file.under_way).member("damaged_buckets", file.damaged);
  json.member("scratch", file.scratch).member("truncating", file.truncating);
  json.key("oldest_unsaved_seconds");
  file.oldest_unsaved ? json.value(seconds(*file.oldest_unsaved)) : json.value(nullptr);
  json.key("error");
  if (file.error == 0) {
    json.value(nullptr);
  } else {
    json.begin_object().member("errno", file.error).member("words", error_words(file.error));
    json.member("seconds", seconds(file.error_age)).end_object();
  }
  json.key("tiers").begin_object();
  for (std::size_t i = 0; i < file.by_tier.size(); ++i) json.member(status.tiers[i].name, file.by_tier[i]);
  json.end_object().key("openers").begin_array();
  for (const auto i : file.openers) {
    json.begin_object()
        .member("pid", status.processes[i].pid)
        .member("alive", status.processes[i].alive)
        .end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::uint64_t orphaned_bytes(const BufferStatus& status) {
  std::uint64_t orphaned = 0;
  if (status.anybody_alive()) return orphaned;
  for (const auto& file : status.files) orphaned += file.scratch || file.carried ? 0 : file.unsaved;
  return orphaned;
}

bool needs_attention(const BufferStatus& status) {
  const auto fails = [](const FileStatus& file) {
    return !file.scratch && file.error != 0 && file.unsaved != 0;
  };
  return status.finding != ControlFinding::kUsable || status.stray_unsaved != 0 || status.damaged != 0 ||
         orphaned_bytes(status) != 0 || std::ranges::any_of(status.files, fails) ||
         std::ranges::any_of(status.tiers, [](const TierStatus& tier) { return tier.failed != 0; });
}

std::string_view finding_word(ControlFinding finding) {
  switch (finding) {
    case ControlFinding::kUsable:
      return "usable";
    case ControlFinding::kMissing:
      return "missing";
    case ControlFinding::kUnfinished:
      return "unfinished";
    case ControlFinding::kOtherBoot:
      return "other boot";
    case ControlFinding::kOtherVersion:
      return "other version";
    case ControlFinding::kDamaged:
      return "damaged";
  }
  std::unreachable();
}

std::string name_of(const FileStatus& file) {
  return file.path.empty() ? format_text("(file {}: its record is damaged)", file.number)
                           : printable(file.path);
}

std::string owners_of(const BufferStatus& status, const FileStatus& file) {
  if (file.openers.empty()) return "nobody";
  const auto alive_first = [&](std::size_t a, std::size_t b) {
    return status.processes[a].alive > status.processes[b].alive;
  };
  auto openers = file.openers;
  std::ranges::stable_sort(openers, alive_first);
  const auto& first = status.processes[openers.front()];
  auto text = format_text("{}[{}]{}", printable(first.command), first.pid, first.alive ? "" : " (dead)");
  if (openers.size() > 1) text += format_text(" +{}", openers.size() - 1);
  return text;
}

std::string status_text(const BufferStatus& status, std::size_t files) {
  auto text = headline(status);
  if (status.finding != ControlFinding::kUsable) return text;
  text += "\n" + tier_table(status) + "\n" + process_table(status) + "\n" + file_table(status, files) + "\n" +
          totals_lines(*status.totals);
  for (const auto& [why, times] : status.passed) {
    text += format_text("passed   {} not buffered: {}\n", plural(times, "time", "times"), printable(why));
  }
  return text;
}

void write_status(JsonWriter& json, const BufferStatus& status) {
  json.begin_object().member("name", status.name).member("directory", status.directory);
  json.member("state", finding_word(status.finding));
  if (status.finding != ControlFinding::kUsable) {
    json.member("why", status.why).end_object();
    return;
  }
  json.member("age_seconds", seconds(status.age)).member("bucket_size", status.bucket_size);
  json.member("buffered_bytes", status.buffered()).member("unsaved_bytes", status.unsaved());
  json.member("stray_unsaved_bytes", status.stray_unsaved).member("damaged_buckets", status.damaged);
  json.key("tiers").begin_array();
  for (const auto& tier : status.tiers) {
    json.begin_object()
        .member("name", tier.name)
        .member("kind", to_string(tier.kind))
        .member("directory", tier.directory);
    json.member("size", tier.size).member("reserved_bytes", tier.reserved).member("used_bytes", tier.used);
    json.member("unsaved_bytes", tier.unsaved).key("failed");
    tier.failed == 0 ? json.value(nullptr) : json.value(error_words(tier.failed));
    json.end_object();
  }
  json.end_array().key("processes").begin_array();
  for (const auto& process : status.processes) {
    json.begin_object()
        .member("pid", process.pid)
        .member("command", process.command)
        .member("alive", process.alive);
    json.member("attached_seconds", seconds(process.attached_for))
        .member("open_files", process.open_files)
        .end_object();
  }
  json.end_array().member("known_files", status.known_files).key("files").begin_array();
  for (const auto& file : status.files) write_file(json, status, file);
  json.end_array().key("totals").begin_object();
  for (const auto& [name, member] : kCounterNames) json.member(name, ((*status.totals).*member).load());
  json.end_object().key("passed").begin_array();
  for (const auto& [why, times] : status.passed)
    json.begin_object().member("why", why).member("times", times).end_object();
  json.end_array().end_object();
}

}  // namespace forebay
