// What the C library does to descriptors and files behind its own doors.
#include <dirent.h>
#include <execinfo.h>
#include <fts.h>
#include <ftw.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <wchar.h>

#include <cstdlib>
#include <cstring>

#include "cases/cases.hpp"

namespace cases {
namespace {

int show_entry(const char* path, const struct stat* found, int kind, struct FTW*) {
  if (kind == FTW_F) {
    std::printf("%s: ", path);
    say("nftw", found->st_size);
  }
  return 0;
}

int show_old_entry(const char* path, const struct stat* found, int kind) {
  if (kind == FTW_F) {
    std::printf("%s: ", path);
    say("ftw", found->st_size);
  }
  return 0;
}

void walk() {
  say("nftw", ::nftw("walk", show_entry, 10, FTW_PHYS));
  say("ftw", ::ftw("walk", show_old_entry, 10));
  char root[] = "walk";
  char* const roots[] = {root, nullptr};
  FTS* const tree = ::fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, nullptr);
  for (const FTSENT* entry = nullptr; (entry = ::fts_read(tree)) != nullptr;) {
    if (entry->fts_info != FTS_F) continue;
    std::printf("%s: ", entry->fts_path);
    say("fts", entry->fts_statp->st_size);
  }
  ::fts_close(tree);
}

// A descriptor through a socket, into the number of a folder that was closed.
void send_descriptor(int from, int socket) {
  char room[CMSG_SPACE(sizeof(int))] = {};
  char byte = 'b';
  iovec piece{&byte, 1};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  auto* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &from, sizeof from);
  say("sendmsg", ::sendmsg(socket, &message, 0));
}

int receive_descriptor(int socket) {
  char room[CMSG_SPACE(sizeof(int))] = {};
  char byte = 0;
  iovec piece{&byte, 1};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  say("recvmsg", ::recvmsg(socket, &message, 0));
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

}  // namespace

int streams_reopened() {
  FILE* stream = std::fopen("a", "w");
  say("fputs", std::fputs("a text of some length", stream) < 0 ? -1 : 0);
  stream = std::freopen(nullptr, "r", stream);
  char room[64] = {};
  say("fread", static_cast<long>(std::fread(room, 1, 6, stream)));
  std::printf("%s\n", room);
  stream = std::freopen(nullptr, "r+", stream);
  say("fputs", stream == nullptr || std::fputs("A", stream) < 0 ? -1 : 0);
  stream = std::freopen(nullptr, "a", stream);
  say("fputs", stream == nullptr || std::fputs(" at the end", stream) < 0 ? -1 : 0);
  say("fflush", std::fflush(stream));
  show_file("a");
  stream = std::freopen(nullptr, "w", stream);
  say("fflush", std::fflush(stream));
  show_file("a");
  say("fputs", std::fputs("new", stream) < 0 ? -1 : 0);
  stream = std::freopen("b", "w+", stream);
  say("fputws", ::fputws(L"wide", stream) < 0 ? -1 : 0);
  say("fclose", std::fclose(stream));
  show_file("a");
  show_file("b");
  stream = std::fopen("a", "rm");
  const int fd = ::open("a", O_WRONLY | O_APPEND);
  say("write", ::write(fd, "er", 2));
  say("fread", static_cast<long>(std::fread(room, 1, 6, stream)));
  say("fclose", std::fclose(stream));
  void* frames[1] = {nullptr};
  ::backtrace_symbols_fd(frames, 1, fd);
  say("write", ::write(fd, "!", 1));
  say("close", ::close(fd));
  show_file("a");
  say("again", std::freopen("nowhere/at/all", "r", std::fopen("a", "r")) == nullptr ? -1 : 0);
  return 0;
}

int walked() {
  say("mkdir", ::mkdir("walk", 0755));
  const int fd = ::open("walk/a", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "unsaved", 7));
  walk();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  send_descriptor(fd, ends[0]);
  DIR* const folder = ::opendir("walk");
  const int number = ::dirfd(folder);
  struct stat found{};
  say("fstat", ::fstat(number, &found));
  say("closedir", ::closedir(folder));
  const int received = receive_descriptor(ends[1]);
  say("the same number", received == number);
  say("write", ::write(received, " more", 5));
  char room[32] = {};
  say("read", ::pread(received, room, sizeof room, 0));
  std::printf("%s\n", room);
  say("size", ::lseek(fd, 0, SEEK_END));
  say("close", ::close(received));
  say("close", ::close(fd));
  return 0;
}

// Its standard output is a file until it leaves its terminal, and nothing afterwards.
int in_background() {
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::open("out", O_WRONLY | O_CREAT, 0644);
    ::dup2(fd, 1);
    (void)!::write(1, "before", 6);
    if (::daemon(1, 0) != 0) ::_exit(1);
    (void)!::write(1, " after", 6);
    (void)!::write(fd, " through its own", 16);
    ::close(fd);
    const int done = ::open("done", O_WRONLY | O_CREAT, 0644);
    ::close(done);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  for (int i = 0; i < 2000 && ::access("done", F_OK) != 0; ++i) ::usleep(5000);
  show_file("out");
  return 0;
}

// A stream that appends makes its open file append, for whoever else writes to it.
int streams_that_append() {
  const int fd = ::open("a", O_RDWR | O_CREAT, 0644);
  say("write", ::write(fd, "0123456789", 10));
  FILE* const stream = ::fdopen(::dup(fd), "a");
  say("pwrite", ::pwrite(fd, "ab", 2, 1));
  say("fputs", std::fputs("text", stream) < 0 ? -1 : 0);
  say("fclose", std::fclose(stream));
  say("lseek", ::lseek(fd, 0, SEEK_SET));
  say("write", ::write(fd, "end", 3));
  say("close", ::close(fd));
  show_file("a");
  return 0;
}

namespace {

void pipe_through(const char* text) {
  int ends[2];
  say("pipe", ::pipe2(ends, O_NONBLOCK));
  std::printf("numbers %d %d\n", ends[0], ends[1]);
  say("write", ::write(ends[1], text, std::strlen(text)));
  char room[20] = "";
  say("read", ::read(ends[0], room, sizeof room - 1));
  std::printf("%s\n", room);
  std::fflush(stdout);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace

// While a stream is reopened its file has another number, and that is somebody else's next; so is the number
// of a stream that cannot be reopened.
int numbers_of_streams() {
  FILE* stream = std::fopen("a", "w+");
  say("fputs", std::fputs("some text", stream) < 0 ? -1 : 0);
  stream = std::freopen("b", "a", stream);
  say("fputs", std::fputs("more text", stream) < 0 ? -1 : 0);
  say("fflush", std::fflush(stream));
  pipe_through("piped");
  stream = std::freopen("a", "r", stream);
  say("fgetc", std::fgetc(stream));
  pipe_through("once more");
  stream = std::freopen("not/there", "r", stream);
  say("freopen", stream == nullptr ? -1 : 0);
  pipe_through("the last");
  show_file("a");
  show_file("b");
  return 0;
}

}  // namespace cases
