// Files with several names, with none, with new ones, and in folders that get one.
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

#include "cases/cases.hpp"

namespace cases {
namespace {

int put(const char* path, const char* text, int flags = O_RDWR | O_CREAT) {
  const int fd = ::open(path, flags, 0644);
  say(path, fd < 0 ? -1 : 0);
  say("write", ::write(fd, text, std::strlen(text)));
  return fd;
}

void put_and_close(const char* path, const char* text, int flags = O_RDWR | O_CREAT) {
  say("close", ::close(put(path, text, flags)));
}

void show_size(const char* path) {
  struct stat found{};
  const int result = ::stat(path, &found);
  std::printf("%s: ", path);
  say("size", result < 0 ? result : found.st_size);
}

}  // namespace

// One of several names goes away while something is unsaved, or was saved for later.
int several_names() {
  put_and_close("a", "one");
  say("link", ::link("a", "b"));
  int fd = put("a", "more than one", O_WRONLY);
  say("unlink", ::unlink("a"));
  show_file("b");
  say("write", ::write(fd, ", and more", 10));
  say("close", ::close(fd));
  show_file("b");

  put_and_close("c", "two");
  say("link", ::link("c", "d"));
  put_and_close("c", "changed", O_WRONLY);
  put_and_close("e", "over it");
  say("rename", ::rename("e", "c"));
  show_file("c");
  show_file("d");

  put_and_close("f", "three");
  say("link", ::link("f", "g"));
  fd = put("g", "3", O_WRONLY);
  say("rename to itself", ::rename("f", "g"));
  say("exchange", ::renameat2(AT_FDCWD, "g", AT_FDCWD, "d", RENAME_EXCHANGE));
  say("not over", ::renameat2(AT_FDCWD, "g", AT_FDCWD, "d", RENAME_NOREPLACE));
  say("write", ::write(fd, "33", 2));
  for (const char* const name : {"c", "d", "f", "g"}) show_size(name);
  say("close", ::close(fd));
  for (const char* const name : {"c", "d", "f", "g"}) show_file(name);
  return 0;
}

// A file is made without a name and gets one when it is complete.
int without_name() {
  int fd = ::open(".", O_TMPFILE | O_RDWR, 0644);
  say("write", ::write(fd, "complete", 8));
  say("linkat",
      ::linkat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(fd)).c_str(), AT_FDCWD, "a", AT_SYMLINK_FOLLOW));
  show_file("a");
  say("write", ::write(fd, " and more", 9));
  show_size("a");
  say("close", ::close(fd));
  show_file("a");

  fd = ::open(".", O_TMPFILE | O_RDWR, 0644);
  say("write", ::write(fd, "also complete", 13));
  const long linked = ::linkat(fd, "", AT_FDCWD, "b", AT_EMPTY_PATH);
  // Not everybody may do it this way.
  if (linked == 0) show_file("b");
  say("close", ::close(fd));
  say("linked", linked);

  // Opened again by what it has instead of a name.
  fd = put("c", "text");
  say("unlink", ::unlink("c"));
  const int again = ::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDWR | O_APPEND);
  say("write", ::write(again, " more", 5));
  char room[32] = {};
  say("read", ::pread(fd, room, sizeof room, 0));
  std::printf("%s\n", room);
  say("no name",
      ::linkat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(fd)).c_str(), AT_FDCWD, "c", AT_SYMLINK_FOLLOW));
  say("close", ::close(again));
  say("close", ::close(fd));

  // And one that nobody ever names, left open.
  fd = ::open(".", O_TMPFILE | O_RDWR, 0600);
  say("write", ::write(fd, "nobody's", 8));
  return 0;
}

// A folder gets another name while files in it are unsaved, open or closed.
int folders_renamed() {
  say("mkdir", ::mkdir("step.tmp", 0755));
  say("mkdir", ::mkdir("step.tmp/deep", 0755));
  put_and_close("step.tmp/a", "closed");
  const int fd = put("step.tmp/deep/b", "open");
  say("rename", ::rename("step.tmp", "step"));
  say("write", ::write(fd, " still", 6));
  show_size("step/deep/b");
  show_file("step/deep/b");
  show_file("step/a");
  say("close", ::close(fd));
  put_and_close("step/a", "closed again", O_WRONLY);
  put_and_close("step/deep/c", "new");
  say("mkdir", ::mkdir("other", 0755));
  put_and_close("other/a", "another");
  say("exchange", ::renameat2(AT_FDCWD, "step", AT_FDCWD, "other", RENAME_EXCHANGE));
  for (const char* const name : {"step/a", "other/a", "other/deep/b", "other/deep/c"}) show_file(name);
  // The last one is left open.
  const int last = put("other/deep/c", "newer", O_RDWR | O_APPEND);
  say("rename", ::rename("other", "final"));
  show_size("final/deep/c");
  return last < 0 ? 1 : 0;
}

