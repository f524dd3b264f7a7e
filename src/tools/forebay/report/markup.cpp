#include "tools/forebay/report/markup.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"

namespace forebay::report {
namespace {

constexpr std::size_t kColours = 8;

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) {
          out += "\uFFFD";
        } else {
          out += c;
        }
    }
  }
  return out;
}

std::string coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  auto text = format_text("{:.2f}", std::clamp(value, -1e6, 1e6));
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}
std::string percent(double share) { return coordinate(share * 100) + "%"; }

void Palette::add(std::span<const std::string> ways) {
  for (const auto& way : ways) {
    if (way != "native" && way != "forebay" && !std::ranges::contains(others_, way)) others_.push_back(way);
  }
}

std::string Palette::class_of(std::string_view way) const {
  if (way == "native") return "w0";
  if (way == "forebay") return "w1";
  const auto place = std::ranges::find(others_, way) - others_.begin();
  return format_text("w{}", 2 + static_cast<std::size_t>(place) % (kColours - 2));
}

std::string Palette::swatch(std::string_view way) const {
  const auto name = class_of(way);
  return format_text(
      R"(<svg class="swatch" width="12" height="12" aria-hidden="true"><use href="#m-{}" class="{}" x="6" y="6"/></svg>)",
      name, name);
}

std::string Palette::chip(std::string_view way) const {
  return format_text(R"(<span class="chip">{}{}</span>)", swatch(way), escape(way));
}

}  // namespace forebay::report
