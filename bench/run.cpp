#include "bench/run.hpp"

#include <cstdio>

#include "base/format.hpp"
#include "base/json.hpp"

namespace forebay::bench {

void Run::report(const Result& result) const {
  JsonWriter json;
  json.begin_object()
      .member("name", result.name)
      .member("value", result.value)
      .member("unit", result.unit)
      .member("ratio", result.ratio)
      .member("baseline", result.baseline)
      .end_object();
  std::printf("%s\n", json.text().c_str());
  std::fflush(stdout);
  say(format_text("  {:24} {:10.4g} {:6} ratio {:8.3f}  against {}", result.name, result.value, result.unit,
                  result.ratio, result.baseline));
}

void Run::report_time(const std::string& name, const Comparison& times, const std::string& baseline) const {
  report({name, times.ours * 1e6, "us", times.quotient,
          format_text("{}: {:.3g} us", baseline, times.baseline * 1e6)});
}

void Run::report_rate(const std::string& name, const Comparison& times, double bytes,
                      const std::string& baseline) const {
  report({name, bytes / times.ours / 1e9, "GB/s", times.quotient,
          format_text("{}: {:.3g} GB/s", baseline, bytes / times.baseline / 1e9)});
}

void Run::say(const std::string& text) const { std::fprintf(stderr, "%s\n", text.c_str()); }

}  // namespace forebay::bench
