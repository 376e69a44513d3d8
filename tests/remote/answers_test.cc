// Answers of a server that are wrong, incomplete, or come in parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "remote/calls/retries.h"
#include "remote/fake_fixture.h"

namespace bigtable::remote {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class AnswersTest : public FakeTest {
 protected:
  // Reads from a server that answers with these chunks.
  std::string ReadFrom(const std::string& response, const ReadOptions& options = {}) {
    fake_.read_rows = [&](int, const v2::ReadRowsRequest&, auto* writer, auto*) {
      writer->Write(ParseResponse(response));
      return grpc::Status::OK;
    };
    return ReadAll(RowRange::All(), options);
  }
  // The schema of a table with one family, whose rule or type is this.
  absl::StatusOr<TableSchema> SchemaOf(const std::string& family) {
    auto* const proto = &(*fake_.table.mutable_column_families())["f"];
    if (!google::protobuf::TextFormat::ParseFromString(family, proto)) std::abort();
    return database_->GetSchema("t");
  }
};

constexpr const char* kTwoRows = R"(
  chunks { row_key: "a" family_name {} qualifier {} commit_row: true }
  chunks { row_key: "b" family_name {} qualifier {} commit_row: true })";

TEST_F(AnswersTest, RowsBeyondTheLimitAreNotReturned) {
  EXPECT_EQ(ReadFrom(kTwoRows, {.row_limit = 1}), "a=, ");
  EXPECT_TRUE(error_.ok()) << error_;
}

TEST_F(AnswersTest, RowsThatHaveComeAreReturnedWithinTheLimitsOnly) {
  fake_.read_rows = [&](int, const v2::ReadRowsRequest&, auto* writer, auto*) {
    writer->Write(ParseResponse(kTwoRows));
    return grpc::Status::OK;
  };
  Cancellation cancellation;
  RowReader reader = table_->ReadRows(RowRange::All(), {.cancellation = &cancellation});
  ASSERT_TRUE(reader.Next());
  cancellation.Cancel();
  EXPECT_FALSE(reader.Next());
  EXPECT_TRUE(absl::IsCancelled(reader.status())) << reader.status();
}

TEST_F(AnswersTest, ARowThatIsResetWithinAValueBeginsAnew) {
  EXPECT_EQ(ReadFrom(R"(
    chunks { row_key: "a" family_name {} qualifier {} value: "lost" value_size: 9 }
    chunks { reset_row: true }
    chunks { row_key: "a" family_name {} qualifier {} value: "kept" commit_row: true })"),
            "a=kept, ");
  EXPECT_TRUE(error_.ok()) << error_;
}

// More than gRPC takes by default.
TEST_F(AnswersTest, MessagesOfAnySizeAreRead) {
  const std::string value(5 << 20, 'v');
  EXPECT_EQ(ReadFrom("chunks { row_key: 'a' family_name {} qualifier {} value: '" + value +
                     "' commit_row: true }"),
            "a=" + value + ", ");
  EXPECT_TRUE(error_.ok()) << error_;
}

TEST_F(AnswersTest, AKeyThatNoRowCanHaveIsAnError) {
  EXPECT_EQ(ReadFrom("chunks { row_key: \"" + std::string(RowMutation::kMaxRowSize + 1, 'k') +
                     "\" family_name {} qualifier {} commit_row: true }"),
            "");
  EXPECT_TRUE(absl::IsInternal(error_)) << error_;
}

TEST_F(AnswersTest, OfReadModifyWriteRowAreChecked) {
  fake_.read_modify_write = [](int) { return grpc::Status::OK; };
  const auto modify = [&](const std::string& row) {
    if (!google::protobuf::TextFormat::ParseFromString(row, &fake_.row)) std::abort();
    return table_->ReadModifyWriteRow(ReadModifyWrite("r").Append("f:q", "v")).status();
  };
  const std::string cells = R"(families { name: "f" columns { cells { value: "v" } } })";
  EXPECT_TRUE(modify("key: 'r' " + cells).ok());
  EXPECT_TRUE(absl::IsInternal(modify("key: 'other' " + cells)));
  EXPECT_TRUE(absl::IsInternal(modify("key: 'r'")));
  EXPECT_TRUE(absl::IsInternal(
      modify("key: 'r' families { name: 'f' columns { cells { timestamp_micros: -1 } } }")));
}

