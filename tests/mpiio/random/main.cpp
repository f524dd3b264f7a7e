// Random MPI-IO programs, each with one file or several.
//
// usage: random FOLDER SEED FIRST LAST [gaps|large]: programs FIRST to LAST, files FOLDER/<program>.<file>,
// journal FOLDER/log.<rank>. gaps: also views with gaps where a file grows. ROMIO leaves there what its
// memory held, unless it is told to write pieces as they are (romio_ds_write and romio_cb_write: disable).
// large: some MB for each rank.
//
// The same seed gives the same programs. Whatever MPI answers goes into the journal: run natively and with
// the door, journals and files must be equal.
#include <mpi.h>

#include <cstdlib>
#include <format>
#include <memory>
#include <string>
#include <vector>

#include "dice.hpp"
#include "file_program.hpp"
#include "journal.hpp"

namespace {

// Several files are open at the same time, and their parts come in any order.
void run(const World& world, const std::string& path, std::uint64_t seed) {
  Dice dice(seed);
  const auto count = dice.chance(70) ? 1 : dice.pick(2, 4);
  std::vector<std::unique_ptr<FileProgram>> open;
  for (std::int64_t i = 0; i < count; ++i) {
    open.push_back(std::make_unique<FileProgram>(world, std::format("{}.{}", path, i), dice.engine()));
    open.back()->begin();
  }
  while (!open.empty()) {
    const auto which = open.begin() + dice.pick(0, static_cast<std::int64_t>(open.size()) - 1);
    if ((*which)->more()) {
      (*which)->next();
      continue;
    }
    (*which)->end();
    open.erase(which);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  World world;
  const std::string kind = argc == 6 ? argv[5] : "";
  world.gaps = kind == "gaps";
  world.large = kind == "large";
  if (argc != (world.gaps || world.large ? 6 : 5)) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  begin_journal(std::format("{}/log.{}", argv[1], world.rank));
  const auto seed = std::strtoull(argv[2], nullptr, 10);
  for (int i = std::atoi(argv[3]); i <= std::atoi(argv[4]); ++i) {
    note("program {}", i);
    run(world, std::format("{}/{}", argv[1], i), seed * 1000003 + static_cast<unsigned>(i));
  }
  end_journal();
  MPI_Finalize();
  return 0;
}
