// Columns that line up.
#pragma once

#include <string>
#include <vector>

namespace forebay {

class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells) { rows_.push_back({std::move(cells), {}}); }
  // A line of its own below the last row.
  void remark(std::string line) { rows_.push_back({{}, std::move(line)}); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  // Columns in which no row says anything are left out. The last column is not padded.
  [[nodiscard]] std::string text() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string remark;
  };
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace forebay
