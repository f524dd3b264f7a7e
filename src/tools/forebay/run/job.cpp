// Which buffer a run uses: what is one job on this node.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/format.hpp"
#include "tools/forebay/run/buffer.hpp"

namespace forebay {
namespace {

// Set in every process that an MPI's launcher starts as a rank, and in what such a process starts.
constexpr auto kRankVariables = std::to_array<std::string_view>(
    {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PALS_RANKID", "ALPS_APP_PE"});

constexpr int kMaxAncestors = 64;

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Process {
  pid_t parent = 0;
  std::string started{};  // in ticks since the machine's start: with the pid, a name nobody else has
};

// proc(5), "stat": the name may hold anything, so fields are counted behind its last parenthesis.
Process look_at(pid_t pid) {
  const auto text = slurp(format_text("/proc/{}/stat", pid));
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string field;
  Process process;
  for (int number = 3; fields >> field && number <= 22; ++number) {
    if (number == 4) process.parent = static_cast<pid_t>(std::atoi(field.c_str()));
    if (number == 22) process.started = field;
  }
  return process;
}

bool is_rank(std::string_view environment) {
  return std::ranges::any_of(kRankVariables, [&](std::string_view name) {
    const auto entry = format_text("{}=", name);
    return environment.starts_with(entry) || environment.contains('\0' + entry);
  });
}

// The nearest ancestor that is no rank, which started all the ranks of this node. Launchers that belong to
// somebody else do not show their environment.
pid_t launcher_of_ranks() {
  pid_t pid = ::getppid();
  for (int i = 0; i < kMaxAncestors && pid > 1 && is_rank(slurp(format_text("/proc/{}/environ", pid))); ++i)
    pid = look_at(pid).parent;
  return pid;
}

std::string name_after(std::string_view kind, pid_t pid) {
  return format_text("{}-{}-{}", kind, pid, look_at(pid).started);
}

// As far as a name of a buffer may have it.
std::string plain(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, 40)) {
    const bool allowed =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    name += allowed ? c : '-';
  }
  return name;
}

}  // namespace

BufferChoice choose_buffer(const Settings& settings, const Environment& environment) {
  if (settings.origins.contains("buffer.name")) return {.name = settings.buffer.name, .kept = true};
  if (const auto job = environment.get_or("SLURM_JOB_ID", ""); !job.empty())
    return {.name = "job-" + plain(job)};
  const bool rank =
      std::ranges::any_of(kRankVariables, [&](auto name) { return environment.get(name).has_value(); });
  if (rank) return {.name = name_after("mpi", launcher_of_ranks())};
  return {.name = name_after("run", ::getpid())};
}

}  // namespace forebay
