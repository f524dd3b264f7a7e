// Random MPI-IO programs, natively and with the door: what MPI answered, what was read and the files are
// equal.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string_view>

#include "base/format.hpp"
#include "os/temporary_directory.hpp"
#include "support/door_run.hpp"
#include "support/places.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"

namespace forebay::testing {
namespace {

namespace fs = std::filesystem;

struct Batch {
  const char* library;  // that moves the bytes: ROMIO of MPICH, or OMPIO
  int ranks;
  int programs;        // in one launch
  int nodes = 1;       // buffers
  bool gaps = false;   // also behind the end of files
  bool large = false;  // files of some MB, on a disk, whose writes are staged where that is worth it

  [[nodiscard]] std::string flavour() const {
    return std::string_view(library) == "mpich" ? "mpich" : "openmpi";
  }
  [[nodiscard]] std::string name() const {
    return format_text("{}_{}_ranks{}{}", library, ranks, nodes == 1 ? "" : format_text("_{}_nodes", nodes),
                       gaps    ? "_gaps"
                       : large ? "_large"
                               : "");
  }
};

std::ostream& operator<<(std::ostream& out, const Batch& batch) { return out << batch.name(); }

// Where a file grows, ROMIO leaves in gaps what its memory held, in files as well as in what is read at their
// end, unless it moves pieces as they are.
constexpr auto kPieces =
    "romio_ds_write disable\nromio_cb_write disable\nromio_ds_read disable\nromio_cb_read disable\n";

// Under which the programs run, natively too.
Words environment(const Batch& batch, const std::string& hints) {
  Words words{"env"};
  if (!hints.empty()) words.push_back("ROMIO_HINTS=" + hints);
  // MPICH takes them for nodes then, too, and deals the ranks out as `on_nodes` does.
  if (batch.nodes > 1) words.push_back(format_text("MPIR_CVAR_NUM_CLIQUES={}", batch.nodes));
  // OMPIO's own collective writes return before the aggregator has written: a rank may then not see what it
  // wrote, and what it writes next may be overwritten, so that no two native runs are equal.
  if (std::string_view(batch.library) == "ompio") words.push_back("OMPI_MCA_fcoll=individual");
  return words;
}

class MpiioRandom : public ::testing::TestWithParam<Batch> {};

TEST_P(MpiioRandom, SameAsNatively) {
  const auto& batch = GetParam();
  const auto seed = choose_seed("random MPI-IO programs");
  const TemporaryDirectory place(batch.large ? fs::temp_directory_path().string() : "/dev/shm");
  const DoorRun door(batch.flavour(), batch.large ? Words{"FOREBAY_ADMISSION_WRITE=auto"} : Words{});
  const auto hints = batch.gaps ? place.file("hints") : "";
  if (batch.gaps) std::ofstream(hints) << kPieces;
  const auto rounds = scaled(1, 25);
  for (int round = 0; round < rounds; ++round) {
    const auto first = round * batch.programs + 1;
    for (const auto way : {Door::kNone, Door::kMpiio}) {
      const auto folder = place.file(way == Door::kNone ? "native" : "door");
      std::filesystem::create_directory(folder);
      auto command = environment(batch, hints);
      Words program{built("tests/mpiio/mpiio_random_") + batch.flavour(), folder, std::to_string(seed),
                    std::to_string(first), std::to_string(first + batch.programs - 1)};
      if (batch.gaps) program.emplace_back("gaps");
      if (batch.large) program.emplace_back("large");
      const auto launch = door.on_nodes(batch.nodes, batch.ranks, program);
      command.insert(command.end(), launch.begin(), launch.end());
      const auto ran = door.run(way, folder, command);
      ASSERT_EQ(ran.code, 0) << (way == Door::kNone ? "natively: " : "with the door: ") << ran.err
                             << "\nin round " << round << ", " << slurp(folder + "/log.0");
    }
    for (int rank = 0; rank < batch.ranks; ++rank) {
      const auto log = format_text("/log.{}", rank);
      EXPECT_EQ(different_lines(slurp(place.file("native") + log), slurp(place.file("door") + log)), "")
          << "rank " << rank << " in round " << round;
    }
    EXPECT_EQ(different_files(place.file("native"), place.file("door"),
                              [](const std::string& name) { return name.starts_with("log."); }),
              "");
    if (HasFailure()) break;
    std::filesystem::remove_all(place.file("native"));
    std::filesystem::remove_all(place.file("door"));
  }
  // The test means nothing if the door was closed.
  for (int node = 0; node < batch.nodes; ++node) {
    const auto status = door.forebay({"status", "--json"}, node);
    EXPECT_GT(std::stoull("0" + json_value(status.out, "d['buffers'][0]['totals']['writes']")), 0u)
        << status.out << status.err;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, MpiioRandom,
    ::testing::Values(Batch{"mpich", 1, 150}, Batch{"mpich", 2, 50}, Batch{"mpich", 3, 20},
                      Batch{"mpich", 4, 15}, Batch{"mpich", 2, 30, 2}, Batch{"mpich", 4, 10, 2},
                      Batch{"mpich", 1, 150, 1, true}, Batch{"mpich", 3, 15, 1, true},
                      Batch{"mpich", 4, 10, 2, true}, Batch{"mpich", 4, 10, 3},
                      Batch{"mpich", 1, 10, 1, false, true}, Batch{"mpich", 3, 4, 1, false, true},
                      Batch{"ompio", 2, 5, 1, false, true}, Batch{"ompio", 1, 100}, Batch{"ompio", 2, 50},
                      Batch{"ompio", 3, 40}, Batch{"ompio", 4, 30}, Batch{"ompio", 4, 20, 2}),
    [](const auto& test) { return test.param.name(); });

}  // namespace
}  // namespace forebay::testing
