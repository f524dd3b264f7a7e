#include "tools/forebay/report/figures.hpp"

#include <algorithm>
#include <set>

namespace forebay::report {
namespace {

// Gathers one value of each round.
template <class Get>
Figure figure_of(std::span<const Round* const> rounds, Get get) {
  std::vector<double> values;
  for (const auto* round : rounds) {
    if (const Number value = std::invoke(get, *round)) values.push_back(*value);
  }
  return spread_of(std::move(values));
}

Number rate_of(Number bytes, Number seconds) {
  if (!bytes || !seconds || *seconds <= 0) return {};
  return *bytes / *seconds;
}
// What moves no bytes has no rate, whatever the file says.
Number positive(Number number) { return number && *number > 0 ? number : Number(); }
Number observed_rate_of(const Round& round) {
  return positive(round.observed_rate ? round.observed_rate : rate_of(round.bytes, round.time("observed")));
}
Number raw_rate_of(const Round& round) {
  return positive(round.raw_rate ? round.raw_rate : rate_of(round.bytes, round.time("raw")));
}
// What reads nothing has no hit rate.
Number hit_rate_of(const Round& round) {
  if (!round.hit_bytes || !round.miss_bytes) return round.hit_rate;
  const auto all = *round.hit_bytes + *round.miss_bytes;
  return all > 0 ? Number(*round.hit_bytes / all) : Number();
}
Number whole_of(const Round& round) {
  const auto total = round.time("total");
  return total ? Number(*total + round.time("tail").value_or(0)) : Number();
}
Number checked_of(const Round& round) {
  if (!round.verified_bytes || !round.bytes) return {};
  if (*round.bytes > 0) return std::min(*round.verified_bytes / *round.bytes, 1.0);
  return *round.verified_bytes > 0 ? 1.0 : 0.0;
}

// Iterations are matched by their place: names may repeat.
std::vector<IterationFigures> iterations_of(std::span<const Round* const> rounds) {
  std::vector<IterationFigures> all;
  std::size_t longest = 0;
  for (const auto* round : rounds) longest = std::max(longest, round->iterations.size());
  for (std::size_t i = 0; i < longest; ++i) {
    std::string name;
    std::vector<double> seconds;
    std::vector<double> rates;
    for (const auto* round : rounds) {
      if (i >= round->iterations.size()) continue;
      const auto& one = round->iterations[i];
      if (name.empty()) name = one.name;
      if (one.seconds) seconds.push_back(*one.seconds);
      if (const auto rate = rate_of(one.bytes, one.seconds)) rates.push_back(*rate);
    }
    all.push_back({std::move(name), spread_of(std::move(seconds)), spread_of(std::move(rates))});
  }
  return all;
}

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (!text.empty() && !std::ranges::contains(texts, text)) texts.push_back(text);
}

void count(WayFigures& figures, const Round& round) {
  add_once(figures.remarks, round.remark);
  switch (round.outcome) {
    case Outcome::Ok:
      ++figures.good;
      return;
    case Outcome::WrongBytes:
      ++figures.wrong;
      break;
    case Outcome::Failed:
      ++figures.failed;
      break;
    case Outcome::Interrupted:
      ++figures.interrupted;
      break;
  }
  add_once(figures.errors, round.error);
}

WayFigures figures_of_way(const Workload& workload, const std::string& way) {
  WayFigures figures;
  figures.way = way;
  std::vector<const Round*> good;
  std::size_t all = 0;
  for (const auto& round : workload.results) {
    if (round.way != way) continue;
    ++all;
    count(figures, round);
    if (round.outcome == Outcome::Ok) good.push_back(&round);
    if (figures.settings.empty()) figures.settings = round.settings;
  }
  const auto planned = static_cast<std::size_t>(std::min(workload.rounds.value_or(0), 1e6));
  figures.missing = planned > all ? planned - all : 0;

  figures.observed_rate = figure_of(good, observed_rate_of);
  figures.raw_rate = figure_of(good, raw_rate_of);
  figures.bytes = figure_of(good, &Round::bytes);
  figures.operations = figure_of(good, &Round::operations);
  figures.peak_memory = figure_of(good, &Round::peak_memory);
  figures.own_memory = figure_of(good, &Round::own_memory);
  figures.home_others = figure_of(good, &Round::home_others);
  figures.home_reads = figure_of(good, &Round::home_reads);
  figures.home_writes = figure_of(good, &Round::home_writes);
  figures.home_read_bytes = figure_of(good, &Round::home_read_bytes);
  figures.home_written_bytes = figure_of(good, &Round::home_written_bytes);
  figures.staged_bytes = figure_of(good, &Round::staged_bytes);
  figures.hit_rate = figure_of(good, hit_rate_of);
  if (const auto checked = figure_of(good, checked_of); checked && checked->count == good.size()) {
    figures.checked = checked->low;
  }
  std::set<std::string> names;
  for (const auto* round : good) {
    for (const auto& [name, seconds] : round->times) names.insert(name);
  }
  for (const auto& name : names) {
    figures.times.emplace(name, *figure_of(good, [&](const Round& round) { return round.time(name); }));
  }
  if (const auto whole = figure_of(good, whole_of)) figures.times.emplace("whole", *whole);
  figures.iterations = iterations_of(good);
  return figures;
}

}  // namespace

Figure spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto middle = values.size() / 2;
  const auto median = values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return Spread{median, values.front(), values.back(), values.size()};
}

Figure WayFigures::time(std::string_view name) const {
  const auto found = times.find(name);
  return found == times.end() ? Figure() : found->second;
}

std::vector<WayFigures> figures_of(const Workload& workload) {
  std::vector<WayFigures> all;
  for (const auto& way : workload.ways) all.push_back(figures_of_way(workload, way));
  return all;
}

const WayFigures* baseline_of(std::span<const WayFigures> ways) {
  if (ways.empty()) return nullptr;
  const auto native = std::ranges::find(ways, "native", &WayFigures::way);
  return native == ways.end() ? ways.data() : &*native;
}

Number own_share(double raw, double own, double waited) {
  return waited > 0 ? Number((raw + own) / waited) : Number();
}

std::vector<Phase> phases_of(const WayFigures& figures) {
  const auto seconds = [&](std::string_view name) {
    const auto time = figures.time(name);
    return time ? time->median : 0.0;
  };
  std::vector<Phase> phases{
      {"compute", seconds("compute")}, {"create, open", seconds("create") + seconds("open")},
      {"transfer", seconds("raw")},    {"metadata", 0},
      {"flush", seconds("flush")},     {"close", seconds("close")},
      {"tail", seconds("tail")}};
  double waited = 0;
  for (const auto& phase : phases) {
    if (phase.name != "compute" && phase.name != "tail") waited += phase.seconds;
  }
  // Creating and opening are metadata too: only what is not in another part is a part of its own.
  phases[3].seconds = std::clamp(seconds("observed") - waited, 0.0, seconds("metadata"));
  double sum = 0;
  for (const auto& phase : phases) sum += phase.seconds;
  // Less than a thousandth is rounding.
  if (const auto whole = seconds("whole"); whole > sum * 1.001) phases.push_back({"other", whole - sum});
  std::erase_if(phases, [](const Phase& phase) { return phase.seconds <= 0; });
  return phases;
}

}  // namespace forebay::report
