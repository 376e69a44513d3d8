#include "gtest/gtest.h"

#include "server/admin_api/admin_call.h"

namespace bigtable::server {
namespace {

TEST(AdminTurnsTest, SoManyCallsRunAtATime) {
  AdminTurns turns(2);
  EXPECT_TRUE(turns.Enter());
  EXPECT_TRUE(turns.Enter());
  EXPECT_FALSE(turns.Enter());
  EXPECT_FALSE(turns.Enter());
  turns.Leave();
  EXPECT_TRUE(turns.Enter());
  EXPECT_FALSE(turns.Enter());
}

TEST(AdminTurnsTest, AnEighthOfTheThreadsRunThem) {
  EXPECT_EQ(MostAdminCalls(1), 1);
  EXPECT_EQ(MostAdminCalls(100), 12);
  EXPECT_EQ(MostAdminCalls(2048), kMostAdminCalls);
}

}  // namespace
}  // namespace bigtable::server
