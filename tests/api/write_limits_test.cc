// The limits of mutations: those that are refused, and those just within the limits.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "api/write_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class WriteLimitsTest : public WriteFixture {};

// --- Refused mutations ---

TEST_F(WriteLimitsTest, RowMustNotBeEmpty) {
  EXPECT_STATUS(kInvalidArgument, "row", table_->Apply(RowMutation("").Set("f:q", "v")));
}

TEST_F(WriteLimitsTest, DurabilityMustBeAKnownValue) {
  const WriteOptions options{.durability = static_cast<Durability>(9)};
  EXPECT_STATUS(kInvalidArgument, "WriteOptions::durability",
                table_->Apply(RowMutation("r").Set("f:q", "v"), options));
  EXPECT_EQ(Show(table_->ReadRow("r")), "");
}

TEST_F(WriteLimitsTest, RowMustNotBeLongerThan64KiB) {
  const std::string row(RowMutation::kMaxRowSize + 1, 'r');

  const absl::Status status = table_->Apply(RowMutation(row).Set("f:q", "v"));

  EXPECT_TRUE(IsStatus(absl::StatusCode::kInvalidArgument, status, "65536", "65537"));
}

TEST_F(WriteLimitsTest, ColumnNeedsAColon) {
  EXPECT_STATUS(kInvalidArgument, "\"nocolon\"",
                table_->Apply(RowMutation("r").Set("nocolon", "v")));
  EXPECT_STATUS(kInvalidArgument, "\"nocolon\"", table_->Apply(RowMutation("r").Delete("nocolon")));
  EXPECT_STATUS(kInvalidArgument, "\"nocolon\"",
                table_->Apply(RowMutation("r").DeleteCell("nocolon", Timestamp(1))));
}

TEST_F(WriteLimitsTest, TimestampMustNotBeNegative) {
  EXPECT_STATUS(kInvalidArgument, "-5",
                table_->Apply(RowMutation("r").Set("f:q", Timestamp(-5), "v")));
  EXPECT_STATUS(kInvalidArgument, "-5",
                table_->Apply(RowMutation("r").DeleteCell("f:q", Timestamp(-5))));
}

TEST_F(WriteLimitsTest, QualifierMustNotBeLongerThan16KiB) {
  const std::string column = "f:" + std::string(RowMutation::kMaxQualifierSize + 1, 'q');

  const absl::Status status = table_->Apply(RowMutation("r").Set(column, "v"));

  EXPECT_TRUE(IsStatus(absl::StatusCode::kInvalidArgument, status, "16384", "16385"));
}

TEST_F(WriteLimitsTest, ValueMustNotBeLargerThan256MiB) {
  const std::string value(RowMutation::kMaxValueSize + 1, 'v');

  const absl::Status status = table_->Apply(RowMutation("r").Set("f:q", value));

  EXPECT_TRUE(IsStatus(absl::StatusCode::kInvalidArgument, status, "268435456", "268435457"));
}

TEST_F(WriteLimitsTest, MutationMustHaveAnOperation) {
  EXPECT_STATUS(kInvalidArgument, "operation", table_->Apply(RowMutation("r")));
}

TEST_F(WriteLimitsTest, MutationMustNotHaveMoreThanAMillionOperations) {
  RowMutation mutation("r");
  for (uint32_t i = 0; i <= RowMutation::kMaxOperations; ++i) mutation.DeleteRow();

  EXPECT_STATUS(kInvalidArgument, "1048576", table_->Apply(mutation));
}

TEST_F(WriteLimitsTest, FamilyMustExistAndTheErrorListsTheFamilies) {
  for (const RowMutation& mutation :
       {RowMutation("r").Set("x:q", "v"), RowMutation("r").Delete("x:q"),
        RowMutation("r").DeleteCell("x:q", Timestamp(1)), RowMutation("r").DeleteFamily("x")}) {
    const absl::Status status = table_->Apply(mutation);

    EXPECT_TRUE(IsStatus(absl::StatusCode::kNotFound, status, "x", "f, g"));
  }
}

// A batch whose mutations are all refused takes no memory for each of their errors.
TEST_F(WriteLimitsTest, RefusedMutationsOfABatchShareTheirError) {
  TableSchema schema;
  for (int i = 100; i < 200; ++i) schema.families["family" + std::to_string(i)] = {};
  Table* const table = CreateTable("families", schema);
  std::vector<RowMutation> mutations;
  for (int i = 0; i < 100; ++i) {
    mutations.push_back(RowMutation(std::to_string(i)).Set(i % 2 == 0 ? "x:q" : "y:q", "v"));
  }
  const std::vector<absl::Status> statuses = table->ApplyBatch(mutations);

  EXPECT_STATUS(kNotFound, "\"x\"; it has: family100, family101, ", statuses[0]);
  EXPECT_STATUS(kNotFound, "family109 and 90 more", statuses[0]);
  EXPECT_STATUS(kNotFound, "\"y\"", statuses[1]);
  for (size_t i = 2; i < statuses.size(); ++i) {
    EXPECT_EQ(statuses[i].message().data(), statuses[i % 2].message().data());
  }
}

