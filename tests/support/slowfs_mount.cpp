#include "support/slowfs_mount.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>

#include "support/places.hpp"

namespace forebay::testing {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

[[noreturn]] void give_up(const std::string& what) { throw std::runtime_error("slowfs: " + what); }

bool wait_until(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

std::string read_whole(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) give_up("cannot open " + path.string() + ": " + std::strerror(errno));
  std::string text(1 << 16, '\0');
  const ssize_t size = read(fd, text.data(), text.size());
  close(fd);
  text.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return text;
}

}  // namespace

bool SlowfsMount::available() { return access("/dev/fuse", R_OK | W_OK) == 0; }

SlowfsMount::SlowfsMount(const std::vector<std::string>& options, const std::filesystem::path& base) {
  std::string pattern = (base / "slowfs_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) give_up("cannot make " + pattern + ": " + std::strerror(errno));
  folder_ = pattern;
  source_ = folder_ / "source";
  mount_point_ = folder_ / "mount";
  std::filesystem::create_directory(source_);
  std::filesystem::create_directory(mount_point_);
  start(options);
  wait_until_mounted();
}

void SlowfsMount::start(const std::vector<std::string>& options) {
  std::vector<std::string> words = {built("src/tools/slowfs/slowfs"), "--foreground"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(source_);
  words.push_back(mount_point_);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) give_up(std::string("cannot fork: ") + std::strerror(errno));
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent) execv(arguments[0], arguments.data());
    _exit(127);
  }
}

void SlowfsMount::wait_until_mounted() {
  const auto stats = mount_point_ / ".slowfs" / "stats";
  bool died = false;
  const bool ready = wait_until([&] {
    died = waitpid(pid_, nullptr, WNOHANG) == pid_;
    return died || access(stats.c_str(), F_OK) == 0;
  });
  if (died) pid_ = -1;
  if (ready && !died) return;
  unmount();
  std::filesystem::remove_all(folder_);
  give_up(died ? "it ended before it was mounted" : "it was not mounted in time");
}

SlowfsMount::~SlowfsMount() {
  unmount();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

int SlowfsMount::try_control(const std::string& lines) {
  const int fd = open((mount_point_ / ".slowfs" / "control").c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const ssize_t written = write(fd, lines.data(), lines.size());
  const int error = written < 0 ? errno : 0;
  close(fd);
  return error;
}

void SlowfsMount::control(const std::string& lines) {
  if (const int error = try_control(lines); error != 0) give_up("'" + lines + "': " + std::strerror(error));
}

uint64_t SlowfsMount::stat(const std::string& kind, const std::string& figure) const {
  const std::string json = read_whole(mount_point_ / ".slowfs" / "stats");
  const size_t section = json.find("\"" + kind + "\":{");
  const size_t place = section == std::string::npos ? section : json.find("\"" + figure + "\":", section);
  if (place == std::string::npos || place > json.find('}', section)) {
    give_up("there is no figure " + kind + "." + figure);
  }
  return std::stoull(json.substr(place + figure.size() + 3));
}

bool SlowfsMount::wait_for_stat(const std::string& kind, const std::string& figure, uint64_t value) const {
  return wait_until([&] { return stat(kind, figure) >= value; });
}

int SlowfsMount::unmount() {
  if (pid_ < 0) return 0;
  int status = 0;
  kill(pid_, SIGTERM);
  if (!wait_until([&] { return waitpid(pid_, &status, WNOHANG) != 0; })) {
    umount2(mount_point_.c_str(), MNT_DETACH);
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  return status;
}

}  // namespace forebay::testing
