#include "tools/forebay/report/axis.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"

namespace forebay::report {
namespace {

// 1, 2 or 5 times a power of ten, at least `value`.
double round_up(double value) {
  const auto power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (value <= factor * power * (1 + 1e-9)) return factor * power;
  }
  return 10 * power;
}
double round_down(double value) {
  const auto power = std::pow(10.0, std::floor(std::log10(value) + 1e-9));
  for (const double factor : {5.0, 2.0}) {
    if (value >= factor * power * (1 - 1e-9)) return factor * power;
  }
  return power;
}

}  // namespace

Axis Axis::linear(double largest, int steps) {
  Axis axis;
  if (!std::isfinite(largest) || largest <= 0) largest = 1;
  const auto step = round_up(largest / steps);
  const auto count = static_cast<int>(std::ceil(largest / step - 1e-9));
  for (int i = 0; i <= count; ++i) axis.ticks_.push_back(i * step);
  axis.high_ = axis.ticks_.back();
  return axis;
}

Axis Axis::logarithmic(double smallest, double largest) {
  Axis axis;
  axis.logarithmic_ = true;
  axis.low_ = round_down(smallest);
  axis.high_ = std::max(round_up(largest), axis.low_ * 10);
  for (auto tick = axis.low_; tick <= axis.high_ * (1 + 1e-9); tick = round_up(tick * 1.5)) {
    axis.ticks_.push_back(tick);
  }
  // Where there is no room for all: the powers of ten, then every other of them.
  if (axis.ticks_.size() > 7) {
    std::erase_if(axis.ticks_, [](double tick) {
      const auto exponent = std::log10(tick);
      return std::abs(exponent - std::round(exponent)) > 1e-6;
    });
  }
  while (axis.ticks_.size() > 7) {
    for (std::size_t i = 1; i < axis.ticks_.size(); ++i) {
      axis.ticks_.erase(axis.ticks_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return axis;
}

Axis Axis::between(double low, double high, int steps) {
  Axis axis;
  axis.low_ = low;
  axis.high_ = high;
  if (high <= low) {
    axis.ticks_ = {low};
    return axis;
  }
  const auto step = round_up((high - low) / steps);
  for (auto tick = std::ceil(low / step - 1e-9) * step; tick <= high + step * 1e-9; tick += step) {
    axis.ticks_.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
  }
  return axis;
}

double Axis::place(double value) const {
  if (high_ <= low_) return 0.5;
  if (!logarithmic_) return std::clamp((value - low_) / (high_ - low_), 0.0, 1.0);
  if (value <= low_) return 0;
  return std::clamp(std::log(value / low_) / std::log(high_ / low_), 0.0, 1.0);
}

std::string tick_text(double value) {
  return value >= 1000 && value < 1e7 ? format_text("{:.0f}", value) : format_text("{:.3g}", value);
}

}  // namespace forebay::report
