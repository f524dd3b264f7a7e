#include "door/hdf5/quiet.hpp"

#include <gtest/gtest.h>

#include "door/hdf5/error_stack.hpp"

namespace forebay::hdf5 {
namespace {

int printed = 0;
herr_t print_new(hid_t /*stack*/, void* /*data*/) { return ++printed, 0; }
herr_t print_old(void* /*data*/) { return ++printed, 0; }

void fail_once() { H5Dclose(-7); }

TEST(Quiet, NothingIsPrintedAndTheProgramFindsWhatItHadSet) {
  H5Eset_auto2(H5E_DEFAULT, print_new, nullptr);
  printed = 0;
  {
    const Quiet quiet;
    fail_once();
  }
  EXPECT_EQ(printed, 0);
  fail_once();
  EXPECT_EQ(printed, 1);
}

TEST(Quiet, AlsoWhatItHadSetInTheOldWay) {
  H5Eset_auto1(print_old, nullptr);
  printed = 0;
  {
    const ExpectFailure expected;
    fail_once();
  }
  EXPECT_EQ(printed, 0);
  fail_once();
  EXPECT_EQ(printed, 1);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

TEST(Quiet, AnExpectedFailureLeavesNothingOnTheStack) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5Eclear2(H5E_DEFAULT);
  {
    const ExpectFailure expected;
    fail_once();
  }
  EXPECT_EQ(H5Eget_num(H5E_DEFAULT), 0);
}

}  // namespace
}  // namespace forebay::hdf5
