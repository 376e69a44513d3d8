// What a connected database sends: headers, deadlines, connections, timestamps, and requests for
// the rest of a read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "google/bigtable/v2/feature_flags.pb.h"

#include "bigtable/bigtable.h"
#include "bigtable/remote.h"

#include "remote/fake_fixture.h"

namespace bigtable::remote {
namespace {

using testing::Each;
using testing::ElementsAre;

class RequestsTest : public FakeTest {
 protected:
  void SetUp() override {
    fake_.read_rows = [](int, const v2::ReadRowsRequest&, auto*, auto*) {
      return grpc::Status::OK;
    };
    fake_.mutate_row = [](int, grpc::ServerContext*) { return grpc::Status::OK; };
    fake_.mutate_rows = [](int, const v2::MutateRowsRequest& request,
                           v2::MutateRowsResponse* response) {
      for (int i = 0; i < request.entries_size(); ++i) response->add_entries()->set_index(i);
      return grpc::Status::OK;
    };
    FakeTest::SetUp();
  }
  // The filter of the last read.
  v2::RowFilter Sent(const Filter& filter) {
    EXPECT_TRUE(table_->ReadRow("r", filter).ok());
    return fake_.reads().back().filter();
  }
};

TEST_F(RequestsTest, CarryWhatTheServiceRoutesThemBy) {
  Connect({.app_profile = "my.profile"});
  EXPECT_TRUE(table_->Apply(RowMutation("r").DeleteRow()).ok());
  EXPECT_EQ(ReadAll(), "");
  EXPECT_TRUE(table_->ApplyBatch(std::vector<RowMutation>{RowMutation("r").DeleteRow()})[0].ok());
  EXPECT_EQ(fake_.writes().at(0).app_profile_id(), "my.profile");
  EXPECT_EQ(fake_.reads().at(0).app_profile_id(), "my.profile");
  EXPECT_EQ(fake_.batches().at(0).app_profile_id(), "my.profile");
  EXPECT_EQ(fake_.writes().at(0).table_name(), "projects/local/instances/local/tables/t");
  EXPECT_THAT(fake_.headers("x-goog-request-params"),
              Each("table_name=projects%2Flocal%2Finstances%2Flocal%2Ftables%2Ft"
                   "&app_profile_id=my.profile"));
}

// Without reverse_scans, Google's servers refuse reads in reverse.
TEST_F(RequestsTest, SayWhatTheClientCanDo) {
  EXPECT_EQ(ReadAll(RowRange::All(), {.reverse = true}), "");
  EXPECT_TRUE(fake_.reads().at(0).reversed());
  std::string bytes;
  ASSERT_TRUE(absl::WebSafeBase64Unescape(fake_.headers("bigtable-features").at(0), &bytes));
  google::bigtable::v2::FeatureFlags flags;
  ASSERT_TRUE(flags.ParseFromString(bytes));
  EXPECT_TRUE(flags.reverse_scans());
  EXPECT_TRUE(flags.last_scanned_row_responses());
  EXPECT_TRUE(flags.retry_info());
}

TEST_F(RequestsTest, TheServerIsToldTheDeadline) {
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  EXPECT_TRUE(table_->Apply(RowMutation("r").DeleteRow(), {.deadline = deadline}).ok());
  EXPECT_GE(fake_.deadlines().at(0), deadline - absl::Seconds(1));
  EXPECT_LE(fake_.deadlines().at(0), deadline + absl::Seconds(1));
}

TEST_F(RequestsTest, TakeConnectionsInTurn) {
  Connect({.connections = 3});
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(table_->Apply(RowMutation("r").DeleteRow()).ok());
  const std::vector<std::string> peers = fake_.peers();
  EXPECT_EQ(std::set<std::string>(peers.begin(), peers.end()).size(), 3u);
}

TEST_F(RequestsTest, TimestampsDoNotGoBackWithTheClock) {
  class SetClock : public Clock {
   public:
    absl::Time Now() override { return now; }
    absl::Time now = absl::FromUnixMillis(-5);
  } clock;
  Connect({.clock = &clock});
  for (const int64_t millis : {-5, 7, 3, 8}) {
    clock.now = absl::FromUnixMillis(millis);
    EXPECT_TRUE(table_->Apply(RowMutation("r").Set("f:q", "v")).ok());
  }
  std::vector<int64_t> times;
  for (const v2::MutateRowRequest& write : fake_.writes()) {
    times.push_back(write.mutations(0).set_cell().timestamp_micros());
  }
  EXPECT_THAT(times, ElementsAre(0, 7000, 7000, 8000));
}

TEST_F(RequestsTest, AReverseReadIsResumedBelowItsLastRow) {
  fake_.read_rows = [](int call, const v2::ReadRowsRequest&, auto* writer, auto*) {
    const char* const kAnswers[] = {
        R"(chunks { row_key: "m" family_name {} qualifier {} commit_row: true })",
        R"(chunks { row_key: "h" family_name {} qualifier {} commit_row: true }
           last_scanned_row_key: "f")",
        R"(chunks { row_key: "b" family_name {} qualifier {} commit_row: true })"};
    writer->Write(ParseResponse(kAnswers[call]));
    return call == 2 ? grpc::Status::OK : kUnavailable;
  };
  RowSet rows;
  rows.Append(RowRange::Closed("a", "p"));
  rows.Append("z");
  EXPECT_EQ(ReadAll(rows, {.reverse = true}), "m=, h=, b=, ");
  EXPECT_TRUE(error_.ok()) << error_;
  const auto reads = fake_.reads();
  ASSERT_EQ(reads.size(), 3u);
  EXPECT_THAT(reads[0].rows().row_keys(), ElementsAre("z"));
  for (int i = 1; i < 3; ++i) {
    EXPECT_TRUE(reads[i].reversed());
    EXPECT_EQ(reads[i].rows().row_keys_size(), 0);
    ASSERT_EQ(reads[i].rows().row_ranges_size(), 1);
    EXPECT_EQ(reads[i].rows().row_ranges(0).start_key_closed(), "a");
    EXPECT_EQ(reads[i].rows().row_ranges(0).end_key_open(), i == 1 ? "m" : "f");
  }
}

TEST_F(RequestsTest, EachKindOfFilter) {
  const Filter a = Filter::Family("a");
  const Filter b = Filter::StripValueTransformer();
  const struct {
    Filter filter;
    std::string message;
  } kCases[] = {
      {Filter(), "pass_all_filter: true"},
      {Filter::PassAll(), "pass_all_filter: true"},
      {Filter::BlockAll(), "block_all_filter: true"},
      {Filter::Sink(), "sink: true"},
      {Filter::Family("a.b"), R"(family_name_regex_filter: "a\\.b")"},
      {Filter::FamilyRegex("a|b"), R"(family_name_regex_filter: "a|b")"},
      {Filter::ColumnRegex("a.b"), R"(column_qualifier_regex_filter: "(?s)a.b")"},
      {Filter::ValueRegex("[ab]+"), R"(value_regex_filter: "[ab]+")"},
      {Filter::RowKeysRegex("a"), R"(row_key_regex_filter: "a")"},
      {Filter::RowKeysRegex(""), "block_all_filter: true"},
      {Filter::ColumnRange("f", "a", "b"),
       R"(column_range_filter { family_name: "f" start_qualifier_closed: "a"
                                end_qualifier_open: "b" })"},
      {Filter::ColumnRange("f", "a", ""),
       R"(column_range_filter { family_name: "f" start_qualifier_closed: "a" })"},
      {Filter::ValueRange("a", "b"),
       R"(value_range_filter { start_value_closed: "a" end_value_open: "b" })"},
      {Filter::RowSample(0.25), "row_sample_filter: 0.25"},
      {Filter::Latest(3), "cells_per_column_limit_filter: 3"},
      {Filter::CellsRowLimit(3), "cells_per_row_limit_filter: 3"},
      {Filter::CellsRowOffset(3), "cells_per_row_offset_filter: 3"},
      {b, "strip_value_transformer: true"},
      {Filter::ApplyLabel("l"), R"(apply_label_transformer: "l")"},
      {Filter::Chain(a, b), R"(chain { filters { family_name_regex_filter: "a" }
                                       filters { strip_value_transformer: true } })"},
      {Filter::Interleave(a, b), R"(interleave { filters { family_name_regex_filter: "a" }
                                                 filters { strip_value_transformer: true } })"},
      // The API wants two filters at least in these.
      {Filter::Chain(std::vector<Filter>{a}), R"(family_name_regex_filter: "a")"},
      {Filter::Interleave(std::vector<Filter>{a}), R"(family_name_regex_filter: "a")"},
      {Filter::Condition(Filter::Family("p"), a, b),
       R"(condition { predicate_filter { family_name_regex_filter: "p" }
                      true_filter { family_name_regex_filter: "a" }
                      false_filter { strip_value_transformer: true } })"},
  };
  for (const auto& test : kCases) {
    v2::RowFilter expected;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(test.message, &expected))
        << test.message;
    EXPECT_EQ(Sent(test.filter).DebugString(), expected.DebugString());
  }
}

