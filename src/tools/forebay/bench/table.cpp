#include "tools/forebay/bench/table.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "base/format.hpp"
#include "tools/forebay/report/figures.hpp"
#include "tools/forebay/text_table.hpp"

namespace forebay {
namespace {

constexpr double kMegabyte = 1e6;
constexpr double kSlower = 0.95;  // of the first way's observed rate: below, a sentence says so

std::vector<double> values_of(const WayRounds& way, const auto& value) {
  std::vector<double> values;
  for (const auto& round : way.rounds) {
    if (round.ok()) values.push_back(value(round));
  }
  return values;
}

Spread time_of(const WayRounds& way, const std::string& name) {
  return spread_of(values_of(way, [&](const RoundResult& round) { return round.time(name); }));
}

Spread rate_of(const WayRounds& way, const std::string& name) {
  return spread_of(values_of(way, [&](const RoundResult& round) { return round.rate(name); }));
}

const RoundResult* first_failure(const WayRounds& way) {
  const auto found = std::ranges::find_if(way.rounds, [](const auto& round) { return !round.ok(); });
  return found == way.rounds.end() ? nullptr : &*found;
}

// "350 ±4%": half the distance between the least and the most.
std::string shown(const Spread& spread, double unit) {
  if (spread.median <= 0) return "";
  const double share = (spread.most - spread.least) / 2 / spread.median * 100;
  const double value = spread.median / unit;
  const auto number = value >= 100 ? format_text("{:.0f}", value) : format_text("{:.3g}", value);
  return share < 0.5 ? number : format_text("{} ±{:.0f}%", number, share);
}

std::string hit_rate(const WayRounds& way) {
  const auto hits = values_of(way, [](const RoundResult& round) {
    const auto read = round.buffer ? round.buffer->hit + round.buffer->missed : 0;
    return read == 0 ? -1.0 : static_cast<double>(round.buffer->hit) / static_cast<double>(read);
  });
  const auto spread = spread_of(hits);
  return hits.empty() || spread.median < 0 ? "" : format_text("{:.0f}%", spread.median * 100);
}

std::string home_requests(const WayRounds& way, std::uint64_t (HomeRequests::*of)() const) {
  const auto counts = values_of(way, [&](const RoundResult& round) {
    return round.home ? static_cast<double>((*round.home.*of)()) : -1.0;
  });
  return counts.empty() || counts.front() < 0 ? "" : format_text("{:.0f}", spread_of(counts).median);
}

double ratio(const WayRounds& way, const WayRounds& first) {
  const double own = time_of(way, "observed").median;
  return own <= 0 ? 0 : time_of(first, "observed").median / own;
}

// Where the rounds of two ways overlap, neither is the slower one.
bool meet(const WayRounds& way, const WayRounds& first) {
  const auto own = time_of(way, "observed");
  const auto other = time_of(first, "observed");
  return own.least <= other.most && other.least <= own.most;
}

void add_row(TextTable& table, const WorkloadRounds& one, const WayRounds& way) {
  const bool first = &way == &one.ways.front();
  const auto name = first ? one.workload.name : "";
  if (const auto* failure = first_failure(way)) {
    table.add({name, way.way.name, failure->status, "", "", "", "", "", "", "", "", ""});
    return;
  }
  if (way.rounds.empty()) return;
  const bool null = way.way.kind == Way::Kind::kNull;
  const double times = ratio(way, one.ways.front());
  table.add({name, way.way.name, null ? "" : shown(rate_of(way, "raw"), kMegabyte),
             null ? "" : shown(rate_of(way, "observed"), kMegabyte), shown(time_of(way, "observed"), 1),
             shown(time_of(way, "metadata"), 1), shown(time_of(way, "total"), 1),
             shown(time_of(way, "tail"), 1), hit_rate(way), home_requests(way, &HomeRequests::data),
             home_requests(way, &HomeRequests::others),
             first || null || times == 0 ? "" : format_text("{:.2f}", times)});
}

std::vector<std::string> remarks(const WorkloadRounds& one) {
  std::vector<std::string> lines;
  for (const auto& way : one.ways) {
    const auto about = format_text("{}, {}: ", one.workload.name, way.way.name);
    if (const auto* failure = first_failure(way)) {
      lines.push_back(format_text("{}{}: {}", about, failure->status, failure->error));
      continue;
    }
    if (!way.rounds.empty() && !way.rounds.front().remark.empty())
      lines.push_back(about + way.rounds.front().remark);
    if (&way == &one.ways.front() || way.rounds.empty()) continue;
    const double times = ratio(way, one.ways.front());
    if (way.way.kind == Way::Kind::kNull) {
      const auto share = report::own_share(time_of(way, "raw").median, time_of(way, "own").median,
                                           time_of(one.ways.front(), "observed").median);
      if (share)
        lines.push_back(format_text("{}the kernel's own part of what the program waited in {} is {:.2f} %",
                                    about, one.ways.front().way.name, *share * 100));
    } else if (times != 0 && times < kSlower && !meet(way, one.ways.front())) {
      lines.push_back(format_text("{}SLOWER than {}: its files take {:.2f} times as long", about,
                                  one.ways.front().way.name, 1 / times));
    }
  }
  return lines;
}

std::uint64_t verified_bytes(const std::vector<WorkloadRounds>& all) {
  std::uint64_t sum = 0;
  for (const auto& one : all) {
    for (const auto& way : one.ways) {
      for (const auto& round : way.rounds) sum += round.verified_bytes;
    }
  }
  return sum;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {.median = median, .least = values.front(), .most = values.back()};
}

std::string bench_table(const std::vector<WorkloadRounds>& all, bool verified) {
  constexpr auto kRight = TextTable::Align::kRight;
  TextTable table({{"workload"},
                   {"way"},
                   {"raw MB/s", kRight},
                   {"observed MB/s", kRight},
                   {"observed s", kRight},
                   {"metadata s", kRight},
                   {"total s", kRight},
                   {"tail s", kRight},
                   {"hits", kRight},
                   {"home reads+writes", kRight},
                   {"home others", kRight},
                   {"times faster", kRight}});
  std::vector<std::string> lines;
  for (const auto& one : all) {
    for (const auto& way : one.ways) add_row(table, one, way);
    for (auto& line : remarks(one)) lines.push_back(std::move(line));
  }
  auto text = table.text();
  for (const auto& line : lines) text += line + "\n";
  const bool right = std::ranges::none_of(all, [](const auto& one) {
    return std::ranges::any_of(one.ways, [](const auto& way) { return first_failure(way) != nullptr; });
  });
  if (!verified || (right && verified_bytes(all) == 0)) {
    text += "Nothing was verified.\n";
  } else if (right) {
    text += format_text("Verified: {} read and left at home, every element as it was written.\n",
                        format_bytes(verified_bytes(all)));
  }
  return text;
}

// As RFC 4180 has it.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// Why a way has no figures, or only those of some of its rounds; empty if it has all.
std::string shortcoming(const WayRounds& way, unsigned planned) {
  if (const auto* failure = first_failure(way); failure != nullptr)
    return format_text("{}: {}", failure->status, failure->error);
  return way.rounds.size() < planned ? "interrupted: the run was stopped" : "";
}

// h5bench's rows, in its order, and the way; a row more where rounds are missing.
std::string bench_csv(const WorkloadRounds& workload) {
  std::string text;
  const auto said = [&](const char* key) {
    const auto found = workload.workload.configuration.find(key);
    return found != workload.workload.configuration.end() && found->second == "1" ? "YES" : "NO";
  };
  for (const auto& way : workload.ways) {
    text += "metric, value, unit\n";
    const auto row = [&](const char* metric, double value, const char* unit) {
      text += format_text("{}, {:.6f}, {}\n", metric, value, unit);
    };
    text += format_text("operation, {}, \nway, {}, \nranks, {}, \n", workload.workload.kernel,
                        field(way.way.name), workload.workload.launch.ranks);
    text += format_text("collective data, {}, \ncollective meta, {}, \nsubfiling, {}, \n",
                        said("COLLECTIVE_DATA"), said("COLLECTIVE_METADATA"), said("SUBFILING"));
    const auto good =
        values_of(way, [](const RoundResult& round) { return static_cast<double>(round.bytes); });
    if (const auto why = shortcoming(way, workload.planned); !why.empty())
      text += format_text("status, {}, \nrounds, {}, of {}\n", field(why), good.size(), workload.planned);
    // Of what was wrong once nothing can be believed.
    const bool wrong =
        std::ranges::any_of(way.rounds, [](const auto& round) { return round.status == "wrong_bytes"; });
    if (good.empty() || wrong) continue;
    row("total compute time", time_of(way, "compute").median, "seconds");
    row("total size", good.front() / kMegabyte, "MB");
    row("raw time", time_of(way, "raw").median, "seconds");
    row("raw rate", rate_of(way, "raw").median / kMegabyte, "MB/s");
    row("metadata time", time_of(way, "metadata").median, "seconds");
    row("observed rate", rate_of(way, "observed").median / kMegabyte, "MB/s");
    row("observed time", time_of(way, "total").median, "seconds");
  }
  return text;
}

}  // namespace forebay
