// Are two files the same?
#pragma once

#include <filesystem>
#include <string>

namespace forebay::demo {

// Empty if both files hold the same bytes, else words that say how they differ.
std::string difference(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace forebay::demo
