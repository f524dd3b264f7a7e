// `forebay run`: which exit status and which signals go out and come in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "support/forebay_run.hpp"

namespace forebay::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

// Tells its pid, writes down each signal, and ends with 7 upon SIGUSR2. With a second word it first sends a
// SIGUSR1 to its process group.
constexpr const char* kProgram = R"(
import os, signal, sys
def note(number, frame):
    fd = os.open(sys.argv[1] + "/told", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, (signal.Signals(number).name + "\n").encode())
    if number == signal.SIGUSR2: os._exit(7)
for one in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGWINCH): signal.signal(one, note)
if len(sys.argv) > 2: os.kill(0, signal.SIGUSR1)
with open(sys.argv[1] + "/new", "w") as file: file.write(str(os.getpid()))
os.rename(sys.argv[1] + "/new", sys.argv[1] + "/pid")
while True: signal.pause()
)";

bool comes_true(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// "State", "ShdPnd" ... of a process.
std::string status_of(pid_t pid, const std::string& field) {
  std::istringstream lines(slurp("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(field + ":\t")) return line.substr(field.size() + 2);
  }
  return {};
}

bool stopped(pid_t pid) { return status_of(pid, "State").starts_with("T"); }

// `forebay run` with that program, the leader of a process group of its own.
class Job {
 public:
  enum Where { kHere, kOnItsOwnTerminal };
  explicit Job(Where where = kHere, const Words& more = {}) {
    Words command{"python3", "-c", kProgram, place_.plain()};
    command.insert(command.end(), more.begin(), more.end());
    auto words = place_.words(command);
    words.insert(words.begin(), PosixPlace::program());
    run_ = where == kHere ? ::fork() : ::forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (run_ == 0) {
      if (where == kHere) ::setpgid(0, 0);
      std::vector<char*> all;
      for (auto& word : words) all.push_back(word.data());
      all.push_back(nullptr);
      ::execv(all.front(), all.data());
      ::_exit(99);
    }
    if (comes_true([&] { return !slurp(place_.plain("pid")).empty(); }))
      program_ = std::stoi(slurp(place_.plain("pid")));
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() {
    if (terminal_ >= 0) ::close(terminal_);
    if (run_ > 0) {
      ::kill(run_, SIGKILL);  // which takes the program along
      ::waitpid(run_, nullptr, 0);
    }
  }

  [[nodiscard]] pid_t run() const { return run_; }
  [[nodiscard]] pid_t program() const { return program_; }
  [[nodiscard]] std::string told() const { return slurp(place_.plain("told")); }
  void hang_up() {
    ::close(terminal_);
    terminal_ = -1;
  }
  // Its exit status; -1: it has not ended.
  int wait() {
    int status = 0;
    if (!comes_true([&] { return ::waitpid(run_, &status, WNOHANG) == run_; })) return -1;
    run_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  const PosixPlace place_;
  int terminal_ = -1;
  pid_t run_ = -1;
  pid_t program_ = -1;
};

TEST(CliRun, TheExitStatusIsThatOfTheCommand) {
  const PosixPlace place;
  EXPECT_EQ(place.shell("exit 0").code, 0);
  EXPECT_EQ(place.shell("exit 3").code, 3);
}

TEST(CliRun, ItsOwnFailuresHaveStatusesOfTheirOwn) {
  const PosixPlace place;
  const auto wrong = run(PosixPlace::program(), {"run", "--no-such-option", "true"});
  EXPECT_EQ(wrong.code, 125);
  EXPECT_THAT(wrong.err, HasSubstr("--no-such-option"));
  EXPECT_EQ(run(PosixPlace::program(), {"run"}).code, 125);
  std::ofstream(place.plain("no_program")) << "text";
  EXPECT_EQ(place.run({place.plain("no_program")}).code, 126);
  EXPECT_EQ(place.run({place.plain("nothing")}).code, 127);
  EXPECT_EQ(place.run({"no-such-command-anywhere"}).code, 127);
}

TEST(CliRun, TheSignalThatEndsTheCommandEndsTheRun) {
  const PosixPlace place;
  for (const int signal : {SIGTERM, SIGABRT, SIGKILL}) {
    const auto ran = place.shell("kill -" + std::to_string(signal) + " $$");
    EXPECT_EQ(ran.signal, signal) << ran.code << ran.err;
  }
}

TEST(CliRun, ASignalIsPassedOnOnce) {
  Job job;
  ASSERT_GT(job.program(), 0);
  ::kill(job.run(), SIGUSR1);
  EXPECT_TRUE(comes_true([&] { return job.told() == "SIGUSR1\n"; })) << job.told();
  ::kill(job.run(), SIGUSR2);
  EXPECT_EQ(job.wait(), 7);
  EXPECT_EQ(job.told(), "SIGUSR1\nSIGUSR2\n");
}

// It has got it already: what it sends to its group comes to `forebay run` too.
TEST(CliRun, WhatTheCommandSendsToItsGroupIsNotPassedOn) {
  Job job(Job::kHere, {"kill"});
  ASSERT_GT(job.program(), 0);
  // Behind it, as signals come in the order of their numbers.
  ::kill(job.run(), SIGUSR2);
  EXPECT_EQ(job.wait(), 7);
  EXPECT_EQ(job.told(), "SIGUSR1\nSIGUSR2\n");
}

TEST(CliRun, ACommandStoppedByItselfIsNotWaitedForByAStoppedRun) {
  Job job;
  ASSERT_GT(job.program(), 0);
  ::kill(job.program(), SIGSTOP);
  ASSERT_TRUE(comes_true([&] { return stopped(job.program()); }));
  // Taken after the stop was noticed, and pending in the command once it was passed on.
  ::kill(job.run(), SIGWINCH);
  const auto pending = [&] { return std::stoull(status_of(job.program(), "ShdPnd"), nullptr, 16); };
  EXPECT_TRUE(comes_true([&] { return (pending() >> (SIGWINCH - 1) & 1) != 0; })) << "the run is stopped";
  ::kill(job.program(), SIGCONT);
  ::kill(job.program(), SIGUSR2);
  EXPECT_EQ(job.wait(), 7);
}

TEST(CliRun, StopsAndGoesOnWithACommandThatTheTerminalStops) {
  Job job;
  ASSERT_GT(job.program(), 0);
  ::kill(job.program(), SIGTSTP);
  EXPECT_TRUE(comes_true([&] { return stopped(job.program()) && stopped(job.run()); }));
  ::kill(job.run(), SIGCONT);
  EXPECT_TRUE(comes_true([&] { return !stopped(job.program()) && !stopped(job.run()); }));
  ::kill(job.run(), SIGUSR2);
  EXPECT_EQ(job.wait(), 7);
}

// As of `ssh -t`: the system tells the leader of the session alone.
TEST(CliRun, ATerminalThatHangsUpIsHeardOfByTheCommand) {
  Job job(Job::kOnItsOwnTerminal);
  ASSERT_GT(job.program(), 0);
  job.hang_up();
  EXPECT_TRUE(comes_true([&] { return job.told() == "SIGHUP\n"; })) << job.told();
  ::kill(job.program(), SIGUSR2);
  EXPECT_EQ(job.wait(), 7);
}

TEST(CliRun, ABufferThatCannotBeMadeLeavesNothing) {
  const PosixPlace place;
  const auto ran =
      place.shell("printf text > " + place.home("a"), {"tiers=memory:" + place.root("nowhere") + ":64MiB"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(slurp(place.home("a")), "text");
  EXPECT_THAT(ran.err, HasSubstr("nowhere")) << "why nothing is buffered is said";
  EXPECT_TRUE(std::filesystem::is_empty(place.control()));
}

// As `forebay run mpiexec` leaves them on nodes where only ranks of it were.
TEST(CliRun, ABufferOfARunOnAnotherNodeIsClearedUpByTheNextOneHere) {
  const PosixPlace place;
  for (const std::string name : {"named", "run-of-mine", "job-7"})
    (void)place.shell("printf " + name + " > " + place.home(name), {"buffer.name=" + name});
  const auto left = [&](const std::string& name) {
    return std::filesystem::exists(place.control() + "/" + name);
  };
  ASSERT_TRUE(left("job-7"));
  const auto ran = place.shell("true");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_FALSE(left("job-7"));
  EXPECT_TRUE(left("named") && left("run-of-mine")) << "those that somebody gave a name stay";
}

TEST(CliRun, ABufferOfARunOnAnotherNodeStaysWhileItIsUsed) {
  const PosixPlace place;
  const auto user = place.words(
      {"sh", "-ec",
       "exec 3>" + place.home("a") + "; printf text >&3; touch " + place.plain("ready") + "; sleep 60"},
      {"buffer.name=run-12-345"});
  Running other(PosixPlace::program(), user);
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(place.plain("ready")); }));
  (void)place.shell("true");
  EXPECT_TRUE(std::filesystem::exists(place.control() + "/run-12-345"));
  other.kill();
  (void)other.wait();
  // What was unsaved then is carried home first.
  const auto gone = [&] {
    (void)place.shell("true");
    return !std::filesystem::exists(place.control() + "/run-12-345");
  };
  EXPECT_TRUE(comes_true(gone));
  EXPECT_EQ(slurp(place.home("a")), "text");
}

// Each start of the program that carries home costs more than what a short process leaves to it.
TEST(CliRun, ShortProcessesThatLeaveOneAfterTheOtherNeedFewHeirs) {
  const PosixPlace place;
  const auto program = place.plain("heir");
  std::ofstream(program) << "#!/bin/sh\necho heir >> " << place.plain("heirs") << "\nexec "
                         << PosixPlace::program() << " \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto began = std::chrono::steady_clock::now();
  const auto ran = place.shell(
      "for i in $(seq 40); do dd if=/dev/zero of=" + place.home() + "/$i bs=1000 count=1 status=none; done",
      {"on_close=detach", "drain.program=" + program, "drain.trigger=never"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto elapsed = std::chrono::steady_clock::now() - began;
  const auto heirs = std::ranges::count(slurp(place.plain("heirs")), '\n');
  EXPECT_GE(heirs, 1);
  // Each stays for 200 ms; of those that start beside each other all but one go at once.
  EXPECT_LE(heirs, 2 + 2 * (elapsed / std::chrono::milliseconds(200)));
  // All is home in the end, and the buffer gone.
  EXPECT_TRUE(comes_true([&] { return std::filesystem::is_empty(place.control()); }));
  for (int i = 1; i <= 40; ++i)
    EXPECT_EQ(std::filesystem::file_size(place.home(std::to_string(i))), 1000u) << i;
}

// What the outer run has unsaved is in the buffer alone: whoever went past it would find an old file.
TEST(CliRun, ARunInARunAddsItsHomes) {
  const PosixPlace place;
  const auto other = place.root("other");
  std::filesystem::create_directory(other);
  const auto ran = place.shell("exec 3>" + place.home("a") + "; printf text >&3; " + PosixPlace::program() +
                                   " run --home " + other + " -- sh -c 'cat " + place.home("a") +
                                   "; printf more > " + other + "/b' 3>&-",
                               {"drain.trigger=never"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "text") << ran.err;
  EXPECT_EQ(slurp(other + "/b"), "more");
  EXPECT_EQ(place.reported("d['staged_bytes']"), "8") << ran.err;
}

// Two runs in one job of Slurm. The second joins when the first has staged, and stays longer.
struct CliRunShared : ::testing::Test {
  const PosixPlace place;

  [[nodiscard]] Words run_of_job(const std::string& script, const std::string& report) const {
    auto words = place.words({"sh", "-ec", script}, {"drain.trigger=never"});
    words.insert(words.begin(), {"SLURM_JOB_ID=7", PosixPlace::program()});
    *std::ranges::find(words, place.root("report.json")) = place.root(report);
    return words;
  }
  [[nodiscard]] std::string wait_for(const std::string& name) const {
    return "for i in $(seq 400); do [ -e " + place.plain(name) + " ] && break; sleep 0.05; done; ";
  }
  [[nodiscard]] std::string value(const std::string& report, const std::string& expression) const {
    return json_value(slurp(place.root(report)), expression);
  }
};

TEST_F(CliRunShared, TheLastOneReportsOnAllAndTheOthersSaySo) {
  std::ofstream(place.root("first.json")) << "of an earlier run, and longer than what is written now";
  const auto map = "python3 -c 'import mmap,sys; f=open(sys.argv[1], \"r+b\"); mmap.mmap(f.fileno(), 4)' ";
  Running first("env", run_of_job("printf text > " + place.home("a") + "; " + map + place.home("a") +
                                      "; touch " + place.plain("ready") + "; " + wait_for("joined"),
                                  "first.json"));
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(place.plain("ready")); }));
  Running last("env", run_of_job("touch " + place.plain("joined") + "; " + wait_for("over"), "last.json"));
  EXPECT_EQ(first.wait().code, 0);
  std::ofstream(place.plain("over")) << "";
  const auto ran = last.wait();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(value("first.json", "d"), "{'reported_by_another': True}");
  EXPECT_EQ(value("last.json", "d['staged_bytes']"), "4") << ran.err;
  EXPECT_EQ(value("last.json", "[p['times'] for p in d['passed'] if 'mmap' in p['why']]"), "[1]");
}

// A buffer with a name stays, and so do its counters.
TEST(CliRun, WhatAnEarlierRunPassedThroughIsNotThisOnes) {
  const PosixPlace place;
  const auto file = place.home("a");
  const auto map = "python3 -c 'import mmap,sys; f=open(sys.argv[1], \"r+b\"); mmap.mmap(f.fileno(), 4)' ";
  const std::string mapped = "sum(p['times'] for p in d['passed'] if 'mmap' in p['why'])";
  const auto first = place.shell("printf text > " + file + "; " + map + file, {"buffer.name=named"});
  EXPECT_EQ(place.reported(mapped), "1") << first.err;
  const auto second = place.shell("cat " + file, {"buffer.name=named"});
  EXPECT_EQ(place.reported(mapped), "0") << second.err;
  EXPECT_EQ(place.reported("d['staged_bytes']"), "0") << second.err;
}

}  // namespace
}  // namespace forebay::testing