TEST_F(WriteLimitsTest, ARefusedMutationChangesNothing) {
  Set(table_, "r", "f:q", 1, "old");

  EXPECT_STATUS(kNotFound, "x",
                table_->Apply(RowMutation("r").DeleteRow().Set("f:q", "v").Set("x:q", "v")));
  EXPECT_STATUS(kInvalidArgument, "colon",
                table_->Apply(RowMutation("r").DeleteRow().Set("f:q", "v").Set("f", "v")));

  EXPECT_EQ(Show(table_->ReadRow("r")), "f:q@1=old");
}

TEST_F(WriteLimitsTest, ADeadlineInThePastWritesNothing) {
  const absl::Status status =
      table_->Apply(RowMutation("r").Set("f:q", "v"), {.deadline = absl::InfinitePast()});
  const std::vector<RowMutation> batch = {RowMutation("r").Set("f:q", "v"),
                                          RowMutation("s").Set("f:q", "v")};
  const std::vector<absl::Status> statuses =
      table_->ApplyBatch(batch, {.deadline = absl::Now() - absl::Seconds(1)});

  EXPECT_STATUS(kDeadlineExceeded, "", status);
  ASSERT_EQ(statuses.size(), 2u);
  EXPECT_STATUS(kDeadlineExceeded, "", statuses[0]);
  EXPECT_STATUS(kDeadlineExceeded, "", statuses[1]);
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowRange::All())), "");
}

TEST_F(WriteLimitsTest, ACancelledCallWritesNothing) {
  Cancellation cancellation;
  cancellation.Cancel();

  const absl::Status status =
      table_->Apply(RowMutation("r").Set("f:q", "v"), {.cancellation = &cancellation});

  EXPECT_STATUS(kCancelled, "", status);
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowRange::All())), "");
}

// --- Mutations at the limits ---

TEST_F(WriteLimitsTest, TheLongestRowAndQualifierWork) {
  const std::string row(RowMutation::kMaxRowSize, '\0');
  const std::string column = "f:" + std::string(RowMutation::kMaxQualifierSize, '\0');
  ASSERT_OK(table_->Apply(RowMutation(row).Set(column, Timestamp(1), "v")));

  for (const char* where : {"memtable", "SSTable"}) {
    SCOPED_TRACE(where);
    ASSERT_OK_AND_ASSIGN(const Row read, table_->ReadRow(row));
    EXPECT_EQ(read.key(), row);
    ASSERT_EQ(read.cells().size(), 1u);
    EXPECT_EQ("f:" + std::string(read.cells()[0].qualifier), column);
    ASSERT_OK(database_->Flush("t"));
  }
}

TEST_F(WriteLimitsTest, QualifiersAreAnyBytesOrEmpty) {
  using namespace std::string_literals;
  Set(table_, "r", "f:", 1, "none");
  Set(table_, "r", "f:\0"s, 1, "zero");
  Set(table_, "r", "f:\0\0"s, 1, "zeros");
  Set(table_, "r", "f:a:b"s, 1, "colon");
  Set(table_, "r", "f:\xff"s, 1, "last");

  EXPECT_EQ(Show(table_->ReadRow("r")),
            "f:@1=none f:\\x00@1=zero f:\\x00\\x00@1=zeros f:a:b@1=colon f:\\xff@1=last");
}

// Larger than a log segment, a memtable, and the whole budget.
TEST_F(WriteLimitsTest, AValueOf40MiBIsWrittenAndReadAndSurvives) {
  DatabaseOptions options = Options();
  options.memory_budget = MemoryBudget::kMinimum;
  options.memtable_size = 64 << 10;
  options.log_segment_size = 64 << 10;
  Reopen(options);
  table_ = OpenTable("t");
  std::string value(40 << 20, 'v');
  for (size_t i = 0; i < value.size(); i += 4096) value[i] = static_cast<char>('a' + i / 4096 % 26);

  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:q", Timestamp(1), value)));

  const auto expect_value = [&](const char* where) {
    SCOPED_TRACE(where);
    ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow("r"));
    ASSERT_EQ(row.cells().size(), 1u);
    EXPECT_TRUE(row.cells()[0].value == value);
  };
  expect_value("memtable");
  Kill();
  Open(options);
  table_ = OpenTable("t");
  expect_value("after a kill");
  ASSERT_OK(database_->Flush("t"));
  expect_value("SSTable");
  ASSERT_OK(database_->Compact("t"));
  expect_value("compacted SSTable");
}

}  // namespace
}  // namespace bigtable
