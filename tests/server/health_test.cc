// Whether a server is healthy on a disk that has room, and on one that has not.
#include "server/health.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/expect_status.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

TEST(HealthTest, ADiskWithoutRoomForASegmentOfTheLogIsNotHealthy) {
  const TempDirectory directory(TempDirectory::Where::kMemory);
  absl::StatusOr<std::unique_ptr<Database>> database =
      Database::Open(directory.database(), {.memory_budget = 32 << 20});
  ASSERT_TRUE(database.ok()) << database.status();
  std::vector<absl::Status> reported;
  const auto report = [&](const Health::State& state) {
    EXPECT_OK(state.reads);
    reported.push_back(state.writes);
  };
  {
    const Health full(database->get(), directory.database(), report, uint64_t{1} << 62);
    EXPECT_STATUS(kResourceExhausted, "bytes left, and a segment of the log needs 4611686018427",
                  full.Check().writes);
    EXPECT_OK(full.CheckReads());
  }
  {
    const Health roomy(database->get(), directory.database(), report, 1);
    EXPECT_OK(roomy.Check().writes);
  }
  ASSERT_EQ(reported.size(), 2u);
  EXPECT_STATUS(kResourceExhausted, directory.database(), reported[0]);
  EXPECT_OK(reported[1]);
  EXPECT_EQ(Health::kLeastFreeBytes, DatabaseOptions().log_segment_size);
}

}  // namespace
}  // namespace bigtable::server
