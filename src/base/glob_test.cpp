#include "base/glob.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace forebay {
namespace {

TEST(Glob, PatternWithoutSlashMatchesTheLastComponent) {
  EXPECT_TRUE(glob_match("*.h5", "/scratch/run/out.h5"));
  EXPECT_TRUE(glob_match("out.h5", "/scratch/out.h5"));
  EXPECT_TRUE(glob_match("*.h5", "out.h5"));
  EXPECT_FALSE(glob_match("*.h5", "/scratch/a.h5/out.nc"));
  EXPECT_FALSE(glob_match("out", "/scratch/out.h5"));
}

TEST(Glob, PatternWithSlashMatchesTheWholePath) {
  EXPECT_TRUE(glob_match("/scratch/*/out.h5", "/scratch/run/out.h5"));
  EXPECT_FALSE(glob_match("/scratch/*", "/scratch/run/out.h5"));
  EXPECT_FALSE(glob_match("run/out.h5", "/scratch/run/out.h5"));
}

TEST(Glob, DoubleStarCrossesDirectories) {
  EXPECT_TRUE(glob_match("/scratch/**", "/scratch/a/b/c"));
  EXPECT_TRUE(glob_match("/scratch/**/c", "/scratch/a/b/c"));
  EXPECT_TRUE(glob_match("/scratch/**/c", "/scratch/c"));
  EXPECT_TRUE(glob_match("**/c", "c"));
  EXPECT_TRUE(glob_match("/a**z", "/abc/xyz"));
  EXPECT_FALSE(glob_match("/scratch/**/c", "/scratch/abc"));
  EXPECT_FALSE(glob_match("/scratch/**", "/scratch"));
}

TEST(Glob, SingleCharacters) {
  EXPECT_TRUE(glob_match("/a?c", "/abc"));
  EXPECT_FALSE(glob_match("/a?c", "/a/c"));
  EXPECT_TRUE(glob_match("step[0-9][0-9]", "step07"));
  EXPECT_FALSE(glob_match("step[!0-9]", "step7"));
  EXPECT_TRUE(glob_match("[]x]", "]"));
  EXPECT_TRUE(glob_match("[a-]", "-"));
  EXPECT_TRUE(glob_match("[\\]]", "]"));
  EXPECT_FALSE(glob_match("/a[!b]c", "/a/c"));
  EXPECT_TRUE(glob_match("a[b", "a[b"));
  EXPECT_TRUE(glob_match("\\*", "*"));
  EXPECT_FALSE(glob_match("\\*", "x"));
  EXPECT_TRUE(glob_match("a\\", "a\\"));
  EXPECT_TRUE(glob_match("[\xC0-\xFF]", "\xE9"));
}

TEST(Glob, EmptyTexts) {
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("**", "/"));
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_FALSE(glob_match("a", ""));
}

TEST(Glob, ManyStarsStayFast) {
  std::string pattern;
  for (int i = 0; i < 30; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", std::string(4000, 'a')));
  pattern = "/";
  for (int i = 0; i < 30; ++i) pattern += "**/a*";
  EXPECT_FALSE(glob_match(pattern + "b", "/" + std::string(200, 'a')));
}

// The definition itself, exponential and plainly right.
bool reference(std::string_view pattern, std::string_view text, bool component_start = true) {
  if (pattern.empty()) return text.empty();
  if (pattern.starts_with("**")) {
    std::string_view rest = pattern;
    while (rest.starts_with('*')) rest.remove_prefix(1);
    if (component_start && rest.starts_with('/')) {
      rest.remove_prefix(1);
      if (reference(rest, text, true)) return true;
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '/' && reference(rest, text.substr(i + 1), true)) return true;
      }
      return false;
    }
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (reference(rest, text.substr(i), false)) return true;
    }
    return false;
  }
  if (pattern.front() == '*') {
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (reference(pattern.substr(1), text.substr(i), false)) return true;
      if (i < text.size() && text[i] == '/') return false;
    }
    return false;
  }
  if (text.empty()) return false;
  const bool same = pattern.front() == '?' ? text.front() != '/' : pattern.front() == text.front();
  return same && reference(pattern.substr(1), text.substr(1), pattern.front() == '/');
}

TEST(Glob, AgreesWithTheDefinitionOnRandomPatterns) {
  std::mt19937 random(20240607);
  const auto text_of = [&](std::string_view letters, std::size_t longest) {
    std::string text(random() % (longest + 1), ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    return text;
  };
  int matched = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string pattern = "/" + text_of("ab//***?", 9);
    const std::string text = "/" + text_of("aab/", 9);
    const bool expected = reference(pattern, text, false);
    matched += expected ? 1 : 0;
    ASSERT_EQ(glob_match(pattern, text), expected) << pattern << " against " << text;
  }
  EXPECT_GT(matched, 5'000);
}

}  // namespace
}  // namespace forebay
