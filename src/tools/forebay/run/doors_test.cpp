#include "tools/forebay/run/doors.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "os/temporary_directory.hpp"

namespace forebay {
namespace {

using Words = std::vector<std::string>;

class OpenDoors : public ::testing::Test {
 protected:
  OpenDoors() {
    for (const char* library :
         {"libforebay_posix.so", "libforebay_mpiio_mpich.so", "libforebay_mpiio_openmpi.so"})
      std::ofstream(folder_.file(library)) << "";
  }
  Opened open(Command command, const Doors& wanted = {}) {
    return open_doors(wanted, {.libraries = folder_.path(), .plugins = folder_.path()}, command, variables_);
  }
  [[nodiscard]] std::string library(const std::string& name) const {
    return folder_.file("libforebay_" + name + ".so");
  }

  TemporaryDirectory folder_;
  Environment::Variables variables_;
};

Command command_with(const Words& libraries) {
  return {.words = {"prog"},
          .programs = {{.path = "/prog", .linking = Linking::kDynamic, .libraries = libraries}}};
}

TEST_F(OpenDoors, ThePosixOneForEverybody) {
  EXPECT_EQ(open(command_with({"libc.so.6"})).doors, Words{"posix"});
  EXPECT_EQ(variables_["LD_PRELOAD"], library("posix"));
}

TEST_F(OpenDoors, TheMpiOneOfTheRightFlavour) {
  EXPECT_EQ(open(command_with({"libmpich.so.12"})).doors, (Words{"posix", "mpiio (mpich)"}));
  EXPECT_EQ(variables_["LD_PRELOAD"], library("mpiio_mpich") + ":" + library("posix"));
  variables_.clear();
  EXPECT_EQ(open(command_with({"libmpi.so.40"})).doors, (Words{"posix", "mpiio (openmpi)"}));
  variables_.clear();
  EXPECT_EQ(open(command_with({"libmpi.so.12"})).doors, Words{"posix"}) << "one that is not known";
}

TEST_F(OpenDoors, RanksTellTheirMpi) {
  variables_ = {{"OMPI_COMM_WORLD_RANK", "0"}};
  EXPECT_EQ(open(command_with({})).doors, (Words{"posix", "mpiio (openmpi)"}));
  variables_ = {{"PMI_RANK", "0"}, {"MPI_LOCALRANKID", "0"}};
  EXPECT_EQ(open(command_with({})).doors, (Words{"posix", "mpiio (mpich)"}));
}

TEST_F(OpenDoors, OnlyThoseThatAreWanted) {
  EXPECT_EQ(open(command_with({"libmpich.so.12"}), {.posix = false, .mpiio = false, .hdf5 = true}).doors,
            Words{});
  EXPECT_FALSE(variables_.contains("LD_PRELOAD"));
}

TEST_F(OpenDoors, WhatIsPreloadedAlreadyComesBehind) {
  variables_ = {{"LD_PRELOAD", "/other.so"}};
  open(command_with({}));
  EXPECT_EQ(variables_["LD_PRELOAD"], library("posix") + ":/other.so");
}

TEST_F(OpenDoors, OptionsOfTheSanitizerStay) {
  variables_ = {{"ASAN_OPTIONS", "detect_leaks=0"}};
  open(command_with({}));
  EXPECT_EQ(variables_["ASAN_OPTIONS"], "detect_leaks=0:verify_asan_link_order=0");
  variables_ = {{"ASAN_OPTIONS", "verify_asan_link_order=1"}};
  open(command_with({}));
  EXPECT_EQ(variables_["ASAN_OPTIONS"], "verify_asan_link_order=1");
}

TEST_F(OpenDoors, ALibraryThatIsNotThereIsNamed) {
  std::filesystem::remove(library("posix"));
  const auto opened = open(command_with({}));
  EXPECT_EQ(opened.doors, Words{});
  ASSERT_EQ(opened.remarks.size(), 1U);
  EXPECT_TRUE(opened.remarks.front().contains(library("posix")));
}

TEST_F(OpenDoors, AnHdf5WithoutPluginStaysAsItIs) {
  EXPECT_EQ(open(command_with({"libhdf5.so.103"})).doors, Words{"posix"});
  EXPECT_FALSE(variables_.contains("HDF5_VOL_CONNECTOR"));
}

TEST(ExamineCommand, SeesThroughThoseThatStartOthers) {
  const auto names = [](const Words& words) {
    Words all;
    const auto found = find_command(words.front(), "/usr/bin:/bin");
    EXPECT_TRUE(found);
    for (const auto& program : examine_command(words, found.value_or(""), "/usr/bin:/bin").programs)
      all.push_back(program.name());
    return all;
  };
  EXPECT_EQ(names({"env", "A=1", "nice", "-n", "5", "true", "x"}), (Words{"env", "nice", "true"}));
  EXPECT_EQ(names({"true", "env", "false"}), Words{"true"});
  EXPECT_EQ(names({"timeout", "10", "sh", "-c", "true"}),
            (Words{"timeout", find_command("sh", "/usr/bin").value_or("").substr(9)}));
  EXPECT_EQ(names({"env"}), Words{"env"});
}

TEST(ParseDoors, AnyOfThree) {
  const auto doors = parse_doors("hdf5,posix");
  ASSERT_TRUE(doors);
  EXPECT_TRUE(doors->hdf5 && doors->posix && !doors->mpiio);
  EXPECT_EQ(parse_doors("posix,door").error().message, "\"door\" is not hdf5, mpiio or posix");
}

TEST(WithoutDoors, OthersStay) {
  EXPECT_EQ(without_doors("/a/libforebay_posix.so"), "");
  EXPECT_EQ(without_doors("/x.so /a/libforebay_posix.so:/y.so"), "/x.so:/y.so");
}

}  // namespace
}  // namespace forebay
