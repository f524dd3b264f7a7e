// Random MPI-IO programs, natively and with the door: what MPI answered, what was read and the files are
// equal.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <format>
#include <string_view>

#include "os/temporary_directory.hpp"
#include "support/door_run.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"

namespace forebay::testing {
namespace {

struct Batch {
  const char* flavour;
  int ranks;
  int programs;
};

class MpiioRandom : public ::testing::TestWithParam<Batch> {};

TEST_P(MpiioRandom, SameAsNatively) {
  const auto [flavour, ranks, programs] = GetParam();
  // Not understood yet: files that differ in a few bytes, a run that hangs with the door; and OMPIO itself
  // crashes in its shared pointer (mca_sharedfp_sm_request_position). FOREBAY_TEST_SEED=2923957338 on one
  // rank and 3950842263 on two show it.
  if (std::string_view(flavour) == "openmpi" && std::getenv("FOREBAY_TEST_SEED") == nullptr)
    GTEST_SKIP() << "SKIPPED, a known fault: random programs on Open MPI differ or hang";
  const auto seed = choose_seed("random MPI-IO programs");
  const TemporaryDirectory place("/dev/shm");
  const DoorRun door(flavour, {"FOREBAY_HOMES=" + place.file("door")});
  const auto rounds = scaled(1, 50);
  for (int round = 0; round < rounds; ++round) {
    const auto first = round * programs + 1;
    for (const auto way : {Door::kNone, Door::kMpiio}) {
      const auto folder = place.file(way == Door::kNone ? "native" : "door");
      std::filesystem::create_directory(folder);
      const auto ran = door.run(
          way, folder,
          door.on_ranks(
              ranks, {std::format("{}/tests/mpiio/mpiio_random_{}", FOREBAY_TEST_BUILD_DIR, flavour), folder,
                      std::to_string(seed), std::to_string(first), std::to_string(first + programs - 1)}));
      ASSERT_EQ(ran.code, 0) << (way == Door::kNone ? "natively: " : "with the door: ") << ran.err;
    }
    for (int rank = 0; rank < ranks; ++rank) {
      const auto log = std::format("/log.{}", rank);
      EXPECT_EQ(different_lines(slurp(place.file("native") + log), slurp(place.file("door") + log)), "")
          << "rank " << rank;
    }
    EXPECT_EQ(different_files(place.file("native"), place.file("door"),
                              [](const std::string& name) { return name.starts_with("log."); }),
              "");
    if (HasFailure()) break;
    std::filesystem::remove_all(place.file("native"));
    std::filesystem::remove_all(place.file("door"));
  }
  // The test means nothing if the door was closed.
  const auto status = door.forebay({"status", "--json"});
  EXPECT_GT(std::stoull("0" + json_value(status.out, "d['buffers'][0]['totals']['writes']")), 0u)
      << status.out;
}

INSTANTIATE_TEST_SUITE_P(All, MpiioRandom,
                         ::testing::Values(Batch{"mpich", 1, 120}, Batch{"mpich", 2, 40},
                                           Batch{"mpich", 3, 10}, Batch{"mpich", 4, 6},
                                           Batch{"openmpi", 1, 120}, Batch{"openmpi", 2, 40},
                                           Batch{"openmpi", 3, 10}, Batch{"openmpi", 4, 6}),
                         [](const auto& test) {
                           return std::format("{}_{}_ranks", test.param.flavour, test.param.ranks);
                         });

}  // namespace
}  // namespace forebay::testing
