#include "tools/forebay/report/write_report.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tools/forebay/report/markdown.hpp"
#include "tools/forebay/report/page.hpp"
#include "tools/forebay/report/results.hpp"

namespace forebay::report {

namespace {

Result<std::vector<Run>> runs_of(std::span<const std::string> files) {
  std::vector<Run> runs;
  for (const auto& file : files) {
    FOREBAY_ASSIGN(auto read, read_results(file));
    for (auto& run : read) runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

Result<std::string> page_of_files(std::span<const std::string> files, const std::string& made_by) {
  FOREBAY_ASSIGN(const auto runs, runs_of(files));
  return report_page(runs, made_by);
}

Result<std::string> markdown_of_files(std::span<const std::string> files) {
  FOREBAY_ASSIGN(const auto runs, runs_of(files));
  return report_markdown(runs);
}

Status write_page(const std::string& page, const std::string& path) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << page;
  out.close();
  if (!out) return fail_errno(errno == 0 ? EIO : errno, "write", path);
  return {};
}

std::string page_beside(const std::string& results) {
  return std::filesystem::path(results).replace_extension(".html").string();
}

}  // namespace forebay::report
