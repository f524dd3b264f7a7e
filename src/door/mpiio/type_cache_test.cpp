#include "door/mpiio/type_cache.hpp"

#include <array>
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

}  // namespace
}  // namespace forebay::mpiio
