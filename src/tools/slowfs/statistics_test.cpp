#include "tools/slowfs/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace forebay::slowfs {
namespace {

using testing::HasSubstr;

TEST(SlowfsStatistics, CountsByKind) {
  Statistics statistics;
  statistics.begin(Kind::Write);
  statistics.begin(Kind::Write);
  statistics.end(Kind::Write, 1000, 0);
  statistics.begin(Kind::Read);
  EXPECT_THAT(
      statistics.to_json(),
      HasSubstr(
          R"("write":{"requests":1,"bytes":1000,"errors":0,"mean_size":1000,"in_flight":1,"max_in_flight":2})"));
  EXPECT_THAT(statistics.to_json(), HasSubstr(R"("read":{"requests":0)"));
}

TEST(SlowfsStatistics, MeanSizeLeavesFailuresOut) {
  Statistics statistics;
  for (const int error : {0, EIO, 0}) {
    statistics.begin(Kind::Write);
    statistics.end(Kind::Write, error == 0 ? 500 : 0, error);
  }
  EXPECT_THAT(statistics.to_json(), HasSubstr(R"("requests":3,"bytes":1000,"errors":1,"mean_size":500)"));
}

TEST(SlowfsStatistics, ResetKeepsWhatIsInFlight) {
  Statistics statistics;
  statistics.begin(Kind::Fsync);
  statistics.begin(Kind::Fsync);
  statistics.end(Kind::Fsync, 0, 0);
  statistics.reset();
  EXPECT_THAT(
      statistics.to_json(),
      HasSubstr(
          R"("fsync":{"requests":0,"bytes":0,"errors":0,"mean_size":0,"in_flight":1,"max_in_flight":1})"));
}

}  // namespace
}  // namespace forebay::slowfs
