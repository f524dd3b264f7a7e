// The command line upon buffers of other processes: living, leaving, killed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "support/node.hpp"
#include "support/owner.hpp"
#include "support/slowfs_mount.hpp"

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
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
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
class Damaged : public ::testing::Test {
 protected:
  void SetUp() override {
    Owner owner(node.settings(), [&](Buffer& buffer) { put(buffer, node.home("a"), 0, text); },
                {.background = false});
    owner.kill();
  }
  void expect_refused(const std::string& why) const {
    const auto status = node.forebay({"status"});
    EXPECT_EQ(status.code, 1);
    EXPECT_THAT(status.out + status.err, HasSubstr(why));
    for (const auto* verb : {"recover", "drain", "clean"}) {
      const auto ran = node.forebay({verb});
      EXPECT_EQ(ran.code, 1) << verb;
      EXPECT_THAT(ran.err, HasSubstr(why)) << verb;
    }
    const auto doctor = node.forebay({"doctor"});
    EXPECT_EQ(doctor.code, 1);
    EXPECT_THAT(doctor.out, HasSubstr(why));
    EXPECT_EQ(slurp(node.home("a")), "");
  }
  void overwrite(std::size_t offset, const std::string& bytes) const {
    std::fstream(node.control(), std::ios::in | std::ios::out | std::ios::binary)
            .seekp(static_cast<std::streamoff>(offset))
        << bytes;
  }

