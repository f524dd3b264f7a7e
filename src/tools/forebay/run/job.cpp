// Which buffer a run uses: what is one job on this node.
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/format.hpp"
#include "tools/forebay/run/buffer.hpp"
#include "tools/forebay/run/process.hpp"

namespace forebay {
namespace {

// Set in every process that an MPI's launcher starts as a rank, and in what such a process starts.
constexpr auto kRankVariables = std::to_array<std::string_view>(
    {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PALS_RANKID", "ALPS_APP_PE"});

constexpr int kMaxAncestors = 64;

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
  for (int i = 0; i < kMaxAncestors && pid > 1 && is_rank(text_of_process(pid, "environ")); ++i)
    pid = look_at_process(pid).parent;
  return pid;
}

std::string name_after(std::string_view kind, pid_t pid) {
  return format_text("{}-{}-{}", kind, pid, look_at_process(pid).started);
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

bool is_name_of_run(std::string_view name) {
  const auto kind = std::string(name.substr(0, name.find('-')));
  const auto rest = name.substr(std::min(kind.size() + 1, name.size()));
  const auto all_digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const auto dash = rest.find('-');
  if (kind == "job") return all_digits(rest);
  return (kind == "run" || kind == "mpi") && dash != std::string_view::npos &&
         all_digits(rest.substr(0, dash)) && all_digits(rest.substr(dash + 1));
}

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
