// `forebay recover`: what the dead left, and what cannot go home.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "support/node.hpp"
#include "support/owner.hpp"
#include "support/seed.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::testing {
namespace {

using ::testing::HasSubstr;

TEST(CliRecover, CarriesHomeWhatAKilledProcessLeft) {
  const Node node;
  // Less than the memory tier holds: pressure would send it home while the owner lives.
  const auto text = pattern(30'000);
  Owner owner(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("a"), 0, text); });
  const auto pid = std::to_string(owner.pid());
  owner.kill();
  EXPECT_EQ(node.forebay({"doctor"}).code, 1);
  const auto recovered = node.forebay({"recover"});
  EXPECT_EQ(recovered.code, 0) << recovered.err;
  EXPECT_THAT(recovered.out, HasSubstr(node.home("a") + ": "));
  EXPECT_THAT(recovered.out, HasSubstr("carried home"));
  EXPECT_THAT(recovered.out, HasSubstr("[" + pid + "]"));
  EXPECT_TRUE(slurp(node.home("a")) == text);
  const auto again = node.forebay({"recover"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.out, HasSubstr("nothing to recover"));
}

TEST(CliRecover, EndsWhereHomeHangs) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: slowfs cannot be mounted here";
  SlowfsMount home;
  const Node node({"limits.home_wait=1s"});
  const auto text = pattern(30'000);
  {
    Owner owner(node.settings(), [&](Buffer& buffer) { put(buffer, home.path() / "a", 0, text); });
    owner.kill();
  }
  home.control("hang=all");
  const auto recovered = node.forebay({"recover", "--timeout", "1s"});
  home.control("hang=none");
  EXPECT_EQ(recovered.signal, 0) << "it waits without end";
  EXPECT_EQ(recovered.code, 1);
  EXPECT_THAT(recovered.out, HasSubstr("home does not answer"));
  EXPECT_EQ(node.forebay({"recover"}).code, 0);
  EXPECT_TRUE(slurp(home.path() / "a") == text);
}

TEST(CliRecover, LeavesTheFilesOfTheLivingToThem) {
  const Node node;
  Owner dead(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("dead"), 0, "dead"); },
             {.background = false});
  const Owner alive(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("alive"), 0, "alive"); },
                    {.background = false});
  dead.kill();
  const auto recovered = node.forebay({"recover"});
  EXPECT_EQ(recovered.code, 0) << recovered.out;
  EXPECT_EQ(slurp(node.home("dead")), "dead");
  EXPECT_EQ(slurp(node.home("alive")), "");
  EXPECT_THAT(recovered.out, HasSubstr("in use by"));
}

// The node loses its memory; a disk keeps what was promised to survive that.
TEST(CliRecover, CarriesHomeTheJournalsOfALostNode) {
  const Node node({"durability=node", "journal.size=1MiB"});
  const auto text = pattern(30'000);
  {
    Owner owner(node.settings(),
                [&](Buffer& buffer) {
                  put(buffer, node.home("a"), 0, text);
                  put(buffer, node.home("lost"), 0, "lost");
                },
                {.background = false});
    owner.kill();
  }
  std::filesystem::remove_all(node.memory("control"));
  std::filesystem::remove_all(std::filesystem::path(node.memory_data()).parent_path());
  std::filesystem::remove(node.home("lost"));
  EXPECT_EQ(node.forebay({"clean"}).code, 0) << "takes what is of no use, and leaves the journals";
  const auto recovered = node.forebay({"recover"});
  EXPECT_EQ(recovered.code, 1) << recovered.err;
  EXPECT_THAT(recovered.out, HasSubstr("29KiB in 1 file(s) carried home"));
  EXPECT_THAT(recovered.out, HasSubstr(node.home("lost") + ": kept in its journal"));
  EXPECT_TRUE(slurp(node.home("a")) == text);
  const auto again = node.forebay({"recover", "--json"});
  EXPECT_EQ(again.code, 1);
  EXPECT_EQ(json_value(again.out, "d['buffers'][0]['journals']['carried_bytes']"), "0");
  EXPECT_FALSE(std::filesystem::exists(node.control()));
}

// Once carried home by another process, a dead one's journal must not bring old bytes back.
TEST(CliRecover, WhatIsHomeIsNotReplayedOverNewerBytes) {
  for (const auto* verb : {"recover", "drain", "clean", "status"}) {
    SCOPED_TRACE(verb);
    const Node node({"durability=node", "journal.size=1MiB"});
    {
      Owner owner(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("a"), 0, "old"); },
                  {.background = false});
      owner.kill();
    }
    const bool by_itself = std::string(verb) == "clean" || std::string(verb) == "status";
    if (by_itself) Owner(node.settings(), [](Buffer&) {}).leave();  // an ordinary process adopts it
    EXPECT_EQ(node.forebay({verb}).code, 0);
    ASSERT_EQ(slurp(node.home("a")), "old");
    std::ofstream(node.home("a"), std::ios::in) << "new";
    std::filesystem::remove_all(node.memory("control"));
    EXPECT_EQ(node.forebay({"recover"}).code, 0);
    EXPECT_EQ(slurp(node.home("a")), "new");
  }
}

class Rescue : public ::testing::Test {
 protected:
  // Two files left by a killed process; home of one was replaced meanwhile.
  void SetUp() override {
    {
      Owner owner(node.settings(), [&](Buffer& buffer) {
        put(buffer, node.home("lost"), 1000, text);
        put(buffer, node.home("fine"), 0, "fine");
      });
      owner.kill();
    }
    std::filesystem::remove(node.home("lost"));
    std::ofstream(node.home("lost")) << "another";
  }
  [[nodiscard]] std::string rescued() const {
    for (const auto& entry : std::filesystem::directory_iterator(node.disk("rescue"))) {
      if (entry.path().string().ends_with("-lost")) return entry.path();
    }
    return {};
  }

