#include "engine/home_stamps.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/test_buffer.hpp"
#include "os/fd.hpp"

namespace forebay {
namespace {

constexpr std::string_view kMounts =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "40 22 0:35 / /scratch rw,nosuid shared:9 master:3 - fuse.slowfs slowfs rw,user_id=0\n"
    "41 22 0:36 / /home rw - nfs4 server:/home rw,vers=4.2\n"
    "42 22 0:37 / /lustre rw - lustre 10.0.0.1@tcp:/fs rw\n"
    "43 22 0:38 / /dev/shm rw,nosuid,nodev - tmpfs tmpfs rw\n";

std::uint64_t device(std::uint64_t major, std::uint64_t minor) { return major << 32 | minor; }

TEST(HomeStamps, FileSystemsAreToldByTheListOfMounts) {
  EXPECT_EQ(file_system_of(kMounts, device(0, 35)), FileSystem::kRemembers);
  EXPECT_EQ(file_system_of(kMounts, device(0, 36)), FileSystem::kRemembers);
  EXPECT_EQ(file_system_of(kMounts, device(0, 37)), FileSystem::kOther) << "Lustre does not remember sizes";
  EXPECT_EQ(file_system_of(kMounts, device(0, 38)), FileSystem::kMemory);
  EXPECT_EQ(file_system_of(kMounts, device(8, 1)), FileSystem::kOther);
  EXPECT_EQ(file_system_of(kMounts, device(0, 3)), FileSystem::kOther);
  EXPECT_EQ(file_system_of("", device(0, 35)), FileSystem::kOther);
}

TEST(HomeStamps, SayWhatHomeSays) {
  char name[] = "/tmp/forebay-stamp-XXXXXX";
  const Fd file(::mkstemp(name));
  ASSERT_TRUE(file);
  ASSERT_EQ(::write(file.get(), "text", 4), 4);
  HomeStamps stamps;
  for (int turn = 0; turn < 2; ++turn) {
    const auto asked = stamp_of(file.get(), name);
    const auto found = stamps.just_answered(file.get(), name);
    ASSERT_TRUE(asked && found);
    EXPECT_EQ(found->identity, asked->identity);
    EXPECT_EQ(found->size, 4u);
    EXPECT_EQ(found->modified_ns, asked->modified_ns);
  }
  ::unlink(name);
}

}  // namespace
}  // namespace forebay
