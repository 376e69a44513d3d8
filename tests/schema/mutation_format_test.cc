// Mutations as bytes, at their limits: what RowMutation takes, what comes back from the bytes, and
// which bytes are refused.
#include "schema/mutation_format.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/row_mutation.h"

#include "base/coding.h"
#include "base/strings.h"
#include "schema/mutation_check.h"
#include "schema/table_layout.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

// --- RowMutation ---

TEST(RowMutationLimitsTest, ARowHasOneByteToItsMost) {
  EXPECT_STATUS(kInvalidArgument, "must not be empty", RowMutation("").status());
  EXPECT_OK(RowMutation("r").status());
  EXPECT_OK(RowMutation(std::string(RowMutation::kMaxRowSize, 'r')).status());
  EXPECT_STATUS(kInvalidArgument, "at most 65536 bytes",
                RowMutation(std::string(RowMutation::kMaxRowSize + 1, 'r')).status());
}

TEST(RowMutationLimitsTest, AQualifierIsEmptyOrHasAtMostItsMost) {
  const auto set = [](const std::string& column) {
    return RowMutation("r").Set(column, Timestamp(1), "v").status();
  };
  EXPECT_OK(set("f:"));
  EXPECT_OK(set("f:" + std::string(RowMutation::kMaxQualifierSize, 'q')));
  EXPECT_STATUS(kInvalidArgument, "a qualifier must be at most",
                set("f:" + std::string(RowMutation::kMaxQualifierSize + 1, 'q')));
  EXPECT_STATUS(kInvalidArgument, "has no family", set(":q"));
  EXPECT_STATUS(kInvalidArgument, "has no colon", set("f"));
  EXPECT_STATUS(kInvalidArgument, "has no colon", set(""));
}

TEST(RowMutationLimitsTest, TimestampsBeginWithZeroAndRangesAreNotEmpty) {
  EXPECT_OK(RowMutation("r").Set("f:q", Timestamp(0), "v").status());
  EXPECT_STATUS(kInvalidArgument, "must not be negative",
                RowMutation("r").Set("f:q", Timestamp(-1), "v").status());
  const auto range = [](int64_t begin, int64_t end) {
    return RowMutation("r").DeleteTimeRange("f:q", Timestamp(begin), Timestamp(end)).status();
  };
  EXPECT_OK(range(0, 1));
  EXPECT_FALSE(range(-1, 1).ok());
  EXPECT_FALSE(range(1, 1).ok());
  EXPECT_FALSE(range(2, 1).ok());
}

TEST(RowMutationLimitsTest, TheFirstErrorStaysUntilReset) {
  RowMutation mutation("r");
  mutation.Set("f:q", "v").Set("f", "v").Set(":q", "v");
  EXPECT_STATUS(kInvalidArgument, "has no colon", mutation.status());
  EXPECT_EQ(mutation.operation_count(), 1u);
  EXPECT_TRUE(EncodedMutation::Of(mutation).takes_server_time);
  mutation.Reset("s");
  EXPECT_OK(mutation.status());
  EXPECT_EQ(mutation.operation_count(), 0u);
  EXPECT_EQ(mutation.byte_size(), 1u);
  EXPECT_EQ(EncodedMutation::Of(mutation).row, "s");
  EXPECT_FALSE(EncodedMutation::Of(mutation).takes_server_time);
  EXPECT_STATUS(kInvalidArgument, "must not be empty", mutation.Reset("").status());
}

TEST(RowMutationLimitsTest, OnlyACellWithoutATimestampTakesTheServersTime) {
  const auto takes = [](const RowMutation& mutation) {
    return EncodedMutation::Of(mutation).takes_server_time;
  };
  EXPECT_TRUE(takes(RowMutation("r").Set("f:q", "v")));
  EXPECT_TRUE(takes(RowMutation("r").Set("f:q", "v").Set("f:q", Timestamp(1), "v")));
  EXPECT_FALSE(takes(RowMutation("r").Set("f:q", Timestamp(1), "v")));
  EXPECT_FALSE(takes(RowMutation("r").Delete("f:q").DeleteFamily("f").DeleteRow()));
}

// --- Operations ---

