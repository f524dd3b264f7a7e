#include "door/mpiio/wishes.hpp"

#include <gmock/gmock.h>

#include "door/mpiio/mpi_test.hpp"

namespace forebay::mpiio {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MpiioWishes : public MpiTest {
 protected:
  MpiioWishes() { PMPI_Info_create(&info_); }
  ~MpiioWishes() override { PMPI_Info_free(&info_); }
  void set(const char* key, const char* value) { PMPI_Info_set(info_, key, value); }
  std::string get(const char* key) {
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int there = 0;
    PMPI_Info_get(info_, key, MPI_MAX_INFO_VAL, value, &there);
    return there != 0 ? value : "(none)";
  }

  MPI_Info info_ = MPI_INFO_NULL;
};

TEST_F(MpiioWishes, NoInfoIsNoWish) { EXPECT_FALSE(wishes_of(MPI_INFO_NULL).any()); }

TEST_F(MpiioWishes, OtherPeoplesKeysAreNone) {
  set("cb_buffer_size", "1048576");
  EXPECT_FALSE(wishes_of(info_).any());
}

TEST_F(MpiioWishes, DotsAreUnderscores) {
  set("forebay_drain_trigger", "close");
  EXPECT_THAT(wishes_of(info_).settings, ElementsAre("drain.trigger=close"));
}

TEST_F(MpiioWishes, WhatIsWrongIsIgnored) {
  set("forebay_mode", "no such mode");
  EXPECT_THAT(wishes_of(info_).settings, IsEmpty());
}

TEST_F(MpiioWishes, APathByEitherNameAndOursFirst) {
  set("pmem_path", "/theirs");
  EXPECT_EQ(wishes_of(info_).path, "/theirs");
  set("forebay_path", "/ours");
  EXPECT_EQ(wishes_of(info_).path, "/ours");
  EXPECT_TRUE(wishes_of(info_).any());
}

TEST_F(MpiioWishes, AShareOfTheFile) {
  set("forebay_prefetch_at_open", "part");
  EXPECT_THAT(wishes_of(info_).settings, ElementsAre("prefetch.at_open=part"));
}

TEST_F(MpiioWishes, SettingsAreToldAsTheyAreAsked) {
  FileSettings settings;
  settings.on_close = OnClose::Detach;
  tell(settings, "/fast", info_);
  EXPECT_EQ(get("forebay_on_close"), "detach");
  EXPECT_EQ(get("forebay_path"), "/fast");
  EXPECT_THAT(wishes_of(info_).settings, ::testing::Contains("on_close=detach"));
}

}  // namespace
}  // namespace forebay::mpiio
