#include "tools/bench/outcome.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace forebay::kernels {
namespace {

using Json = nlohmann::json;

enum Figure : std::size_t {
  kObserved,
  kTotal,
  kBytes,
  kOperations,
  kVerified,
  kMemory,
  kOwnMemory,
  kTurnsWith,
  kBeganAt,
  kFirstPhase
};
constexpr std::size_t kFigures = kFirstPhase + kPhaseNames.size();

std::vector<double> figures_of(const Recorder& recorder, const Checker& checker) {
  std::vector<double> figures(kFigures);
  figures[kObserved] = recorder.observed();
  figures[kTotal] = recorder.total();
  figures[kBytes] = static_cast<double>(recorder.bytes());
  figures[kOperations] = static_cast<double>(recorder.operations());
  figures[kVerified] = static_cast<double>(checker.verified_bytes());
  figures[kMemory] = process_memory("VmHWM:");
  figures[kOwnMemory] = recorder.own_memory();
  figures[kTurnsWith] = recorder.turns_with();
  figures[kBeganAt] = recorder.began_at();
  for (std::size_t i = 0; i < kPhaseNames.size(); ++i)
    figures[kFirstPhase + i] = recorder.seconds(static_cast<Phase>(i));
  return figures;
}

// All ranks' figures, a row each.
class Ranks {
 public:
  explicit Ranks(std::vector<double> all) : all_(std::move(all)) {}
  [[nodiscard]] std::size_t count() const { return all_.size() / kFigures; }
  [[nodiscard]] double at(std::size_t rank, std::size_t figure) const {
    return all_[rank * kFigures + figure];
  }
  [[nodiscard]] double sum(std::size_t figure) const {
    double sum = 0;
    for (std::size_t i = 0; i < count(); ++i) sum += at(i, figure);
    return sum;
  }
  [[nodiscard]] std::size_t most(std::size_t figure) const {
    std::size_t most = 0;
    for (std::size_t i = 1; i < count(); ++i) {
      if (at(i, figure) > at(most, figure)) most = i;
    }
    return most;
  }

 private:
  std::vector<double> all_;
};

// Where ranks transfer one after the other, those of a group are what one of them would take for all of it:
// the longest of these sums. 0 where they do not.
double time_of_turns(const Ranks& ranks) {
  std::map<double, double> groups;
  for (std::size_t i = 0; i < ranks.count(); ++i) {
    const auto group = ranks.at(i, kTurnsWith);
    if (group < 0) continue;
    for (const auto phase : {Phase::kWrite, Phase::kRead})
      groups[group] += ranks.at(i, kFirstPhase + static_cast<std::size_t>(phase));
  }
  double longest = 0;
  for (const auto& [group, seconds] : groups) longest = std::max(longest, seconds);
  return longest;
}

Json times_of(const Ranks& ranks) {
  const auto slowest = ranks.most(kObserved);
  std::array<double, kPhaseNames.size()> phases{};
  for (std::size_t i = 0; i < phases.size(); ++i) phases[i] = ranks.at(slowest, kFirstPhase + i);
  const auto of = [&](Phase phase) -> double& { return phases[static_cast<std::size_t>(phase)]; };
  // While it waited for its turn to open the file, others transferred.
  const auto others =
      std::clamp(time_of_turns(ranks) - of(Phase::kWrite) - of(Phase::kRead), 0.0, of(Phase::kOpen));
  of(Phase::kOpen) -= others;
  of(Phase::kWrite) += others;
  const double observed = ranks.at(slowest, kObserved);
  return {{"total", ranks.at(ranks.most(kTotal), kTotal)},
          {"compute", of(Phase::kCompute)},
          {"raw", of(Phase::kWrite) + of(Phase::kRead)},
          {"write", of(Phase::kWrite)},
          {"read", of(Phase::kRead)},
          {"observed", observed},
          {"metadata", of(Phase::kMetadata)},
          {"create", of(Phase::kCreate)},
          {"open", of(Phase::kOpen)},
          {"flush", of(Phase::kFlush)},
          {"close", of(Phase::kClose)},
          // In no bracket: what the kernel itself costs.
          {"own", std::max(0.0, ranks.at(slowest, kTotal) - observed - of(Phase::kCompute))}};
}

std::vector<double> flat(const std::vector<Span>& spans, std::uint64_t rank) {
  std::vector<double> values;
  for (const auto& span : spans)
    values.insert(values.end(),
                  {static_cast<double>(rank), static_cast<double>(span.phase), span.begin, span.end});
  return values;
}

// All by the first rank's clock: ranks leave the barrier at which a round begins one after the other.
Json spans_of(const std::vector<double>& values, const Ranks& ranks) {
  auto spans = Json::array();
  for (std::size_t i = 0; i + 4 <= values.size(); i += 4) {
    const auto later = ranks.at(static_cast<std::size_t>(values[i]), kBeganAt) - ranks.at(0, kBeganAt);
    spans.push_back({{"rank", static_cast<int>(values[i])},
                     {"what", kPhaseNames[static_cast<std::size_t>(values[i + 1])]},
                     {"begin", std::max(0.0, values[i + 2] + later)},
                     {"end", std::max(0.0, values[i + 3] + later)}});
  }
  return spans;
}

// An iteration lasts as long as in the slowest rank, and moves what all ranks move.
Json iterations_of(const Recorder& recorder, const World& world) {
  std::vector<double> values;
  for (const auto& one : recorder.iterations())
    values.insert(values.end(), {one.seconds, static_cast<double>(one.bytes)});
  const auto all = world.gather(values);
  auto iterations = Json::array();
  for (std::size_t i = 0; i < recorder.iterations().size() && !all.empty(); ++i) {
    double seconds = 0;
    double bytes = 0;
    for (std::size_t at = 2 * i; at < all.size(); at += values.size()) {
      seconds = std::max(seconds, all[at]);
      bytes += all[at + 1];
    }
    iterations.push_back({{"name", recorder.iterations()[i].name},
                          {"seconds", seconds},
                          {"bytes", static_cast<std::uint64_t>(bytes)}});
  }
  return iterations;
}

}  // namespace

void write_outcome(const Job& job, const World& world, const Recorder& recorder, const Checker& checker) {
  const Ranks ranks(world.gather(figures_of(recorder, checker)));
  const auto spans = world.gather(flat(recorder.spans(), world.rank()));
  const auto iterations = iterations_of(recorder, world);
  const auto wrong = world.gather(checker.wrong());
  if (!world.first()) return;
  const auto whole = [&](std::size_t figure) { return static_cast<std::uint64_t>(ranks.sum(figure)); };
  const auto first_wrong = std::ranges::find_if(wrong, [](const auto& text) { return !text.empty(); });
  const Json outcome{{"bytes", whole(kBytes)},
                     {"operations", whole(kOperations)},
                     {"verified_bytes", whole(kVerified)},
                     {"peak_memory", whole(kMemory)},
                     {"own_memory", whole(kOwnMemory)},
                     {"remark", recorder.remark()},
                     {"many_threads", world.many_threads()},
                     {"wrong", first_wrong == wrong.end() ? "" : *first_wrong},
                     {"times", times_of(ranks)},
                     {"spans", spans_of(spans, ranks)},
                     {"iterations", iterations}};
  std::ofstream out(job.result);
  out << outcome.dump() << "\n";
  if (!out.flush()) throw std::runtime_error("cannot write the figures to " + job.result);
}

}  // namespace forebay::kernels
