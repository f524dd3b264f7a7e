// A process's membership of a node's buffer. The way into the engine for every door.
//
// Thread-safe. Detaching carries this process's unsaved bytes home first, unless told otherwise.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "config/settings.hpp"
#include "engine/attach.hpp"
#include "engine/batches.hpp"
#include "engine/core.hpp"
#include "engine/crew.hpp"
#include "engine/drainer.hpp"
#include "engine/fetch.hpp"
#include "engine/file.hpp"
#include "engine/mover.hpp"
#include "engine/node_log.hpp"
#include "engine/passed.hpp"
#include "engine/stage.hpp"

namespace forebay {

struct AttachOptions {
  bool create = true;      // ENOENT instead of making the buffer
  bool background = true;  // drain, move and look for orphans without being asked
  // The background begins with the first file: a process with threads pays for them in every system call.
  bool idle_at_first = false;
};

// How to look at a file at home: by asking, or at what its open brought along (home_stamps.hpp).
enum class Look { kAsk, kJustOpened };

class Buffer {
 public:
  // Joins the buffer that the settings (loaded, not resolved) name, making it if need be. What dead processes
  // left is put right. ENOSPC: a tier does not fit where it should lie. EBADMSG, EPROTO: what lies there is
  // damaged or of another version.
  static Result<std::unique_ptr<Buffer>> attach(const Settings& settings, AttachOptions options = {});
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();
  // Leaves, if that was not done. Where home has not let go of all threads by then, what they use stays as it
  // is until the process ends: the membership too, so that nobody takes what they are writing home.
  static void operator delete(Buffer* buffer, std::destroying_delete_t);
  // Its counterparts: of one whose construction failed, too.
  [[gnu::noinline]] static void* operator new(std::size_t size);
  [[gnu::noinline]] static void operator delete(void* memory);

  // `flags` as for open(2). `adjust` may change the settings that path and configuration give.
  Result<std::shared_ptr<File>> open(const std::string& path, int flags, mode_t mode = 0666,
                                     const std::function<void(FileSettings&)>& adjust = {});

  // The same for a file that the caller has open as `fd`, which stays the caller's: it needs no name any
  // more, and no permission to be opened again. Of `flags` the access mode and O_TRUNC count. `look`: was it
  // opened just now, so that the system knows what home says of it?
  Result<std::shared_ptr<File>> open_descriptor(int fd, int flags, Look look,
                                                const std::function<void(FileSettings&)>& adjust = {});

  // A file that lost its last name, before or after this call: what is unsaved of it goes nowhere any more.
  void unlinked(const HomeIdentity& identity);

  // Everything this process has unsaved, and what nobody living looks after. ETIMEDOUT: so much time has
  // passed in all; or, without a patience, home has been silent for limits.home_wait.
  Status drain(std::optional<std::chrono::nanoseconds> patience = std::nullopt);
  void pause_drain(bool paused) { drainer_.pause(paused); }

  // Leaves, carrying home what must be. Called by the destructor; an error names what stayed behind. Does not
  // wait for a home that has been silent for limits.home_wait.
  Status detach();

  // Puts right what the dead left and takes over their unsaved bytes. Returns how many files those are in.
  std::size_t recover();
  // The same in the background, but for the bytes, which are left to a Carrier. False: not through by
  // `until`, because home does not answer.
  bool put_right(std::chrono::steady_clock::time_point until);

  // What attaching carried home from the journals of a lost node. Nothing unless this process made the
  // buffer.
  [[nodiscard]] const ReplayReport& replayed() const { return replayed_; }

  // Not any more after detach(), and not in a forked child.
  [[nodiscard]] bool attached() const {
    return !detached_.load(std::memory_order_relaxed) && core_.peers.self() != 0;
  }
  [[nodiscard]] Core& core() { return core_; }

  // A door left something to home: counted with its reason, for `forebay status` and the log.
  void note_passed(std::string_view why) { passed_.note(why); }

 private:
  friend class File;
  Buffer(Joined joined, AttachOptions options);
  Status replay();
  // What is wrong in the buffer itself. What needs home comes after that.
  void put_right();
  void finish_at_home();
  // What the dead left at home, by a thread of its own, which home may hold. It adopts if this process has a
  // background.
  std::future<void> finish_aside();
  void begin_background();
  [[nodiscard]] Result<HomeStamp> look_at(int fd, const std::string& path, Look look);
  Result<std::shared_ptr<File>> enter(Fd home, const std::string& path, int flags, bool writable, Look look,
                                      const std::function<void(FileSettings&)>& adjust);
  Status meet_home(std::uint32_t file, int fd, const std::string& path, Look look);
  Status agree_on_bypass(const std::shared_ptr<HomeFile>& home, bool shared, FileSettings& settings);
  void closed(const HomeFile& home);
  [[nodiscard]] bool has_open(std::uint32_t file);  // by any handle of this process
  void end_wishes(std::uint32_t file);
  void remove_scratch();
  Status leave();
  void forget_unlinked(std::uint32_t file, Key key);
  // What is not kept of files that nobody has open.
  void drop_closed();

  Core core_;
  const AttachOptions options_;
  Crew crew_;
  Crew readers_;
  Crew finisher_{1};
  Drainer drainer_;
  Mover mover_;
  Stager stager_;
  Fetcher fetcher_;
  Drain drain_;
  Batches batches_;
  NodeLog node_log_;
  ReplayReport replayed_;
  PassedNotes passed_;
  std::mutex mutex_;
  std::map<std::uint32_t, unsigned> open_files_;  // guarded by mutex_: handles by file number
  std::mutex beginning_;
  std::atomic<bool> begun_ = false;  // the background, all of it
  bool said_no_threads_ = false;     // guarded by beginning_
  std::atomic<bool> detached_ = false;
  std::atomic<bool> stuck_ = false;  // threads are left that did not come back from home
};

}  // namespace forebay
