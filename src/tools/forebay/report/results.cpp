#include "tools/forebay/report/results.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "tools/forebay/report/units.hpp"

namespace forebay::report {
namespace {

using Json = nlohmann::json;

constexpr double kFormat = 1;

const Json* member(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const Json& part(const Json& object, const char* name) {
  static const Json* const kNothing = new Json;
  const auto* found = member(object, name);
  return found ? *found : *kNothing;
}

Number number_of(const Json& value) {
  if (!value.is_number()) return {};
  const auto number = value.get<double>();
  if (!std::isfinite(number) || number < 0) return {};
  return number;
}
Number number(const Json& object, const char* name) { return number_of(part(object, name)); }
// Ranks and rounds: small and whole.
int whole(const Json& object, const char* name) {
  return static_cast<int>(std::min(number(object, name).value_or(0), 1e9));
}

// As a person would write it: a text without its quotes, a number that is whole without a fraction.
std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return {};
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}
std::string text(const Json& object, const char* name) { return text_of(part(object, name)); }

Pairs pairs(const Json& object) {
  Pairs all;
  if (!object.is_object()) return all;
  for (const auto& [key, value] : object.items()) all.emplace_back(key, text_of(value));
  return all;
}

std::vector<const Json*> objects(const Json& array) {
  std::vector<const Json*> all;
  if (!array.is_array()) return all;
  for (const auto& each : array) {
    if (each.is_object()) all.push_back(&each);
  }
  return all;
}

Pairs machine_of(const Json& machine) {
  auto all = pairs(machine);
  for (auto& [key, value] : all) {
    if (const auto load = number(machine, "load"); key == "load" && load)
      value = format_text("{:.1f}", *load);
    if (key != "memory_bytes") continue;
    if (const auto bytes = number(machine, "memory_bytes")) value = bytes_text(*bytes);
    key = "memory";
  }
  return all;
}

Pairs home_of(const Json& home) {
  auto all = pairs(home);
  for (auto& [key, value] : all) {
    const auto amount = number(home, key.c_str());
    if (key == "latency_ns") {
      if (amount) value = seconds_text(*amount * 1e-9);
      key = "latency";
    } else if (key.ends_with("_bandwidth") && amount) {
      value = *amount == 0 ? "unlimited" : rate_text(*amount);
    }
    std::ranges::replace(key, '_', ' ');
  }
  return all;
}

Run run_of(const Json& line, const std::string& name) {
  return {.file = name,
          .started = text(line, "started"),
          .finished = {},
          .command = text(line, "command"),
          .version = text(line, "version"),
          .commit = text(line, "commit"),
          .machine = machine_of(part(line, "machine")),
          .software = pairs(part(line, "software")),
          .home = home_of(part(line, "home")),
          .completeness = Completeness::CutOff,
          .workloads = {}};
}

Workload workload_of(const Json& line) {
  Workload workload{.name = text(line, "workload"),
                    .kernel = text(line, "kernel"),
                    .title = text(line, "title"),
                    .group = text(line, "group"),
                    .x = text(line, "x"),
                    .x_number = number(line, "x"),
                    .x_name = text(line, "x_name"),
                    .published = text(line, "published"),
                    .configuration = pairs(part(line, "configuration")),
                    .ranks = number(line, "ranks"),
                    .flavour = text(line, "flavour"),
                    .rounds = number(line, "rounds"),
                    .ways = {},
                    .results = {},
                    .timelines = {}};
  if (workload.title.empty()) workload.title = workload.name;
  if (const auto& ways = part(line, "ways"); ways.is_array()) {
    for (const auto& way : ways) workload.ways.push_back(text_of(way));
  }
  return workload;
}

std::optional<Outcome> outcome_of(const std::string& word) {
  if (word == "ok") return Outcome::Ok;
  if (word == "wrong_bytes") return Outcome::WrongBytes;
  if (word == "failed") return Outcome::Failed;
  if (word == "interrupted") return Outcome::Interrupted;
  return {};
}

std::vector<Iteration> iterations_of(const Json& array) {
  std::vector<Iteration> all;
  for (const auto* each : objects(array)) {
    all.push_back({text(*each, "name"), number(*each, "seconds"), number(*each, "bytes")});
    if (all.back().name.empty()) all.back().name = std::to_string(all.size());
  }
  return all;
}

Round round_of(const Json& line, Outcome outcome) {
  Round round;
  round.way = text(line, "way");
  round.number = whole(line, "round");
  round.outcome = outcome;
  round.error = text(line, "error");
  round.remark = text(line, "remark");
  round.bytes = number(line, "bytes");
  round.operations = number(line, "operations");
  if (const auto& times = part(line, "times"); times.is_object()) {
    for (const auto& [key, value] : times.items()) {
      if (const auto seconds = number_of(value)) round.times.emplace(key, *seconds);
    }
  }
  round.raw_rate = number(part(line, "rates"), "raw");
  round.observed_rate = number(part(line, "rates"), "observed");
  round.peak_memory = number(line, "peak_memory");
  round.own_memory = number(line, "own_memory");
  const auto& home = part(line, "home");
  round.home_reads = number(home, "reads");
  round.home_writes = number(home, "writes");
  round.home_read_bytes = number(home, "read_bytes");
  round.home_written_bytes = number(home, "written_bytes");
  for (const auto* kind : {"opens", "closes", "lookups", "queries", "changes", "fsyncs"}) {
    if (const auto count = number(home, kind)) round.home_others = round.home_others.value_or(0) + *count;
  }
  const auto& buffer = part(line, "buffer");
  round.staged_bytes = number(buffer, "staged_bytes");
  round.hit_bytes = number(buffer, "hit_bytes");
  round.miss_bytes = number(buffer, "miss_bytes");
  round.hit_rate = number(buffer, "hit_rate");
  round.verified_bytes = number(line, "verified_bytes");
  round.settings = pairs(part(line, "settings"));
  round.iterations = iterations_of(part(line, "iterations"));
  return round;
}

Timeline timeline_of(const Json& line) {
  Timeline timeline{.way = text(line, "way"),
                    .round = whole(line, "round"),
                    .spans = {},
                    .fill = {},
                    .closed = number(line, "closed"),
                    .tiers = {}};
  if (const auto& tiers = part(line, "tiers"); tiers.is_array()) {
    for (const auto& name : tiers) timeline.tiers.push_back(text_of(name));
  }
  for (const auto* each : objects(part(line, "spans"))) {
    const auto begin = number(*each, "begin");
    const auto end = number(*each, "end");
    if (!begin || !end || *end < *begin) continue;
    timeline.spans.push_back({whole(*each, "rank"), text(*each, "what"), *begin, *end});
  }
  for (const auto* each : objects(part(line, "fill"))) {
    const auto at = number(*each, "at");
    if (!at) continue;
    timeline.fill.push_back({.at = *at,
                             .used = number(*each, "used").value_or(0),
                             .unsaved = number(*each, "unsaved").value_or(0),
                             .drained = number(*each, "drained"),
                             .tiers = {}});
    if (const auto& tiers = part(*each, "tiers"); tiers.is_array()) {
      for (const auto& used : tiers) timeline.fill.back().tiers.push_back(number_of(used).value_or(0));
    }
  }
  std::ranges::stable_sort(timeline.fill, {}, &Fill::at);
  return timeline;
}

// Takes lines one by one; what a line says belongs to the run begun last.
class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  Status take(std::string_view text, std::size_t at) {
    auto line = Json::parse(text, nullptr, false);
    if (line.is_discarded()) return wrong(at, "is no JSON");
    if (!line.is_object()) return wrong(at, "is no JSON object");
    const auto kind = report::text(line, "kind");
    if (kind.empty()) return wrong(at, "has no kind");
    if (kind == "run") return begin(line, at);
    if (runs_.empty()) return wrong(at, format_text("is a {} before any run: is this a results file?", kind));
    if (kind == "end") return end(line);
    if (kind != "workload" && kind != "result" && kind != "timeline") return {};
    if (report::text(line, "workload").empty()) return wrong(at, format_text("is a {} of no workload", kind));
    if (kind == "workload") return announce(line);
    auto& workload = workload_named(report::text(line, "workload"));
    if (report::text(line, "way").empty()) return wrong(at, format_text("is a {} of no way", kind));
    if (kind == "timeline") {
      workload.timelines.push_back(timeline_of(line));
      return {};
    }
    const auto outcome = outcome_of(report::text(line, "status"));
    if (!outcome) return wrong(at, format_text("has the unknown status '{}'", report::text(line, "status")));
    workload.results.push_back(round_of(line, *outcome));
    if (!std::ranges::contains(workload.ways, workload.results.back().way)) {
      workload.ways.push_back(workload.results.back().way);
    }
    return {};
  }

