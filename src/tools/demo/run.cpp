#include "tools/demo/run.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "base/format.hpp"
#include "tools/demo/worker.hpp"

namespace forebay::demo {
namespace {

// The processes of a run, killed if they are not waited for.
class Crowd {
 public:
  Crowd() = default;
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd() {
    for (const auto pid : pids_) ::kill(pid, SIGKILL);
    for (const auto pid : pids_) ::waitpid(pid, nullptr, 0);
  }

  // `body` returns the exit status.
  void add(const std::function<int()>& body) {
    const auto parent = ::getpid();
    const auto pid = ::fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "cannot fork");
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      // Ctrl-C reaches the whole group; the parent decides what becomes of us.
      for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
      ::_exit(::getppid() == parent ? body() : 1);
    }
    pids_.push_back(pid);
  }
  // Takes away those that have ended well. One that has not: false.
  bool reap() {
    bool well = true;
    std::erase_if(pids_, [&](pid_t pid) {
      int status = 0;
      if (::waitpid(pid, &status, WNOHANG) != pid) return false;
      well = well && status == 0;
      return true;
    });
    return well;
  }
  [[nodiscard]] bool empty() const { return pids_.empty(); }

 private:
  std::vector<pid_t> pids_;
};

int guarded(Board::Worker& worker, const std::function<void()>& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    std::strncpy(worker.failure.data(), error.what(), worker.failure.size() - 1);
    return 1;
  }
}

std::string failure_of(const Board& board, unsigned processes) {
  for (unsigned i = 0; i < processes; ++i) {
    if (board.workers[i].failure[0] != 0)
      return format_text("process {}: {}", i, board.workers[i].failure.data());
  }
  return "a process ended before its work was done";
}

Figures figures_of(const Board& board, unsigned processes) {
  Figures sum;
  for (unsigned i = 0; i < processes; ++i) {
    const auto& worker = board.workers[i];
    sum.observed += std::chrono::nanoseconds(worker.observed_ns.load());
    sum.last_wait += std::chrono::nanoseconds(worker.last_wait_ns.load());
    sum.total = std::max(sum.total, std::chrono::nanoseconds(worker.ended_ns.load()));
  }
  sum.observed /= processes;
  sum.last_wait /= processes;
  return sum;
}

}  // namespace

volatile std::sig_atomic_t interrupted_by = 0;

Figures run(const Plan& plan, const std::string& folder,
            const std::function<std::unique_ptr<Writer>()>& make_writer, const OnProgress& on_progress) {
  const SharedBoard board;
  Crowd crowd;
  for (unsigned rank = 0; rank < plan.processes; ++rank) {
    crowd.add([&] {
      return guarded(board->workers[rank], [&] { work(plan, rank, folder, *board, make_writer); });
    });
  }
  board->start_ns.store(now_ns());
  while (!crowd.empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    check_interrupted();
    if (!crowd.reap()) throw std::runtime_error(failure_of(*board, plan.processes));
    unsigned done = 0;
    for (unsigned i = 0; i < plan.processes; ++i) done += board->workers[i].checkpoints.load();
    on_progress(done, plan.processes * plan.checkpoints);
  }
  return figures_of(*board, plan.processes);
}

}  // namespace forebay::demo
