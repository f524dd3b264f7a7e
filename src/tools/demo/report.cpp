#include "tools/demo/report.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "base/duration.hpp"
#include "base/format.hpp"

namespace forebay::demo {
namespace {

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }
double ratio(std::chrono::nanoseconds a, std::chrono::nanoseconds b) {
  return seconds(a) / std::max(seconds(b), 1e-9);
}

std::string row(std::string_view name, std::string_view plain, std::string_view forebay,
                std::string_view ratio) {
  return format_text("  {:<42}{:>10}{:>18}{:>9}\n", name, plain, forebay, ratio);
}
std::string time(std::chrono::nanoseconds time) { return format_text("{:.2f} s", seconds(time)); }
std::string times(double ratio) { return format_text("{:.1f} x", ratio); }

}  // namespace

std::string describe(const Plan& plan) {
  return format_text(
      "{} processes, {} times: compute {} (asleep, as if on a GPU), write {} each to a file system of {}/s "
      "in all.\n",
      plan.processes, plan.checkpoints, format_duration(plan.compute), format_bytes(plan.size),
      format_bytes(plan.bandwidth));
}

std::string report(const Figures& plain, const Figures& forebay, unsigned files) {
  const auto hidden = std::max(plain.observed - forebay.observed, std::chrono::nanoseconds(0));
  std::string text = row("", "plainly", "through Forebay", "ratio");
  text += row("observed write time, mean of the processes", time(plain.observed), time(forebay.observed),
              times(ratio(plain.observed, forebay.observed)));
  text += row("  of which at the end, until all is home", time(plain.last_wait), time(forebay.last_wait), "");
  text += row("hidden time: written while computing", time({}), time(hidden), "");
  text += row("total time, until the last process ended", time(plain.total), time(forebay.total),
              times(ratio(plain.total, forebay.total)));
  text += format_text(
      "Forebay: {:.1f} times faster as seen by the program (it waited {} instead of {}); all {} files are "
      "equal.\n",
      ratio(plain.observed, forebay.observed), time(forebay.observed), time(plain.observed), files);
  return text;
}

}  // namespace forebay::demo
