// Which processes share a buffer: the ranks of an MPI job, what runs in one job of Slurm, and nobody else.
// And what rules for single patterns do to their files.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "support/forebay_run.hpp"

namespace forebay::testing {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Ran run_words(const Words& words) { return run(words.front(), {words.begin() + 1, words.end()}); }

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Rank 0 holds a file open whose bytes are not home; rank 1 reads it past the buffer, then through it.
struct PosixJobs : ::testing::Test {
  PosixPlace place;
  const Words settings{"drain.trigger=never"};

  [[nodiscard]] std::string script(const std::string& rank) const {
    const auto wait = [&](const std::string& name) {
      return "for i in $(seq 600); do [ -e " + place.plain(name) + " ] && break; sleep 0.05; done; ";
    };
    return "if [ " + rank + " = 0 ]; then exec 3>" + place.home("a") + "; printf text >&3; touch " +
           place.plain("ready") + "; " + wait("seen") + "else " + wait("ready") + "env -u LD_PRELOAD cat " +
           place.home("a") + " > " + place.plain("past") + "; cat " + place.home("a") + " > " +
           place.plain("got") + "; touch " + place.plain("seen") + "; fi";
  }
  void expect_shared(bool shared) const {
    EXPECT_EQ(slurp(place.plain("got")), shared ? "text" : "");
    EXPECT_EQ(slurp(place.plain("past")), "") << "what is not home is in the buffer alone";
    EXPECT_EQ(slurp(place.home("a")), "text") << "in the end it is home";
  }
  [[nodiscard]] Words command(const std::string& rank) const {
    return joined({PosixPlace::program()}, place.words({"sh", "-ec", script(rank)}, settings));
  }
};

class PosixMpi : public PosixJobs, public ::testing::WithParamInterface<const char*> {
 protected:
  [[nodiscard]] Words mpiexec() const {
    const std::string flavour = GetParam();
    Words words{"mpiexec." + flavour, "-n", "2"};
    if (flavour == "openmpi") {
      words = joined({"env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}, words);
      words.insert(words.end(), {"--oversubscribe", "--bind-to", "none"});
    }
    return words;
  }
  [[nodiscard]] static std::string rank() {
    return std::string(GetParam()) == "openmpi" ? "$OMPI_COMM_WORLD_RANK" : "$PMI_RANK";
  }
};

TEST_P(PosixMpi, RanksThatAreRunShareOneBufferAndOneReport) {
  const auto ran = run_words(joined(mpiexec(), command(rank())));
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  expect_shared(true);
  EXPECT_EQ(times_in(ran.err, "forebay: staged"), 1u) << ran.err;
}

TEST_P(PosixMpi, WhatIsRunMayBeALauncher) {
  const auto ran = place.run(joined(mpiexec(), {"sh", "-ec", script(rank())}), settings);
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  expect_shared(true);
  EXPECT_EQ(times_in(ran.err, "forebay: staged"), 1u) << ran.err;
}

INSTANTIATE_TEST_SUITE_P(Flavours, PosixMpi, ::testing::Values("mpich", "openmpi"),
                         [](const auto& one) { return std::string(one.param); });

struct PosixSlurm : PosixJobs {
  Ran both(const std::string& first, const std::string& second) const {
    Running other("env", joined({"SLURM_JOB_ID=" + first}, command("0")));
    auto ran = run_words(joined({"env", "SLURM_JOB_ID=" + second}, command("1")));
    const auto waited = other.wait();
    EXPECT_EQ(waited.code, 0) << waited.err;
    return ran;
  }
};

TEST_F(PosixSlurm, WhatRunsInOneJobSharesABuffer) {
  const auto ran = both("4711", "4711");
  EXPECT_EQ(ran.code, 0) << ran.err;
  expect_shared(true);
}

TEST_F(PosixSlurm, JobsDoNotShare) {
  const auto ran = both("4711", "4712");
  EXPECT_EQ(ran.code, 0) << ran.err;
  expect_shared(false);
}

TEST(PosixRules, GiveEachPatternItsOwn) {
  const PosixPlace place;
  const auto slow = place.root("second");
  fs::create_directory(slow);
  std::ofstream(place.root("rules.yaml")) << "files:\n"
                                             "  - {match: '*.log', mode: bypass}\n"
                                             "  - {match: '*.tmp', mode: scratch}\n"
                                             "  - {match: '*.now', durability: home}\n"
                                             "  - {match: '*.sync', mode: sync}\n"
                                             "  - {match: '*.later', on_close: detach}\n";
  // What is at home while each is still open, and after its close.
  const auto past = [](const std::string& file) { return "env -u LD_PRELOAD cat " + file + " 3>&-; echo; "; };
  std::string script = "cd " + place.home() + "; ";
  for (const std::string kind : {"log", "tmp", "now", "sync", "later", "txt"}) {
    const auto file = "a." + kind;
    // What may go home later may be there at once.
    const auto after = kind == "later" ? "" : past(file);
    script += "echo " + kind + "; exec 3>" + file + "; printf 1 >&3; " + past(file) + "exec 3>&-; " + after +
              "cat " + file + "; echo; ";
  }
  const auto ran =
      run("env", joined({"FOREBAY_CONFIG=" + place.root("rules.yaml"), PosixPlace::program()},
                        place.words({"sh", "-ec", script}, {"drain.trigger=close", "drain.delay=10s"})));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "log\n1\n1\n1\n"   // not buffered
            "tmp\n\n\n1\n"     // never home
            "now\n1\n1\n1\n"   // home when the write has returned
            "sync\n1\n1\n1\n"  // likewise
            "later\n\n1\n"     // home some time after its close; see below
            "txt\n\n1\n1\n")   // home when the close has returned
      << ran.err;
  EXPECT_EQ(place.reported("d['staged_bytes']"), "5") << "all but the log";
  for (int i = 0; i < 400 && slurp(place.home("a.later")) != "1"; ++i) ::usleep(25'000);
  EXPECT_EQ(slurp(place.home("a.later")), "1");
  EXPECT_EQ(slurp(place.home("a.log")), "1");
  EXPECT_FALSE(fs::exists(place.home("a.tmp"))) << "a scratch file goes with its last user";
}

// What a close ends, it ends however durable the file is.
TEST(PosixRules, ALockEndsWithTheOpenFileThatHasIt) {
  const PosixPlace place;
  fs::create_directory(place.root("nvme"));
  const auto ran = place.run({"python3", "-c",
                              "import fcntl, os, sys\n"
                              "one, two = (os.open(sys.argv[1], os.O_RDWR | os.O_CREAT) for i in range(2))\n"
                              "os.write(one, b'text')\n"
                              "fcntl.flock(one, fcntl.LOCK_EX)\n"
                              "os.close(one)\n"
                              "fcntl.flock(two, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
                              "os.pwrite(two, b'T', 0)\n",
                              place.home("a")},
                             {"durability=node", "tiers=nvme:" + place.root("nvme") + ":64MiB"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(slurp(place.home("a")), "Text");
}

// Names choose when a file is opened; who opens it by another one, or has it by none, sees what is unsaved.
TEST(PosixRules, WhatIsBufferedIsSeenUnderOtherNames) {
  const PosixPlace place;
  const auto read = [](const std::string& how) {
    return "python3 -c 'import os; print(os.pread(" + how + ", 100, 0))'; ";
  };
  const auto script = "cd " + place.home() +
                      "; exec 3<>a.dat; printf one >&3; mv a.dat b.txt; printf two >&3; " +
                      read("os.open(\"b.txt\", 0)") + "ln b.txt c.log; printf three >&3; " +
                      read("os.open(\"c.log\", 0)") + "rm b.txt c.log; printf four >&3; " + read("3");
  const auto ran = run(PosixPlace::program(),
                       place.words({"sh", "-ec", script}, {"drain.trigger=never", "include=*.dat"}));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "b'onetwo'\nb'onetwothree'\nb'onetwothreefour'\n") << ran.err;
  EXPECT_NE(place.reported("d['staged_bytes']"), "0");
}

}  // namespace
}  // namespace forebay::testing
