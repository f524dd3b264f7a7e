// Programs that use HDF5, unmodified, natively and with the door: they say the same and leave the same files,
// and each reads what the other wrote. The programs are in tests/hdf5/real_programs or come from the
// distribution.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/format.hpp"
#include "support/door_run.hpp"
#include "support/node.hpp"
#include "support/places.hpp"
#include "support/scale.hpp"

namespace forebay::testing {
namespace {

const std::string kScripts = in_checkout("tests/hdf5/real_programs/");

std::string said(const Ran& ran) {
  return format_text("exit {} signal {}\n{}", ran.code, ran.signal, ran.out);
}

// What an HDF5 file holds, seen natively; nothing for other files.
std::string dump(const std::string& file) {
  const DoorRun native("serial");
  return native.run(Door::kNone, "/", {hdf5_program("h5_matrix", "serial"), "dump", file}).out;
}

class Hdf5Programs : public ::testing::Test {
 protected:
  // Both directories have the same files at first.
  void SetUp() override {
    std::filesystem::create_directory(native_);
    std::filesystem::create_directory(door_);
  }
  bool ready(const std::string& flavour) {
    place_.emplace(flavour);
    return place_->missing().empty();
  }
  // Runs `command` natively in one directory and with the door in the other: same words, same exit.
  void same(const Words& command, unsigned seconds = 110) {
    const auto alone = place_->run(Door::kNone, native_, command, seconds);
    const auto with = place_->run(Door::kConnector, door_, command, seconds);
    EXPECT_EQ(different_lines(said(alone), said(with)), "") << command[0] << '\n' << with.err.substr(0, 4000);
    // A comparison of two failures would tell nothing.
    EXPECT_EQ(alone.code, 0) << command[0] << '\n' << alone.err.substr(0, 4000);
  }
  // Runs `command` with the door upon what was made natively, and the other way round.
  void crosswise(const Words& command) {
    const auto alone = place_->run(Door::kNone, door_, command);
    const auto with = place_->run(Door::kConnector, native_, command);
    EXPECT_EQ(different_lines(said(alone), said(with)), "") << "read crosswise: " << with.err.substr(0, 4000);
    EXPECT_EQ(alone.code, 0) << alone.err.substr(0, 4000);
  }
  void writes_and_reads(const Words& command, unsigned seconds = 110) {
    Words write = command;
    Words read = command;
    write.push_back("write");
    read.push_back("read");
    same(write, seconds);
    same(read, seconds);
    crosswise(read);
    same_contents();
  }
  // By what the files hold: not every program keeps times and heap garbage out of them.
  void same_contents() {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(native_)) {
      const auto name = std::filesystem::relative(entry.path(), native_).string();
      EXPECT_EQ(different_lines(dump(entry.path()), dump(door_ + "/" + name)), "") << name;
    }
  }
  void same_bytes() {
    EXPECT_EQ(different_files(native_, door_, [](const std::string&) { return false; }), "");
  }
  static Words python(const std::string& script) { return {"python3", kScripts + script}; }
  // The same files in both directories, made natively.
  void prepare() {
    const DoorRun maker("serial");
    ASSERT_EQ(maker
                  .run(Door::kNone, native_,
                       {hdf5_program("h5_matrix", "serial"), "run", "directory=.", "thin=7", "format=latest"})
                  .code,
              0);
    ASSERT_EQ(
        maker.run(Door::kNone, native_, {hdf5_program("netcdf_program", "serial"), "write", "c.nc"}).code, 0);
    std::filesystem::copy(native_, door_, std::filesystem::copy_options::recursive);
  }

