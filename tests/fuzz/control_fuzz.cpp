// A control file with bytes changed at will, of a buffer whose process was killed: looking at it and
// recovering it neither crash nor hang, and no byte arrives at home that was not acknowledged.
//
// An input is a list of changes of four bytes each: where (24 bits, modulo the size) and what (8 bits, by
// exclusive or).
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "engine/status.hpp"
#include "os/private_file.hpp"
#include "support/place.hpp"

namespace {

using namespace forebay;
using forebay::testing::Place;

void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "violated: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// A buffer with unsaved bytes of two files, as its killed process left it.
class DeadBuffer {
 public:
  DeadBuffer()
      : place_(
            {.stack = forebay::testing::Stack::kMemory,
             .overrides =
                 "limits.lock_wait=100ms limits.home_wait=100ms buffer.max_files=16 limits.open_files=16"}) {
    for (const char* name : {"a", "b"}) reset_home(name);
    const pid_t child = ::fork();
    if (child == 0) die();
    int status = 0;
    require(::waitpid(child, &status, 0) == child && WIFSIGNALED(status), "the buffer was left behind");
    control_ = Place::slurp(place_.control("control"));
    sparse_ = Place::slurp(place_.control("sparse"));
    memory_ = Place::slurp(memory_file());
  }

  void try_with(const std::uint8_t* changes, std::size_t size) {
    std::string control = control_;
    for (std::size_t i = 0; i + 4 <= size; i += 4) {
      const auto at = (std::size_t{changes[i]} << 16 | std::size_t{changes[i + 1]} << 8 | changes[i + 2]) %
                      control.size();
      control[at] = static_cast<char>(control[at] ^ changes[i + 3]);
    }
    put(place_.control("control"), control);
    put(place_.control("sparse"), sparse_);
    put(memory_file(), memory_);
    for (const char* name : {"a", "b"}) reset_home(name);

    (void)look_at_buffer(place_.settings());
    if (auto buffer = Buffer::attach(place_.settings(), {.create = false, .background = false}); buffer) {
      (*buffer)->recover();
      (void)(*buffer)->drain(std::chrono::milliseconds(200));
    } else {
      require(!buffer.error().message.empty(), "a refusal has words");
    }
    for (const char* name : {"a", "b"}) {
      const auto home = Place::slurp(place_.home(name));
      require(home.size() == kSize, "home keeps its size");
      for (std::size_t i = 0; i < home.size(); ++i) {
        require(home[i] == 'o' || home[i] == staged(i), "home has old or acknowledged bytes");
      }
    }
  }

 private:
  static constexpr std::size_t kSize = 30'000;
  static char staged(std::size_t i) {
    const bool written = i % 7000 < 3000 || (i < 400 && i % 2 == 0);
    return written ? static_cast<char>('p' + i % 10) : 'o';
  }

  [[noreturn]] void die() const {
    auto buffer = place_.attach({.background = false});
    std::vector<std::shared_ptr<File>> open;  // until the end: closing would carry it home
    for (const char* name : {"a", "b"}) {
      const auto file = buffer->open(place_.home(name), O_RDWR).value();
      for (std::size_t i = 0; i < kSize; ++i) {
        const char c = staged(i);
        if (c != 'o' && !file->write(i, std::as_bytes(std::span(&c, 1)))) ::_exit(1);
      }
      open.push_back(file);
    }
    ::kill(::getpid(), SIGKILL);
    ::_exit(1);
  }
  void reset_home(const char* name) const {
    // In place: another inode would be another file.
    const Fd fd(::open(place_.home(name).c_str(), O_RDWR | O_CREAT, 0600));
    const std::string old(kSize, 'o');
    require(fd && ::ftruncate(fd.get(), kSize) == 0 && write_fully(fd.get(), old.data(), kSize, 0),
            "home can be reset");
  }
  static void put(const std::string& path, const std::string& bytes) {
    const Fd fd(::open(path.c_str(), O_RDWR | O_CREAT, 0600));
    require(fd && ::ftruncate(fd.get(), static_cast<off_t>(bytes.size())) == 0 &&
                write_fully(fd.get(), bytes.data(), bytes.size(), 0),
            "the image can be put in place");
  }
  [[nodiscard]] std::string memory_file() const {
    return place_.memory("forebay-" + std::to_string(::geteuid()) + "/default/memory.data");
  }

  Place place_;
  std::string control_, sparse_, memory_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  set_log_level(LogLevel::Off);
  static DeadBuffer dead;
  dead.try_with(data, size);
  return 0;
}
