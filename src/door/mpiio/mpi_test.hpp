// For unit tests that need MPI: a process by itself is a world of one rank.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

namespace forebay::mpiio {

class MpiTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    int begun = 0;
    PMPI_Initialized(&begun);
    int level = MPI_THREAD_SINGLE;
    if (begun == 0) PMPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  }
};

}  // namespace forebay::mpiio