  TemporaryDirectory base_;
  std::string native_ = base_.file("native");
  std::string door_ = base_.file("door");
  std::optional<DoorRun> place_;
};

#define FOREBAY_NEED(flavour) \
  if (!ready(flavour)) GTEST_SKIP() << place_->missing()

TEST_F(Hdf5Programs, ToolsThatRead) {
  FOREBAY_NEED("serial");
  prepare();
  for (const std::string file : {"matrix.h5", "heap.h5", "extras.h5", "source.h5"}) {
    // Of references, h5dump prints where they are in its memory.
    if (file != "heap.h5") same({"h5dump", file});
    same({"h5dump", "-H", "-p", file});
    same({"h5ls", "-r", "-v", file});
    same({"h5stat", file});
  }
  same({"h5dump", "-b", "LE", "-o", "large.out", "-d", "/large", "extras.h5"});
  same({"h5diff", "-v", "matrix.h5", "matrix.h5"});
  same_bytes();
}

// One file of a family's members: what they say of their driver must not be in it.
TEST_F(Hdf5Programs, AFamilyIsMadeOneFile) {
  FOREBAY_NEED("serial");
  prepare();
  same({"h5repart", "-m", "64k", "extras.h5", "part%05d.h5"});
  same({"h5repart", "-family_to_sec2", "part%05d.h5", "whole.h5"});
  EXPECT_TRUE(slurp(native_ + "/whole.h5") == slurp(door_ + "/whole.h5"));
  same({"h5ls", "-r", "whole.h5"});
}

TEST_F(Hdf5Programs, ToolsThatWrite) {
  FOREBAY_NEED("serial");
  prepare();
  same({"h5repack", "-f", "GZIP=1", "c.nc", "packed.h5"});
  same({"h5repack", "-l", "CHUNK=6x9", "c.nc", "chunks.h5"});
  same({"h5copy", "-i", "extras.h5", "-o", "copied.h5", "-s", "/large", "-d", "/a/b", "-p"});
  same({"h5diff", "extras.h5", "copied.h5", "/large", "/a/b"});
  same({"h5mkgrp", "-p", "copied.h5", "/new/group"});
  same({"h5clear", "-s", "copied.h5"});
  same_contents();
}

TEST_F(Hdf5Programs, H5py) {
  FOREBAY_NEED("serial");
  writes_and_reads(python("h5py_serial.py"));
}

TEST_F(Hdf5Programs, H5pyParallel) {
  FOREBAY_NEED("openmpi");
  writes_and_reads(place_->on_ranks(2, python("h5py_parallel.py")));
}

TEST_F(Hdf5Programs, H5pyParallelWithMpich) { GTEST_SKIP() << "SKIPPED: Debian has no h5py for MPICH"; }

TEST_F(Hdf5Programs, H5pysOwnTests) {
  FOREBAY_NEED("serial");
  const Words command{"python3", kScripts + "suite_outcomes.py", "--pyargs",
                      "h5py._debian_h5py_serial.tests"};
  const auto outcomes = [](const Ran& ran) {
    const auto at = ran.out.find("\n=== outcomes");
    return at == std::string::npos ? ran.out + ran.err : ran.out.substr(at);
  };
  const auto alone = place_->run(Door::kNone, native_, command, 110);
  const auto with = place_->run(Door::kConnector, door_, command, 110);
  EXPECT_GT(std::ranges::count(outcomes(alone), '\n'), 400) << "h5py's tests were not found";
  EXPECT_EQ(different_lines(outcomes(alone), outcomes(with)), "") << with.err.substr(0, 6000);
}

TEST_F(Hdf5Programs, NetcdfInC) {
  FOREBAY_NEED("serial");
  same({hdf5_program("netcdf_program", "serial"), "write", "c.nc"});
  crosswise({hdf5_program("netcdf_program", "serial"), "read", "c.nc"});
  same({"ncdump", "c.nc"});
  same({"ncdump", "-s", "-h", "c.nc"});
  same({"nccopy", "-d", "3", "c.nc", "packed.nc"});
  same({"nccopy", "-k", "netCDF-4", "-c", "row/6,column/20", "c.nc", "chunked.nc"});
  same_contents();
}

TEST_F(Hdf5Programs, NetcdfParallel) {
  FOREBAY_NEED("openmpi");
  const auto program = hdf5_program("netcdf_program", "openmpi");
  same(place_->on_ranks(3, {program, "write", "parallel.nc"}));
  crosswise(place_->on_ranks(2, {program, "read", "parallel.nc"}));
  same_contents();
}

TEST_F(Hdf5Programs, NetcdfParallelWithMpich) {
  GTEST_SKIP() << "SKIPPED: Debian has no parallel netCDF for MPICH";
}

TEST_F(Hdf5Programs, NetcdfAndXarrayInPython) {
  FOREBAY_NEED("serial");
  writes_and_reads(python("netcdf4_python.py"));
}

TEST_F(Hdf5Programs, PyTables) {
  FOREBAY_NEED("serial");
  writes_and_reads(python("pytables.py"));
}

// Starting workers takes long, and everything else is in the other tests: once each way.
TEST_F(Hdf5Programs, DataLoader) {
  FOREBAY_NEED("serial");
  same({"python3", kScripts + "dataloader.py", "write"});
  same({"python3", kScripts + "dataloader.py", "read"});
  same_bytes();
}

}  // namespace
}  // namespace forebay::testing
