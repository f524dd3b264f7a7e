// Forebay for C++ (17 and later): forebay.h with owners and exceptions. Header only.
//
//   forebay::Buffer buffer = forebay::Buffer::attach();
//   forebay::File file = buffer.open("/scratch/state", O_RDWR | O_CREAT);
//   file.write(data, size, 0);   // staged, at memory speed
//   compute();                   // meanwhile the bytes are carried home
//   file.close();                // home
//   buffer.detach();
//
// What each function promises is said in forebay.h; here is only what differs. A failure is a forebay::Error,
// thrown on this side of the C boundary. Objects are moved, not copied, and a moved-from or closed one is
// empty: it may be assigned to and destroyed, and any other use is an Error with EINVAL. Destructors close
// and detach, and drop errors: call close() and detach() to learn of them.
#pragma once

#include <forebay/forebay.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace forebay {
inline namespace v0 {

// A failure: an errno value and words that name the object and the action.
class Error : public std::runtime_error {
 public:
  Error(int code, const std::string& words) : std::runtime_error(words), code_(code) {}
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

// "key=value", as in docs/settings.md.
using Overrides = std::vector<std::string>;

enum class Hint {
  Normal = FOREBAY_HINT_NORMAL,
  Sequential = FOREBAY_HINT_SEQUENTIAL,
  Random = FOREBAY_HINT_RANDOM,
  WillNeed = FOREBAY_HINT_WILL_NEED,
  DontNeed = FOREBAY_HINT_DONT_NEED,
  Exclusive = FOREBAY_HINT_EXCLUSIVE,
};

enum class Scope { Process = FOREBAY_SCOPE_PROCESS, Node = FOREBAY_SCOPE_NODE };

// Stands for the buffer's own limit, limits.home_wait.
inline constexpr std::chrono::milliseconds usual_patience{-1};

namespace detail {

// The count of a call that succeeded; throws for one that did not.
template <class Count>
Count checked(Count result) {
  if (result < 0) throw Error(static_cast<int>(-result), forebay_error_message());
  return result;
}

class Strings {
 public:
  explicit Strings(const Overrides& from) {
    for (const auto& one : from) pointers_.push_back(one.c_str());
    pointers_.push_back(nullptr);
  }
  [[nodiscard]] const char* const* get() const { return pointers_.data(); }

 private:
  std::vector<const char*> pointers_;
};

struct Closer {
  void operator()(forebay_file* file) const noexcept { forebay_close(file); }
};
struct Detacher {
  void operator()(forebay_buffer* buffer) const noexcept { forebay_detach(buffer); }
};
struct TicketFreer {
  void operator()(forebay_ticket* ticket) const noexcept { forebay_ticket_free(ticket); }
};

}  // namespace detail

// A prefetch under way. Destroying it does not stop it.
class Ticket {
 public:
  Ticket() = default;
  explicit Ticket(forebay_ticket* owned) : handle_(owned) {}

  [[nodiscard]] bool done() const { return detail::checked(forebay_ticket_test(handle_.get())) == 1; }
  // How many bytes came.
  std::uint64_t wait(std::chrono::milliseconds patience = usual_patience) const {
    return static_cast<std::uint64_t>(detail::checked(forebay_ticket_wait(handle_.get(), patience.count())));
  }

 private:
  std::unique_ptr<forebay_ticket, detail::TicketFreer> handle_;
};

class File {
 public:
  File() = default;
  explicit File(forebay_file* owned) : handle_(owned) {}
  explicit operator bool() const { return handle_ != nullptr; }
  [[nodiscard]] forebay_file* handle() const { return handle_.get(); }

  // All of it, or an Error.
  void write(const void* data, std::size_t size, std::uint64_t offset) {
    const auto* bytes = static_cast<const std::byte*>(data);
    do {
      const auto taken = detail::checked(forebay_write(handle(), bytes, size, offset));
      bytes += taken;
      size -= static_cast<std::size_t>(taken);
      offset += static_cast<std::uint64_t>(taken);
    } while (size != 0);
  }
  // Returns where.
  std::uint64_t append(const void* data, std::size_t size) {
    return static_cast<std::uint64_t>(detail::checked(forebay_append(handle(), data, size)));
  }
  // How many bytes: fewer than asked for only at the end of the file.
  std::size_t read(void* data, std::size_t size, std::uint64_t offset) const {
    return static_cast<std::size_t>(detail::checked(forebay_read(handle(), data, size, offset)));
  }
  [[nodiscard]] std::uint64_t size() const {
    return static_cast<std::uint64_t>(detail::checked(forebay_size(handle())));
  }
  void truncate(std::uint64_t size) { detail::checked(forebay_truncate(handle(), size)); }
  void sync() { detail::checked(forebay_sync(handle())); }
  void drain() { detail::checked(forebay_drain(handle())); }
  void close() { detail::checked(forebay_close(handle_.release())); }

  Ticket prefetch(std::uint64_t offset, std::uint64_t length) {
    forebay_ticket* ticket = nullptr;
    detail::checked(forebay_prefetch(handle(), offset, length, &ticket));
    return Ticket(ticket);
  }
  void pin(std::uint64_t offset, std::uint64_t length) {
    detail::checked(forebay_pin(handle(), offset, length));
  }
  void unpin(std::uint64_t offset, std::uint64_t length) {
    detail::checked(forebay_unpin(handle(), offset, length));
  }
  void evict(std::uint64_t offset, std::uint64_t length) {
    detail::checked(forebay_evict(handle(), offset, length));
  }
  void hint(Hint hint, std::uint64_t offset = 0, std::uint64_t length = 0) {
    detail::checked(forebay_hint(handle(), static_cast<int>(hint), offset, length));
  }

 private:
  std::unique_ptr<forebay_file, detail::Closer> handle_;
};

// Outlives its files, best; those that outlive it answer with ENOTCONN.
class Buffer {
 public:
  // Empty texts stand for NULL.
  static Buffer attach(const std::string& config = {}, const std::string& name = {},
                       const Overrides& settings = {}) {
    forebay_buffer* buffer = nullptr;
    detail::checked(forebay_attach(config.empty() ? nullptr : config.c_str(),
                                   name.empty() ? nullptr : name.c_str(), detail::Strings(settings).get(),
                                   &buffer));
    return Buffer(buffer);
  }
  Buffer() = default;
  explicit Buffer(forebay_buffer* owned) : handle_(owned) {}
  explicit operator bool() const { return handle_ != nullptr; }
  [[nodiscard]] forebay_buffer* handle() const { return handle_.get(); }

  File open(const std::string& path, int flags, mode_t mode = 0666, const Overrides& settings = {}) {
    forebay_file* file = nullptr;
    detail::checked(
        forebay_open(handle(), path.c_str(), flags, mode, detail::Strings(settings).get(), &file));
    return File(file);
  }
  void drain(std::chrono::milliseconds patience = usual_patience) {
    detail::checked(forebay_drain_all(handle(), patience.count()));
  }
  [[nodiscard]] forebay_statistics statistics(Scope scope = Scope::Process) const {
    forebay_statistics statistics{};
    statistics.size = sizeof statistics;
    detail::checked(forebay_get_statistics(handle(), static_cast<int>(scope), &statistics));
    return statistics;
  }
  void detach() { detail::checked(forebay_detach(handle_.release())); }

 private:
  std::unique_ptr<forebay_buffer, detail::Detacher> handle_;
};

}  // namespace v0
}  // namespace forebay