  Result<std::vector<Run>> finish() {
    if (runs_.empty()) return fail(EINVAL, format_text("{}: there are no results in it", name_));
    return std::move(runs_);
  }

 private:
  [[nodiscard]] Status wrong(std::size_t line, std::string_view what) const {
    return fail(EINVAL, format_text("{}:{}: the line {}", name_, line, what));
  }
  Status begin(const Json& line, std::size_t at) {
    if (number(line, "format").value_or(0) != kFormat) {
      return wrong(at, format_text("has format '{}', and this program reads {}", report::text(line, "format"),
                                   kFormat));
    }
    runs_.push_back(run_of(line, name_));
    return {};
  }
  Status end(const Json& line) {
    runs_.back().finished = report::text(line, "finished");
    runs_.back().completeness =
        report::text(line, "status") == "complete" ? Completeness::Complete : Completeness::Interrupted;
    return {};
  }
  // A workload announced twice keeps the results that it has.
  Status announce(const Json& line) {
    auto announced = workload_of(line);
    auto& workload = workload_named(announced.name);
    announced.results = std::move(workload.results);
    announced.timelines = std::move(workload.timelines);
    for (const auto& way : workload.ways) {
      if (!std::ranges::contains(announced.ways, way)) announced.ways.push_back(way);
    }
    workload = std::move(announced);
    return {};
  }
  Workload& workload_named(const std::string& name) {
    auto& all = runs_.back().workloads;
    const auto found = std::ranges::find(all, name, &Workload::name);
    if (found != all.end()) return *found;
    all.emplace_back();
    all.back().name = all.back().title = name;
    return all.back();
  }

  std::string name_;
  std::vector<Run> runs_;
};

}  // namespace

Number Round::time(std::string_view name) const {
  const auto found = times.find(name);
  return found == times.end() ? Number() : found->second;
}

Result<std::vector<Run>> parse_results(std::string_view text, const std::string& name) {
  Reader reader(name);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    const bool last = end == std::string_view::npos;
    text.remove_prefix(last ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (auto taken = reader.take(line, number); !taken) {
      if (last && number > 1) break;
      return std::unexpected(std::move(taken).error());
    }
  }
  return reader.finish();
}

Result<std::vector<Run>> read_results(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail_errno(errno, "read", path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return fail_errno(EIO, "read", path);
  return parse_results(text, path);
}

}  // namespace forebay::report
