// `forebay clean`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/node.hpp"
#include "support/owner.hpp"

namespace forebay::testing {
namespace {

using ::testing::HasSubstr;

TEST(CliClean, RefusesWhatIsInUseOrUnsavedAndSaysWhatItRemoved) {
  const Node node;
  Owner owner(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("a"), 0, "abc"); },
              {.background = false});
  for (const auto& options : {std::vector<std::string>{"clean"}, {"clean", "--force"}}) {
    const auto ran = node.forebay(options);
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("is in use"));
  }
  owner.kill();
  const auto unsaved = node.forebay({"clean"});
  EXPECT_EQ(unsaved.code, 1);
  EXPECT_THAT(unsaved.err, HasSubstr("forebay recover"));
  const auto removed = node.forebay({"clean", "--force"});
  EXPECT_EQ(removed.code, 0);
  EXPECT_THAT(removed.out, HasSubstr("removed " + node.memory_data()));
  EXPECT_THAT(removed.out, HasSubstr("nvme.data"));
  EXPECT_FALSE(std::filesystem::exists(node.control()));
  EXPECT_FALSE(std::filesystem::exists(node.memory_data()));
  EXPECT_THAT(node.forebay({"clean"}).out, HasSubstr("nothing to remove"));
}

TEST(CliClean, All) {
  const Node node;
  auto two = node.settings();
  two.buffer.name = "two";
  Owner(node.settings(), [](Buffer&) {}).leave();
  Owner(two, [](Buffer&) {}).leave();
  const auto ran = node.forebay({"clean", "--all", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(json_value(ran.out, "len(d['removed'])"), "6");
  EXPECT_EQ(json_value(node.forebay({"status", "--all", "--json"}).out, "d['buffers']"), "[]");
}

// What lies where a control file should be is recognised, refused and never written home.

}  // namespace
}  // namespace forebay::testing
