#include "door/posix/shim/before_exec.hpp"

#include <limits.h>
#include <string.h>

#include "door/posix/shim/by_name.hpp"
#include "door/posix/shim/unseen.hpp"

namespace forebay::posix {
namespace {

constexpr int kInherited = 32;  // numbers below it are looked at

// What is unsaved of the file that is about to be run, if it lies in a home.
bool drain_program(int at, const char* path, Search search) {
  Names file;
  const bool named = is_text(path) && (search == Search::kHere || strchr(path, '/') != nullptr);
  const auto* const there = named ? engine_for(at, path) : nullptr;
  if (there == nullptr || look_at(at, path, true, &file) != Kind::kFile) return false;
  const bool known = matters(there, file);
  (void)drained(there, file, at, path);
  return known;
}

// Will the program be seen? If not, and it seems to mean files of a home, that is noted.
bool will_be_seen(int at, const char* path, Search search, char* const* words, char* const* environment) {
  if (!are_texts(words) || !are_texts(environment)) return true;  // nothing will be started
  const bool means = mean_home(words);
  const bool loaded = engine.load(std::memory_order_acquire) != nullptr;
  if ((!loaded && !means) || !is_text(path)) return true;
  char found[PATH_MAX];
  if (search == Search::kInPath) {
    if (!find_program(path, found, sizeof found)) return true;
    path = found;
  }
  const char* const why = why_unseen(at, path, environment);
  if (why != nullptr && means) note_unseen(path, why);
  return why == nullptr;
}

// What this process has never used, but hands on. The child of a vfork has its parent's memory, and cannot
// find out.
void look_at_inherited() {
  if (in_vfork_child()) return;
  const int before = errno;
  for (int fd = 0; fd < kInherited; ++fd) {
    if (state_of(fd) != State::kUnknown) continue;
    const int flags = static_cast<int>(real.fcntl(fd, F_GETFD));
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) (void)buffered(fd);
  }
  errno = before;
}

bool nothing_to_do() { return !active.load(std::memory_order_relaxed) || thread.depth != 0; }

}  // namespace

bool before_exec(int at, const char* path, Search search, char* const* words, char* const* environment) {
  if (nothing_to_do()) return false;
  look_at_inherited();
  const bool known = drain_program(at, path, search);
  const bool seen = will_be_seen(at, path, search, words, environment);
  const auto* const there = engine.load(std::memory_order_acquire);
  // The child of a vfork leaves nothing of its parent's behind; but who cannot be seen finds its files at
  // home.
  if (there == nullptr || (in_vfork_child() && seen)) return known;
  const Crossing crossing;
  (void)there->drain_everything(seen ? 0 : 1);
  return known;
}

bool before_spawn(const char* path, Search search, char* const* words, char* const* environment) {
  if (nothing_to_do()) return false;
  look_at_inherited();
  const bool known = drain_program(AT_FDCWD, path, search);
  const bool seen = will_be_seen(AT_FDCWD, path, search, words, environment);
  const auto* const there = engine.load(std::memory_order_acquire);
  if (there == nullptr || seen) return known;
  const Crossing crossing;
  (void)there->drain_everything(1);
  return known;
}

}  // namespace forebay::posix