// By names that lead into the folder from elsewhere.
int by_links() {
  char folder[] = "/tmp/forebay-links-XXXXXX";
  char here[4096];
  if (::mkdtemp(folder) == nullptr || ::getcwd(here, sizeof here) == nullptr) return 1;
  const auto to_folder = std::string(folder) + "/folder";
  const auto to_file = std::string(folder) + "/file";
  say("symlink", ::symlink(here, to_folder.c_str()));
  say("symlink", ::symlink((std::string(here) + "/a").c_str(), to_file.c_str()));
  const int fd = put("a", "a text of some length");
  struct stat found{};
  say("stat", ::stat(to_file.c_str(), &found));
  say("size", found.st_size);
  say("truncate", ::truncate(to_file.c_str(), 6));
  say("size", ::lseek(fd, 0, SEEK_END));
  say("write", ::write(fd, "!", 1));
  say("truncate", ::truncate((to_folder + "/a").c_str(), 3));
  char room[64] = {};
  say("read", ::pread(fd, room, sizeof room, 0));
  std::printf("%s\n", room);
  const int other = ::open(to_file.c_str(), O_WRONLY | O_APPEND);
  say("append", ::write(other, " and", 4));
  say("close", ::close(other));
  say("rename", ::rename((to_folder + "/a").c_str(), (to_folder + "/b").c_str()));
  say("write", ::pwrite(fd, "A", 1, 0));
  say("close", ::close(fd));
  show_file("b");
  say("stat", ::stat(to_file.c_str(), &found));
  say("not to be followed", ::open(to_file.c_str(), O_RDONLY | O_NOFOLLOW));
  say("unlink", ::unlink(to_file.c_str()));
  say("unlink", ::unlink(to_folder.c_str()));
  say("rmdir", ::rmdir(folder));
  return 0;
}

// What is no regular file, and what cannot be.
int not_files() {
  say("mkdir", ::mkdir("folder", 0755));
  say("mkfifo", ::mkfifo("pipe", 0644));
  put_and_close("a", "text");
  say("truncate a folder", ::truncate("folder", 0));
  say("truncate a pipe", ::truncate("pipe", 0));
  say("truncate nothing", ::truncate("none", 0));
  say("truncate below a file", ::truncate("a/b", 0));
  say("truncate to less than nothing", ::truncate("a", -1));
  const std::string long_name(300, 'n');
  const std::string long_path(5000, 'p');
  say("truncate", ::truncate(long_name.c_str(), 0));
  say("truncate", ::truncate(long_path.c_str(), 0));
  say("rename", ::rename("a", long_name.c_str()));
  say("rename", ::rename(long_path.c_str(), "b"));
  say("unlink", ::unlink(long_path.c_str()));
  say("unlink a folder", ::unlink("folder"));
  say("unlink", ::unlink("a/"));
  say("rename over a folder", ::rename("a", "folder"));
  say("rename a folder over a file", ::rename("folder", "a"));
  say("link a folder", ::link("folder", "other"));
  say("open a folder", ::open("folder", O_RDWR));
  say("open", ::open("a", O_RDONLY | O_DIRECTORY));
  say("make it again", ::open("a", O_RDWR | O_CREAT | O_EXCL, 0644));
  say("no name", ::open("", O_RDWR | O_CREAT, 0644));
  say("symlink", ::symlink("loop", "loop"));
  say("open a loop", ::open("loop", O_RDWR));
  say("truncate a loop", ::truncate("loop", 0));
  say("unlink", ::unlink("pipe"));
  say("unlink", ::unlink("loop"));
  const int path_only = ::open("a", O_PATH);
  char room[8];
  say("read", ::read(path_only, room, sizeof room));
  say("ftruncate", ::ftruncate(path_only, 0));
  say("close", ::close(path_only));
  show_file("a");
  return 0;
}

