// From results files to a page on disk.
#pragma once

#include <span>
#include <string>

#include "base/error.hpp"

namespace forebay::report {

// The page of all runs in `files`. The error names the file and, if one is wrong, the line.
Result<std::string> page_of_files(std::span<const std::string> files, const std::string& made_by);

// The same as tables in Markdown.
Result<std::string> markdown_of_files(std::span<const std::string> files);

// Puts a page where it is to be, in place of what is there.
Status write_page(const std::string& page, const std::string& path);

// results.jsonl: results.html, beside it.
std::string page_beside(const std::string& results);

}  // namespace forebay::report
