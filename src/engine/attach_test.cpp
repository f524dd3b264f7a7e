// Finding, making, refusing and removing a buffer's files.
#include "engine/attach.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>

#include "engine/test_buffer.hpp"

namespace forebay {
namespace {

void overwrite(const std::string& path, std::uint64_t offset, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file << bytes;
}

TEST(Attach, WhoOnlyJoinsLeavesABufferOfAnotherShapeAlone) {
  TestBuffer test;
  test.detach();
  auto other = test.settings();
  other.buffer.bucket_size = 64 * kKiB;
  other.tiers.clear();
  {
    ASSERT_TRUE(Buffer::attach(other, {.create = false, .background = false}));
  }
  EXPECT_NO_THROW(test.attach({.create = false}));
}

// Named alike, in different directories, on the same tiers: each would have taken the other's bytes for its
// own.
TEST(Attach, TwoBuffersDoNotMeetInOneDataFile) {
  TestBuffer test;
  auto other = test.settings();
  other.buffer.directory = test.memory("elsewhere");
  const auto refused = Buffer::attach(other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EBUSY);
  EXPECT_NE(refused.error().message.find(test.control_directory()), std::string::npos)
      << refused.error().message;
  test.detach();
  EXPECT_EQ(Buffer::attach(other).error().code, EBUSY) << "what it keeps serves the next process";
  ASSERT_TRUE(remove_buffer(test.settings(), false));
  EXPECT_TRUE(Buffer::attach(other));
  EXPECT_EQ(Buffer::attach(test.settings()).error().code, EBUSY);
}

TEST(Attach, AnIdleBufferIsMadeAgainInTheShapeAskedFor) {
  TestBuffer test;
  test.detach();
  auto other = test.settings();
  other.buffer.bucket_size = 8 * kKiB;
  const auto buffer = Buffer::attach(other);
  ASSERT_TRUE(buffer) << buffer.error().message;
  EXPECT_EQ((*buffer)->core().bucket_size(), 8 * kKiB);
}

// A page of zeros where the header was is not a creator that died: there are unsaved bytes behind it.
TEST(Attach, ALostHeaderIsDamageAndNotAnUnfinishedBuffer) {
  TestBuffer test("drain.trigger=never on_close=detach", false);
  test.attach({.background = false});
  {
    auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
    ASSERT_TRUE(file->write(0, bytes_of("precious")));
  }
  test.detach();
  overwrite(test.control_directory() + "/" + kControlFile, 0, std::string(4096, '\0'));
  const auto attached = Buffer::attach(test.settings());
  ASSERT_FALSE(attached);
  EXPECT_EQ(attached.error().code, EBADMSG);
}

TEST(Attach, ACreatorThatDiedIsNoObstacle) {
  TestBuffer test("", false);
  std::filesystem::create_directories(test.control_directory());
  for (const auto& name : {test.memory("control"), test.control_directory()})
    ASSERT_EQ(::chmod(name.c_str(), 0700), 0);
  std::ofstream(test.control_directory() + "/" + kControlFile) << std::string(1 << 20, '\0');
  ASSERT_EQ(::chmod((test.control_directory() + "/" + kControlFile).c_str(), 0600), 0);
  EXPECT_NO_THROW(test.attach());
}

TEST(Remove, TakesEverythingAndSaysWhat) {
  TestBuffer test;
  test.detach();
  const auto removed = remove_buffer(test.settings(), false);
  ASSERT_TRUE(removed) << removed.error().message;
  std::vector<std::string> paths;
  for (const auto& one : *removed) paths.push_back(one.path);
  const auto user = "/forebay-" + std::to_string(::geteuid());
  EXPECT_EQ(paths, (std::vector<std::string>{test.memory(user.substr(1)) + "/default/memory.data",
                                             test.disk("nvme") + user + "/default/nvme.data",
                                             test.control_directory()}));
  EXPECT_FALSE(std::filesystem::exists(test.control_directory()));
  EXPECT_FALSE(std::filesystem::exists(test.disk("nvme") + user + "/default"));
  const auto again = remove_buffer(test.settings(), false);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ENOENT);
}

TEST(Remove, NeverWhileSomebodyIsAttachedEvenToADamagedOne) {
  TestBuffer test;
  EXPECT_EQ(remove_buffer(test.settings(), true).error().code, EBUSY);
  overwrite(test.control_directory() + "/" + kControlFile, 100, "damage");
  EXPECT_EQ(remove_buffer(test.settings(), true).error().code, EBUSY);
  test.detach();
  EXPECT_EQ(remove_buffer(test.settings(), false).error().code, EBADMSG);
  EXPECT_TRUE(remove_buffer(test.settings(), true));
  EXPECT_FALSE(std::filesystem::exists(
      test.disk("nvme/forebay-" + std::to_string(::geteuid()) + "/default/nvme.data")));
}

TEST(Remove, UnsavedBytesOnlyByForce) {
  TestBuffer test("drain.trigger=never on_close=detach", false);
  test.attach({.background = false});
  {
    auto file = test.open(test.home("a"), O_RDWR | O_CREAT);
    ASSERT_TRUE(file->write(0, bytes_of("precious")));
  }
  test.detach();
  EXPECT_EQ(remove_buffer(test.settings(), false).error().code, ENOTEMPTY);
  EXPECT_TRUE(remove_buffer(test.settings(), true));
}

// A restart of the machine takes the control file in memory away, and not the tier on disk.
TEST(Remove, TierFilesWhoseControlFileIsGone) {
  TestBuffer test;
  test.detach();
  std::filesystem::remove_all(test.memory("control"));
  const auto removed = remove_buffer(test.settings(), false);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(std::filesystem::exists(
      test.disk("nvme/forebay-" + std::to_string(::geteuid()) + "/default/nvme.data")));
}

TEST(Remove, DoesNotFollowLinks) {
  TestBuffer test;
  test.detach();
  const auto data = test.disk("nvme/forebay-" + std::to_string(::geteuid()) + "/default/nvme.data");
  std::ofstream(test.home("mine")) << "mine";
  std::filesystem::remove(data);
  std::filesystem::create_symlink(test.home("mine"), data);
  std::filesystem::rename(test.control_directory(), test.memory("elsewhere"));
  std::filesystem::create_symlink(test.memory("elsewhere"), test.control_directory());
  EXPECT_EQ(remove_buffer(test.settings(), true).error().code, EPERM);
  EXPECT_TRUE(std::filesystem::exists(test.memory("elsewhere/control")));
  std::filesystem::remove(test.control_directory());
  std::filesystem::rename(test.memory("elsewhere"), test.control_directory());
  ASSERT_TRUE(remove_buffer(test.settings(), true));
  EXPECT_EQ(test.slurp(test.home("mine")), "mine");
}

}  // namespace
}  // namespace forebay
