// The buffer of a run: which one, what an earlier run left in it, and what becomes of it in the end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/environment.hpp"
#include "config/settings.hpp"
#include "engine/status.hpp"
#include "tools/forebay/run/counted.hpp"
#include "tools/forebay/run/lock.hpp"

namespace forebay {

struct BufferChoice {
  std::string name;
  bool kept = false;  // somebody gave it its name: it stays when the run ends
};

// The one that the settings name; else one for this node and job (Slurm, or whatever started this process as
// a rank of an MPI program); else one for this run.
BufferChoice choose_buffer(const Settings& settings, const Environment& environment);

// Is it such a name as a run gives to a buffer of its own?
bool is_name_of_run(std::string_view name);

// What a run found that an earlier one had left.
struct Leftover {
  std::string buffer;
  std::uint64_t carried = 0;  // bytes that are home now
  std::size_t files = 0;
  std::uint64_t left = 0;  // bytes that are not
  std::string why{};
};

// How the buffer is left.
struct Ending {
  std::optional<BufferStatus> status{};  // nothing: no buffer was made
  bool detached = false;                 // what is unsaved is carried home in the background
  bool reports = true;                   // false: other ranks of the job go on, the last one reports
  Counted before{};                      // of the buffer, when the first of those it reports on began
  bool removed = false;
  // Who carried home in the background has not left yet: the buffer is removed when it has, by
  // end_detached().
  bool removed_later = false;
  std::string trouble{};              // why something did not go home
  std::vector<std::string> unseen{};  // what the POSIX door noted: "./a.out is linked statically"
};

class RunBuffer {
 public:
  // Joins the other runs on the buffer that `settings` (resolved paths) name.
  static Result<RunBuffer> join(const Settings& settings, bool kept);

  // Carries home what runs that were killed left unsaved, here and in the buffers of other runs, and removes
  // the latter; also those of runs on other nodes whose processes here have ended. Home must be right before
  // the command starts. What is counted from here on is the run's.
  std::vector<Leftover> recover_leftovers();

  // After the command: what is unsaved goes home, or will (`on_close: detach`), and the buffer goes if it is
  // clean, this run's own and the last one's.
  Ending end();
  // After an end() that says `detached` or `removed_later`, in a process that nobody waits for.
  void end_detached();

 private:
  RunBuffer(Settings settings, std::optional<RunLock> lock)
      : settings_(std::move(settings)), lock_(std::move(lock)) {}
  void recover_of_other_nodes(std::vector<Leftover>& all) const;
  [[nodiscard]] bool goes_on_without_us() const;
  // True when it is gone.
  bool remove_if_clean();
  // The rest of one that is gone, for who has it alone.
  bool forget();

  Settings settings_;
  std::optional<RunLock> lock_;  // none: the buffer is kept
  Counted before_{};             // of a buffer that is kept
};

}  // namespace forebay
