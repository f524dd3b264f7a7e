// `forebay drain` upon buffers of other processes: living, leaving, killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "support/node.hpp"
#include "support/owner.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(CliDrain, CarriesHomeWhatALivingProcessHasUnsaved) {
  const Node node;
  const auto text = pattern(100'000);
  const Owner owner(node.settings(), [&](Buffer& buffer) {
    put(buffer, node.home("a"), 0, text);
    put(buffer, node.home("b"), 5, "hello");
  });
  const auto drained = node.forebay({"drain"});
  EXPECT_EQ(drained.code, 0) << drained.err;
  EXPECT_THAT(drained.out, IsEmpty()) << "quiet in a pipe";
  EXPECT_THAT(drained.err, IsEmpty());
  EXPECT_TRUE(slurp(node.home("a")) == text);
  EXPECT_EQ(slurp(node.home("b")), std::string(5, '\0') + "hello");
  EXPECT_EQ(json_value(node.forebay({"status", "--json"}).out, "d['buffers'][0]['unsaved_bytes']"), "0");
  EXPECT_EQ(json_value(node.forebay({"drain", "--json"}).out, "d['buffers'][0]['left']"), "[]");
}

TEST(CliDrain, SaysWhatIsLeftAndWhy) {
  const Node node;
  const Owner owner(node.settings(), [&](Buffer& buffer) {
    put(buffer, node.home("gone"), 0, pattern(5000));
    put(buffer, node.home("fine"), 0, "fine");
  });
  std::filesystem::remove(node.home("gone"));
  const auto drained = node.forebay({"drain"});
  EXPECT_EQ(drained.code, 1);
  EXPECT_THAT(drained.err, HasSubstr(node.home("gone")));
  EXPECT_THAT(drained.err, HasSubstr("gone from home"));
  EXPECT_THAT(drained.err, Not(HasSubstr("fine")));
  EXPECT_EQ(slurp(node.home("fine")), "fine");
  EXPECT_EQ(json_value(node.forebay({"status", "--json"}).out, "d['buffers'][0]['unsaved_bytes']"), "5000");
}

TEST(CliDrain, NothingThereIsNothingLeft) {
  const Node node;
  EXPECT_EQ(node.forebay({"drain"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(node.memory("control")));
}

// The program that comes to tidy up may know nothing of the settings the buffer was made with.
TEST(CliDrain, WorksWithoutTheSettingsOfTheApplication) {
  const Node node;
  Owner owner(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("a"), 0, "abc"); });
  const auto directory = "buffer.directory=" + node.memory("control");
  EXPECT_EQ(run(Node::program(), {"drain", "--set", directory}).code, 0);
  EXPECT_EQ(slurp(node.home("a")), "abc");
  owner.leave();
  EXPECT_EQ(run(Node::program(), {"drain", "--set", directory}).code, 0);
  EXPECT_EQ(run(Node::program(), {"recover", "--set", directory}).code, 0);
  const Owner again(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("b"), 0, "def"); });
}

TEST(CliDrain, AHomeThatHangsDoesNotHangTheDrain) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: no /dev/fuse";
  const Node node({"limits.home_wait=500ms", "drain.write_size=64KiB"});
  SlowfsMount home;
  const auto path = (home.path() / "a").string();
  const auto text = pattern(200'000);
  const Owner owner(node.settings(), [&](Buffer& buffer) { put(buffer, path, 0, text); });
  home.control("hang=writes");
  const auto drained = node.forebay({"drain"});
  EXPECT_EQ(drained.code, 1);
  EXPECT_THAT(drained.err, HasSubstr("home does not answer"));
  home.control("hang=none");
  EXPECT_EQ(node.forebay({"drain", "--wait", "--timeout", "60s"}).code, 0);
  EXPECT_TRUE(slurp(path) == text);
}

TEST(CliDrain, WaitTriesAgainWhatFailed) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: no /dev/fuse";
  const Node node;
  SlowfsMount home;
  const auto path = (home.path() / "a").string();
  const Owner owner(node.settings(), [&](Buffer& buffer) { put(buffer, path, 0, "hello"); });
  home.control("fail_write=ENOSPC");
  const auto failed = node.forebay({"drain"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, HasSubstr("No space left on device"));
  EXPECT_THAT(node.forebay({"status"}).out, HasSubstr("No space left on device"));
  Running waiting(Node::program(), node.command({"drain", "--wait"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  home.control("fail_write=none");
  EXPECT_EQ(waiting.wait().code, 0);
  EXPECT_EQ(slurp(path), "hello");
}

}  // namespace
}  // namespace forebay::testing
