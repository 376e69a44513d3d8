// RowMutation::DeleteTimeRange: which versions are gone, before and after flushes and compactions,
// for snapshots, filters, aggregates and reopened databases.
#include <string>

#include "gtest/gtest.h"

#include "support/database_fixture.h"

namespace bigtable {
namespace {

class DeleteTimeRangeTest : public DatabaseFixture, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    Open();
    TableSchema schema;
    schema.families["f"] = {};
    schema.families["two"] = {.gc = GcRule::MaxVersions(2)};
    schema.families["sum"] = {.value_type = ValueType::kInt64Sum};
    ASSERT_OK(database_->CreateTable("t", schema));
    table_ = *database_->OpenTable("t");
  }
  void Put(std::string_view column, int64_t timestamp) {
    ASSERT_OK(table_->Apply(
        RowMutation("r").Set(column, Timestamp(timestamp), absl::StrCat("v", timestamp))));
  }
  void Delete(std::string_view column, int64_t begin, int64_t end) {
    ASSERT_OK(
        table_->Apply(RowMutation("r").DeleteTimeRange(column, Timestamp(begin), Timestamp(end))));
  }
  // With the parameter, the deletion and what it hides are in different files.
  void MaybeFlush() {
    if (!GetParam()) return;
    ASSERT_OK(database_->Flush("t"));
  }
  std::string Read(const Filter& filter = {}, const ReadOptions& options = {}) {
    return Show(table_->ReadRow("r", filter, options));
  }

  Table* table_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(FromMemory, DeleteTimeRangeTest, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(FromFiles, DeleteTimeRangeTest, testing::Values(true));

TEST_P(DeleteTimeRangeTest, DeletesTheVersionsFromTheBeginToBeforeTheEnd) {
  for (const int64_t timestamp : {1, 2, 3, 4}) Put("f:q", timestamp);
  Put("f:q2", 2);
  MaybeFlush();
  Delete("f:q", 2, 4);
  MaybeFlush();
  EXPECT_EQ(Read(), "f:q@4=v4 f:q@1=v1 f:q2@2=v2");
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Read(), "f:q@4=v4 f:q@1=v1 f:q2@2=v2");
}

TEST_P(DeleteTimeRangeTest, WhatIsWrittenLaterStays) {
  Put("f:q", 2);
  Delete("f:q", 1, 9);
  MaybeFlush();
  Put("f:q", 3);
  EXPECT_EQ(Read(), "f:q@3=v3");
  RowMutation both("r");
  both.DeleteTimeRange("f:q", Timestamp(0), Timestamp::Max()).Set("f:q", Timestamp(5), "same");
  ASSERT_OK(table_->Apply(both));
  EXPECT_EQ(Read(), "f:q@5=same");
}

TEST_P(DeleteTimeRangeTest, AnEndOfTheLargestTimestampIsNoEnd) {
  const int64_t max = Timestamp::Max().micros();
  const auto filter = [](int64_t begin, int64_t end) {
    return Filter::TimestampRange(Timestamp(begin), Timestamp(end));
  };
  for (const int64_t timestamp : {int64_t{1}, int64_t{2}, max - 1, max}) Put("f:q", timestamp);
  MaybeFlush();
  const std::string last = absl::StrCat("f:q@", max, "=v", max);
  const std::string both = absl::StrCat(last, " f:q@", max - 1, "=v", max - 1);
  EXPECT_EQ(Read(filter(3, max)), both);
  EXPECT_EQ(Read(filter(max, max)), last);
  EXPECT_EQ(Read(Filter::Interleave(filter(max, max), filter(1, 2))), last + " f:q@1=v1");
  EXPECT_EQ(Read(filter(1, max - 1)), "f:q@2=v2 f:q@1=v1");

  auto snapshot = database_->TakeSnapshot();
  ASSERT_OK(snapshot.status());
  Delete("f:q", max, max);
  MaybeFlush();
  EXPECT_EQ(Read(filter(3, max)), absl::StrCat("f:q@", max - 1, "=v", max - 1));
  EXPECT_EQ(Read(filter(3, max), {.snapshot = *snapshot}), both);
  Put("f:q", max);
  Delete("f:q", 2, max);
  MaybeFlush();
  EXPECT_EQ(Read(), "f:q@1=v1");
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Read(), "f:q@1=v1");
  EXPECT_STATUS(kInvalidArgument, "must end after it begins", filter(max, max - 1).status());
}

