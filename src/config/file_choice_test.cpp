#include "config/file_choice.hpp"

#include <gtest/gtest.h>

#include "config/load.hpp"

namespace forebay {
namespace {

using Texts = std::vector<std::string>;

std::string choice_error(std::string_view yaml) {
  const auto settings = load_text(yaml, "f.yaml");
  return settings ? "no error" : settings.error().message;
}

FileChoice choice_of(const Environment& environment) {
  const auto settings = load({}, environment);
  EXPECT_TRUE(settings) << settings.error().message;
  return settings.value_or(Settings{}).choice;
}

TEST(FileChoice, OnlyWhatLiesInAHome) {
  const FileChoice choice{.homes = {"/scratch/me", "/work"}};
  EXPECT_EQ(choice.of_name("/scratch/me/a/b"), FileVerdict::Chosen);
  EXPECT_EQ(choice.of_name("/work/x"), FileVerdict::Chosen);
  for (const char* path : {"/scratch/me2/x", "/scratch", "/", "/workshop", "/tmp/work/x"})
    EXPECT_EQ(choice.of_name(path), FileVerdict::OutsideHomes) << path;
}

TEST(FileChoice, TheRootIsAHomeButForTheKernelsOwnFiles) {
  const FileChoice choice{.homes = {"/"}};
  EXPECT_EQ(choice.of_name("/x"), FileVerdict::Chosen);
  EXPECT_EQ(choice.of_name("/process/x"), FileVerdict::Chosen);
  EXPECT_EQ(choice.of_name("/proc/self/status"), FileVerdict::OutsideHomes);
  EXPECT_EQ(choice.of_name("/sys/kernel/x"), FileVerdict::OutsideHomes);
}

TEST(FileChoice, WithoutHomesEveryNameWillDo) {
  EXPECT_EQ(FileChoice{}.of_name("/anywhere/x"), FileVerdict::Chosen);
  EXPECT_EQ((FileChoice{.exclude = {"*.log"}}.of_name("/anywhere/x.log")), FileVerdict::Excluded);
}

TEST(FileChoice, ExcludeWinsOverInclude) {
  const FileChoice choice{
      .homes = {"/h"}, .include = {"*.h5", "/h/all/**"}, .exclude = {"old*", "/h/all/not/**"}};
  EXPECT_EQ(choice.of_name("/h/a.h5"), FileVerdict::Chosen);
  EXPECT_EQ(choice.of_name("/h/all/x"), FileVerdict::Chosen);
  EXPECT_EQ(choice.of_name("/h/a.txt"), FileVerdict::NotIncluded);
  EXPECT_EQ(choice.of_name("/h/old.h5"), FileVerdict::Excluded);
  EXPECT_EQ(choice.of_name("/h/all/not/x"), FileVerdict::Excluded);
  EXPECT_EQ(choice.of_name("/other/a.h5"), FileVerdict::OutsideHomes);
}

TEST(FileChoice, SizesHaveLimits) {
  const FileChoice choice{.min_file_size = 100, .max_file_size = 1000};
  EXPECT_EQ(choice.of_size(0), FileVerdict::Chosen);
  EXPECT_EQ(choice.of_size(99), FileVerdict::TooSmall);
  EXPECT_EQ(choice.of_size(100), FileVerdict::Chosen);
  EXPECT_EQ(choice.of_size(1000), FileVerdict::Chosen);
  EXPECT_EQ(choice.of_size(1001), FileVerdict::TooLarge);
  EXPECT_EQ(FileChoice{}.of_size(std::uint64_t{1} << 60), FileVerdict::Chosen);
}

TEST(FileChoice, WhatIsNotChosenIsBypassed) {
  Settings settings;
  settings.choice = {.homes = {"/h"}, .min_file_size = 10};
  EXPECT_EQ(settings.for_file("/h/x", 10).mode, Mode::Async);
  EXPECT_EQ(settings.for_file("/h/x", 9).mode, Mode::Bypass);
  EXPECT_EQ(settings.for_file("/x", 10).mode, Mode::Bypass);
}

TEST(FileChoice, FromTheEnvironment) {
  const FileChoice choice = choice_of(Environment({{"FOREBAY_HOMES", "/a/:/b//c/../d::${X}:"},
                                                   {"FOREBAY_EXCLUDE", R"([ab]*.log:a\:b)"},
                                                   {"FOREBAY_MIN_FILE_SIZE", "4KiB"},
                                                   {"X", "/x"}}));
  EXPECT_EQ(choice.homes, (Texts{"/a", "/b/d", "/x"}));
  EXPECT_EQ(choice.exclude, (Texts{"[ab]*.log", R"(a\:b)"}));
  EXPECT_EQ(choice.of_name("/a/a:b"), FileVerdict::Excluded);
  EXPECT_EQ(choice.min_file_size, 4096U);
}

TEST(FileChoice, FromAFile) {
  const auto settings = load_text(R"(
homes:
  - /a
  - ${X:-/x}
include: ["*.h5", "a:b", 'c\:d']
exclude: "*.log:*.tmp"
max_file_size: 1GiB
)",
                                  "f.yaml");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->choice.homes, (Texts{"/a", "/x"}));
  EXPECT_EQ(settings->choice.include, (Texts{"*.h5", R"(a\:b)", R"(c\:d)"}));
  EXPECT_EQ(settings->choice.of_name("/a/a:b"), FileVerdict::Chosen);
  EXPECT_EQ(settings->choice.exclude, (Texts{"*.log", "*.tmp"}));
  EXPECT_EQ(settings->choice.max_file_size, kGiB);
}

TEST(FileChoice, ALaterSourceReplacesTheWholeList) {
  const auto settings = load({.overrides = {"homes=/b"}}, Environment({{"FOREBAY_HOMES", "/a:/c"}}));
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->choice.homes, (Texts{"/b"}));
}

TEST(FileChoice, ImpossibleOnesAreRefused) {
  EXPECT_EQ(choice_error("homes:\n  - /a\n  - b\n"), "f.yaml:3: homes[1]: \"b\" is not an absolute path");
  EXPECT_EQ(choice_error("homes: [/a:b]\n"),
            "f.yaml:1: homes[0]: \"/a:b\" holds a colon, which separates paths");
  EXPECT_EQ(choice_error("homes: [[/a]]\n"), "f.yaml:1: homes[0]: needs an absolute path");
  EXPECT_EQ(
      choice_error("homes: {a: b}\n"),
      "f.yaml:1: homes: needs a list: empty (preloaded doors do nothing) or absolute paths, separated by "
      "colons");
  EXPECT_EQ(choice_error("include: [a/b]\n"),
            "f.yaml:1: include[0]: \"a/b\" can never match: a pattern with '/' begins with '/' or **");
  EXPECT_EQ(choice_error("max_file_size: -1\n"),
            "f.yaml:1: max_file_size: \"-1\" is not 0 (no limit) or a size from 1 to 1PiB");
  const auto settings = load({}, Environment({{"FOREBAY_HOMES", "/a:b"}}));
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().message, "FOREBAY_HOMES: homes: \"b\" is not an absolute path");
  const auto unset = load({}, Environment({{"FOREBAY_HOMES", "${NOT_SET}"}}));
  ASSERT_FALSE(unset);
  EXPECT_EQ(unset.error().message, "FOREBAY_HOMES: homes: ${NOT_SET} is not set");
}

}  // namespace
}  // namespace forebay
