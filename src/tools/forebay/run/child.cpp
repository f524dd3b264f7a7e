#include "tools/forebay/run/child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "os/fd.hpp"
#include "tools/forebay/errand.hpp"
#include "tools/forebay/run/process.hpp"

namespace forebay {
namespace {

constexpr int kSignalled = 128;  // as shells count

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const auto& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

// In the child: execve, or the errno into the pipe.
[[noreturn]] void become(const std::string& program, const std::vector<std::string>& words,
                         const std::vector<std::string>& variables, pid_t parent, int errors) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kSignalled + SIGKILL);
  auto arguments = pointers(words);
  auto environment = pointers(variables);
  ::execve(program.c_str(), arguments.data(), environment.data());
  if (errno == ENOEXEC) {
    auto shell = arguments;
    shell[0] = const_cast<char*>(program.c_str());
    shell.insert(shell.begin(), const_cast<char*>("sh"));
    ::execve("/bin/sh", shell.data(), environment.data());
  }
  const int why = errno;
  [[maybe_unused]] const auto ignored = ::write(errors, &why, sizeof why);
  ::_exit(kSignalled - 1);
}

// Those a terminal sends to its whole foreground group: the command has them already. When it hangs up, it
// tells the leader of its session alone.
bool came_from_terminal(const siginfo_t& info) {
  const int signal = info.si_signo;
  if (info.si_code != SI_KERNEL) return false;
  if (signal == SIGHUP || signal == SIGCONT) return ::getsid(0) != ::getpid();
  return signal == SIGINT || signal == SIGQUIT || signal == SIGTSTP || signal == SIGWINCH;
}

// What the command sends to its process group, which is ours, it has itself; what it sends to us alone is not
// meant for it either. Others of the group (the script that started us) may mean us and with us the command.
bool came_from_command(const siginfo_t& info, pid_t child) {
  return info.si_code == SI_USER && ::getpgid(info.si_pid) == ::getpgrp() &&
         descends_from(info.si_pid, child);
}

// Those by which a terminal stops a job. Whoever stops the command alone (SIGSTOP) lets it go on alone.
bool is_stop_of_job(int signal) { return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

Ended ended_as(const siginfo_t& child) {
  if (child.si_code == CLD_EXITED) return {.code = child.si_status};
  return {.code = kSignalled + child.si_status, .signal = child.si_status};
}

// Until the command ends. All signals are blocked.
Ended attend(pid_t child, const sigset_t& all) {
  for (;;) {
    siginfo_t info{};
    if (::sigwaitinfo(&all, &info) < 0) continue;
    if (info.si_signo != SIGCHLD) {
      if (!came_from_terminal(info) && !came_from_command(info, child)) ::kill(child, info.si_signo);
      continue;
    }
    siginfo_t change{};
    while (::waitid(P_PID, static_cast<id_t>(child), &change, WEXITED | WSTOPPED | WNOHANG) == 0 &&
           change.si_pid == child) {
      if (change.si_code != CLD_STOPPED && change.si_code != CLD_TRAPPED) return ended_as(change);
      if (is_stop_of_job(change.si_status)) {
        // So that the shell that waits for us sees it. Who lets us go on means the command.
        ::raise(SIGSTOP);
        ::kill(child, SIGCONT);
      }
      change.si_pid = 0;
    }
  }
}

}  // namespace

Result<Ended> run_child(const std::string& program, const std::vector<std::string>& words,
                        const std::vector<std::string>& variables) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(errno, "run", program);
  const Fd from(ends[0]);
  Fd to(ends[1]);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  // Inherited ignored, it would make the kernel forget the command's end.
  struct sigaction normal{};
  normal.sa_handler = SIG_DFL;
  struct sigaction inherited{};
  ::sigaction(SIGCHLD, &normal, &inherited);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail_errno(errno, "run", program);
  if (child == 0) {
    ::sigaction(SIGCHLD, &inherited, nullptr);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    become(program, words, variables, parent, to.get());
  }
  to.reset();
  int why = 0;
  Result<Ended> ended;
  if (::read(from.get(), &why, sizeof why) == static_cast<ssize_t>(sizeof why)) {
    ::waitpid(child, nullptr, 0);
    ended = fail_errno(why, "run", program);
  } else {
    ended = attend(child, all);
  }
  // From here on a signal ends this process: the bytes stay in the buffer for the next run.
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return ended;
}

void end_like(const Ended& ended) {
  if (ended.signal == 0) end_now(ended.code);
  // The core is the command's; ours would overwrite it.
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::fflush(nullptr);
  struct sigaction normal{};
  normal.sa_handler = SIG_DFL;
  ::sigaction(ended.signal, &normal, nullptr);
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, ended.signal);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(ended.signal);
  end_now(ended.code);
}

}  // namespace forebay
