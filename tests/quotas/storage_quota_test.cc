// Quotas of storage: which mutations they refuse, and when they admit them again.
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "quotas/quota_fixture.h"

namespace bigtable {
namespace {

class StorageQuotaTest : public QuotaFixture {};

TEST_F(StorageQuotaTest, ATableBeyondItsStorageTakesOnlyDeletions) {
  for (int i = 0; i < 50; ++i) ASSERT_OK(Put(T(), Cat("a", i), "f:q", 1000));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->SetTableQuota("t", {.storage_bytes = 20'000}));

  const absl::Status refused = Put(T(), "z", "f:q");

  EXPECT_EXHAUSTED("the storage quota of 20000 bytes of table t is exceeded by", refused);
  EXPECT_EXHAUSTED("retry after data was deleted and compacted", refused);
  EXPECT_FALSE(RetryAfter(refused).has_value());
  EXPECT_EXHAUSTED("",
                   T()->Apply(RowMutation("z").AddToCell("n:q", Timestamp(1), EncodeBigEndian(1))));
  EXPECT_EXHAUSTED("", T()->Apply(RowMutation("a1").DeleteRow().Set("f:q", "new")));
  EXPECT_EXHAUSTED("", T()->ReadModifyWriteRow(ReadModifyWrite("a1").Append("f:q", "x")));
  EXPECT_OK(Put(OpenTable("u"), "a", "f:q"));
  EXPECT_OK(T()->ReadRow("a1"));
  for (int i = 0; i < 25; ++i) EXPECT_OK(T()->Apply(RowMutation(Cat("a", i)).DeleteRow()));
  EXPECT_EXHAUSTED("", Put(T(), "z", "f:q"));
  EXPECT_OK(T()->DropRowRange(RowRange::Prefix("a4")));
  ASSERT_OK(database_->Compact("t"));

  EXPECT_OK(Put(T(), "z", "f:q"));
}

TEST_F(StorageQuotaTest, WhatIsWrittenCountsAtOnce) {
  ASSERT_OK(database_->SetTableQuota("t", {.storage_bytes = 200'000}));
  ASSERT_OK(database_->SetCallerQuota("ann", {.storage_bytes = 100'000}));
  for (int i = 0; i < 2; ++i) ASSERT_OK(Put(T(), Cat("a", i), "a:q", 60'000));
  EXPECT_EXHAUSTED("caller \"ann\" is exceeded by", Put(T(), "b", "a:q"));
  for (int i = 0; i < 2; ++i) ASSERT_OK(Put(T(), Cat("b", i), "b:q", 60'000));
  EXPECT_EXHAUSTED("table t is exceeded by", Put(T(), "c", "f:q"));
  // A flush is seen at once, too.
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EXHAUSTED("storage quota", Put(T(), "c", "f:q"));
}

TEST_F(StorageQuotaTest, WhatMemtablesTakeBesideValuesCountsOnceTheSumIsOld) {
  ASSERT_OK(database_->SetTableQuota("t", {.storage_bytes = 50'000}));
  for (int i = 0; i < 2000; ++i) ASSERT_OK(Put(T(), Cat("a", i), "f:q"));
  time_.Advance(absl::Milliseconds(50));
  EXPECT_OK(Put(T(), "b", "f:q"));
  time_.Advance(absl::Milliseconds(60));
  EXPECT_EXHAUSTED("storage quota", Put(T(), "c", "f:q"));
}

TEST_F(StorageQuotaTest, ARefusedMutationDoesNotCount) {
  ASSERT_OK(database_->SetTableQuota("t", {.storage_bytes = 200'000}));
  ASSERT_OK(database_->SetCallerQuota("ann", {.storage_bytes = 1}));
  ASSERT_OK(Put(T(), "a", "a:q", 10));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EXHAUSTED(
        "\"ann\"",
        T()->Apply(RowMutation("z").Set("f:q", std::string(20'000, 'x')).Set("a:q", "v")));
  }
  EXPECT_OK(Put(T(), "z", "f:q"));
}

TEST_F(StorageQuotaTest, AnOwnerBeyondItsStorageLimitsItsFamiliesAlone) {
  ASSERT_OK(Put(As("bob"), "a", "a:q", 30'000));
  ASSERT_OK(Put(T(), "a", "b:q", 30'000));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->SetCallerQuota("ann", {.storage_bytes = 20'000}));

  EXPECT_EXHAUSTED("the storage quota of 20000 bytes of caller \"ann\"", Put(T(), "z", "a:q"));
  EXPECT_EXHAUSTED("caller \"ann\"", Put(As("bob"), "z", "a:q"));
  EXPECT_EXHAUSTED("caller \"ann\"", Put(OpenTable("u"), "z", "a:q"));
  EXPECT_EXHAUSTED("", T()->Apply(RowMutation("z").Set("b:q", "v").Set("a:q", "v")));
  EXPECT_EQ(Show(T()->ReadRow("z")), "");
  EXPECT_OK(Put(As("ann"), "z", "b:q"));
  EXPECT_OK(Put(As("ann"), "z", "f:q"));
  // The family gets another owner.
  ASSERT_OK(database_->UpdateFamily("t", "a", {.owner = "bob"}));
  EXPECT_OK(Put(T(), "z", "a:q"));
}

TEST_F(StorageQuotaTest, ABatchWithAMutationBeyondTheStorageChangesNothing) {
  ASSERT_OK(Put(T(), "a", "a:q", 30'000));
  ASSERT_OK(database_->SetCallerQuota("ann", {.storage_bytes = 20'000}));
  WriteBatch batch;
  batch.Apply(T(), Cell("b", "f:q"))
      .Apply(T(), Cell("z", "a:q"))
      .Apply(OpenTable("u"), Cell("c", "f:q"));
  EXPECT_EXHAUSTED("caller \"ann\"", database_->Apply(batch));
  EXPECT_EXHAUSTED("caller \"ann\"", database_->RunTransaction([&](Transaction* transaction) {
    const absl::Status status = transaction->Apply(T(), Cell("b", "f:q"));
    return status.ok() ? transaction->Apply(T(), Cell("z", "a:q")) : status;
  }));
  EXPECT_EQ(All("t"), "a");
  EXPECT_EQ(All("u"), "");
  // The mutations of ApplyBatch are independent.
  const std::vector<absl::Status> statuses =
      T()->ApplyBatch(std::vector<RowMutation>{Cell("b", "f:q"), Cell("z", "a:q")});
  EXPECT_OK(statuses[0]);
  EXPECT_EXHAUSTED("caller \"ann\"", statuses[1]);
  EXPECT_EQ(All("t"), "a b");
}

TEST_F(StorageQuotaTest, AQuotaThatIsRaisedOrRemovedAdmitsWritesAtOnce) {
  ASSERT_OK(Put(T(), "a", "f:q", 30'000));
  ASSERT_OK(database_->SetTableQuota("t", {.storage_bytes = 20'000}));
  EXPECT_EXHAUSTED("", Put(T(), "b", "f:q"));
  ASSERT_OK(database_->SetTableQuota("t", {.storage_bytes = 2'000'000}));
  EXPECT_OK(Put(T(), "b", "f:q"));
  ASSERT_OK(database_->SetTableQuota("t", {.storage_bytes = 1}));
  EXPECT_EXHAUSTED("", Put(T(), "b", "f:q"));
  ASSERT_OK(database_->SetTableQuota("t", {}));
  EXPECT_OK(Put(T(), "b", "f:q"));
}

}  // namespace
}  // namespace bigtable
