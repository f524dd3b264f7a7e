// When bytes go home: in the background as they ripen, and at once when somebody waits for them.
//
// One planning thread a process claims what is ripe and hands shipments to the crew. It sleeps without a
// timeout when nothing is unsaved. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/error.hpp"
#include "config/settings.hpp"
#include "engine/crew.hpp"
#include "engine/dirty_filter.hpp"
#include "engine/drain.hpp"
#include "policy/ripeness.hpp"

namespace forebay {

class Drainer {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  Drainer(Core& core, Crew& crew) : core_(core), crew_(crew), drain_(core) {}
  Drainer(const Drainer&) = delete;
  Drainer& operator=(const Drainer&) = delete;
  ~Drainer() { stop(); }

  // False: the system has no thread for it, and nothing goes home but what somebody waits for. May be called
  // again.
  bool start();
  // Ends the thread, so that nothing more is sent but what somebody waits for. False: it is still in a call
  // by `until`, and goes on by itself: what it uses must be kept for it.
  bool stop(std::optional<TimePoint> until = std::nullopt);
  [[nodiscard]] bool running() const { return running_.load(std::memory_order_relaxed); }

  // A file this process may drain from now on.
  void add(std::shared_ptr<HomeFile> home, const FileSettings& settings);
  // Carries home through `other` what went through `one`.
  void exchange(const HomeFile& one, std::shared_ptr<HomeFile> other);
  // No longer open here: forgotten as soon as nothing of it is unsaved.
  void release(std::uint32_t file);
  // Are as many files kept open after their close as limits.descriptors allows?
  [[nodiscard]] bool crowded();

  // Something was staged that may be ripe, or will be.
  void kick() {
    if (kicked_.load(std::memory_order_relaxed) == kNotKicked) wake(kStaged);
  }
  // Does somebody wait for bytes of ours that he cannot carry himself (kFileWanted)? Then they are ripe.
  void look_for_wishes();
  // Room is short: everything unsaved is ripe until further notice.
  void press();

  // Returns when what was unsaved in [first, last] at the call is home. Works also after stop(). ETIMEDOUT:
  // `until` has come; or, without it, home has been silent for limits.home_wait (home_wait.hpp).
  Status flush(const std::shared_ptr<HomeFile>& home, std::uint64_t first, std::uint64_t last,
               std::optional<TimePoint> until = std::nullopt);
  // Every file this process knows, or those with that `on_close`. A home that was silent over one file is not
  // waited for again over the next.
  Status flush_all(std::optional<TimePoint> until = std::nullopt, std::optional<OnClose> only = std::nullopt);
  [[nodiscard]] bool any_unsaved(OnClose of);

  // Takes over the unsaved bytes of files that no living process has open; returns how many files. Opens them
  // at home.
  std::size_t adopt_orphans();
  // Are there any?
  [[nodiscard]] bool any_orphan();
  // How they are to be adopted when this thread finds that there is room for more of them.
  void on_orphans(std::function<void()> adopt) { adopt_ = std::move(adopt); }

  void pause(bool paused);
  // One file, until it is closed here: only pressure and those who wait for its bytes carry them home.
  void pause(std::uint32_t file, bool paused);
  // While a file is held, here, the background begins no write of it, whatever presses; when this has
  // returned none is under way. Holds add up. Both say whether the file was, or is, not held otherwise.
  bool hold(std::uint32_t file);
  bool let_go(std::uint32_t file);
  // From now on the file is one with `on_close: detach`.
  void detach(std::uint32_t file);

 private:
  struct Target {
    std::shared_ptr<HomeFile> home;
    DrainTrigger trigger;
    OnClose on_close;
    bool released = false;
    bool paused = false;
  };
  enum Kick : int { kNotKicked, kStaged, kUrgent };
  void run();
  bool orphans_may_come();
  [[nodiscard]] bool is_orphan(std::uint32_t file);
  void close_aside(std::shared_ptr<HomeFile> home);
  void wake(Kick wanted);
  // Ships what is ripe of one file; returns when to look again.
  TimePoint tend(const Target& target, bool pressed);
  TimePoint tend_unless_held(const Target& target, bool pressed);
  // Those of one file that should go now; the rest should be looked at again in a while.
  [[nodiscard]] std::vector<UnsavedBlock> ripe_blocks(
      const std::vector<UnsavedBlock>& blocks, const Ripeness& ripeness,
      const std::function<void(std::chrono::milliseconds)>& again_in) const;
  [[nodiscard]] std::vector<std::shared_ptr<HomeFile>> homes(std::optional<OnClose> only);
  void ship_in_background(const std::shared_ptr<Shipment>& shipment);
  Status flush_within(const std::shared_ptr<HomeFile>& home, std::uint64_t first, std::uint64_t last,
                      HomeWait& wait);
  Status flush_once(const std::shared_ptr<HomeFile>& home, const std::vector<UnsavedBlock>& blocks,
                    std::vector<std::uint64_t>& busy, HomeWait& wait);

  Core& core_;
  Crew& crew_;
  Drain drain_;
  std::atomic<Kick> kicked_ = kNotKicked;
  std::atomic<bool> running_ = false;
  std::function<void()> adopt_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::uint32_t, Target> targets_;  // guarded by mutex_
  unsigned under_way_ = 0;                   // guarded by mutex_: shipments of the background
  std::multiset<std::uint32_t> shipping_;    // guarded by mutex_: the files of those
  std::multiset<std::uint32_t> holds_;       // guarded by mutex_
  std::optional<std::uint32_t> tended_;      // guarded by mutex_: the file that is being looked at
  unsigned released_ = 0;                    // guarded by mutex_: targets that are
  bool orphans_wait_ = false;                // guarded by mutex_: for descriptors
  bool stopping_ = false;                    // guarded by mutex_
  bool ended_ = false;                       // guarded by mutex_: the thread
  bool paused_ = false;                      // guarded by mutex_
  TimePoint pressed_until_{};                // guarded by mutex_
  std::thread thread_;
};

}  // namespace forebay
