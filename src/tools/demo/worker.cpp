#include "tools/demo/worker.hpp"

#include <random>
#include <thread>
#include <vector>

#include "base/format.hpp"

namespace forebay::demo {
namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<std::byte>;

// Stands for a computation on an accelerator: it takes its time but leaves the processor to others. What the
// state becomes differs for each process and step, so that a file in the wrong place is noticed.
void compute(Bytes& state, unsigned rank, unsigned step, std::chrono::nanoseconds takes) {
  const auto until = Clock::now() + takes;
  std::mt19937_64 random(rank * 1'000'003ULL + step);
  auto* const words = reinterpret_cast<std::uint64_t*>(state.data());
  for (std::size_t i = 0; i < state.size() / sizeof(std::uint64_t); ++i) words[i] = random();
  std::this_thread::sleep_until(until);
}

// Processes of one program write the checkpoint of a step when all of them have come to its end.
void wait_for_all(const Plan& plan, const Board& board, unsigned steps) {
  for (unsigned i = 0; i < plan.processes; ++i) {
    while (board.workers[i].computed.load() < steps)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

// Adds the time that `action` takes to `sum`.
template <class Action>
void timed(std::atomic<std::int64_t>& sum, Action&& action) {
  const auto before = now_ns();
  action();
  sum.fetch_add(now_ns() - before);
}

}  // namespace

std::string checkpoint_name(unsigned rank, unsigned step) {
  return format_text("step{:03}.rank{:02}", step, rank);
}

void work(const Plan& plan, unsigned rank, const std::string& folder, Board& board,
          const std::function<std::unique_ptr<Writer>()>& make_writer) {
  Bytes state(plan.size);
  while (board.start_ns.load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  auto& mine = board.workers[rank];
  std::unique_ptr<Writer> writer;
  timed(mine.observed_ns, [&] { writer = make_writer(); });
  for (unsigned step = 0; step < plan.checkpoints; ++step) {
    compute(state, rank, step, plan.compute);
    mine.computed.store(step + 1);
    wait_for_all(plan, board, step + 1);
    const auto path = folder + "/" + checkpoint_name(rank, step);
    timed(mine.observed_ns, [&] { writer->write(path, state); });
    mine.checkpoints.store(step + 1);
  }
  timed(mine.last_wait_ns, [&] { writer->finish(); });
  mine.observed_ns.fetch_add(mine.last_wait_ns.load());
  mine.ended_ns.store(now_ns() - board.start_ns.load());
}

}  // namespace forebay::demo
