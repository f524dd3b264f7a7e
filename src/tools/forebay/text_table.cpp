#include "tools/forebay/text_table.hpp"

#include <algorithm>

namespace forebay {
namespace {

// Bytes that continue a UTF-8 character take no room of their own.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string TextTable::text() const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      widths[i] = std::max(widths[i], width_of(row.cells[i]));
  }
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (widths[i] == 0) continue;
    widths[i] = std::max(widths[i], width_of(columns_[i].title));
    shown.push_back(i);
  }
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (const auto i : shown) {
      const std::string& cell = cell_of(i);
      const std::string padding(widths[i] - width_of(cell), ' ');
      if (!line.empty()) line += "  ";
      if (columns_[i].align == Align::kRight) {
        line += padding + cell;
      } else {
        line += i == shown.back() ? cell : cell + padding;
      }
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  add_line([&](std::size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) {
    if (row.cells.empty()) {
      text += row.remark + "\n";
    } else {
      add_line([&](std::size_t i) -> const std::string& { return row.cells[i]; });
    }
  }
  return text;
}

}  // namespace forebay
