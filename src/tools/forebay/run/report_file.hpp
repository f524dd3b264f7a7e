// The file in which `--report` wants the report. Runs that share a buffer may have named the same one.
#pragma once

#include <string>

#include "base/error.hpp"
#include "os/fd.hpp"

namespace forebay {

class ReportFile {
 public:
  // Empty: no report is wanted, and nothing is done.
  explicit ReportFile(std::string path) : path_(std::move(path)) {}

  // Can it be written? Said before the command runs.
  [[nodiscard]] Status check() const;
  // Whoever looks at it while the command runs, or after the run was killed, finds no older report.
  void empty() const;
  [[nodiscard]] Status write(const std::string& text) const;
  // Says in it that another run of the same buffer reports, unless that one has done so already.
  [[nodiscard]] Status leave_to_another() const;

 private:
  // Locked against other runs, where that can be done.
  [[nodiscard]] Result<Fd> open() const;

  std::string path_;
};

}  // namespace forebay
