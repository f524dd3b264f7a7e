#include "tools/forebay/run/report_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace forebay {
namespace {

constexpr std::string_view kByAnother = "{\"reported_by_another\":true}\n";

// What is no regular file (a pipe) is neither emptied nor looked at.
bool holds_something(const Fd& file) {
  struct stat found{};
  return ::fstat(file.get(), &found) == 0 && S_ISREG(found.st_mode) && found.st_size != 0;
}

Status write_all(const Fd& file, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail_errno(errno, "write", "the report");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<Fd> ReportFile::open() const {
  Fd file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!file) return fail_errno(errno, "write the report to", path_);
  (void)::flock(file.get(), LOCK_EX);
  return file;
}

Status ReportFile::check() const {
  if (path_.empty()) return {};
  const auto file = open();
  return file ? Status{} : Status(std::unexpected(file.error()));
}

void ReportFile::empty() const {
  if (path_.empty()) return;
  if (const auto file = open(); file && holds_something(*file)) (void)::ftruncate(file->get(), 0);
}

Status ReportFile::write(const std::string& text) const {
  if (path_.empty()) return {};
  FOREBAY_ASSIGN(const auto file, open());
  if (holds_something(file) && ::ftruncate(file.get(), 0) != 0)
    return fail_errno(errno, "write the report to", path_);
  return write_all(file, text);
}

Status ReportFile::leave_to_another() const {
  if (path_.empty()) return {};
  FOREBAY_ASSIGN(const auto file, open());
  return holds_something(file) ? Status{} : write_all(file, kByAnother);
}

}  // namespace forebay
