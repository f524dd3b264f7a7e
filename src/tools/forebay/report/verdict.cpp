#include "tools/forebay/report/verdict.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "tools/forebay/report/units.hpp"

namespace forebay::report {
namespace {

bool overlap(const Spread& a, const Spread& b) { return a.low <= b.high && b.low <= a.high; }

std::optional<Ratio> ratio_of(const Spread& above, const Spread& below) {
  if (below.low <= 0 || above.low <= 0) return {};
  return Ratio{above.median / below.median, above.low / below.high, above.high / below.low};
}

// What two ways are compared by.
struct Comparison {
  Ratio ratio;
  bool same = false;
  bool one_round = false;  // on either side: nothing is known of the spread
  const char* measure = "";
};

std::optional<Comparison> compare(const WayFigures& way, const WayFigures& baseline) {
  const auto judged = [](const Figure& own, const Figure& other, const std::optional<Ratio>& ratio,
                         const char* measure) -> std::optional<Comparison> {
    if (!ratio) return {};
    return Comparison{*ratio, overlap(*own, *other), own->count == 1 || other->count == 1, measure};
  };
  if (way.observed_rate && baseline.observed_rate) {
    if (auto found = judged(way.observed_rate, baseline.observed_rate,
                            ratio_of(*way.observed_rate, *baseline.observed_rate), "observed rate")) {
      return found;
    }
  }
  for (const auto* name : {"observed", "whole"}) {
    const auto own = way.time(name);
    const auto other = baseline.time(name);
    if (!own || !other) continue;
    if (auto found = judged(own, other, ratio_of(*other, *own), "speed")) return found;
  }
  return {};
}

std::string faster_words(const std::string& baseline, const Comparison& comparison) {
  const auto value = comparison.ratio.value;
  if (value >= 1.995) {
    return format_text("{} times {}'s {}", digits_text(value), baseline, comparison.measure);
  }
  return format_text("faster than {} by {}", baseline, percent_text(value - 1));
}
std::string slower_words(const std::string& baseline, const Comparison& comparison) {
  const auto value = comparison.ratio.value;
  if (value <= 1 / 1.995)
    return format_text("slower than {}, which is {} times as fast", baseline, digits_text(1 / value));
  return format_text("slower than {} by {}", baseline, percent_text(1 - value));
}

std::string brief_of(Judgement judgement, double value) {
  switch (judgement) {
    case Judgement::Faster:
      return value >= 1.995 ? digits_text(value) + " times" : percent_text(value - 1) + " faster";
    case Judgement::Slower:
      return value <= 1 / 1.995 ? digits_text(1 / value) + " times slower"
                                : percent_text(1 - value) + " slower";
    case Judgement::Same:
      return "no difference";
    case Judgement::Baseline:
      return "baseline";
    case Judgement::Alone:
      return "not compared";
    case Judgement::OwnCost:
      return "own cost";
    case Judgement::Unfinished:
      return "no result";
    case Judgement::Wrong:
      return "wrong bytes";
  }
  return {};
}

// "; the program waited 655 ms instead of 5.04 s; total 8.80 s against 13.2 s"
std::string time_words(const WayFigures& way, const WayFigures& baseline) {
  std::string words;
  const auto waited = way.time("observed");
  const auto other_waited = baseline.time("observed");
  if (waited && other_waited) {
    words += format_text("; the program waited {} instead of {}", seconds_text(waited->median),
                         seconds_text(other_waited->median));
  }
  const auto total = way.time("whole");
  const auto other_total = baseline.time("whole");
  if (total && other_total) {
    words +=
        format_text("; total {} against {}", seconds_text(total->median), seconds_text(other_total->median));
    // A way that hides its work and then takes longer all the same is not to look well.
    if (other_total->median > 0 && total->low > other_total->high) {
      words += format_text(", which is {} longer", percent_text(total->median / other_total->median - 1));
    }
  }
  return words;
}

std::string checked_words(const WayFigures& way) {
  if (!way.checked) return "; not known to be checked";
  if (*way.checked >= 1) return "; every byte was checked";
  if (*way.checked <= 0) return "; no byte was checked";
  return format_text("; {} of the bytes were checked", percent_text(*way.checked));
}

std::string round_words(std::size_t count) {
  return count == 1 ? "1 round" : format_text("{} rounds", count);
}

// What of the plan did not come about.
std::string missing_words(const WayFigures& way) {
  std::string words;
  if (way.failed) words += format_text("; {} failed", round_words(way.failed));
  if (way.interrupted) words += format_text("; {} interrupted", round_words(way.interrupted));
  if (way.missing) words += format_text("; {} not run", round_words(way.missing));
  for (const auto& error : way.errors) words += format_text(" ({})", error);
  for (const auto& remark : way.remarks) words += "; " + remark;
  return words;
}

Verdict without_figures(const WayFigures& way) {
  Verdict verdict{way.way, Judgement::Unfinished, {}, {}, {}, {}};
  if (way.wrong) {
    verdict.judgement = Judgement::Wrong;
    verdict.lead =
        format_text("wrong bytes in {}: the figures of this way are worth nothing", round_words(way.wrong));
  } else {
    verdict.lead = "no round ended well";
  }
  verdict.rest = missing_words(way);
  verdict.brief = brief_of(verdict.judgement, 1);
  return verdict;
}

// How much of what the baseline measures is the kernel's own doing.
Verdict own_cost(const WayFigures& way, const WayFigures* baseline) {
  Verdict verdict{way.way, Judgement::OwnCost, {}, {}, "the kernel itself, without any transfer", {}};
  const auto seconds = [](const WayFigures& figures, std::string_view name) {
    const auto time = figures.time(name);
    return time ? time->median : 0.0;
  };
  const auto waited = baseline == nullptr || !baseline->trusted() ? 0.0 : seconds(*baseline, "observed");
  if (const auto share = own_share(seconds(way, "raw"), seconds(way, "own"), waited)) {
    verdict.lead = format_text("the kernel's own part of what the program waited in {} is {}", baseline->way,
                               percent_text(*share));
  }
  verdict.brief = brief_of(verdict.judgement, 1);
  return verdict;
}

Verdict judge_one(const WayFigures& way, const WayFigures* baseline) {
  if (!way.trusted()) return without_figures(way);
  if (way.is_null()) return own_cost(way, baseline);
  Verdict verdict{way.way, Judgement::Alone, {}, {}, {}, {}};
  if (&way == baseline) {
    verdict.judgement = Judgement::Baseline;
    verdict.lead = "what the others are compared with";
    if (const auto waited = way.time("observed")) {
      verdict.rest += format_text("; the program waited {}", seconds_text(waited->median));
    }
    if (const auto total = way.time("whole")) {
      verdict.rest += format_text("; total {}", seconds_text(total->median));
    }
  } else if (baseline == nullptr || !baseline->trusted()) {
    verdict.lead = baseline ? format_text("nothing to compare with: {} has no figures", baseline->way)
                            : "nothing to compare with";
  } else if (const auto comparison = compare(way, *baseline); !comparison) {
    verdict.lead = format_text("no figure that {} has too", baseline->way);
    verdict.rest = time_words(way, *baseline);
  } else {
    verdict.ratio = comparison->ratio;
    const auto value = comparison->ratio.value;
    if (comparison->same) {
      verdict.judgement = Judgement::Same;
      verdict.lead = comparison->one_round
                         ? format_text("no difference from {}", baseline->way)
                         : format_text("no difference from {} within the spread", baseline->way);
    } else {
      verdict.judgement = value >= 1 ? Judgement::Faster : Judgement::Slower;
      verdict.lead =
          value >= 1 ? faster_words(baseline->way, *comparison) : slower_words(baseline->way, *comparison);
    }
    verdict.rest += time_words(way, *baseline);
    if (comparison->one_round) verdict.rest += "; one round only, so that the spread is not known";
  }
  verdict.rest += checked_words(way) + missing_words(way);
  verdict.brief = brief_of(verdict.judgement, verdict.ratio ? verdict.ratio->value : 1);
  return verdict;
}

std::string workloads_text(std::size_t count) {
  return count == 1 ? "1 workload" : format_text("{} workloads", count);
}

std::string overall_of(const std::string& way, std::span<const std::vector<Verdict>> workloads) {
  std::map<Judgement, std::size_t> counts;
  std::vector<double> ratios;
  for (const auto& verdicts : workloads) {
    for (const auto& verdict : verdicts) {
      if (verdict.way != way) continue;
      ++counts[verdict.judgement];
      if (verdict.ratio) ratios.push_back(verdict.ratio->value);
    }
  }
  std::size_t all = 0;
  for (const auto& [judgement, count] : counts) all += count;
  std::string words;
  const auto add = [&](Judgement judgement, const char* what) {
    if (counts[judgement] == 0) return;
    words += format_text("{}{} {}", words.empty() ? " " : ", ", what, counts[judgement]);
  };
  add(Judgement::Faster, "faster in");
  add(Judgement::Same, "no difference in");
  add(Judgement::Slower, "slower in");
  add(Judgement::Wrong, "WRONG BYTES in");
  add(Judgement::Unfinished, "no result in");
  add(Judgement::Alone, "not compared in");
  auto text = format_text("{}, {}:{}", way, workloads_text(all), words);
  if (const auto spread = spread_of(ratios); spread && spread->count > 1) {
    text += format_text("; {} to {} times the baseline's observed rate, median {}", digits_text(spread->low),
                        digits_text(spread->high), digits_text(spread->median));
  } else if (spread) {
    text += format_text("; {} times the baseline's observed rate", digits_text(spread->median));
  }
  return text;
}

}  // namespace

std::vector<Verdict> judge(std::span<const WayFigures> ways) {
  const auto* baseline = baseline_of(ways);
  std::vector<Verdict> all;
  for (const auto& way : ways) all.push_back(judge_one(way, ways.size() > 1 ? baseline : nullptr));
  return all;
}

std::vector<std::string> overall(std::span<const std::vector<Verdict>> workloads) {
  std::vector<std::string> ways;
  for (const auto& verdicts : workloads) {
    for (const auto& verdict : verdicts) {
      if (verdict.judgement != Judgement::Baseline && verdict.judgement != Judgement::OwnCost &&
          !std::ranges::contains(ways, verdict.way)) {
        ways.push_back(verdict.way);
      }
    }
  }
  std::vector<std::string> lines;
  lines.reserve(ways.size());
  for (const auto& way : ways) lines.push_back(overall_of(way, workloads));
  return lines;
}

}  // namespace forebay::report
