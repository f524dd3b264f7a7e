// Where the lines of a scale go.
#pragma once

#include <string>
#include <vector>

namespace forebay::report {

// From 0 (linear) or from a power of ten, or a half or fifth of it (logarithmic), to a round number.
class Axis {
 public:
  // 0 to the next round number above `largest`, in at most `steps` steps.
  static Axis linear(double largest, int steps = 4);
  // Round numbers around both. `smallest` is above 0.
  static Axis logarithmic(double smallest, double largest);
  // From `low` to `high` as they are; a point if both are the same.
  static Axis between(double low, double high, int steps = 5);

  // 0 at the low end, 1 at the high end; what lies outside is at the end.
  [[nodiscard]] double place(double value) const;
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }
  [[nodiscard]] double high() const { return high_; }

 private:
  double low_ = 0;
  double high_ = 1;
  bool logarithmic_ = false;
  std::vector<double> ticks_;
};

// "0", "0.5", "200": as many digits as it needs, at most three.
std::string tick_text(double value);

}  // namespace forebay::report
