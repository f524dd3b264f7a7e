// `forebay status` upon buffers of other processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/node.hpp"
#include "support/owner.hpp"

namespace forebay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(CliStatus, NothingIsBufferedAndNothingIsMade) {
  const Node node;
  const auto text = node.forebay({"status"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.err, StartsWith("forebay: there is no buffer in "));
  EXPECT_EQ(json_value(node.forebay({"status", "--json"}).out, "d['buffers']"), "[]");
  EXPECT_EQ(node.forebay({"status", "--all"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(node.memory("control")));
}

TEST(CliStatus, NamesTheLivingOwnerOfUnsavedBytes) {
  const Node node;
  const Owner owner(node.settings(),
                    [&](Buffer& buffer) { put(buffer, node.home("a"), 100, pattern(10'000)); });
  const auto text = node.forebay({"status"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.err, IsEmpty());
  EXPECT_THAT(text.out, HasSubstr(node.home("a")));
  EXPECT_THAT(text.out, HasSubstr("[" + std::to_string(owner.pid()) + "]"));
  EXPECT_THAT(text.out, HasSubstr("alive"));
  const auto json = node.forebay({"status", "--json"}).out;
  const auto value = [&](const std::string& path) { return json_value(json, "d['buffers'][0]" + path); };
  EXPECT_EQ(value("['state']"), "usable");
  EXPECT_EQ(value("['unsaved_bytes']"), "10000");
  EXPECT_EQ(value("['files'][0]['path']"), node.home("a"));
  EXPECT_EQ(value("['files'][0]['size']"), "10100");
  EXPECT_EQ(value("['files'][0]['tiers']['memory']"), "10000");
  EXPECT_EQ(value("['files'][0]['openers'][0]['pid']"), std::to_string(owner.pid()));
  EXPECT_EQ(value("['processes'][0]['alive']"), "True");
  EXPECT_EQ(value("['tiers'][0]['used_bytes']"), std::to_string(3 * 4096));
  EXPECT_EQ(value("['totals']['staged_bytes']"), "10000");
  EXPECT_EQ(value("['files'][0]['oldest_unsaved_seconds'] >= 0"), "True");
}

TEST(CliStatus, LookingIsNotJoining) {
  const Node node;
  Owner owner(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("a"), 0, "x"); });
  const auto control = slurp(node.control());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(node.forebay({"status"}).code, 0);
  EXPECT_TRUE(control == slurp(node.control()));
  owner.kill();
  // Nor does it bury the dead: whose it was can still be said.
  for (int i = 0; i < 2; ++i) EXPECT_THAT(node.forebay({"status"}).out, HasSubstr("(dead)"));
}

// Its exit status says whether somebody has to do something.
TEST(CliStatus, WhatTheDeadLeftNeedsAttentionAndWhatTheLivingHaveDoesNot) {
  const Node node;
  Owner owner(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("a"), 0, "text"); });
  EXPECT_EQ(node.forebay({"status"}).code, 0);
  owner.kill();
  const auto dead = node.forebay({"status"});
  EXPECT_EQ(dead.code, 1);
  EXPECT_THAT(dead.out, HasSubstr("of which 4B have no living owner (forebay recover)"));
  EXPECT_EQ(node.forebay({"status", "--all"}).code, 1);
  EXPECT_EQ(node.forebay({"recover"}).code, 0);
  EXPECT_EQ(node.forebay({"status"}).code, 0);
}

// Bytes that the one who wrote them has left to others, of whom there are some, are on their way.
TEST(CliStatus, WhatALivingProcessTakesOverNeedsNoAttention) {
  const Node node;
  const Owner other(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("b"), 0, "other"); });
  Owner owner(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("a"), 0, "text"); },
              {.background = false});
  owner.leave();
  const auto status = node.forebay({"status"});
  EXPECT_THAT(status.out, HasSubstr(node.home("a")));
  EXPECT_EQ(status.code, 0) << status.out;
}

TEST(CliStatus, AFileThatCannotGoHomeNeedsAttention) {
  const Node node;
  Owner dead(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("a"), 0, "text"); },
             {.background = false});
  dead.kill();
  const Owner alive(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("b"), 0, "other"); },
                    {.background = false});
  std::filesystem::remove(node.home("a"));
  std::ofstream(node.home("a")) << "another file";
  EXPECT_EQ(node.forebay({"recover"}).code, 1);
  const auto status = node.forebay({"status"});
  EXPECT_THAT(status.out, HasSubstr("! not home since"));
  EXPECT_EQ(status.code, 1) << status.out;
}

TEST(CliStatus, AllBuffersOfTheUser) {
  const Node node({"buffer.name=one"});
  auto two = node.settings();
  two.buffer.name = "two";
  const Owner first(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("a"), 0, "x"); });
  const Owner second(two, [&](Buffer& buffer) { put(buffer, node.home("b"), 0, "yy"); });
  const auto all = node.forebay({"status", "--all", "--json"});
  EXPECT_EQ(json_value(all.out, "[(b['name'], b['unsaved_bytes']) for b in d['buffers']]"),
            "[('one', 1), ('two', 2)]");
  EXPECT_THAT(node.forebay({"status", "--buffer", "two"}).out, Not(HasSubstr(node.home("a"))));
}

TEST(CliStatus, WatchIsBoundedByCount) {
  const Node node;
  const Owner owner(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("a"), 0, "x"); });
  const auto ran = node.forebay({"status", "--watch", "0.05", "--count", "3", "--json"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(std::ranges::count(ran.out, '\n'), 3);
  EXPECT_EQ(json_value(ran.out.substr(0, ran.out.find('\n')), "len(d['buffers'])"), "1");
}

TEST(CliStatus, AFileNameCannotDriveTheTerminal) {
  const Node node;
  const Owner owner(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("a\033[2J\nb"), 0, "x"); });
  EXPECT_THAT(node.forebay({"status"}).out, HasSubstr("a\\x1b[2J\\x0ab"));
  EXPECT_EQ(json_value(node.forebay({"status", "--json"}).out, "d['buffers'][0]['files'][0]['path'][-7:]"),
            "a\033[2J\nb");
}

}  // namespace
}  // namespace forebay::testing