TEST_P(DeleteTimeRangeTest, OverlappingRangesEachDeleteWhatIsOlder) {
  for (const int64_t timestamp : {1, 2, 3, 4, 5, 6}) Put("f:q", timestamp);
  MaybeFlush();
  Delete("f:q", 2, 4);
  Put("f:q", 3);
  MaybeFlush();
  Delete("f:q", 4, 6);
  EXPECT_EQ(Read(), "f:q@6=v6 f:q@3=v3 f:q@1=v1");
}

TEST_P(DeleteTimeRangeTest, ASnapshotSeesWhatWasThere) {
  Put("f:q", 2);
  auto snapshot = database_->TakeSnapshot();
  ASSERT_OK(snapshot.status());
  Delete("f:q", 1, 9);
  MaybeFlush();
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Read(), "");
  EXPECT_EQ(Read({}, {.snapshot = *snapshot}), "f:q@2=v2");
}

TEST_P(DeleteTimeRangeTest, AFilterOfTimestampsDoesNotSkipTheDeletion) {
  for (const int64_t timestamp : {1, 5, 9}) Put("f:q", timestamp);
  MaybeFlush();
  Delete("f:q", 4, 6);
  MaybeFlush();
  EXPECT_EQ(Read(Filter::TimestampRange(Timestamp(4), Timestamp(6))), "");
  EXPECT_EQ(Read(Filter::TimestampRange(Timestamp(1), Timestamp(6))), "f:q@1=v1");
  EXPECT_EQ(Read(Filter::Latest(2)), "f:q@9=v9 f:q@1=v1");
}

TEST_P(DeleteTimeRangeTest, DeletedVersionsStillCount) {
  Put("two:q", 1);
  Put("two:q", 2);
  MaybeFlush();
  Put("two:q", 3);  // the second one that is newer than 1
  Delete("two:q", 2, 4);
  MaybeFlush();
  EXPECT_EQ(Read(), "");
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Read(), "");
  Put("two:q", 1);
  EXPECT_EQ(Read(), "two:q@1=v1");
}

TEST_P(DeleteTimeRangeTest, ACellOfAnAggregateBeginsAnew) {
  const auto add = [&](int64_t number) {
    ASSERT_OK(table_->Apply(RowMutation("r").AddToCell("sum:q", Timestamp(5), number)));
  };
  add(7);
  MaybeFlush();
  Delete("sum:q", 5, 6);
  add(2);
  MaybeFlush();
  add(1);
  auto sum = table_->Get("r", "sum:q");
  ASSERT_OK(sum.status());
  EXPECT_EQ(*sum, EncodeBigEndian(3));
}

TEST_P(DeleteTimeRangeTest, IsRecovered) {
  Put("f:q", 2);
  Put("f:q", 3);
  MaybeFlush();
  Delete("f:q", 3, 4);
  database_.reset();
  Open();
  table_ = *database_->OpenTable("t");
  EXPECT_EQ(Read(), "f:q@2=v2");
}

TEST_P(DeleteTimeRangeTest, ARangeThatIsNoneIsRefusedAndChangesNothing) {
  Put("f:q", 2);
  for (const auto& [begin, end] : {std::pair{3, 3}, std::pair{5, 2}, std::pair{-1, 4}}) {
    RowMutation mutation("r");
    mutation.Delete("f:q").DeleteTimeRange("f:q", Timestamp(begin), Timestamp(end));
    EXPECT_STATUS(kInvalidArgument, absl::StrCat("[", begin, ", ", end, ")"),
                  table_->Apply(mutation));
  }
  EXPECT_EQ(Read(), "f:q@2=v2");
}

}  // namespace
}  // namespace bigtable
