#include "config/pages.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/load.hpp"
#include "config/table.hpp"

namespace forebay {
namespace {

// src/config/pages_test.cpp, seen from the build directory or absolute.
std::filesystem::path checkout() { return std::filesystem::path(__FILE__).parent_path() / "../.."; }

void expect_file(const std::string& name, const std::string& content) {
  const std::filesystem::path path = checkout() / name;
  if (Environment::current().get("FOREBAY_TEST_UPDATE")) std::ofstream(path) << content;
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  EXPECT_EQ((std::ostringstream() << file.rdbuf()).str(), content)
      << name
      << " is older than the table of settings: `FOREBAY_TEST_UPDATE=1 ./dev test config.Pages` writes it "
         "anew";
}

TEST(Pages, SettingsPageIsMadeFromTheTable) { expect_file("docs/settings.md", settings_markdown()); }

TEST(Pages, SampleIsMadeFromTheTable) { expect_file("docs/forebay.yaml", settings_sample()); }

TEST(Pages, SampleAsItIsSetsNothing) {
  const auto settings = load_text(settings_sample(), "forebay.yaml");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_TRUE(settings->origins.empty());
}

TEST(Pages, SampleWithoutCommentMarksGivesTheDefaults) {
  std::istringstream sample(settings_sample());
  std::string yaml;
  for (std::string line; std::getline(sample, line);) {
    const bool setting = line.starts_with('#') && !line.starts_with("# ");
    yaml += (setting ? line.substr(1) : line) + "\n";
  }
  const auto settings = load_text(yaml, "forebay.yaml");
  ASSERT_TRUE(settings) << settings.error().message << "\n" << yaml;
  for (const Setting& row : settings_table()) {
    EXPECT_EQ(row.value(*settings), row.value(Settings{})) << row.name;
    EXPECT_TRUE(settings->origins.contains(row.name)) << row.name;
  }
  EXPECT_EQ(settings->tiers.size(), 2U);
}

}  // namespace
}  // namespace forebay
