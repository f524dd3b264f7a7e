// Jobs killed with all their processes: what a write had returned for is home after the next run, which says
// so.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include "base/format.hpp"
#include "os/fd.hpp"
#include "support/forebay_run.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"

namespace forebay::testing {
namespace {

namespace fs = std::filesystem;

// Appends numbered lines to a file of the home, and notes each that was taken in a plain file, one byte a
// line, which it has locked as long as it lives.
const char* const kWriter =
    "import fcntl, os, sys\n"
    "home = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)\n"
    "log = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)\n"
    "fcntl.flock(log, fcntl.LOCK_EX)\n"
    "for i in range(10**7):\n"
    "    os.write(home, b'%09d\\n' % i)\n"
    "    os.write(log, b'.')\n";

bool wait_for_size(const std::string& path, std::uintmax_t size) {
  for (int i = 0; i < 4000; ++i) {
    std::error_code none;
    if (fs::exists(path) && fs::file_size(path, none) >= size) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST(PosixKill, WhatWasAcknowledgedIsHomeAfterTheNextRun) {
  std::mt19937_64 random(choose_seed("PosixKill"));
  for (int turn = 0; turn < scaled(6, 200); ++turn) {
    const PosixPlace place;
    {
      const auto words = place.words({"python3", "-c", kWriter, place.home("data"), place.plain("log")},
                                     {"drain.trigger=never"});
      Running job(PosixPlace::program(), words);
      ASSERT_TRUE(wait_for_size(place.plain("log"), 1 + random() % 3000));
      // The command goes with `forebay run`, at whatever instruction it is.
      job.kill();
      (void)job.wait();
    }
    // Its end is the kernel's doing, later on a busy machine; its lock goes with it.
    const Fd log(::open(place.plain("log").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(log.get(), LOCK_SH), 0);
    const auto noted = fs::file_size(place.plain("log"));
    const auto next = place.run({"true"});
    EXPECT_EQ(next.code, 0);
    EXPECT_NE(next.err.find("recovered"), std::string::npos) << next.err;
    const auto data = slurp(place.home("data"));
    ASSERT_GE(data.size(), noted * 10) << "turn " << turn;
    ASSERT_LE(data.size(), (noted + 1) * 10);
    for (std::size_t i = 0; i < data.size() / 10; ++i) {
      ASSERT_EQ(data.substr(i * 10, 10), format_text("{:09}\n", i)) << "turn " << turn;
    }
  }
}

TEST(PosixKill, AProgramThatNeverClosesHasItsBytesHome) {
  const PosixPlace place;
  const char* const ends[] = {"sys.exit(0)", "os._exit(0)", "os.kill(os.getpid(), 9)", "os.abort()",
                              "os.execv('/bin/true', ['true'])"};
  int i = 0;
  for (const std::string end : ends) {
    const auto file = place.home("f" + std::to_string(i++));
    (void)place.run({"python3", "-c",
                     "import os, sys\nfd = os.open('" + file +
                         "', os.O_WRONLY | os.O_CREAT)\nos.write(fd, b'kept')\n" + end},
                    {"drain.trigger=never"});
    EXPECT_EQ(slurp(file), "kept") << end;
  }
}

TEST(PosixSmallFiles, ManyAreMadeReadLookedAtAndRemoved) {
  const PosixPlace place;
  const auto count = std::to_string(scaled(3000, 100'000));
  const auto ran = place.run({"python3", "-c",
                              "import os, sys\n"
                              "n = int(sys.argv[1]); os.chdir(sys.argv[2]); data = os.urandom(4096)\n"
                              "for i in range(n):\n"
                              "    with open(str(i), 'wb', 0) as f: f.write(data)\n"
                              "for i in range(n):\n"
                              "    assert os.stat(str(i)).st_size == 4096\n"
                              "    with open(str(i), 'rb', 0) as f: assert f.read() == data\n"
                              "for i in range(n): os.unlink(str(i))\n"
                              "assert os.listdir('.') == []\n",
                              count, place.home()},
                             {"on_close=detach"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(fs::is_empty(place.home()));
}

}  // namespace
}  // namespace forebay::testing