TEST(OperationFormatTest, EachKindComesBackWithItsFields) {
  RowMutation mutation("r");
  mutation.Set("f:q", "server's")
      .Set("f:q", Timestamp(0), "given")
      .AddToCell("f:q", Timestamp(5), "input")
      .MergeToCell("f:q", Timestamp(6), "state")
      .Delete("f:q")
      .DeleteCell("f:q", Timestamp(7))
      .DeleteFamily("f")
      .DeleteRow();
  ASSERT_OK(mutation.status());
  EXPECT_EQ(mutation.operation_count(), 8u);
  const EncodedMutation encoded = EncodedMutation::Of(mutation);
  EXPECT_EQ(mutation.byte_size(), 1 + encoded.operations.size());
  OperationReader reader(encoded.operations);
  std::string shown;
  for (MutationOperation operation; reader.Next(&operation);) {
    const EntryTraits& traits = TraitsOf(operation.kind);
    shown += Cat(static_cast<int>(operation.kind), " ",
                 traits.scope <= EntryScope::kFamily ? operation.family : "", ":",
                 traits.scope <= EntryScope::kColumn ? operation.qualifier : "", "@",
                 operation.has_timestamp ? Cat(operation.timestamp) : "", "=",
                 traits.has_value ? operation.value : "", "\n");
  }
  EXPECT_TRUE(reader.ok());
  const auto kind = [](EntryKind k) { return Cat(static_cast<int>(k)); };
  EXPECT_EQ(shown, Cat(kind(EntryKind::kCell), " f:q@=server's\n",  //
                       kind(EntryKind::kCell), " f:q@0=given\n",    //
                       kind(EntryKind::kAddToCell), " f:q@5=input\n", kind(EntryKind::kMergeToCell),
                       " f:q@6=state\n", kind(EntryKind::kDeleteColumn), " f:q@=\n",
                       kind(EntryKind::kDeleteCell), " f:q@7=\n", kind(EntryKind::kDeleteFamily),
                       " f:@=\n", kind(EntryKind::kDeleteRow), " :@=\n"));
  const RowMutation again = encoded.ToMutation();
  EXPECT_EQ(EncodedMutation::Of(again).operations, encoded.operations);
  EXPECT_EQ(EncodedMutation::Of(again).row, "r");
}

TEST(OperationFormatTest, APartOfAnOperationIsRefused) {
  const RowMutation mutation = std::move(RowMutation("r").Set("f:q", Timestamp(1), "value"));
  const std::string_view whole = EncodedMutation::Of(mutation).operations;
  MutationOperation operation;
  for (size_t size = 1; size < whole.size(); ++size) {
    OperationReader reader(whole.substr(0, size));
    EXPECT_FALSE(reader.Next(&operation)) << size;
    EXPECT_FALSE(reader.ok()) << size;
    EXPECT_FALSE(reader.Next(&operation)) << size;
  }
  OperationReader none("");
  EXPECT_FALSE(none.Next(&operation));
  EXPECT_TRUE(none.ok());
  // A cell of no family.
  std::string without_family;
  AppendOperation(&without_family, {.has_timestamp = true, .family = "", .qualifier = "q"});
  OperationReader reader(without_family);
  EXPECT_FALSE(reader.Next(&operation));
  EXPECT_FALSE(reader.ok());
}

TEST(OperationFormatTest, AMutationIsCheckedAgainstTheSchema) {
  TableSchema schema;
  schema.families["f"] = {};
  schema.families["sum"] = {.value_type = ValueType::kInt64Sum};
  ASSERT_OK_AND_ASSIGN(const TableLayout layout, MakeTableLayout("t", 5, schema));
  const auto check = [&](const RowMutation& mutation) {
    return CheckMutation(layout, EncodedMutation::Of(mutation));
  };
  const std::string eight(8, '\0');
  EXPECT_OK(check(RowMutation("r").Set("f:q", "v")));
  EXPECT_OK(check(RowMutation("r").DeleteRow()));
  EXPECT_OK(check(RowMutation("r").DeleteTimeRange("f:q", Timestamp(1), Timestamp(2))));
  EXPECT_OK(check(RowMutation("r").AddToCell("sum:q", Timestamp(1), eight)));
  EXPECT_OK(check(RowMutation("r").Delete("sum:q")));
  EXPECT_FALSE(check(RowMutation("r").Set("other:q", "v")).ok());
  EXPECT_STATUS(kInvalidArgument,
                "is no aggregate, so its cells are written by Set, not by AddToCell",
                check(RowMutation("r").AddToCell("f:q", Timestamp(1), eight)));
  EXPECT_STATUS(kInvalidArgument, "not by MergeToCell",
                check(RowMutation("r").MergeToCell("f:q", Timestamp(1), eight)));
  EXPECT_STATUS(kInvalidArgument, "which only AddToCell and MergeToCell write",
                check(RowMutation("r").Set("sum:q", eight)));
  EXPECT_STATUS(kInvalidArgument, "does not take what AddToCell adds",
                check(RowMutation("r").AddToCell("sum:q", Timestamp(1), "seven..")));
  EXPECT_STATUS(kInvalidArgument, "does not take what MergeToCell merges",
                check(RowMutation("r").MergeToCell("sum:q", Timestamp(1), "seven..")));
  // One of several is wrong, before or after a deletion of the row.
  EXPECT_FALSE(check(RowMutation("r").DeleteRow().Set("other:q", "v")).ok());
  EXPECT_STATUS(kInvalidArgument, "has no operations", check(RowMutation("r")));
  EXPECT_STATUS(kInvalidArgument, "is not well formed",
                CheckMutation(layout, {.row = "r", .operations = "\xff"}));
  std::string range;
  AppendOperation(
      &range,
      {.kind = EntryKind::kDeleteTimeRange, .family = "f", .qualifier = "q", .value = "no range"});
  EXPECT_STATUS(kInvalidArgument, "a time range that is not well formed",
                CheckMutation(layout, {.row = "r", .operations = range}));
  const absl::Status not_observed =
      CheckMutation(layout, {.row = "r", .operations = range, .observers = 7});
  EXPECT_STATUS(kUnimplemented, "has observers", not_observed);
  EXPECT_TRUE(HasNotObservedMark(not_observed));
  EXPECT_FALSE(HasNotObservedMark(absl::UnimplementedError("of other origin")));
  EXPECT_FALSE(HasNotObservedMark(absl::OkStatus()));
}