  const Node node;
  const std::string text = pattern(50'000);
};

TEST_F(Damaged, CutShort) {
  std::filesystem::resize_file(node.control(), std::filesystem::file_size(node.control()) - 4096);
  expect_refused("bytes and should have");
  EXPECT_EQ(node.forebay({"clean", "--force"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(node.memory_data()));
}

TEST_F(Damaged, OtherVersion) {
  overwrite(offsetof(Header, version), "\x7f");
  expect_refused("another version");
}

TEST_F(Damaged, HeaderFlipped) {
  overwrite(offsetof(Header, bucket_count), "\x7f");
  expect_refused("checksum");
}

TEST_F(Damaged, Emptied) {
  std::filesystem::resize_file(node.control(), 0);
  expect_refused("it is empty");
}

TEST_F(Damaged, OpenToOthers) {
  ASSERT_EQ(::chmod(node.control().c_str(), 0644), 0);
  expect_refused("others may read it");
}

TEST_F(Damaged, ALinkInTheWay) {
  std::filesystem::rename(node.control(), node.control("moved"));
  std::filesystem::create_symlink(node.control("moved"), node.control());
  expect_refused("symbolic link");
  EXPECT_EQ(node.forebay({"clean", "--force"}).code, 1);
  EXPECT_TRUE(std::filesystem::exists(node.control("moved")));
}

TEST_F(Damaged, AFifoInTheWay) {
  std::filesystem::remove(node.control());
  ASSERT_EQ(::mkfifo(node.control().c_str(), 0600), 0);
  expect_refused("not a regular file");
}

TEST_F(Damaged, ATierCutShortIsNotTouched) {
  std::filesystem::resize_file(node.memory_data(), 4096);
  for (const auto* verb : {"recover", "drain"}) {
    const auto ran = node.forebay({verb});
    EXPECT_EQ(ran.code, 1) << verb;
    EXPECT_EQ(ran.signal, 0) << verb;
    EXPECT_THAT(ran.err, HasSubstr("cut short")) << verb;
  }
  EXPECT_EQ(node.forebay({"status"}).code, 0) << "the index is whole";
  EXPECT_EQ(node.forebay({"clean"}).code, 1);
  EXPECT_EQ(node.forebay({"clean", "--force"}).code, 0);
}

// Whatever is flipped behind the header: every verb ends, and home has at each place what was there or what
// was written.
TEST(CliDamage, RandomFlipsNeverPutAWrongByteHome) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 15; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Node node({"limits.lock_wait=200ms"});
    const auto before = pattern(60'000, 1);
    const auto written = pattern(50'000, 2);
    std::ofstream(node.home("a"), std::ios::binary) << before;
    std::ofstream(node.home("bystander"), std::ios::binary) << before;
    {
      Owner owner(node.settings(),
                  [&](Buffer& buffer) {
                    put(buffer, node.home("a"), 0, written);
                    for (unsigned i = 0; i < 40; ++i) put(buffer, node.home("b"), 7 * i, "b");
                  },
                  {.background = false});
      owner.kill();
    }
    auto bytes = slurp(node.control());
    for (int i = 0; i < 400; ++i) {
      bytes[sizeof(Header) + random() % (bytes.size() - sizeof(Header))] ^=
          static_cast<char>(1 << random() % 8);
    }
    std::ofstream(node.control(), std::ios::binary | std::ios::in) << bytes;
    for (const auto* verb : {"status", "recover", "drain", "status", "clean"}) {
      const auto ran = node.forebay({verb});
      ASSERT_EQ(ran.signal, 0) << verb << "\n" << ran.err;
      ASSERT_LE(ran.code, 1) << verb;
    }
    const auto after = slurp(node.home("a"));
    ASSERT_LE(after.size(), before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      ASSERT_TRUE(after[i] == before[i] || (i < written.size() && after[i] == written[i])) << "at " << i;
    }
    ASSERT_TRUE(slurp(node.home("bystander")) == before);
  }
}

TEST(CliProfile, KeepsFiguresAndLeavesNothingElse) {
  const Node node;
  const auto ran = node.forebay({"profile", "--seconds", "0.04", "--home", node.disk("home"), "--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(json_value(ran.out, "[p['name'] for p in d['places']]"), "['memory', 'nvme', 'home']");
  EXPECT_EQ(
      json_value(ran.out, "all(p[k] > 0 for p in d['places'] for k in p if k.endswith(('second', 'ns')))"),
      "True");
  EXPECT_THAT(slurp(node.memory("control/profile.yaml")), HasSubstr("kind: nvme"));
  EXPECT_TRUE(std::filesystem::is_empty(node.disk("home")));
  EXPECT_TRUE(std::filesystem::is_empty(node.memory("forebay-" + std::to_string(::geteuid()))));
  const auto settings = node.forebay({"settings", "--json"});
  EXPECT_EQ(json_value(settings.out, "d['tiers'][0]['bandwidth'] > 0"), "True");
  const auto again = node.forebay({"profile", "--seconds", "0.04"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.out, HasSubstr("/s"));
  EXPECT_THAT(slurp(node.memory("control/profile.yaml")), HasSubstr(node.disk("home")))
      << "homes measured earlier stay";
}

TEST(CliProfile, AHomeThatIsNotThere) {
  const Node node;
  const auto ran = node.forebay({"profile", "--seconds", "0.04", "--home", node.disk("nowhere")});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("nowhere"));
}

TEST(CliDoctor, FindsAMissingTierAndBadPermissionsAndLeavesNothing) {
  const Node node;
  const auto fit = node.forebay({"doctor", "--json"});
  EXPECT_EQ(fit.code, 0) << fit.out;
  EXPECT_EQ(json_value(fit.out, "d['fit']"), "True");
  EXPECT_FALSE(std::filesystem::exists(node.memory("control")));
  EXPECT_TRUE(std::filesystem::is_empty(node.disk("nvme")));

  std::filesystem::create_directory(node.memory("control"));
  ASSERT_EQ(::chmod(node.memory("control").c_str(), 0755), 0);
  std::filesystem::remove(node.disk("nvme"));
  const auto unfit = node.forebay({"doctor"});
  EXPECT_EQ(unfit.code, 1);
  EXPECT_THAT(unfit.out, HasSubstr("FIX"));
  EXPECT_THAT(unfit.out, HasSubstr(node.disk("nvme")));
  EXPECT_THAT(unfit.out, HasSubstr("its mode must be 0700"));
}

TEST(CliDoctor, ASettingThatIsWrongIsAFinding) {
  const Node node({"drain.delay=1month"});
  const auto ran = node.forebay({"doctor"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("drain.delay"));
}

TEST(CliSettings, PagesAreTheOnesInTheManual) {
  EXPECT_TRUE(run(Node::program(), {"settings", "--page"}).out ==
              slurp(FOREBAY_TEST_SOURCE_DIR "/docs/settings.md"));
  EXPECT_TRUE(run(Node::program(), {"settings", "--sample"}).out ==
              slurp(FOREBAY_TEST_SOURCE_DIR "/docs/forebay.yaml"));
}

TEST(CliSettings, SaysWhereEachComesFrom) {
  const Node node;
  std::ofstream(node.disk("forebay.yaml")) << "drain:\n  period: 7s\n";
  const auto ran = node.forebay({"settings", "--json", "--config", node.disk("forebay.yaml")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(json_value(ran.out, "d['settings']['drain.period']"),
            "{'value': '7s', 'from': '" + node.disk("forebay.yaml") + ":2'}");
  EXPECT_EQ(json_value(ran.out, "d['settings']['drain.trigger']['from']"), "command line");
  EXPECT_EQ(json_value(ran.out, "d['settings']['drain.rate']['from']"), "default");
}

TEST(Cli, MistakesAreOneLineAndStatusTwo) {
  const Node node;
  for (const auto& wrong : {std::vector<std::string>{"status", "--bla"},
                            {"status", "--set", "a=b"},
                            {"frobnicate"},
                            {},
                            {"status", "--config", "/nowhere"},
                            {"status", "--watch", "never"},
                            {"drain", "--timeout", "soon"},
                            {"status", "--all", "--buffer", "x"}}) {
    const auto ran = run(Node::program(), wrong);
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, StartsWith("forebay: "));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_THAT(ran.out, IsEmpty());
  }
}

// docs/cli.md shows each verb's help between ```text and ```; FOREBAY_TEST_UPDATE=1 writes it anew.
TEST(Cli, ManualShowsTheHelp) {
  const std::string path = FOREBAY_TEST_SOURCE_DIR "/docs/cli.md";
  const auto page = slurp(path);
  std::string made;
  std::size_t at = 0;
  int verbs = 0;
  constexpr std::string_view kOpen = "```text\n$ forebay ";
  for (auto open = page.find(kOpen); open != std::string::npos; open = page.find(kOpen, at)) {
    const auto begin = open + kOpen.size();
    const auto verb = page.substr(begin, page.find(" --help\n", begin) - begin);
    made += page.substr(at, begin - at) + verb + " --help\n" + run(Node::program(), {verb, "--help"}).out;
    at = page.find("```\n", begin);
    ++verbs;
  }
  made += page.substr(at);
  EXPECT_EQ(verbs, 7);
  if (std::getenv("FOREBAY_TEST_UPDATE") != nullptr) std::ofstream(path) << made;
  EXPECT_TRUE(made == page) << "docs/cli.md is out of date: FOREBAY_TEST_UPDATE=1 ./dev test Cli.Manual";
}

}  // namespace
}  // namespace forebay::testing
