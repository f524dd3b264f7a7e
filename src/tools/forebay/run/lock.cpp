#include "tools/forebay/run/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include "base/format.hpp"
#include "os/private_file.hpp"

namespace forebay {
namespace {

constexpr std::string_view kSuffix = ".run";
constexpr char kKept = '\t';
constexpr std::size_t kMostNotes = 128u << 10;
constexpr auto kPause = std::chrono::milliseconds(5);

// Is it still what lies under its name? The last of the runs before may have removed it.
bool still_there(const Fd& file) {
  struct stat found{};
  return ::fstat(file.get(), &found) == 0 && found.st_nlink != 0;
}

}  // namespace

Result<RunLock> RunLock::join(const std::string& directory, const std::string& name,
                              std::chrono::nanoseconds patience) {
  FOREBAY_ASSIGN(auto folder, open_private_directory(directory));
  const auto file_name = name + std::string(kSuffix);
  for (const auto until = std::chrono::steady_clock::now() + patience;;) {
    FOREBAY_ASSIGN(auto file, open_private_file(folder, file_name, Create::kIfMissing));
    const bool first = ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 && still_there(file);
    if (first && ::ftruncate(file.get(), 0) != 0) return fail_errno(errno, "empty", file_name);
    const bool locked = ::flock(file.get(), LOCK_SH | LOCK_NB) == 0;
    if (!locked && errno != EWOULDBLOCK && errno != EINTR) return fail_errno(errno, "lock", file_name);
    if (locked && still_there(file)) {
      RunLock lock(std::move(folder), file_name, std::move(file));
      lock.first_ = first;
      return lock;
    }
    if (std::chrono::steady_clock::now() >= until)
      return fail(ETIMEDOUT, format_text("buffer {} is being cleared up by another process", name));
    std::this_thread::sleep_for(kPause);
  }
}

Result<RunLock> RunLock::take_abandoned(const std::string& directory, const std::string& name) {
  FOREBAY_ASSIGN(auto folder, open_private_directory(directory, Create::kNever));
  const auto file_name = name + std::string(kSuffix);
  FOREBAY_ASSIGN(auto file, open_private_file(folder, file_name, Create::kNever));
  RunLock lock(std::move(folder), file_name, std::move(file));
  if (!lock.become_the_last()) return fail(EAGAIN, format_text("buffer {} is in use", name));
  if (!still_there(lock.file_)) return fail(ENOENT, format_text("buffer {} is gone", name));
  return lock;
}

bool RunLock::become_the_last() { return ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0; }

std::vector<std::string> RunLock::lines() const {
  struct stat found{};
  if (::fstat(file_.get(), &found) != 0) return {};
  std::string text(std::min(static_cast<std::size_t>(found.st_size), kMostNotes), '\0');
  const auto size = read_fully(file_.get(), text.data(), text.size(), 0);
  std::istringstream read(text.substr(0, size.value_or(0)));
  std::vector<std::string> all;
  for (std::string line; std::getline(read, line);) all.push_back(line);
  return all;
}

void RunLock::keep(const std::string& lines) {
  std::istringstream read(lines);
  std::string text;
  for (std::string line; std::getline(read, line);) text += kKept + line + '\n';
  // The POSIX door of a run that has joined meanwhile may append too.
  if (text.empty() || ::fcntl(file_.get(), F_SETFL, O_APPEND) != 0) return;
  [[maybe_unused]] const auto written = ::write(file_.get(), text.data(), text.size());
}

std::string RunLock::kept() const {
  std::string text;
  for (const auto& line : lines()) {
    if (line.starts_with(kKept)) text += line.substr(1) + '\n';
  }
  return text;
}

std::vector<std::string> RunLock::notes() const {
  std::set<std::string> all;
  for (const auto& line : lines()) {
    if (!line.starts_with(kKept)) all.insert(line);
  }
  return {all.begin(), all.end()};
}

void RunLock::remove() { ::unlinkat(directory_.get(), name_.c_str(), 0); }

bool is_marked_by_run(const std::string& directory, const std::string& name) {
  return ::access((directory + "/" + name + std::string(kSuffix)).c_str(), F_OK) == 0;
}

std::vector<std::string> marked_by_runs(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
    const auto name = entry.path().filename().string();
    if (name.ends_with(kSuffix)) names.push_back(name.substr(0, name.size() - kSuffix.size()));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace forebay
