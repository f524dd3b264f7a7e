// Ways that lead into a home: symbolic links, file systems mounted below it, homes that are named by a link.
// Each command is a process of its own, which knows nothing before it looks.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/forebay_run.hpp"
#include "support/places.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::testing {
namespace {

namespace fs = std::filesystem;

// What a script says in a folder is what it says plainly there, though nothing drains by itself.
void expect_same(const PosixPlace& place, const std::string& home, const std::string& plain,
                 const std::string& script) {
  const auto plainly = run("env", {"-C", plain, "sh", "-c", script});
  const auto buffered = place.run({"env", "-C", home, "sh", "-c", script}, {"drain.trigger=never"});
  EXPECT_EQ(buffered.code, 0) << buffered.err;
  EXPECT_EQ(plainly.out, buffered.out) << buffered.err;
  const auto compared = run("diff", {"-r", plain, home});
  EXPECT_EQ(compared.code, 0) << compared.out;
  EXPECT_EQ(place.reported("d['staged_bytes'] > 0"), "True");
}

TEST(PosixPaths, LinksFromElsewhereLeadToWhatIsBuffered) {
  const PosixPlace place;
  const fs::path links = place.root("links");
  fs::create_directory(links);
  fs::create_directory_symlink(place.home(), links / "homes");
  fs::create_directory_symlink(place.plain(), links / "plain");
  const auto by_links = [&](const std::string& folder) {
    const auto there = (links / folder).string();
    // `exec` keeps it open and unsaved.
    return "exec 3>>a; printf 'some text' >&3; exec 4>>b; printf 'other text' >&4\n"
           "stat -c %s " +
           there + "/a; test -s " + there +
           "/b && echo some\n"
           "truncate -s 4 " +
           there +
           "/a; stat -c %s a; printf ' more' >&3; cat a; echo\n"
           "touch -d '2001-02-03' " +
           there + "/b; stat -c %Y b; chmod 600 " + there +
           "/b\n"
           "mv " +
           there + "/b " + there + "/c; printf ' more' >&4; cat c; stat -c %s " + there +
           "/c\n"
           "ln " +
           there + "/c " + there + "/d; rm " + there + "/c; printf ' yet' >&4; cat " + there +
           "/d\n"
           "rm " +
           there + "/a; printf lost >&3; ls " + there + "\n";
  };
  const auto plainly = run("env", {"-C", place.plain(), "sh", "-c", by_links("plain")});
  const auto buffered =
      place.run({"env", "-C", place.home(), "sh", "-c", by_links("homes")}, {"drain.trigger=never"});
  EXPECT_EQ(buffered.code, 0) << buffered.err;
  EXPECT_EQ(plainly.out, buffered.out) << buffered.err;
  const auto compared = run("diff", {"-r", place.plain(), place.home()});
  EXPECT_EQ(compared.code, 0) << compared.out;
  EXPECT_EQ(place.reported("d['staged_bytes'] > 0"), "True");
}

TEST(PosixPaths, FilesOfAnotherFileSystemBelowAHomeHaveTheBuffersSizes) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "no /dev/fuse";
  const PosixPlace place;
  SlowfsMount mount({}, place.home());
  const fs::path plain = place.plain("mounted");
  fs::create_directory(plain);
  expect_same(place, mount.path(), plain,
              "exec 3>>a; printf 'some text' >&3; stat -c %s a; truncate -s 4 a; cat a; printf more >&3\n"
              "stat -c %s a; mv a b; printf more >&3; cat b; ln b c; rm b; stat -c %s c; printf yet >&3\n"
              "python3 -c 'import os; print(os.stat(\"c\").st_size)'; touch -d 2001-02-03 c; stat -c %Y c\n");
}

// As the pages tell it to those who start without `forebay run`.
TEST(PosixPaths, AHomeThatIsNamedByALinkIsBuffered) {
  const PosixPlace place;
  const auto link = place.root("link");
  fs::create_directory_symlink(place.home(), link);
  const auto folder = fs::path(PosixPlace::program()).parent_path() / "../../../lib";
  const auto memory = "/dev/shm/" + fs::path(place.root("")).parent_path().filename().string() + "-link";
  fs::create_directory(memory);
  const auto past =
      "; env -u LD_PRELOAD cat " + place.home("a") + " 3>&-; cat " + place.home("a") + "; cat a";
  const auto ran =
      run("env", {"-C", link, "LD_PRELOAD=" + fs::canonical(folder / "libforebay_posix.so").string(),
                  "FOREBAY_HOMES=" + link, "FOREBAY_BUFFER_DIRECTORY=" + memory + "/control",
                  "FOREBAY_TIERS=memory:" + memory + ":16MiB", "FOREBAY_DRAIN_TRIGGER=never", "sh", "-c",
                  "exec 3>" + link + "/a; printf text >&3" + past});
  EXPECT_EQ(ran.out, "texttext") << ran.err << "read past the buffer there is nothing yet";
  EXPECT_EQ(slurp(place.home("a")), "text");
  fs::remove_all(memory);
}

// How often home is asked for attributes while files that nobody has buffered get names and times.
std::uint64_t queries(int files, bool buffered) {
  const PosixPlace place;
  SlowfsMount mount({}, place.home());
  for (int i = 0; i < files; ++i) {
    for (const auto* const name : {"a", "b"})
      std::ofstream(mount.source() / (name + std::to_string(i))) << "text";
  }
  const auto before = mount.stat("query", "requests");
  const std::vector<std::string> words{"python3", "-c",
                                       "import os, sys\n"
                                       "os.chdir(sys.argv[1])\n"
                                       "open('first', 'w').write('text')\n"
                                       "for i in range(int(sys.argv[2])):\n"
                                       "  a, b, c, d = (n + str(i) for n in 'abcd')\n"
                                       "  os.rename(a, c); os.rename(c, b); os.link(b, d)\n"
                                       "  os.utime(d, (1, 2)); os.unlink(d)\n",
                                       mount.path(), std::to_string(files)};
  const auto ran = buffered ? place.run(words) : run(words.front(), {words.begin() + 1, words.end()});
  EXPECT_EQ(ran.code, 0) << ran.err;
  return mount.stat("query", "requests") - before;
}

TEST(PosixPaths, NamesOfWhatNobodyHasCostHomeNoQuestionMore) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "no /dev/fuse";
  EXPECT_EQ(queries(25, true) - queries(5, true), queries(25, false) - queries(5, false));
}

// One that finds no room for its own files in the buffer must not go past it where others have theirs.
TEST(PosixPaths, WhatIsBufferedIsNotOpenedPlainlyWhereThereIsNoRoom) {
  const PosixPlace place;
  const auto ran = place.run({"env", "-C", place.home(), "python3", "-c",
                              "import os, subprocess, sys\n"
                              "f = open('a', 'wb', 0)\n"
                              "f.write(b'unsaved')\n"
                              "subprocess.check_call([sys.executable, '-c', '''if 1:\n"
                              "  import os\n"
                              "  all = [os.open('f%d' % i, os.O_RDWR | os.O_CREAT) for i in range(16)]\n"
                              "  try:\n"
                              "    fd = os.open('a', os.O_RDONLY)\n"
                              "    print(os.read(fd, 100))\n"
                              "  except OSError as e: print(e.strerror)\n"
                              "  os.close(all.pop())\n"
                              "  print(os.read(os.open('a', os.O_RDONLY), 100))\n"
                              "'''])\n"},
                             {"drain.trigger=never", "limits.open_files=16"});
  EXPECT_EQ(ran.out, "Too many open files\nb'unsaved'\n") << ran.err;
}

}  // namespace
}  // namespace forebay::testing
