// Random operations on a few files by several processes, one after the other, each with its result in a line:
// two runs of one seed must say the same, wherever the files lie.
//
//   posix_model SEED OPERATIONS PROCESSES        in the current directory
//   posix_model together SEED PROCESSES          all at once (together.hpp)
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <string>
#include <vector>

#include "model/together.hpp"
#include "model/worker.hpp"

namespace {

struct Process {
  pid_t pid;
  int socket;
};

[[noreturn]] void work(int socket) {
  model::Order order;
  while (::recv(socket, &order, sizeof order, 0) == static_cast<ssize_t>(sizeof order)) {
    const auto line = order.operation == ~0u ? model::finish() : model::carry_out(order);
    ::send(socket, line.data(), line.size(), 0);
    if (!model::executes) continue;
    ::execl("/proc/self/exe", "posix_model", "worker", std::to_string(socket).c_str(),
            model::slots_to_words().c_str(), static_cast<char*>(nullptr));
    ::_exit(9);
  }
  ::exit(0);
}

void tell(const Process& process, const model::Order& order, long number) {
  char line[4096];
  ::send(process.socket, &order, sizeof order, 0);
  const auto n = ::recv(process.socket, line, sizeof line, 0);
  ::printf("%ld: %.*s\n", number, static_cast<int>(n > 0 ? n : 4), n > 0 ? line : "died");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && ::strcmp(argv[1], "together") == 0)
    return model::together(static_cast<unsigned>(::strtoul(argv[2], nullptr, 10)), ::atoi(argv[3]));
  if (argc == 4 && ::strcmp(argv[1], "worker") == 0) {
    model::slots_from_words(argv[3]);
    work(::atoi(argv[2]));
  }
  if (argc != 4) return 2;
  std::mt19937 random(static_cast<unsigned>(::strtoul(argv[1], nullptr, 10)));
  const long operations = ::strtol(argv[2], nullptr, 10);
  ::mkdir("d", 0755);
  std::vector<Process> processes(static_cast<std::size_t>(::strtol(argv[3], nullptr, 10)));
  for (auto& process : processes) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) return 2;
    process.pid = ::fork();
    if (process.pid == 0) {
      for (const auto& other : processes) {
        if (&other == &process) break;
        ::close(other.socket);
      }
      ::close(ends[0]);
      work(ends[1]);
    }
    ::close(ends[1]);
    process.socket = ends[0];
  }
  for (long i = 0; i < operations; ++i) {
    model::Order order;
    order.operation = static_cast<std::uint32_t>(random()) % model::operations();
    for (auto& one : order.random) one = static_cast<std::uint32_t>(random());
    const auto which = random() % processes.size();
    ::printf("p%lu ", static_cast<unsigned long>(which));
    tell(processes[which], order, i);
  }
  model::Order end;
  end.operation = ~0u;
  for (const auto& process : processes) tell(process, end, -1);
  for (const auto& process : processes) ::close(process.socket);
  int failures = 0;
  for (const auto& process : processes) {
    int status = 0;
    ::waitpid(process.pid, &status, 0);
    failures += status != 0;
  }
  return failures;
}
