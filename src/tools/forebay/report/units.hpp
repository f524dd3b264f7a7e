// Numbers for people: three significant digits and a unit. Units are decimal: 1 MB is 10^6 bytes.
#pragma once

#include <string>

namespace forebay::report {

std::string bytes_text(double bytes);      // "8.39 MB"
std::string rate_text(double rate);        // "1.20 GB/s"
std::string seconds_text(double seconds);  // "655 ms", "5.04 s", "12.5 min"
std::string count_text(double count);      // "512", "1.05 M"
std::string percent_text(double share);    // 0.125: "12.5 %"

// "207 – 217 MB/s": the unit once, if it is the same.
std::string range_text(const std::string& low, const std::string& high);

// Three significant digits, no unit: "7.70", "0.0123", "1230".
std::string digits_text(double number);

// A scale for an axis: every value of it is written with the same unit.
struct Unit {
  double factor = 1;  // divide by it
  std::string name;
};
Unit unit_of_bytes(double largest);
Unit unit_of_seconds(double largest);

}  // namespace forebay::report