namespace {

std::string proc(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

void show_held(int holder) {
  struct stat found{};
  const int result = ::fstat(holder, &found);
  say("fstat", result < 0 ? result : found.st_size);
  char room[32] = {};
  say("read", ::read(holder, room, sizeof room));
  say("pread", ::pread(holder, room, sizeof room, 0));
  say("write", ::write(holder, room, 1));
  say("lseek", ::lseek(holder, 0, SEEK_END));
  say("ftruncate", ::ftruncate(holder, 1));
  say("fsync", ::fsync(holder));
  const int again = ::open(proc(holder).c_str(), O_RDWR);
  say("again", again < 0 ? -1 : 0);
  say("read", ::read(again, room, sizeof room));
  std::printf("%.32s\n", room);
  say("write", ::write(again, "!", 1));
  say("close", ::close(again));
}

}  // namespace

// A descriptor that only stands for a file keeps it, with what nobody has saved.
int held_by_path() {
  for (const bool named : {true, false}) {
    const int fd = named ? put("a", "text of a") : ::open(".", O_TMPFILE | O_RDWR, 0644);
    if (!named) say("write", ::write(fd, "text of none", 12));
    const int holder = ::open(proc(fd).c_str(), O_PATH);
    say("holder", holder < 0 ? -1 : 0);
    const int second = ::dup(holder);
    say("write", ::write(fd, " and more", 9));
    show_held(holder);
    if (named) say("unlink", ::unlink("a"));
    say("close", ::close(fd));
    show_held(holder);
    say("close", ::close(holder));
    show_held(second);
    if (!named) say("linkat", ::linkat(AT_FDCWD, proc(second).c_str(), AT_FDCWD, "b", AT_SYMLINK_FOLLOW));
    say("close", ::close(second));
  }
  show_file("b");
  // One that was there before anybody wrote.
  const int fd = ::open("c", O_RDWR | O_CREAT, 0644);
  const int holder = ::open("c", O_PATH | O_NOFOLLOW);
  say("unlink", ::unlink("c"));
  say("write", ::write(fd, "late", 4));
  say("close", ::close(fd));
  show_held(holder);
  say("close", ::close(holder));
  // And what it keeps has its own name still.
  put_and_close("d", "one");
  const int other = ::open("d", O_PATH);
  put_and_close("d", "and another", O_WRONLY | O_APPEND);
  show_held(other);
  say("close", ::close(other));
  show_file("d");
  return 0;
}

// Names that lead nowhere, and files that go away under their names.
int dangling() {
  say("symlink", ::symlink("there", "link"));
  show_size("link");
  say("truncate", ::truncate("link", 5));
  say("open", ::open("link", O_RDWR));
  say("exclusive", ::open("link", O_RDWR | O_CREAT | O_EXCL, 0644));
  say("not followed", ::open("link", O_RDWR | O_CREAT | O_NOFOLLOW, 0644));
  say("chmod", ::chmod("link", 0600));
  say("access", ::access("link", F_OK));
  int fd = put("link", "through a link");
  show_size("there");
  show_size("link");
  say("truncate", ::truncate("link", 7));
  show_file("there");
  say("unlink", ::unlink("there"));
  show_size("link");
  say("fstat", [&] {
    struct stat found{};
    return ::fstat(fd, &found) < 0 ? -1 : found.st_size + static_cast<long>(found.st_nlink) * 1000;
  }());
  say("write", ::pwrite(fd, "more", 4, 7));
  put_and_close("link", "another");
  say("fsync", ::fsync(fd));
  say("close", ::close(fd));
  show_file("there");
  say("rename", ::rename("link", "moved"));
  show_file("moved");
  say("rename over", ::rename("moved", "there"));
  say("loop", ::open("there", O_RDWR));
  show_size("there");
  say("unlink", ::unlink("there"));
  // A folder goes with what is open in it.
  say("mkdir", ::mkdir("folder", 0755));
  fd = put("folder/a", "text");
  say("rmdir", ::rmdir("folder"));
  say("unlink", ::unlink("folder/a"));
  say("rmdir", ::rmdir("folder"));
  say("write", ::write(fd, "more", 4));
  say("no folder", ::open("folder/a", O_RDWR | O_CREAT, 0644));
  say("size", ::lseek(fd, 0, SEEK_END));
  say("close", ::close(fd));
  // By somebody who is not seen, while some of it is unsaved.
  fd = put("b", "text");
  (void)!std::system("env -u LD_PRELOAD rm -f b");
  show_size("b");
  say("write", ::write(fd, "more", 4));
  char room[16] = {};
  say("read", ::pread(fd, room, sizeof room, 0));
  std::printf("%s\n", room);
  say("fsync", ::fsync(fd));
  say("close", ::close(fd));
  show_size("b");
  put_and_close("b", "new");
  show_file("b");
  return 0;
}

}  // namespace cases
