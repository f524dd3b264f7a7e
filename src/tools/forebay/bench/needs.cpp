#include "tools/forebay/bench/needs.hpp"

#include <cerrno>
#include <cmath>
#include <sstream>

#include "base/bytes.hpp"
#include "base/format.hpp"

namespace forebay {
namespace {

constexpr double kDouble = 8;

// Figures as floating point: what overflows is too large all the same.
class Numbers {
 public:
  explicit Numbers(const Workload& workload) : workload_(workload) {}

  double operator()(const char* key) const {
    const auto found = workload_.configuration.find(key);
    return found == workload_.configuration.end() ? 0 : std::stod(found->second);
  }
  // Of the counts at a key.
  [[nodiscard]] double product(const char* key) const {
    std::istringstream words(workload_.configuration.at(key));
    double all = 1;
    for (double one = 0; words >> one;) all *= one;
    return all;
  }
  [[nodiscard]] double ranks() const { return workload_.launch.ranks; }
  [[nodiscard]] bool on(const char* key) const { return (*this)(key) != 0; }

 private:
  const Workload& workload_;
};

struct Figures {
  double home = 0;
  double memory = 0;
};

Figures particles(const Numbers& of, bool appends) {
  constexpr double kParticle = 32;
  double step = of.ranks() * kParticle * of("DIM_1");
  if (of("NUM_DIMS") > 1) step *= of("DIM_2");
  if (of("NUM_DIMS") > 2) step *= of("DIM_3");
  const double together = std::min(of("DELAYED_CLOSE_TIMESTEPS") + 1, of("TIMESTEPS"));
  return {.home = step * of("TIMESTEPS") * (appends ? 2 : 1), .memory = step * together};
}

Figures training(const Numbers& of) {
  const bool generates = of.on("generate-data");
  const double files = (generates || of.on("train") ? of("num-files-train") : 0) +
                       (generates || of.on("evaluation") ? of("num-files-eval") : 0);
  const double sample = of("record-length");
  return {.home = files * of("num-samples-per-file") * sample,
          .memory = of.ranks() * sample * (1 + of("read-threads"))};
}

Figures mesh(const Numbers& of) {
  const double cells = std::pow(of("ncells"), 3);
  const double plot = cells * kDouble * of("ncomp") * of("nlevs");
  const double particles = cells * kDouble * of("nppc") * 7;
  return {.home = plot * of("nplotfile") + particles * of("nparticlefile"),
          .memory = std::max(plot, particles)};
}

Figures exerciser(const Numbers& of) {
  double home = 0;
  double size = of.ranks() * kDouble * of.product("minels") * (of.on("derivedtype") ? 3 : 1);
  for (double i = 0; i < of("nsizes"); ++i) {
    home += size;
    size *= of.product("bufmult");
  }
  return {.home = home, .memory = home};
}

Figures figures_of(const Workload& workload) {
  const Numbers of(workload);
  if (workload.configuration.contains("MEM_PATTERN")) return particles(of, workload.kernel == "append");
  if (workload.kernel == "dlio") return training(of);
  if (workload.kernel == "amrex") return mesh(of);
  if (workload.kernel == "exerciser") return exerciser(of);
  if (workload.kernel == "metadata") {
    const double tile = of("rows") * of("columns") * kDouble * of.ranks();
    return {.home = tile * of("steps") * of("arrays"), .memory = tile};
  }
  if (workload.kernel == "openpmd") {
    const double cells = of.product("minBlock") * of.product("grid");
    return {.home = cells * 4 * (6 + 6 * of("ratio")) * of("steps"), .memory = cells * 4};
  }
  if (workload.kernel == "e3sm") {
    // A variable, and three coordinates for each element.
    const double variable = of("points") * of("levels") * kDouble;
    return {.home = of("variables") * variable * of("r"), .memory = variable * 4};
  }
  if (workload.kernel == "macsio") {
    const double dump = of.ranks() * of("avg_num_parts") * of("vars_per_part") * of("part_size");
    return {.home = dump * of("num_dumps"), .memory = of.ranks() * of("part_size")};
  }
  if (workload.kernel == "mpiio") {
    const double all = of("operations") * of("size") * of.ranks();
    return {.home = all, .memory = all};
  }
  if (workload.kernel == "posix")
    return {.home = of("size") * of.ranks(), .memory = of("transfer") * of.ranks()};
  return {};
}

std::uint64_t whole(double value) {
  constexpr double kMost = 9e18;
  return static_cast<std::uint64_t>(std::min(value, kMost));
}

}  // namespace

Needs needs_of(const Workload& workload) {
  const auto figures = figures_of(workload);
  return {.home = whole(figures.home), .memory = whole(figures.memory)};
}

Status check_room(const Workload& workload, const RoomLeft& room) {
  const auto needs = needs_of(workload);
  if (needs.memory > room.memory)
    return fail(ENOSPC,
                format_text("{}: its {} ranks take {} of memory at once, and {} are free here", workload.name,
                            workload.launch.ranks, format_bytes(needs.memory), format_bytes(room.memory)));
  const auto ways = workload.ways.size();
  if (needs.home > room.home / ways)
    return fail(ENOSPC, format_text("{}: it leaves {} at home in each of {} ways, and home has {} free",
                                    workload.name, format_bytes(needs.home), ways, format_bytes(room.home)));
  return {};
}

}  // namespace forebay
