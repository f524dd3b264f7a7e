// The command line upon damaged buffers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "support/node.hpp"
#include "support/owner.hpp"
#include "support/seed.hpp"

namespace forebay::testing {
namespace {

using ::testing::HasSubstr;

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
  const auto status = node.forebay({"status"});
  EXPECT_EQ(status.code, 1) << "bytes that are not home, of a process that is gone";
  EXPECT_THAT(status.out, HasSubstr(node.home("a"))) << "the index is whole";
  EXPECT_EQ(node.forebay({"clean"}).code, 1);
  EXPECT_EQ(node.forebay({"clean", "--force"}).code, 0);
}

// Whatever is flipped behind the header: every verb ends, and home has at each place what was there or what
// was written.
TEST(CliDamage, RandomFlipsNeverPutAWrongByteHome) {
  std::mt19937_64 random(choose_seed("damage"));
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

}  // namespace
}  // namespace forebay::testing