// The message has 32 bits for a count.
TEST_F(RequestsTest, CountsOfFiltersThatAreTooLargeAreTheLargest) {
  const int64_t many = int64_t{1} << 40;
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(Sent(Filter::Latest(many)).cells_per_column_limit_filter(), kMost);
  EXPECT_EQ(Sent(Filter::CellsRowLimit(many)).cells_per_row_limit_filter(), kMost);
  EXPECT_EQ(Sent(Filter::CellsRowOffset(many)).cells_per_row_offset_filter(), kMost);
  EXPECT_EQ(Sent(Filter::Latest(7)).cells_per_column_limit_filter(), 7);
}

TEST_F(RequestsTest, TimesOfFiltersAreMilliseconds) {
  const auto range = [&](int64_t begin, Timestamp end) {
    return Sent(Filter::TimestampRange(Timestamp(begin), end));
  };
  const v2::RowFilter bounded = range(1001, Timestamp(3000));
  EXPECT_EQ(bounded.timestamp_range_filter().start_timestamp_micros(), 2000);
  EXPECT_EQ(bounded.timestamp_range_filter().end_timestamp_micros(), 3000);
  EXPECT_EQ(range(1000, Timestamp::Max()).timestamp_range_filter().end_timestamp_micros(), 0);
  EXPECT_TRUE(range(1001, Timestamp(1999)).block_all_filter());
}

