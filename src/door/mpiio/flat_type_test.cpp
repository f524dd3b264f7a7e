#include "door/mpiio/flat_type.hpp"

#include "door/mpiio/mpi_test.hpp"

namespace forebay::mpiio {
namespace {

using Runs = std::vector<Run>;

class MpiioFlatType : public MpiTest {
 protected:
  // Flattens a type that `make` made, and frees it.
  template <class Make>
  std::optional<FlatType> made(Make&& make) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    EXPECT_EQ(make(&type), MPI_SUCCESS);
    auto flat = flatten(type);
    PMPI_Type_free(&type);
    return flat;
  }
};

TEST_F(MpiioFlatType, Predefined) {
  const auto flat = flatten(MPI_DOUBLE);
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->runs, (Runs{{0, 8}}));
  EXPECT_EQ(flat->extent, 8);
  EXPECT_TRUE(flat->contiguous(1000));
  EXPECT_TRUE(flat->monotonic());
}

TEST_F(MpiioFlatType, APairHasAGapOnlyBehindIt) {
  const auto flat = flatten(MPI_SHORT_INT);
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->size, 6);
  EXPECT_EQ(flat->runs, (Runs{{0, 2}, {4, 4}}));
}

TEST_F(MpiioFlatType, NeighboursAreJoined) {
  const auto flat = made([](MPI_Datatype* type) { return MPI_Type_vector(5, 2, 2, MPI_INT, type); });
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->runs, (Runs{{0, 40}}));
}

TEST_F(MpiioFlatType, AVector) {
  const auto flat = made([](MPI_Datatype* type) { return MPI_Type_vector(3, 1, 2, MPI_INT, type); });
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->runs, (Runs{{0, 4}, {8, 4}, {16, 4}}));
  EXPECT_EQ(flat->extent, 20);
  EXPECT_FALSE(flat->contiguous(1));
}

TEST_F(MpiioFlatType, AnIndexedTypeThatGoesBackIsNoFileType) {
  const auto flat = made([](MPI_Datatype* type) {
    const int lengths[] = {1, 1};
    const int places[] = {4, 0};
    return MPI_Type_indexed(2, lengths, places, MPI_BYTE, type);
  });
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->runs, (Runs{{4, 1}, {0, 1}}));
  EXPECT_FALSE(flat->monotonic());
}

TEST_F(MpiioFlatType, TilesThatOverlapAreNoFileType) {
  const auto flat = made([](MPI_Datatype* type) { return MPI_Type_create_resized(MPI_DOUBLE, 0, 4, type); });
  ASSERT_TRUE(flat);
  EXPECT_FALSE(flat->monotonic());
}

TEST_F(MpiioFlatType, ASubarrayInBothOrders) {
  for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
    const auto flat = made([&](MPI_Datatype* type) {
      const int sizes[] = {4, 3};
      const int parts[] = {2, 1};
      const int starts[] = {1, 2};
      return MPI_Type_create_subarray(2, sizes, parts, starts, order, MPI_BYTE, type);
    });
    ASSERT_TRUE(flat);
    EXPECT_EQ(flat->runs, order == MPI_ORDER_C ? (Runs{{5, 1}, {8, 1}}) : (Runs{{9, 2}}));
    EXPECT_EQ(flat->extent, 12);
  }
}

TEST_F(MpiioFlatType, AStructOfOtherTypes) {
  const auto flat = made([](MPI_Datatype* type) {
    const int lengths[] = {2, 1};
    const MPI_Aint places[] = {0, 16};
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 3, MPI_BYTE, &inner);
    const MPI_Datatype types[] = {inner, MPI_INT};
    const int code = MPI_Type_create_struct(2, lengths, places, types, type);
    MPI_Type_free(&inner);
    return code;
  });
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->runs, (Runs{{0, 1}, {3, 2}, {7, 1}, {16, 4}}));
}

TEST_F(MpiioFlatType, NoDataIsNoFileType) {
  const auto flat = made([](MPI_Datatype* type) { return MPI_Type_contiguous(0, MPI_INT, type); });
  ASSERT_TRUE(flat);
  EXPECT_TRUE(flat->runs.empty());
  EXPECT_FALSE(flat->monotonic());
}

TEST_F(MpiioFlatType, TooManyRunsAreLeftToMpi) {
  const auto flat = made([](MPI_Datatype* type) {
    return MPI_Type_vector(static_cast<int>(kMaxRuns) + 1, 1, 2, MPI_BYTE, type);
  });
  EXPECT_FALSE(flat);
}

}  // namespace
}  // namespace forebay::mpiio
