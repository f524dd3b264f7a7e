// Every function of MPI-IO with every mistake that it can be called with, natively and with the door: the
// same classes of errors, the same calls of error handlers, and nothing else changed.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/format.hpp"
#include "os/temporary_directory.hpp"
#include "support/door_run.hpp"
#include "support/places.hpp"

namespace forebay::testing {
namespace {

struct Kind {
  const char* flavour;
  const char* kind;
  int ranks;
  [[nodiscard]] std::string name() const { return format_text("{}_{}_{}", flavour, kind, ranks); }
};

std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name(); }

class MpiioWrong : public ::testing::TestWithParam<Kind> {};

TEST_P(MpiioWrong, SameAsNatively) {
  const auto& [flavour, kind, ranks] = GetParam();
  const TemporaryDirectory place("/dev/shm");
  const DoorRun door(flavour);
  for (const auto way : {Door::kNone, Door::kMpiio}) {
    const auto folder = place.file(way == Door::kNone ? "native" : "door");
    std::filesystem::create_directory(folder);
    const auto program = built("tests/mpiio/mpiio_wrong_") + flavour;
    const auto ran = door.run(way, folder, door.on_ranks(ranks, {program, kind, folder}));
    ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  }
  const auto answers = [&](const char* side) { return slurp(place.file(side) + "/answers.0"); };
  EXPECT_EQ(different_lines(answers("native"), answers("door")), "");
  EXPECT_EQ(
      different_files(place.file("native"), place.file("door"), [](const std::string&) { return false; }),
      "");
  const auto status = door.forebay({"status", "--json"});
  EXPECT_NE(json_value(status.out, "d['buffers'][0]['totals']['writes']"), "0") << "the door was closed";
}

// On several ranks natively many of the others wait without end.
INSTANTIATE_TEST_SUITE_P(All, MpiioWrong,
                         ::testing::Values(Kind{"mpich", "data", 1}, Kind{"mpich", "other", 1},
                                           Kind{"mpich", "collective", 2}, Kind{"openmpi", "collective", 2},
                                           Kind{"openmpi", "data", 1}, Kind{"openmpi", "other", 1}),
                         [](const auto& test) { return test.param.name(); });

}  // namespace
}  // namespace forebay::testing
