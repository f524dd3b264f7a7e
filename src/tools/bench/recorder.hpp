// Where the time of a kernel goes.
//
// A kernel brackets each call in timed() or transfer(), and what belongs to the suite and not to the program
// it stands for (making data, checking it) in untimed(). Whatever is in no bracket is the kernel's own cost,
// and is reported as such. One thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tools/bench/job.hpp"
#include "tools/bench/spans.hpp"
#include "tools/bench/world.hpp"

namespace forebay::kernels {

struct Iteration {
  std::string name;
  double seconds;
  std::uint64_t bytes;  // of this rank
};

// A line of /proc/self/status, in bytes: "VmHWM:", "RssAnon:".
double process_memory(std::string_view name);

class Recorder {
 public:
  Recorder(const Job& job, const World& world) : job_(job), world_(world) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Together with all ranks; spans count from here.
  void begin();
  // After the last close. Tells `forebay bench`, which looks how long the bytes take from here.
  void end();

  template <class Call>
  auto timed(Phase phase, Call&& call) {
    const Bracket bracket(*this, phase);
    return std::forward<Call>(call)();
  }
  // A call that moves `bytes`. With the null target it is not made.
  template <class Call>
  void transfer(Phase phase, std::uint64_t bytes, Call&& call) {
    bytes_ += bytes;
    const auto number = operations_++;
    const Bracket bracket(*this, phase);
    if (job_.null || (job_.plant == "dropped" && number == 1)) return;
    if (job_.plant == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::forward<Call>(call)();
  }
  template <class Call>
  auto untimed(Call&& call) {
    const Pause pause(*this);
    return std::forward<Call>(call)();
  }
  // Waiting, as a program does whose work runs on an accelerator.
  void compute(double seconds);
  // Synchronises the ranks: what the program stands for would do it too, so the wait is counted under
  // `phase`.
  void barrier(Phase phase) {
    timed(phase, [&] { world_.barrier(); });
  }

  void progress(double done) const;  // 0 to 1
  // What was observed and moved since the last one ended, or since the beginning.
  void end_iteration(std::string name);
  // Counted since begin(), without what is untimed.
  [[nodiscard]] double now() const { return since_begin() - untimed_; }

  [[nodiscard]] double seconds(Phase phase) const { return sums_[static_cast<std::size_t>(phase)]; }
  // What the program waited for its files.
  [[nodiscard]] double observed() const;
  [[nodiscard]] double total() const { return total_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t operations() const { return operations_; }
  [[nodiscard]] const std::vector<Span>& spans() const { return spans_.all(); }
  [[nodiscard]] double began_at() const;  // by the machine's clock
  // Of memory that is this process's own, the most at the beginning and at the end.
  [[nodiscard]] double own_memory() const { return own_memory_; }

  // This rank and others of the group transfer one after the other: the time of one is not that of all.
  void take_turns(std::uint64_t group) { turns_with_ = static_cast<double>(group); }
  [[nodiscard]] double turns_with() const { return turns_with_; }  // negative: with nobody
  // What a reader of the figures must know.
  void remark(std::string text) { remark_ = std::move(text); }
  [[nodiscard]] const std::string& remark() const { return remark_; }
  [[nodiscard]] const std::vector<Iteration>& iterations() const { return iterations_; }

 private:
  using Clock = std::chrono::steady_clock;

  class Bracket {
   public:
    Bracket(Recorder& recorder, Phase phase)
        : recorder_(recorder), phase_(phase), begin_(recorder.since_begin()) {}
    Bracket(const Bracket&) = delete;
    Bracket& operator=(const Bracket&) = delete;
    ~Bracket() { recorder_.add(phase_, begin_, recorder_.since_begin()); }

   private:
    Recorder& recorder_;
    Phase phase_;
    double begin_;
  };
  class Pause {
   public:
    explicit Pause(Recorder& recorder) : recorder_(recorder), begin_(recorder.since_begin()) {}
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    ~Pause() { recorder_.untimed_ += recorder_.since_begin() - begin_; }

   private:
    Recorder& recorder_;
    double begin_;
  };

  [[nodiscard]] double since_begin() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  void add(Phase phase, double begin, double end);
  void look_at_memory();
  void tell(const std::string& line) const;

  const Job& job_;
  const World& world_;
  Clock::time_point begin_ = Clock::now();
  std::array<double, kPhaseNames.size()> sums_{};
  double untimed_ = 0;
  double total_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t operations_ = 0;
  Spans spans_;
  double own_memory_ = 0;
  double turns_with_ = -1;
  std::string remark_;
  std::vector<Iteration> iterations_;
  double observed_before_ = 0;  // this iteration
  std::uint64_t bytes_before_ = 0;
};

}  // namespace forebay::kernels
