// Programs that use MPI-IO, natively and with the door: the same output and the same files. And what is left
// when they end otherwise than they should.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/format.hpp"
#include "os/temporary_directory.hpp"
#include "support/door_run.hpp"
#include "support/places.hpp"
#include "support/slowfs_mount.hpp"

namespace forebay::testing {
namespace {

namespace fs = std::filesystem;

std::string mpiio_program(const std::string& name, const std::string& flavour) {
  return built("tests/mpiio/mpiio_") + name + "_" + flavour;
}

std::uint64_t total(const DoorRun& door, const char* figure) {
  const auto status = door.forebay({"status", "--json"});
  const auto value = json_value(status.out, format_text("d['buffers'][0]['totals']['{}']", figure));
  return std::stoull("0" + value);
}

class MpiioPrograms : public ::testing::TestWithParam<const char*> {
 protected:
  MpiioPrograms() {
    for (const char* name : {"native", "door"}) fs::create_directory(place_.file(name));
  }
  [[nodiscard]] std::string flavour() const { return GetParam(); }
  [[nodiscard]] std::string file(const char* side) const { return place_.file(side) + "/file"; }

  // `command` and the name of a file, on so many ranks.
  void same(int ranks, const Words& command, bool bytes = true) { same(ranks, command, door_, bytes); }
  void same(int ranks, const Words& command, const DoorRun& door, bool bytes = true) {
    std::string said;
    for (const auto way : {Door::kNone, Door::kMpiio}) {
      const char* const side = way == Door::kNone ? "native" : "door";
      auto words = command;
      words.push_back(file(side));
      const auto ran = door.run(way, place_.path(), door.on_ranks(ranks, words));
      ASSERT_EQ(ran.code, 0) << side << ": " << ran.out << ran.err;
      if (way == Door::kNone) said = ran.out;
      EXPECT_EQ(different_lines(said, ran.out), "");
    }
    if (bytes) {
      EXPECT_TRUE(slurp(file("native")) == slurp(file("door")));
    }
    EXPECT_GT(total(door, "writes") + total(door, "reads"), 0u) << "the door was closed";
  }
  void same_in_fortran(const char* binding) {
    same(2, {mpiio_program(binding, flavour())});
    // The library's own mode would leave writes in the buffer that are to be seen at once.
    const auto status = door_.forebay({"status", "--json"});
    EXPECT_TRUE(status.out.contains("atomic mode")) << status.out;
  }
  // Kills all ranks of a scene of scenes.c that has written everything, and looks for all of it at home.
  void killed(const char* scene, bool unsaved) {
    const DoorRun lazy(flavour(), {"FOREBAY_DRAIN_TRIGGER=close"});
    Running job(
        "env", lazy.words(Door::kMpiio, place_.path(),
                          lazy.on_ranks(2, {"sh", "-c",
                                            "cd " + place_.path() +
                                                " && echo $$ > new.$$ && mv new.$$ pid.$$ && exec \"$@\"",
                                            "sh", mpiio_program("scenes", flavour()), scene, file("door")})));
    for (int i = 0; i < 600 && !fs::exists(file("door") + ".written"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_TRUE(fs::exists(file("door") + ".written"));
    EXPECT_EQ(json_value(lazy.forebay({"status", "--json"}).out, "d['buffers'][0]['unsaved_bytes']"),
              std::to_string(unsaved ? whole(2).size() : 0));
    int ranks = 0;
    int ended = 0;
    for (const auto& entry : fs::directory_iterator(place_.path())) {
      const auto name = entry.path().filename().string();
      if (!name.starts_with("pid.")) continue;
      ++ranks;
      ended += ::kill(std::stoi(slurp(entry.path())), SIGKILL) == 0 ? 1 : 0;
    }
    EXPECT_EQ(ranks, 2);
    EXPECT_GE(ended, 1) << "MPI may end the other one when the first is gone, but not before";
    (void)job.wait();
    const auto recovered = lazy.forebay({"recover"});
    EXPECT_EQ(recovered.code, 0) << recovered.out << recovered.err;
    EXPECT_TRUE(slurp(file("door")) == whole(2));
  }
  // What scenes.c writes on so many ranks.
  static std::string whole(int ranks) {
    std::string text;
    for (int number = 0; number < 256; ++number) {
      for (int rank = 0; rank < ranks; ++rank) {
        for (int i = 0; i < 4096; ++i) text += static_cast<char>(rank * 37 + number * 11 + i);
      }
    }
    return text;
  }

  TemporaryDirectory place_{"/dev/shm"};
  DoorRun door_{GetParam(), {"FOREBAY_HOMES=" + place_.path(), "FOREBAY_DRAIN_DELAY=1h"}};
};

TEST_P(MpiioPrograms, FortranMpifh) { same_in_fortran("mpifh"); }
TEST_P(MpiioPrograms, FortranUseMpi) { same_in_fortran("usempi"); }
TEST_P(MpiioPrograms, FortranUseMpiF08) { same_in_fortran("usempif08"); }

// The same class of error as natively, by the same argument.
TEST_P(MpiioPrograms, FortranMistakes) {
  for (const char* binding : {"mpifh", "usempi", "usempif08"})
    same(1, {mpiio_program(format_text("{}_mistakes", binding), flavour()), flavour()});
}

TEST_P(MpiioPrograms, Errors) {
  Words command{mpiio_program("scenes", flavour()), "errors"};
  same(1, command);
}

TEST_P(MpiioPrograms, Threads) { same(2, {mpiio_program("scenes", flavour()), "threads"}); }

TEST_P(MpiioPrograms, HintsAreTold) {
  fs::create_directory(file("door") + ".tier");
  const auto ran = door_.run(Door::kMpiio, place_.path(),
                             door_.on_ranks(1, {mpiio_program("scenes", flavour()), "info", file("door")}));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "forebay_mode=async\nforebay_durability=process\nforebay_drain_trigger=close\n"
            "forebay_reserve_size=1MiB\nforebay_prefetch_at_open=part\nforebay_path=" +
                file("door") + ".tier\n");
  EXPECT_TRUE(ran.err.contains("forebay_mode is ignored")) << ran.err;
}

TEST_P(MpiioPrograms, WhatWasNotClosedGoesHomeAtFinalize) {
  same(2, {mpiio_program("scenes", flavour()), "unclosed"});
  EXPECT_EQ(slurp(file("door")), whole(2));
}

TEST_P(MpiioPrograms, WithoutHomesNothingIsTouched) {
  const DoorRun closed(GetParam(), {"FOREBAY_HOMES="});
  const auto ran =
      closed.run(Door::kMpiio, place_.path(),
                 closed.on_ranks(2, {mpiio_program("scenes", flavour()), "unclosed", file("door")}));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(slurp(file("door")), whole(2));
  EXPECT_NE(closed.forebay({"status", "--json"}).out.find("\"buffers\":[]"), std::string::npos);
}

TEST_P(MpiioPrograms, AbortLosesNothing) {
  const auto ran = door_.run(Door::kMpiio, place_.path(),
                             door_.on_ranks(2, {mpiio_program("scenes", flavour()), "abort", file("door")}));
  EXPECT_NE(ran.code, 0);
  // mpiexec may end while a rank that it killed is still dying: what that one holds is its own until then.
  auto recovered = door_.forebay({"recover"});
  for (int i = 0; i < 100 && recovered.out.contains("unsaved in use"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    recovered = door_.forebay({"recover"});
  }
  EXPECT_EQ(recovered.code, 0) << recovered.out << recovered.err;
  EXPECT_EQ(slurp(file("door")), whole(2)) << recovered.out;
}

TEST_P(MpiioPrograms, ARestartedJobReadsWhatWasNeverDrained) {
  const auto ran = door_.run(Door::kMpiio, place_.path(),
                             door_.on_ranks(2, {mpiio_program("scenes", flavour()), "abort", file("door")}));
  const auto again = door_.run(Door::kMpiio, place_.path(),
                               door_.on_ranks(1, {mpiio_program("scenes", flavour()), "read", file("door")}));
  unsigned long long sum = 0;
  for (const char byte : whole(2)) sum = sum * 31 + static_cast<unsigned char>(byte);
  EXPECT_EQ(again.out, format_text("sum {:x}\n", sum)) << again.err;
  EXPECT_EQ(slurp(file("door")), whole(2));
}

// Every rank is killed while it writes the same bytes again and again.
TEST_P(MpiioPrograms, KilledWhileWriting) { killed("killed", true); }
TEST_P(MpiioPrograms, KilledBetweenWrites) { killed("between", true); }
TEST_P(MpiioPrograms, KilledAfterTheClose) { killed("closed", false); }

TEST_P(MpiioPrograms, AHintNamesTheTier) {
  fs::create_directory(file("door") + ".tier");
  const auto ran = door_.run(Door::kMpiio, place_.path(),
                             door_.on_ranks(2, {mpiio_program("scenes", flavour()), "path", file("door")}));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(slurp(file("door")), whole(2));
  EXPECT_FALSE(fs::is_empty(file("door") + ".tier")) << "nothing was made there";
}

TEST_P(MpiioPrograms, StartedByForebayRun) {
  auto words = door_.on_ranks(2, {mpiio_program("scenes", flavour()), "unclosed", file("door")});
  // A home in memory is buffered only if that is asked for.
  Words command{"env",
                "FOREBAY_ADMISSION_WRITE=always",
                built("src/tools/forebay/forebay"),
                "run",
                "--home",
                place_.file("door"),
                "--doors",
                "mpiio",
                "--"};
  command.insert(command.end(), words.begin(), words.end());
  const auto ran = door_.run(Door::kNone, place_.path(), command);
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(slurp(file("door")), whole(2));
  EXPECT_TRUE((ran.out + ran.err).contains("staged 2.0MiB")) << ran.out << ran.err;
}

// A duplicate of the communicator was made for each open file, and MPI has only some thousands.
TEST_P(MpiioPrograms, AFileOfOneRankAsksNobody) { same(2, {mpiio_program("alone", flavour())}); }

// A node served what it had read before, if the file was not opened together or if it wrote last.
TEST_P(MpiioPrograms, WhatAnotherNodeSyncedOrClosedIsRead) {
  for (const char* how : {"together", "apart"}) {
    const auto ran =
        door_.run(Door::kMpiio, place_.path(),
                  door_.on_nodes(2, 2, {mpiio_program("elsewhere", flavour()), how, file("door")}));
    EXPECT_EQ(ran.code, 0) << how << ": " << ran.err;
    EXPECT_EQ(ran.out, "0 bytes were old\n") << how;
    EXPECT_GT(total(door_, "writes"), 0u) << "the door was closed";
  }
}

TEST_P(MpiioPrograms, InSessions) { same(2, {mpiio_program("sessions", flavour())}); }

TEST_P(MpiioPrograms, ByTheSharedPointerAllAtOnce) {
  same(3, {mpiio_program("together", flavour())}, false);
  // Served, but for what was done in atomic mode.
  const auto status = door_.forebay({"status", "--json"});
  EXPECT_FALSE(status.out.contains("a pointer shared")) << status.out;
  EXPECT_GT(total(door_, "writes"), 600u);
}

TEST_P(MpiioPrograms, ByTheSharedPointerOnTwoNodes) {
  const auto ran = door_.run(Door::kMpiio, place_.path(),
                             door_.on_nodes(2, 4, {mpiio_program("together", flavour()), file("door")}));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(ran.out.contains("884 pieces once, 0 broken")) << ran.out;
}

// MPI's own calls wrote gaps as they had read them, over what another node had brought home meanwhile.
TEST_P(MpiioPrograms, WhatLiesBetweenIsNotUndone) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: slowfs cannot be mounted here";
  for (const char* how : {"shared", "ordered", "odd"}) {
    const SlowfsMount home({"--latency=2ms"});
    const DoorRun door(flavour(), {"FOREBAY_DRAIN_DELAY=0s"});
    const auto ran =
        door.run(Door::kMpiio, home.path(),
                 door.on_nodes(2, 2, {mpiio_program("between", flavour()), how, home.path() / "file"}));
    EXPECT_EQ(ran.code, 0) << how << ": " << ran.err;
    EXPECT_EQ(ran.out, "0 bytes are wrong\n") << how;
    EXPECT_GT(total(door, "writes"), 0u) << "the door was closed";
  }
}

// Only rank 0 has something unsaved: it would return with an error, and rank 1 wait for it in MPI's call.
TEST_P(MpiioPrograms, ARankThatCannotBringItsBytesHomeLetsNobodyWait) {
  if (!SlowfsMount::available()) GTEST_SKIP() << "SKIPPED: slowfs cannot be mounted here";
  for (const auto& [error, told] : {std::pair{"EIO", "IO"}, std::pair{"ENOSPC", "NO_SPACE"}}) {
    const SlowfsMount home({});
    const DoorRun door(flavour(), {"FOREBAY_DRAIN_DELAY=1h"});
    const auto ran = door.run(Door::kMpiio, home.path(),
                              door.on_nodes(2, 2,
                                            {mpiio_program("failing", flavour()), error,
                                             home.path() / ".slowfs/control", home.path() / "file"}));
    EXPECT_EQ(ran.code, 0) << error << ": " << ran.err;
    std::string wanted;
    for (const char* code : {told, "well"}) {
      for (const char* call : {"read_all", "read_at_all", "read_all_begin", "iread_at_all", "read_at"})
        wanted += format_text("{}: {}, well\n", call, code);
      if (code == told) wanted += format_text("set_atomicity: {}, IO\n", told);
    }
    EXPECT_EQ(different_lines(wanted + "read_ordered: well, well\nclose: well, well\n", ran.out), "");
  }
}

// Its engine drained through a descriptor that may not write: an error for the reader and for the writer.
TEST_P(MpiioPrograms, AReaderAtTheEndOfAFileThatIsNotHome) {
  same(2, {mpiio_program("handles", flavour()), "reader"});
}

TEST_P(MpiioPrograms, WhatIsPinnedIsForgottenWhereMpiWrote) {
  const DoorRun pinned(flavour(), {"FOREBAY_PIN=yes"});
  same(1, {mpiio_program("handles", flavour()), "atomic"}, pinned);
}

TEST_P(MpiioPrograms, AScratchFileMeetsItsEnd) {
  same(1, {mpiio_program("handles", flavour()), "scratch"}, false);  // and is removed
}

TEST_P(MpiioPrograms, MemoryThatIsNotThere) { same(1, {mpiio_program("handles", flavour()), "nowhere"}); }

// OMPIO takes such a name as it is: the bytes went to another file.
TEST_P(MpiioPrograms, ANameThatBeginsLikeAFileSystem) {
  same(1, {mpiio_program("handles", flavour()), "prefix"}, false);
}

TEST_P(MpiioPrograms, MemoryInTooManyPiecesIsStaged) {
  same(1, {mpiio_program("scenes", flavour()), "pieces"});
  const auto status = door_.forebay({"status", "--json"});
  EXPECT_EQ(json_value(status.out, "d['buffers'][0]['passed']"), "[]") << status.out;
}

INSTANTIATE_TEST_SUITE_P(All, MpiioPrograms, ::testing::Values("mpich", "openmpi"),
                         [](const auto& test) { return std::string(test.param); });

// What Debian has for Open MPI only.
class MpiioLibraries : public MpiioPrograms {};

TEST_P(MpiioLibraries, PnetCdf) { same(3, {mpiio_program("pnetcdf", flavour())}); }
// By hand-written programs only: random ones crash it (it has no nonblocking collective calls) or hang it.
TEST_P(MpiioLibraries, RomioInOpenMpi) {
  same(2, {"env", "OMPI_MCA_io=romio341", mpiio_program("scenes", flavour()), "threads"});
  same(3, {"env", "OMPI_MCA_io=romio341", mpiio_program("pnetcdf", flavour())});
}
TEST_P(MpiioLibraries, Adios2) { same(3, {mpiio_program("adios2", flavour())}, false); }
TEST_P(MpiioLibraries, Mpi4py) {
  same(3, {"python3", in_checkout("tests/mpiio/programs/mpi4py_program.py")});
}
TEST_P(MpiioLibraries, NetCdf) {
  same(2, {hdf5_program("netcdf_program", flavour()), "write"}, false);
  same(2, {hdf5_program("netcdf_program", flavour()), "read"}, false);
}

INSTANTIATE_TEST_SUITE_P(All, MpiioLibraries, ::testing::Values("openmpi"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace forebay::testing
