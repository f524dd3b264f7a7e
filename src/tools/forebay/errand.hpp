// Joining a buffer to carry unsaved bytes home, with a person or a script watching.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/settings.hpp"
#include "engine/buffer.hpp"
#include "engine/carrier.hpp"
#include "engine/status.hpp"

namespace forebay {

class Errand {
 public:
  // Joins the buffer of loaded settings, and puts right what dead processes left, but for their bytes. Where
  // home does not answer that for limits.home_wait or `timeout`, the errand is stuck(). ENOENT: there is
  // none.
  static Result<Errand> join(const Settings& settings, std::chrono::nanoseconds timeout);

  // The buffer as it was just before joining: who died is forgotten by it.
  [[nodiscard]] const BufferStatus& before() const { return before_; }
  [[nodiscard]] Result<BufferStatus> look() const { return look_at_buffer(settings_); }
  [[nodiscard]] Buffer& buffer() const { return *buffer_; }

  // Carries the files home, showing what is left on a terminal, until all are through, `timeout` is over, or
  // nothing has moved for limits.home_wait.
  std::vector<Carrier::Outcome> carry(const std::vector<std::uint32_t>& files,
                                      std::chrono::nanoseconds timeout);

  // A call to home has not come back. Then this object lets go of the buffer without leaving it, which would
  // wait for home, and the process must be ended by end_now.
  [[nodiscard]] bool stuck() const { return stuck_; }

  Errand(Errand&&) noexcept = default;
  Errand& operator=(Errand&&) = delete;
  ~Errand();

 private:
  Errand(Settings settings, BufferStatus before, std::unique_ptr<Buffer> buffer)
      : settings_(std::move(settings)), before_(std::move(before)), buffer_(std::move(buffer)) {}

  Settings settings_;
  BufferStatus before_;
  std::unique_ptr<Buffer> buffer_;
  bool stuck_ = false;
};

// Goes on in a process that belongs to nobody; false in the one that began.
bool go_into_background();

// Ends the process at once, after what was said has gone out: for when an errand is stuck.
[[noreturn]] void end_now(int code);

// The files whose unsaved bytes should go home: all, or only those that nobody living carries home.
std::vector<std::uint32_t> files_to_carry(const BufferStatus& status, bool only_orphans);

}  // namespace forebay
