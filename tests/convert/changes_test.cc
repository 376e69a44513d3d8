#include "convert/changes.h"

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/change_stream.h"
#include "bigtable/row_mutation.h"

#include "convert/parse_text.h"
#include "convert/schema.h"

namespace bigtable::convert {
namespace {

using google::bigtable::v2::ReadChangeStreamRequest;
using DataChange = google::bigtable::v2::ReadChangeStreamResponse::DataChange;

// "[a, c) since 5 until 7 from x y every 3s"; or the message of the error.
std::string SelectionOf(const std::string& text) {
  const absl::StatusOr<ChangeStreamSelection> selection =
      ToChangeStreamSelection(ParseText<ReadChangeStreamRequest>(text));
  if (!selection.ok()) {
    EXPECT_EQ(selection.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(selection.status().message());
  }
  std::string shown =
      "[" + selection->rows.begin() + ", " + std::string(selection->rows.end().value_or("")) + ")";
  if (selection->since.has_value()) {
    shown += " since " + std::to_string(absl::ToUnixMicros(*selection->since));
  }
  if (selection->end.has_value()) {
    shown += " until " + std::to_string(absl::ToUnixMicros(*selection->end));
  }
  if (!selection->positions.empty()) shown += " from";
  for (const std::string& position : selection->positions) shown += " " + position;
  return shown + " every " + absl::FormatDuration(selection->heartbeat);
}

std::string Rows(const std::string& begin, const std::string& end) {
  return "partition { row_range { start_key_closed: '" + begin + "' end_key_open: '" + end +
         "' } } ";
}

TEST(ChangeStreamSelectionTest, WithoutAnythingItIsAllRowsFromNowOn) {
  EXPECT_EQ(SelectionOf(""), "[, ) every 5s");
}

TEST(ChangeStreamSelectionTest, HasRowsTimesAndHeartbeat) {
  EXPECT_EQ(SelectionOf(Rows("a", "c") + "start_time { seconds: 1 nanos: 1999 } end_time { nanos: "
                                         "7000 } heartbeat_duration { seconds: 300 }"),
            "[a, c) since 1000001 until 7 every 5m");
  EXPECT_EQ(SelectionOf("start_time { nanos: -1 }"),
            "start_time must be a time of the years 1 to 9999, and is 0 seconds and -1 "
            "nanoseconds");
  EXPECT_EQ(SelectionOf("heartbeat_duration { seconds: 301 }"),
            "heartbeat_duration must be from 1s to 5m, and is 301 seconds and 0 nanoseconds");
}

TEST(ChangeStreamSelectionTest, TokensAreForExactlyThePartition) {
  const auto token = [](const std::string& begin, const std::string& end,
                        const std::string& text = "eHk") {
    return "tokens { " + Rows(begin, end) + "token: '" + text + "' } ";
  };
  const auto read = [&](const std::string& tokens) {
    return SelectionOf(Rows("b", "f") + "continuation_tokens { " + tokens + "}");
  };
  const std::string error =
      "the partitions of the continuation_tokens must together be exactly the partition of the "
      "request";
  EXPECT_EQ(read(token("b", "f")), "[b, f) from xy every 5s");
  EXPECT_EQ(read(token("d", "f") + token("b", "d")), "[b, f) from xy xy every 5s");
  EXPECT_EQ(read(token("b", "d")), error);
  EXPECT_EQ(read(token("c", "f")), error);
  EXPECT_EQ(read(token("a", "f")), error);
  EXPECT_EQ(read(token("b", "")), error);
  EXPECT_EQ(read(token("b", "c") + token("d", "f")), error);
  EXPECT_EQ(read(""), "continuation_tokens must have a token");
  EXPECT_EQ(read(token("b", "f", "")),
            "continuation_tokens[0]: a token must be one that this server has sent");
  EXPECT_EQ(read(token("b", "f", "\\300")).substr(0, 23), "continuation_tokens[0]:");
}

TEST(ChangeStreamSelectionTest, ReadsWhatToTokenWrites) {
  const std::string position("\0\xff\x01", 3);
  ReadChangeStreamRequest request;
  *request.mutable_continuation_tokens()->add_tokens() =
      ToToken(RowRange::RightOpen("a", "b"), position);
  *request.mutable_partition() = ToPartition(RowRange::RightOpen("a", "b"));
  const absl::StatusOr<ChangeStreamSelection> read = ToChangeStreamSelection(request);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->positions, std::vector<std::string>{position});
}

// The chunks of all messages, one a line; "--" between messages.
std::string MessagesOf(const RowMutation& mutation, const std::vector<std::string>& families) {
  TableChange change;
  change.sequence = (uint64_t{1} << 32) + 7;
  change.time = absl::FromUnixMicros(1'000'002);
  change.mutation = mutation;
  DataChangeMessages messages(
      change, families, {.cluster = "c", .position = "xy", .watermark = absl::InfinitePast()});
  std::string shown;
  for (DataChange message; messages.Next(&message);) {
    for (const auto& chunk : message.chunks()) shown += ShowMessage(chunk) + "\n";
    message.clear_chunks();
    shown += "-- " + ShowMessage(message) + "\n";
  }
  return shown;
}

constexpr const char* kWhole =
    "-- type: USER source_cluster_id: \"c\" row_key: \"r\" commit_timestamp { seconds: 1 nanos: "
    "2000 } tiebreaker: 7 done: true token: \"eHk\" estimated_low_watermark { }\n";

TEST(DataChangeMessagesTest, HasEachOperation) {
  const RowMutation mutation = RowMutation("r")
                                   .Set("f:q", Timestamp(1500), "v")
                                   .Delete("f:q")
                                   .DeleteCell("f:", Timestamp(3))
                                   .DeleteTimeRange("f:q", Timestamp(0), Timestamp(2000))
                                   .DeleteFamily("g")
                                   .AddToCell("s:q", Timestamp(1000), 5);
  EXPECT_EQ(
      MessagesOf(mutation, {}),
      std::string(
          "mutation { set_cell { family_name: \"f\" column_qualifier: \"q\" timestamp_micros: 1500 "
          "value: \"v\" } }\n"
          "mutation { delete_from_column { family_name: \"f\" column_qualifier: \"q\" } }\n"
          "mutation { delete_from_column { family_name: \"f\" time_range { start_timestamp_micros: "
          "3 end_timestamp_micros: 4 } } }\n"
          "mutation { delete_from_column { family_name: \"f\" column_qualifier: \"q\" time_range { "
          "end_timestamp_micros: 2000 } } }\n"
          "mutation { delete_from_family { family_name: \"g\" } }\n"
          "mutation { add_to_cell { family_name: \"s\" column_qualifier { raw_value: \"q\" } "
          "timestamp { raw_timestamp_micros: 1000 } input { int_value: 5 } } }\n") +
          kWhole);
}

TEST(DataChangeMessagesTest, TheDeletionOfARowIsThatOfItsFamilies) {
  EXPECT_EQ(MessagesOf(RowMutation("r").DeleteRow(), {"f", "g"}),
            std::string("mutation { delete_from_family { family_name: \"f\" } }\n"
                        "mutation { delete_from_family { family_name: \"g\" } }\n") +
                kWhole);
  EXPECT_EQ(MessagesOf(RowMutation("r").DeleteRow(), {}), "");
}

TEST(DataChangeMessagesTest, AValueOfExactlyAMessageIsNotDivided) {
  const auto messages = [](size_t size) {
    TableChange change;
    change.mutation = RowMutation("r").Set("f:q", Timestamp(0), std::string(size, 'v'));
    DataChangeMessages made(change, {}, {.cluster = "c"});
    int count = 0;
    for (DataChange message; made.Next(&message);) {
      EXPECT_EQ(message.chunks(0).has_chunk_info(), size > size_t{1} << 20);
      ++count;
    }
    return count;
  };
  EXPECT_EQ(messages(0), 1);
  EXPECT_EQ(messages(1 << 20), 1);
  EXPECT_EQ(messages((1 << 20) + 1), 2);
}

TEST(ChangeStreamRuleTest, IsInTheSchemaOfATable) {
  TableSchema schema;
  schema.changes.retention = absl::Hours(24);
  const auto table = ToProto(schema);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(ShowMessage(*table), "change_stream_config { retention_period { seconds: 86400 } }");
  const auto read = ToSchema(*table);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, schema);
  schema.changes.max_bytes = 1 << 20;
  EXPECT_EQ(ToProto(schema).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace bigtable::convert