TEST_F(AnswersTest, SamplesAreTriedAgainAndEndWithTheTable) {
  fake_.sample_row_keys = [](int call, const v2::SampleRowKeysRequest&, auto* writer) {
    v2::SampleRowKeysResponse sample;
    sample.set_row_key("a");
    sample.set_offset_bytes(call == 0 ? 100 : -100);
    writer->Write(sample);
    if (call == 0) return kUnavailable;
    sample.set_row_key("b");
    sample.set_offset_bytes(200);
    writer->Write(sample);
    return grpc::Status::OK;
  };
  const auto samples = table_->SampleRowKeys();
  ASSERT_TRUE(samples.ok()) << samples.status();
  std::string text;
  for (const RowKeySample& sample : *samples) {
    text += sample.row + "@" + std::to_string(sample.offset_bytes) + " ";
  }
  EXPECT_EQ(text, "a@0 b@200 @200 ");
}

TEST_F(AnswersTest, ListsOfTablesComeInPages) {
  const std::string prefix = "projects/local/instances/local/tables/";
  fake_.list_tables = [&](int call, const admin_v2::ListTablesRequest& request,
                          admin_v2::ListTablesResponse* response) {
    response->add_tables()->set_name(prefix + (request.page_token() == "next" ? "a" : "b"));
    if (call == 1) return kUnavailable;
    response->set_next_page_token("next");  // also from the last page
    return grpc::Status::OK;
  };
  EXPECT_THAT(database_->ListTables().value(), ElementsAre("a", "b"));
  fake_.list_tables = [&](int, const auto&, admin_v2::ListTablesResponse* response) {
    response->add_tables()->set_name("projects/local/instances/other/tables/a");
    return grpc::Status::OK;
  };
  EXPECT_TRUE(absl::IsInternal(database_->ListTables().status()));
}

TEST_F(AnswersTest, SchemasThatTheLibraryDoesNotHaveAreErrors) {
  std::string deep = "gc_rule { ";
  std::string ends = " }";
  for (int i = 0; i < 30; ++i) {
    deep += "union { rules { ";
    ends += " } }";
  }
  EXPECT_EQ(SchemaOf(deep + "max_num_versions: 3" + ends).value().families["f"].gc,
            GcRule::MaxVersions(3));
  const struct {
    std::string family;
    std::string error;
  } kCases[] = {
      {"gc_rule { max_num_versions: -1 }",
       "family \"f\" that is not known here: gc_rule: max_num_versions must be at least 1, and is "
       "-1"},
      {"gc_rule { max_age { nanos: 999 } }", "max_age must be at least 1ms, and is 0"},
      {"gc_rule { max_age { seconds: -1 } }", "max_age must be at least 1ms, and is -1s"},
      {"gc_rule { union { rules { max_num_versions: 2 } rules { max_age {} } } }",
       "union: rules[1]: max_age must be"},
      {"value_type { aggregate_type {} }", "aggregate"},
  };
  for (const auto& test : kCases) {
    const absl::Status status = SchemaOf(test.family).status();
    EXPECT_TRUE(absl::IsInternal(status)) << test.family << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(test.error));
  }
  const GcRule rule =
      SchemaOf(
          "gc_rule { union { rules { max_num_versions: 2 } rules { max_age { seconds: 9 } } } }")
          .value()
          .families["f"]
          .gc;
  EXPECT_EQ(rule, GcRule::Union(GcRule::MaxVersions(2), GcRule::MaxAge(absl::Seconds(9))));
}

TEST_F(AnswersTest, ValueTypesOfAggregates) {
  const auto type = [&](const std::string& aggregator) {
    return SchemaOf("value_type { aggregate_type { " + aggregator + " {} } }")
        .value()
        .families["f"]
        .value_type;
  };
  EXPECT_EQ(type("sum"), ValueType::kInt64Sum);
  EXPECT_EQ(type("min"), ValueType::kInt64Min);
  EXPECT_EQ(type("max"), ValueType::kInt64Max);
  EXPECT_EQ(type("hllpp_unique_count"), ValueType::kHyperLogLog);
  EXPECT_EQ(type("input_type { float64_type {} } sum"), ValueType::kDoubleSum);
}

TEST_F(AnswersTest, CodesAndDelaysThatAreNone) {
  fake_.mutate_rows = [](int, const auto&, v2::MutateRowsResponse* response) {
    response->add_entries()->mutable_status()->set_code(77);
    return grpc::Status::OK;
  };
  EXPECT_TRUE(absl::IsUnknown(
      table_->ApplyBatch(std::vector<RowMutation>{RowMutation("r").DeleteRow()})[0]));
  fake_.mutate_row = [](int, grpc::ServerContext*) {
    return WithRetryInfo(grpc::StatusCode::RESOURCE_EXHAUSTED, -1);
  };
  const absl::Status refused = table_->Apply(RowMutation("r").DeleteRow());
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_FALSE(RetryAfter(refused).has_value());
}

