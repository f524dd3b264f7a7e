// Text that goes into the page.
//
// Everything that comes from a results file goes through escape(), wherever it stands: between tags or in a
// quoted attribute. Functions that return markup say so; their parameters are plain text unless named
// otherwise.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::report {

// For use between tags and between double quotes. Control characters become U+FFFD.
std::string escape(std::string_view text);

// A coordinate, short: "12.5". Never "nan" or "inf".
std::string coordinate(double value);
// The same of 100: 0.125 is "12.5%".
std::string percent(double share);

// Which colour and which mark a way has, the same everywhere on a page: native is 0, forebay is 1, others as
// they come.
class Palette {
 public:
  void add(std::span<const std::string> ways);
  // "w0" to "w7", for an attribute.
  [[nodiscard]] std::string class_of(std::string_view way) const;
  // A small picture of the way's mark, markup.
  [[nodiscard]] std::string swatch(std::string_view way) const;
  // Swatch and name, markup.
  [[nodiscard]] std::string chip(std::string_view way) const;

 private:
  std::vector<std::string> others_;
};

}  // namespace forebay::report
