#include "door/mpiio/type_cache.hpp"

#include <array>
#include <barrier>
#include <thread>
#include <vector>

#include "door/mpiio/mpi_test.hpp"

namespace forebay::mpiio {
namespace {

// More of them than a thread has slots: they displace each other there, and were flattened anew each time, to
// stay for ever.
class MpiioTypeCache : public MpiTest {};

TEST_F(MpiioTypeCache, PredefinedTypesAreFlattenedOnce) {
  const auto types = std::to_array<MPI_Datatype>({MPI_BYTE,
                                                  MPI_CHAR,
                                                  MPI_SIGNED_CHAR,
                                                  MPI_UNSIGNED_CHAR,
                                                  MPI_SHORT,
                                                  MPI_UNSIGNED_SHORT,
                                                  MPI_INT,
                                                  MPI_FLOAT,
                                                  MPI_LONG,
                                                  MPI_UNSIGNED_LONG,
                                                  MPI_DOUBLE,
                                                  MPI_LONG_DOUBLE,
                                                  MPI_SHORT_INT,
                                                  MPI_2INT,
                                                  MPI_LONG_INT,
                                                  MPI_DOUBLE_INT,
                                                  MPI_FLOAT_INT,
                                                  MPI_INT8_T,
                                                  MPI_INT16_T,
                                                  MPI_INT32_T,
                                                  MPI_INT64_T,
                                                  MPI_UINT8_T,
                                                  MPI_UINT16_T,
                                                  MPI_UINT32_T,
                                                  MPI_UINT64_T,
                                                  MPI_C_BOOL,
                                                  MPI_WCHAR,
                                                  MPI_LONG_LONG,
                                                  MPI_UNSIGNED,
                                                  MPI_AINT,
                                                  MPI_OFFSET,
                                                  MPI_COUNT,
                                                  MPI_PACKED,
                                                  MPI_C_DOUBLE_COMPLEX,
                                                  MPI_C_FLOAT_COMPLEX});
  std::vector<const FlatType*> first;
  for (const auto type : types) first.push_back(known_type(type).flat);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto again = known_type(types[i]);
    EXPECT_EQ(again.flat, first[i]) << i;
    EXPECT_FALSE(again.fresh);
  }
}

// Each thread flattened the type, and what one had been given was gone when the next one hung up its own.
TEST_F(MpiioTypeCache, ThreadsThatMeetATypeTogetherGetTheSame) {
  constexpr int kThreads = 4;
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  ASSERT_EQ(level, MPI_THREAD_MULTIPLE);
  for (int turn = 0; turn < 200; ++turn) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    PMPI_Type_vector(2000, 1, 2, MPI_INT, &type);
    PMPI_Type_commit(&type);
    std::array<const FlatType*, kThreads> found{};
    std::barrier together(kThreads);
    {
      std::vector<std::jthread> threads;
      for (auto& mine : found) {
        threads.emplace_back([&] {
          together.arrive_and_wait();
          mine = known_type(type).flat;
        });
      }
    }
    for (const auto* const one : found) ASSERT_EQ(one, known_type(type).flat) << turn;
    PMPI_Type_free(&type);
  }
}

TEST_F(MpiioTypeCache, WhatIsNoTypeIsToldFromTypes) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(3, MPI_INT, &made);
  for (const auto type : {MPI_BYTE, MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_COUNT, made})
    EXPECT_TRUE(may_be_type(type));
  EXPECT_FALSE(may_be_type(MPI_DATATYPE_NULL));
#ifndef OPEN_MPI
  EXPECT_FALSE(may_be_type(static_cast<MPI_Datatype>(0x12345)));
  EXPECT_FALSE(may_be_type(static_cast<MPI_Datatype>(MPI_COMM_WORLD)));
#endif
  PMPI_Type_free(&made);
}

}  // namespace
}  // namespace forebay::mpiio