TEST_F(RequestsTest, TheLargestTimestampAsAnEndIsNoEnd) {
  const auto sent = [&](const RowMutation& mutation) {
    EXPECT_TRUE(table_->Apply(mutation).ok());
    return fake_.writes().back().mutations(0).delete_from_column().time_range();
  };
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max() / 1000 * 1000;
  const auto rest =
      sent(RowMutation("r").DeleteTimeRange("f:q", Timestamp(2000), Timestamp::Max()));
  EXPECT_EQ(rest.start_timestamp_micros(), 2000);
  EXPECT_EQ(rest.end_timestamp_micros(), 0);
  const auto cell = sent(RowMutation("r").DeleteCell("f:q", Timestamp(kLast)));
  EXPECT_EQ(cell.start_timestamp_micros(), kLast);
  EXPECT_EQ(cell.end_timestamp_micros(), 0);
}

TEST_F(RequestsTest, TimesOfAMutationAreChecked) {
  const auto apply = [&](const RowMutation& mutation) { return table_->Apply(mutation); };
  EXPECT_TRUE(absl::IsInvalidArgument(apply(RowMutation("r").Set("f:q", Timestamp(1), "v"))));
  EXPECT_TRUE(absl::IsInvalidArgument(apply(RowMutation("r").DeleteCell("f:q", Timestamp(1)))));
  EXPECT_TRUE(absl::IsInvalidArgument(
      apply(RowMutation("r").DeleteTimeRange("f:q", Timestamp(1), Timestamp(2000)))));
  EXPECT_TRUE(absl::IsInvalidArgument(
      apply(RowMutation("r").DeleteTimeRange("f:q", Timestamp(1000), Timestamp(2001)))));
  EXPECT_TRUE(
      absl::IsInvalidArgument(apply(RowMutation("r").AddToCell("s:q", Timestamp(2001), 1))));
  EXPECT_EQ(fake_.calls(), 0);
}

}  // namespace
}  // namespace bigtable::remote