// --- Tries ---

TEST_F(AnswersTest, ErrorsOfALostConnectionPass) {
  for (const char* message : {"Received RST_STREAM with error code 2", "Rst Stream",
                              "Received unexpected EOS on DATA frame from server"}) {
    fake_.mutate_row = [&, first = true](int, grpc::ServerContext*) mutable {
      if (!std::exchange(first, false)) return grpc::Status::OK;
      return grpc::Status(grpc::StatusCode::INTERNAL, message);
    };
    EXPECT_TRUE(table_->Apply(RowMutation("r").DeleteRow()).ok()) << message;
  }
  fake_.mutate_row = [](int, grpc::ServerContext*) {
    return grpc::Status(grpc::StatusCode::INTERNAL, "a bug");
  };
  const int before = fake_.calls();
  EXPECT_TRUE(absl::IsInternal(table_->Apply(RowMutation("r").DeleteRow())));
  EXPECT_EQ(fake_.calls(), before + 1);
}

// Of reads and of writes: 5 to 10 ms, then twice as much each time.
TEST_F(AnswersTest, PausesBetweenTriesGrow) {
  Connect({.retry_for = absl::Milliseconds(400)});
  fake_.mutate_row = [](int, grpc::ServerContext*) { return kUnavailable; };
  fake_.read_rows = [](int, const auto&, auto*, auto*) { return kUnavailable; };
  EXPECT_TRUE(absl::IsUnavailable(table_->Apply(RowMutation("r").DeleteRow())));
  const int writes = fake_.calls();
  EXPECT_LE(writes, 12);
  EXPECT_TRUE(absl::IsUnavailable(table_->ReadRow("r").status()));
  EXPECT_LE(fake_.calls() - writes, 12);
  absl::Duration pause = absl::Milliseconds(10);
  for (int i = 0; i < 3; ++i) pause = PauseAfter(pause);
  EXPECT_EQ(pause, absl::Milliseconds(80));
  for (int i = 0; i < 20; ++i) pause = PauseAfter(pause);
  EXPECT_EQ(pause, absl::Seconds(5));
}

TEST_F(AnswersTest, TheProgramIsNotifiedBeforeEachRetry) {
  std::vector<absl::Duration> pauses;
  std::vector<std::string> errors;
  Connect({.on_retry = [&](const absl::Status& error, absl::Duration pause) {
    errors.push_back(std::string(error.message()));
    pauses.push_back(pause);
  }});
  fake_.mutate_row = [left = 3](int, grpc::ServerContext*) mutable {
    return left-- > 0 ? WithRetryInfo(grpc::StatusCode::UNAVAILABLE, 7) : grpc::Status::OK;
  };
  EXPECT_TRUE(table_->Apply(RowMutation("r").DeleteRow()).ok());
  EXPECT_THAT(pauses, testing::Each(absl::Milliseconds(7)));
  EXPECT_EQ(pauses.size(), 3u);
  EXPECT_THAT(errors, testing::Each("come back"));
  // The last error is returned, not notified.
  fake_.mutate_row = [](int, grpc::ServerContext*) {
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no");
  };
  EXPECT_FALSE(table_->Apply(RowMutation("r").DeleteRow()).ok());
  EXPECT_EQ(pauses.size(), 3u);
}

TEST_F(AnswersTest, WhatOnRetryThrowsEndsTheCall) {
  Connect({.on_retry = [](const absl::Status&, absl::Duration) { throw std::string("no"); }});
  fake_.mutate_row = [](int, grpc::ServerContext*) { return kUnavailable; };
  const int before = fake_.calls();
  const absl::Status status = table_->Apply(RowMutation("r").DeleteRow());
  EXPECT_TRUE(absl::IsUnknown(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("RemoteOptions::on_retry has thrown"));
  EXPECT_EQ(fake_.calls(), before + 1);
}

TEST_F(AnswersTest, ThereIsNoPauseThatIsLongerThanTheTimeLeft) {
  fake_.mutate_row = [](int, grpc::ServerContext*) {
    return WithRetryInfo(grpc::StatusCode::UNAVAILABLE, 60'000);
  };
  const absl::Time begin = absl::Now();
  const absl::Status status =
      table_->Apply(RowMutation("r").DeleteRow(), {.deadline = begin + absl::Seconds(30)});
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_LT(absl::Now() - begin, absl::Seconds(15));
  Connect({.retry_for = absl::Seconds(30)});
  EXPECT_TRUE(absl::IsUnavailable(table_->Apply(RowMutation("r").DeleteRow())));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(15));
}

}  // namespace
}  // namespace bigtable::remote
