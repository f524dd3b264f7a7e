#include "os/memory_room.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "os/temporary_directory.hpp"

namespace forebay {
namespace {

class MemoryRoom : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path full = directory_.file(path);
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  [[nodiscard]] std::uint64_t room() const {
    return memory_room({directory_.file("proc"), directory_.file("cgroup")});
  }
  TemporaryDirectory directory_;
};

TEST_F(MemoryRoom, NothingToReadIsUnlimited) { EXPECT_EQ(room(), std::numeric_limits<std::uint64_t>::max()); }

TEST_F(MemoryRoom, TheMachineLimits) {
  put("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 500 kB\n");
  EXPECT_EQ(room(), 500u * 1024);
}

TEST_F(MemoryRoom, AGroupAboveLimits) {
  put("proc/meminfo", "MemAvailable: 5000 kB\n");
  put("proc/self/cgroup", "0::/job/step\n");
  put("cgroup/job/memory.max", "1000000\n");
  put("cgroup/job/memory.current", "900000\n");
  put("cgroup/job/memory.stat", "anon 1\ninactive_file 50000\nactive_file 1000\n");
  put("cgroup/job/step/memory.max", "max\n");
  put("cgroup/job/step/memory.current", "800000\n");
  EXPECT_EQ(room(), 151000u);
}

TEST_F(MemoryRoom, VersionOneLimits) {
  put("proc/self/cgroup", "5:devices:/\n4:cpu,memory:/job\n0::/\n");
  put("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("cgroup/memory/memory.usage_in_bytes", "5000\n");
  put("cgroup/memory/job/memory.limit_in_bytes", "2000\n");
  put("cgroup/memory/job/memory.usage_in_bytes", "5000\n");
  put("cgroup/memory/job/memory.stat", "inactive_file 0\ntotal_inactive_file 4000\ntotal_active_file 500\n");
  EXPECT_EQ(room(), 1500u);
}

TEST_F(MemoryRoom, AnOverfullGroupHasNone) {
  put("proc/self/cgroup", "0::/job\n");
  put("cgroup/job/memory.max", "100\n");
  put("cgroup/job/memory.current", "900\n");
  EXPECT_EQ(room(), 0u);
}

TEST(MemoryRoomHere, IsSomething) { EXPECT_GT(memory_room(), 0u); }

TEST_F(MemoryRoom, WhatWasSaidAMomentAgoIsTakenOnce) {
  const auto room = memory_room();
  ASSERT_GT(room, 4096u);
  EXPECT_FALSE(take_recent_memory_room(2, room - 1));
  EXPECT_TRUE(take_recent_memory_room(1024, room - 2048));
  EXPECT_FALSE(take_recent_memory_room(1025, room - 2048)) << "a part is taken already";
  EXPECT_TRUE(take_recent_memory_room(1024, room - 2048));
}

}  // namespace
}  // namespace forebay
