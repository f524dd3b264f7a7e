// Other rights, other users.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "support/forebay_run.hpp"

namespace forebay::testing {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

TEST(PosixSecurity, APrivilegedProgramIsLeftAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a program that runs with other rights";
  const PosixPlace place;
  fs::permissions(place.root(""), fs::perms::all);
  fs::permissions(place.home(), fs::perms::all);
  const auto program = place.root("cat");
  fs::copy_file("/bin/cat", program);
  ASSERT_EQ(::chown(program.c_str(), 65534, 65534), 0);
  ASSERT_EQ(::chmod(program.c_str(), 04755), 0);
  std::ofstream(place.home("a")) << "text";
  const auto ran = place.run({program, place.home("a")});
  EXPECT_EQ(ran.out, "text") << ran.err;
  EXPECT_NE(ran.err.find("other rights"), std::string::npos) << ran.err;
  EXPECT_EQ(place.reported("d['hit_bytes'] + d['missed_bytes']"), "0");
}

TEST(PosixSecurity, NothingOfABufferIsForOthers) {
  const PosixPlace place;
  const auto ran = place.shell("exec 3>" + place.home("a") +
                               "; echo text >&3; find \"$FOREBAY_BUFFER_DIRECTORY\" -perm /077");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "");
}

// A command as another user.
Words as(const std::string& user, const Words& command) {
  Words all{"--reuid=" + user, "--regid=" + user, "--clear-groups"};
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

// One user is killed with bytes in the buffer; another one looks at it, and tries every verb on it.
TEST(PosixSecurity, AnotherUserCannotReadOrDisturbABuffer) {
  const std::string owner = "65534";
  const std::string other = "65533";
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be two other users";
  const auto program = PosixPlace::program();
  if (run("setpriv", as(owner, {program, "--help"})).code != 0)
    GTEST_SKIP() << "other users may not run what lies here";
  const PosixPlace place;
  const auto memory = fs::path("/dev/shm") / fs::path(place.root("")).parent_path().filename();
  fs::create_directory(memory);
  for (const auto& folder :
       {fs::path(place.root("")), fs::path(place.home()), fs::path(place.plain()), memory})
    fs::permissions(folder, fs::perms::all | fs::perms::sticky_bit);
  const Words settings{"buffer.directory=" + memory.string() + "/control",
                       "tiers=memory:" + memory.string() + ":64MiB", "drain.trigger=never"};
  Words where;
  for (const auto& one : settings) where.insert(where.end(), {"--set", one});
  {
    Words command{program};
    const auto script =
        "exec 3>" + place.home("a") + "; printf secret >&3; touch " + place.plain("ready") + "; sleep 100";
    for (const auto& word : place.words({"sh", "-ec", script}, settings)) command.push_back(word);
    Running job("setpriv", as(owner, command));
    for (int i = 0; i < 4000 && !fs::exists(place.plain("ready")); ++i) ::usleep(5'000);
    job.kill();
    (void)job.wait();
  }
  ASSERT_TRUE(fs::exists(place.plain("ready")));
  EXPECT_EQ(slurp(place.home("a")), "") << "it is in the buffer alone";
  const auto forebay = [&](const std::string& user, Words words) {
    words.insert(words.end(), where.begin(), where.end());
    words.insert(words.begin(), program);
    return run("setpriv", as(user, words));
  };
  const auto readable = run("setpriv", as(other, {"find", memory.string(), "-type", "f", "-readable"}));
  EXPECT_EQ(readable.out, "");
  for (const auto& verb : {Words{"status", "--all"}, Words{"recover", "--all"}, Words{"drain", "--all"},
                           Words{"clean", "--all", "--force"}}) {
    const auto ran = forebay(other, verb);
    EXPECT_EQ((ran.out + ran.err).find("secret"), std::string::npos);
    EXPECT_EQ(ran.out.find("/a"), std::string::npos) << verb.front() << " names a file: " << ran.out;
  }
  (void)run("setpriv", as(other, {"rm", "-rf", memory.string()}));
  EXPECT_EQ(slurp(place.home("a")), "") << "the other user carried it home";
  const auto own = forebay(owner, {"recover", "--all"});
  EXPECT_EQ(own.code, 0) << own.out << own.err;
  EXPECT_EQ(slurp(place.home("a")), "secret") << own.out << own.err;
  fs::remove_all(memory);
}

}  // namespace
}  // namespace forebay::testing