// --- Records ---

std::string RecordOf(uint64_t table_id, int64_t timestamp, std::string_view row) {
  std::string record;
  AppendMutationHeader(&record, {table_id, timestamp, {.row = row, .operations = ""}});
  return record + "operations";
}

TEST(MutationRecordTest, ComesBackAtItsLimits) {
  for (const int64_t timestamp : {int64_t{0}, INT64_MAX}) {
    for (const uint64_t table_id : {uint64_t{0}, UINT64_MAX}) {
      MutationRecord record{.batch = 9};  // of an earlier one
      const std::string bytes = RecordOf(table_id, timestamp, "r");
      ASSERT_TRUE(ParseMutationRecord(bytes, &record));
      EXPECT_EQ(record.table_id, table_id);
      EXPECT_EQ(record.server_timestamp, timestamp);
      EXPECT_EQ(record.mutation.row, "r");
      EXPECT_EQ(record.mutation.operations, "operations");
      EXPECT_EQ(record.batch, 0u);
    }
  }
  MutationRecord record;
  EXPECT_FALSE(ParseMutationRecord(RecordOf(5, -1, "r"), &record));
  EXPECT_FALSE(ParseMutationRecord(RecordOf(5, 7, ""), &record));
  EXPECT_FALSE(ParseMutationRecord("", &record));
  EXPECT_FALSE(ParseMutationRecord("\x05\x07\x09r", &record));
}

std::string Join(BatchPayload* payload) {
  std::string bytes;
  for (const std::string_view piece : payload->pieces()) bytes += piece;
  return bytes;
}

TEST(BatchPayloadTest, ComesBackWithItsMutationsAndCanBeUsedAgain) {
  BatchPayload payload;
  for (int round = 0; round < 2; ++round) {
    payload.Clear();
    payload.Add({5, 7, {.row = "a", .operations = "one"}});
    payload.Add({6, 0, {.row = "b", .operations = "second"}});
    EXPECT_EQ(payload.mutations(), 2u);
    const std::string bytes = Join(&payload);
    EXPECT_EQ(payload.size(), bytes.size());
    EXPECT_EQ(payload.OperationsIn(bytes, 0), "one");
    EXPECT_EQ(payload.OperationsIn(bytes, 1), "second");
    std::vector<MutationRecord> records(3);  // of an earlier batch
    // There are as many sequence numbers as mutations, and no more.
    ASSERT_TRUE(ParseBatchRecord(bytes, 2, &records));
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].table_id, 5u);
    EXPECT_EQ(records[0].mutation.row, "a");
    EXPECT_EQ(records[0].mutation.operations, "one");
    EXPECT_EQ(records[1].server_timestamp, 0);
    EXPECT_EQ(records[1].mutation.operations, "second");
    for (const MutationRecord& record : records) EXPECT_EQ(record.batch, 2u);
    ASSERT_TRUE(ParseBatchRecord(bytes, 300, &records));
    for (const MutationRecord& record : records) EXPECT_EQ(record.batch, 300u);
    EXPECT_FALSE(ParseBatchRecord(bytes, 1, &records));
    for (size_t size = 0; size < bytes.size(); ++size) {
      const bool is_first = size == payload.pieces()[0].size() + 3;
      EXPECT_EQ(ParseBatchRecord(bytes.substr(0, size), 9, &records), is_first) << size;
    }
  }
}

TEST(BatchPayloadTest, APartNamesTheOthers) {
  BatchPayload payload;
  const std::vector<OtherBatchPart> others = {{"server-1", 9}, {"server-22", kMaxSequence}};
  std::vector<OtherBatchPart> found = {{"of an earlier part", 1}};
  std::string_view batch;
  for (int round = 0; round < 2; ++round) {
    payload.Clear();
    payload.SetOthers(others);
    payload.Add({5, 7, {.row = "a", .operations = "one"}});
    const std::string bytes = Join(&payload);
    EXPECT_EQ(payload.size(), bytes.size());
    EXPECT_EQ(payload.OperationsIn(bytes, 0), "one");
    ASSERT_TRUE(ParseBatchPart(bytes, &found, &batch));
    EXPECT_EQ(found, others);
    std::vector<MutationRecord> records;
    ASSERT_TRUE(ParseBatchRecord(batch, 1, &records));
    EXPECT_EQ(records[0].mutation.row, "a");
  }
  EXPECT_FALSE(ParseBatchPart("", &found, &batch));
  EXPECT_FALSE(ParseBatchPart(std::string_view("\0", 1), &found, &batch));  // none
  EXPECT_FALSE(ParseBatchPart("\x02\x01s\x05", &found, &batch));            // one of two
}

}  // namespace
}  // namespace bigtable