  const Node node;
  const std::string text = pattern(20'000);
};

TEST_F(Rescue, AReplacedFileIsKeptAndNamed) {
  const auto recovered = node.forebay({"recover"});
  EXPECT_EQ(recovered.code, 1);
  EXPECT_THAT(recovered.out, HasSubstr(node.home("lost")));
  EXPECT_THAT(recovered.out, HasSubstr("replaced by another file"));
  EXPECT_EQ(slurp(node.home("fine")), "fine");
  EXPECT_EQ(slurp(node.home("lost")), "another");
  EXPECT_EQ(node.forebay({"recover"}).code, 1);
  EXPECT_EQ(node.forebay({"clean"}).code, 1);
  EXPECT_EQ(json_value(node.forebay({"recover", "--json"}).out, "d['buffers'][0]['files'][0]['left_bytes']"),
            "20000");
}

TEST_F(Rescue, WritesSparseFilesAndAnIndex) {
  for (int i = 0; i < 2; ++i) {
    const auto ran = node.forebay({"recover", "--rescue", node.disk("rescue")});
    EXPECT_EQ(ran.code, 1) << "still in the buffer";
    EXPECT_THAT(ran.out, HasSubstr("rescued as"));
    EXPECT_TRUE(slurp(rescued()) == std::string(1000, '\0') + text);
    const auto index = slurp(node.disk("rescue/INDEX.txt"));
    EXPECT_THAT(index, HasSubstr("home: " + node.home("lost")));
    EXPECT_THAT(index, HasSubstr("bytes: 1000+3096\n"));
    EXPECT_THAT(index, HasSubstr("size: 21000\n"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(node.disk("rescue")), {}), 2);
  }
}

TEST_F(Rescue, ForgetGivesUpWhatWasRescued) {
  EXPECT_EQ(node.forebay({"recover", "--forget"}).code, 2) << "never without --rescue";
  const auto ran = node.forebay({"recover", "--rescue", node.disk("rescue"), "--forget"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(slurp(rescued()) == std::string(1000, '\0') + text);
  EXPECT_EQ(json_value(node.forebay({"status", "--json"}).out, "d['buffers'][0]['unsaved_bytes']"), "0");
  EXPECT_EQ(node.forebay({"clean"}).code, 0);
}

TEST_F(Rescue, RefusesADirectoryWithOtherThings) {
  std::filesystem::create_directory(node.disk("rescue"));
  std::ofstream(node.disk("rescue/mine")) << "mine";
  const auto ran = node.forebay({"recover", "--rescue", node.disk("rescue"), "--forget"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("is not empty"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(node.disk("rescue")), {}), 1);
  EXPECT_EQ(json_value(node.forebay({"status", "--json"}).out, "d['buffers'][0]['unsaved_bytes']"), "20000");
}

TEST(CliRecover, DamagedBytesNeverGoHome) {
  const Node node;
  const auto text = pattern(5 * 4096);
  {
    Owner owner(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("a"), 0, text); },
                {.background = false});
    owner.kill();
  }
  // The third block's bytes, wherever they lie.
  auto data = slurp(node.memory_data());
  const auto at = data.find(text.substr(2 * 4096, 4096));
  ASSERT_NE(at, std::string::npos);
  std::fstream(node.memory_data(), std::ios::in | std::ios::out | std::ios::binary)
          .seekp(static_cast<std::streamoff>(at + 7))
      << '#';
  const auto recovered = node.forebay({"recover", "--rescue", node.disk("rescue")});
  EXPECT_EQ(recovered.code, 1);
  EXPECT_THAT(recovered.out, HasSubstr("damaged"));
  auto expected = text;
  std::fill_n(expected.begin() + 2 * 4096, 4096, '\0');
  EXPECT_TRUE(slurp(node.home("a")) == expected) << "the sound blocks, and a hole";
  EXPECT_THAT(node.forebay({"status"}).out, HasSubstr("1 bucket is damaged"));
  EXPECT_THAT(slurp(node.disk("rescue/INDEX.txt")), HasSubstr("damaged: 8192+4096\n"));
  EXPECT_EQ(node.forebay({"recover", "--rescue", node.disk("rescue"), "--forget"}).code, 0);
  EXPECT_EQ(node.forebay({"recover"}).code, 0);
  EXPECT_TRUE(slurp(node.home("a")) == expected);
}

TEST(CliRecover, KilledInTheMiddleItIsHarmless) {
  std::mt19937_64 random(choose_seed("recovery"));
  for (int round = 0; round < 5; ++round) {
    const Node node;
    const auto text = pattern(400'000, static_cast<unsigned>(random()));
    Owner owner(node.settings(), [&](Buffer& buffer) {
      for (int i = 0; i < 4; ++i)
        put(buffer, node.home(std::to_string(i)), 0, text.substr(0, 100'000 - static_cast<std::size_t>(i)));
    });
    owner.kill();
    for (int kills = 0; kills < 5; ++kills) {
      Running recovering(Node::program(), node.command({"recover"}));
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
      recovering.kill();
      (void)recovering.wait();
    }
    const auto recovered = node.forebay({"recover"});
    ASSERT_EQ(recovered.code, 0) << recovered.out << recovered.err;
    for (std::size_t i = 0; i < 4; ++i)
      ASSERT_TRUE(slurp(node.home(std::to_string(i))) == text.substr(0, 100'000 - i));
  }
}

}  // namespace
}  // namespace forebay::testing
