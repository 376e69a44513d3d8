// How quotas of tables and callers are set, listed and kept.
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "admission/quota_store.h"
#include "quotas/quota_fixture.h"

namespace bigtable {
namespace {

class QuotaSettingsTest : public QuotaFixture {};

TEST_F(QuotaSettingsTest, QuotasAreSetListedAndRemoved) {
  const Quota small{.storage_bytes = 1 << 20, .requests_per_second = 5, .bytes_per_second = 7};
  EXPECT_EQ(database_->GetTableQuota("t").value(), Quota());
  EXPECT_EQ(database_->GetCallerQuota("ann").value(), Quota());

  ASSERT_OK(database_->SetTableQuota("t", small));
  ASSERT_OK(database_->SetCallerQuota("ann/x", {.storage_bytes = 3}));

  EXPECT_EQ(database_->GetTableQuota("t").value(), small);
  EXPECT_EQ(database_->GetTableQuota("u").value(), Quota());
  EXPECT_EQ(database_->GetCallerQuota("ann/x").value().storage_bytes, 3u);
  EXPECT_EQ(database_->ListTableQuotas().value().at("t"), small);
  EXPECT_EQ(database_->ListCallerQuotas().value().size(), 1u);

  ASSERT_OK(database_->SetTableQuota("t", {}));
  ASSERT_OK(database_->SetCallerQuota("ann/x", {}));
  EXPECT_TRUE(database_->ListTableQuotas().value().empty());
  EXPECT_TRUE(database_->ListCallerQuotas().value().empty());
}

TEST_F(QuotaSettingsTest, UnknownTablesAndImpossibleCallersAreRefused) {
  EXPECT_STATUS(kNotFound, "x", database_->SetTableQuota("x", {.storage_bytes = 1}));
  EXPECT_STATUS(kNotFound, "x", database_->GetTableQuota("x"));
  EXPECT_STATUS(kInvalidArgument, "the name of a caller must be",
                database_->SetCallerQuota("", {.storage_bytes = 1}));
  EXPECT_STATUS(kInvalidArgument, "two words", database_->GetCallerQuota("two words"));
}

TEST_F(QuotaSettingsTest, QuotasSurviveReopeningAndCrashes) {
  const Quota quota{.requests_per_second = 2};
  ASSERT_OK(database_->SetTableQuota("t", quota));
  ASSERT_OK(database_->SetCallerQuota("ann", {.bytes_per_second = 5}));
  ASSERT_OK(database_->Close());
  database_.reset();
  OpenHere();
  EXPECT_EQ(database_->GetTableQuota("t").value(), quota);
  Kill();
  OpenHere();
  EXPECT_EQ(database_->GetTableQuota("t").value(), quota);
  EXPECT_EQ(database_->GetCallerQuota("ann").value().bytes_per_second, 5u);
  EXPECT_OK(T()->ReadRow("a"));
  EXPECT_OK(T()->ReadRow("a"));
  EXPECT_EXHAUSTED("of table t", T()->ReadRow("a"));
}

TEST_F(QuotaSettingsTest, AReadOnlyDatabaseKeepsQuotasAndDoesNotChangeThem) {
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 1}));
  ASSERT_OK(database_->Close());
  database_.reset();
  DatabaseOptions options = Options();
  options.read_only = true;
  Open(options);
  DatabasePeer(database_.get()).SetQuotaClock(&time_);
  EXPECT_EQ(database_->GetTableQuota("t").value().requests_per_second, 1u);
  EXPECT_EQ(database_->ListTableQuotas().value().size(), 1u);
  EXPECT_STATUS(kFailedPrecondition, "read-only", database_->SetTableQuota("t", {}));
  EXPECT_STATUS(kFailedPrecondition, "read-only", database_->SetCallerQuota("ann", {}));
  EXPECT_OK(T()->ReadRow("a"));
  EXPECT_EXHAUSTED("of table t", T()->ReadRow("a"));
}

TEST_F(QuotaSettingsTest, TheQuotaOfADeletedTableIsNotThatOfTheNext) {
  ASSERT_OK(database_->SetTableQuota("u", {.requests_per_second = 1}));
  ASSERT_OK(database_->DeleteTable("u"));
  EXPECT_TRUE(database_->ListTableQuotas().value().empty());
  EXPECT_STATUS(kNotFound, "u", database_->GetTableQuota("u"));
  EXPECT_EQ(QuotaStore(DatabasePeer(database_.get()).session()).Read().value(), QuotaSet());
  Table* const table = CreateTable("u", {"f"});
  EXPECT_EQ(database_->GetTableQuota("u").value(), Quota());
  for (int i = 0; i < 3; ++i) EXPECT_OK(table->ReadRow("a"));
}

TEST_F(QuotaSettingsTest, TheNextMasterKeepsTheQuotas) {
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 1}));
  DatabasePeer peer(database_.get());
  peer.KillMaster();
  // The next master changes quotas, and keeps those that are there.
  ASSERT_OK(database_->SetCallerQuota("ann", {.requests_per_second = 9}));
  EXPECT_EQ(database_->GetTableQuota("t").value().requests_per_second, 1u);
}

}  // namespace
}  // namespace bigtable
