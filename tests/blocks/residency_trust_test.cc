// When a mapped file is trusted to be in memory without a query.
#include "blocks/residency_trust.h"

#include "gtest/gtest.h"

namespace bigtable {
namespace {

// How many queries must find their range in memory before the file is trusted.
int QueriesUntilTrusted(ResidencyTrust* trust) {
  int queries = 0;
  for (; !trust->is_trusted(); ++queries) trust->CountFound();
  return queries;
}

TEST(ResidencyTrustTest, AFileIsTrustedAfterConsecutiveQueriesFoundItInMemory) {
  ResidencyTrust trust;
  EXPECT_FALSE(trust.is_trusted()) << "nothing is known";
  EXPECT_EQ(QueriesUntilTrusted(&trust), 4);
}

TEST(ResidencyTrustTest, AMissingRangeEndsTheTrustAndBeginsTheCountAgain) {
  ResidencyTrust trust;
  trust.CountFound();
  trust.CountFound();
  trust.CountFound();
  trust.CountMissing();
  EXPECT_EQ(QueriesUntilTrusted(&trust), 4) << "consecutive ones";
  trust.CountMissing();
  EXPECT_EQ(QueriesUntilTrusted(&trust), 4) << "a query that found nothing is not a wrong trust";
}

TEST(ResidencyTrustTest, EachWrongTrustNeedsEightTimesAsManyQueries) {
  ResidencyTrust trust;
  for (int needed = 4; needed <= 4 * 8 * 8 * 8; needed *= 8) {
    EXPECT_EQ(QueriesUntilTrusted(&trust), needed);
    trust.RecordWrong();
  }
}

TEST(ResidencyTrustTest, TheNumberOfQueriesDoesNotOverflow) {
  ResidencyTrust trust;
  for (int i = 0; i < 100; ++i) trust.RecordWrong();
  for (int i = 0; i < 1000; ++i) trust.CountFound();
  EXPECT_FALSE(trust.is_trusted());
}

}  // namespace
}  // namespace bigtable
