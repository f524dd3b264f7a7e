#include "tools/forebay/run/lock.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cerrno>
#include <fstream>

#include "os/temporary_directory.hpp"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

TEST(RunLock, TheLastOneHasItAlone) {
  const TemporaryDirectory folder("/dev/shm");
  auto first = RunLock::join(folder.path(), "b", 1s);
  auto second = RunLock::join(folder.path(), "b", 1s);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(RunLock::take_abandoned(folder.path(), "b").error().code, EAGAIN);
  EXPECT_FALSE(first->become_the_last());
  EXPECT_TRUE(second->become_the_last()) << "the first gave up its share by asking";
  EXPECT_EQ(RunLock::join(folder.path(), "b", 20ms).error().code, ETIMEDOUT);
  second->remove();
  EXPECT_EQ(marked_by_runs(folder.path()), Names{});
  EXPECT_TRUE(RunLock::join(folder.path(), "b", 1s)) << "a new one";
}

TEST(RunLock, WhatNobodyHoldsWasAbandoned) {
  const TemporaryDirectory folder("/dev/shm");
  EXPECT_TRUE(RunLock::join(folder.path(), "b", 1s));
  EXPECT_EQ(marked_by_runs(folder.path()), Names{"b"});
  auto abandoned = RunLock::take_abandoned(folder.path(), "b");
  ASSERT_TRUE(abandoned);
  abandoned->remove();
  EXPECT_EQ(RunLock::take_abandoned(folder.path(), "b").error().code, ENOENT);
  EXPECT_EQ(marked_by_runs(folder.path() + "/nowhere"), Names{});
}

TEST(RunLock, NotesAreTakenOnceEach) {
  const TemporaryDirectory folder("/dev/shm");
  auto lock = RunLock::join(folder.path(), "b", 1s);
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->notes(), Names{});
  std::ofstream(folder.path() + "/b.run") << "b is static\na is static\nb is static\n";
  EXPECT_EQ(lock->notes(), (Names{"a is static", "b is static"}));
}

TEST(RunLock, TheFirstKeepsForTheLast) {
  const TemporaryDirectory folder("/dev/shm");
  std::ofstream(folder.path() + "/b.run") << "\tof a run that was killed\nnote of that\n";
  ASSERT_EQ(::chmod((folder.path() + "/b.run").c_str(), 0600), 0);
  auto first = RunLock::join(folder.path(), "b", 1s);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->first());
  EXPECT_EQ(first->notes(), Names{});
  std::ofstream(folder.path() + "/b.run", std::ios::app) << "a is static\n";
  first->keep("one\ntwo\n");
  auto last = RunLock::join(folder.path(), "b", 1s);
  ASSERT_TRUE(last);
  EXPECT_FALSE(last->first());
  EXPECT_EQ(last->kept(), "one\ntwo\n");
  EXPECT_EQ(last->notes(), Names{"a is static"});
}

}  // namespace
}  // namespace forebay
