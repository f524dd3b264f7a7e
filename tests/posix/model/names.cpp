// Names, attributes and times.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "model/call.hpp"

namespace model {
namespace {

constexpr time_t kMark = 1'234'567'890;

std::string described(int result, const struct stat& found) {
  if (result != 0) return said(result);
  const bool marked = found.st_mtim.tv_sec == kMark;
  return " size " + std::to_string(found.st_size) + " links " + std::to_string(found.st_nlink) + " mode " +
         std::to_string(found.st_mode) + (marked ? " marked" : "");
}

std::string op_stat(Call& call) {
  struct stat found{};
  switch (call.next() % 4) {
    case 0: {
      const int fd = call.fd();
      const int result = ::fstat(fd, &found);
      return described(result, found);
    }
    case 1: {
      const auto name = call.name();
      const int result = ::stat(name.c_str(), &found);
      return described(result, found);
    }
    case 2: {
      const auto name = call.name();
      const int result = ::fstatat(AT_FDCWD, name.c_str(), &found, AT_SYMLINK_NOFOLLOW);
      return described(result, found);
    }
    default: {
      const auto name = call.name();
      struct statx more{};
      const int result = ::statx(AT_FDCWD, name.c_str(), 0, STATX_BASIC_STATS, &more);
      return result != 0 ? said(result) : " size " + std::to_string(more.stx_size);
    }
  }
}

std::string op_names(Call& call) {
  const auto which = call.next() % 5;
  const auto one = call.name();
  if (which < 2) return said(which == 0 ? ::unlink(one.c_str()) : ::unlinkat(AT_FDCWD, one.c_str(), 0));
  const auto two = call.name();
  if (which == 2) return said(::link(one.c_str(), two.c_str()));
  if (which == 3)
    return said(::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, two.c_str(),
                            call.pick<unsigned>({0, RENAME_NOREPLACE, RENAME_EXCHANGE})));
  return said(::rename(one.c_str(), two.c_str()));
}

std::string op_times(Call& call) {
  const timespec times[2] = {{kMark, 5}, {kMark, 7}};
  if (call.next() % 2 == 0) return said(::futimens(call.fd(), times));
  return said(::utimensat(AT_FDCWD, call.name().c_str(), times, 0));
}

// Which of a file's times something changes: longer after the last look than a tick of the kernel's clock.
std::string op_changes(Call& call) {
  const int fd = call.fd();
  const auto which = call.next() % 8;
  struct stat before{};
  struct stat after{};
  if (::fstat(fd, &before) != 0) return said(-1);
  ::usleep(11'000);
  long result = 0;
  char room[100] = "bytes";
  if (which == 0) result = ::pwrite(fd, room, 50, call.offset());
  if (which == 1) result = ::pread(fd, room, 50, call.offset());
  if (which == 2) result = ::write(fd, room, 0);
  if (which == 3) result = ::ftruncate(fd, before.st_size + static_cast<off_t>(call.next() % 2));
  if (which == 4) result = ::fsync(fd);
  if (which == 5) result = ::fchmod(fd, before.st_mode & 07777);
  if (which == 6) result = ::fchown(fd, before.st_uid, before.st_gid);
  if (which == 7) result = ::lseek(fd, 0, SEEK_END);
  auto text = " kind " + std::to_string(which) + said(result);
  if (::fstat(fd, &after) != 0) return text + said(-1);
  const auto differ = [](const timespec& one, const timespec& two) {
    return one.tv_sec != two.tv_sec || one.tv_nsec != two.tv_nsec;
  };
  text += differ(before.st_mtim, after.st_mtim) ? " modified" : "";
  return text + (differ(before.st_ctim, after.st_ctim) ? " changed" : "");
}

std::string op_mode(Call& call) {
  const auto mode = call.pick<mode_t>({0644, 0444, 04755, 0600});
  return said(call.next() % 2 == 0 ? ::fchmod(call.fd(), mode) : ::chmod(call.name().c_str(), mode));
}

// A name for what may have none, or another one.
std::string op_name_of(Call& call) {
  const auto path = "/proc/self/fd/" + std::to_string(call.fd());
  return said(::linkat(AT_FDCWD, path.c_str(), AT_FDCWD, call.name().c_str(), AT_SYMLINK_FOLLOW));
}

// The folder in which some of the files are.
std::string op_folder(Call& call) {
  const auto which = call.next() % 4;
  if (which == 0) return said(::rename("d", "e"));
  if (which == 1) return said(::rename("e", "d"));
  if (which == 2) return said(::renameat2(AT_FDCWD, "d", AT_FDCWD, "e", RENAME_EXCHANGE));
  return said(::mkdir("d", 0755));
}

std::string op_descriptor_of_path(Call& call) {
  const int fd = ::open(call.name().c_str(), O_PATH);
  if (fd < 0) return said(-1);
  struct stat found{};
  char room[10];
  auto text = said(::fstat(fd, &found)) + " size " + std::to_string(found.st_size);
  text += said(::read(fd, room, sizeof room));
  ::close(fd);
  return text;
}

constexpr Named kTable[] = {
    {"stat", op_stat},       {"stat", op_stat},
    {"names", op_names},     {"times", op_times},
    {"changes", op_changes}, {"changes", op_changes},
    {"mode", op_mode},       {"name of", op_name_of},
    {"folder", op_folder},   {"descriptor of path", op_descriptor_of_path},
};

}  // namespace

std::span<const Named> names() { return kTable; }

}  // namespace model
