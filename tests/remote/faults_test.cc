// What a connected database does when the server or the network misbehaves.
#include <chrono>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"
#include "bigtable/remote.h"

#include "remote/fake_fixture.h"

namespace bigtable::remote {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FaultsTest : public FakeTest {};

// Three rows in chunks of every kind.
std::vector<v2::ReadRowsResponse::CellChunk> GoodChunks() {
  const v2::ReadRowsResponse response = ParseResponse(R"(
    chunks { row_key: "a" family_name { value: "f" } qualifier { value: "q" }
             timestamp_micros: 1000 value: "on" value_size: 5 }
    chunks { value: "e" value_size: 5 }
    chunks { value: ".1" }
    chunks { timestamp_micros: 0 value: "two" }
    chunks { qualifier { value: "" } value: "three" commit_row: true }
    chunks { row_key: "b" family_name { value: "f" } qualifier { value: "q" } value: "lost" }
    chunks { reset_row: true }
    chunks { row_key: "b" family_name { value: "f" } qualifier { value: "q" } value: "kept" }
    chunks { row_key: "b" family_name { value: "g" } qualifier { value: "q" } labels: "l"
             value: "" commit_row: true }
    chunks { row_key: "c" family_name { value: "f" } qualifier { value: "q" } value: "end"
             commit_row: true }
  )");
  return {response.chunks().begin(), response.chunks().end()};
}
constexpr std::string_view kGoodRows = "a=one.1,two,three, b=kept,, c=end, ";

TEST_F(FaultsTest, ChunksInAnyDivisionIntoMessages) {
  for (const size_t each : {size_t{1}, size_t{2}, size_t{3}, size_t{100}}) {
    fake_.read_rows = [&](int, const v2::ReadRowsRequest&, auto* writer, auto*) {
      v2::ReadRowsResponse response;
      for (const auto& chunk : GoodChunks()) {
        *response.add_chunks() = chunk;
        if (static_cast<size_t>(response.chunks_size()) < each) continue;
        writer->Write(response);
        response.Clear();
      }
      writer->Write(response);
      return grpc::Status::OK;
    };
    EXPECT_EQ(ReadAll(), kGoodRows);
    EXPECT_TRUE(error_.ok()) << error_;
  }
}

// After any number of chunks the stream breaks off. The next call asks for the rows after the last
// whole one, so each row is returned once.
TEST_F(FaultsTest, AStreamThatBreaksOffAnywhereIsResumed) {
  const auto chunks = GoodChunks();
  for (size_t cut = 0; cut <= chunks.size(); ++cut) {
    bool is_first = true;
    fake_.read_rows = [&](int, const v2::ReadRowsRequest& request, auto* writer, auto*) {
      const size_t end = is_first ? cut : chunks.size();
      std::string after;
      if (request.rows().row_ranges_size() == 1) {
        after = request.rows().row_ranges(0).start_key_closed();
      }
      bool is_wanted = true;
      for (size_t i = 0; i < end; ++i) {
        if (!chunks[i].row_key().empty()) is_wanted = chunks[i].row_key() >= after;
        if (!is_wanted) continue;
        v2::ReadRowsResponse response;
        *response.add_chunks() = chunks[i];
        writer->Write(response);
      }
      return std::exchange(is_first, false) ? kUnavailable : grpc::Status::OK;
    };
    EXPECT_EQ(ReadAll(), kGoodRows) << cut;
    EXPECT_TRUE(error_.ok()) << cut << error_;
  }
}

TEST_F(FaultsTest, AResumedReadAsksForTheRestOnly) {
  fake_.read_rows = [&](int call, const v2::ReadRowsRequest&, auto* writer, auto*) {
    const char* const key = call == 0 ? "b" : "x";
    v2::ReadRowsResponse response;
    auto* const chunk = response.add_chunks();
    chunk->set_row_key(key);
    chunk->mutable_family_name()->set_value("f");
    chunk->mutable_qualifier();
    chunk->set_commit_row(true);
    if (call == 0) response.set_last_scanned_row_key("m");
    writer->Write(response);
    return call == 0 ? kUnavailable : grpc::Status::OK;
  };
  RowSet rows;
  rows.Append("a");
  rows.Append("b");
  rows.Append(RowRange::Closed("k", "z"));
  EXPECT_EQ(ReadAll(rows, {.row_limit = 10}), "b=, x=, ");
  EXPECT_TRUE(error_.ok()) << error_;
  const auto reads = fake_.reads();
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_THAT(reads[0].rows().row_keys(), ElementsAre("a", "b"));
  EXPECT_EQ(reads[0].rows_limit(), 10);
  EXPECT_EQ(reads[1].rows().row_keys_size(), 0);
  ASSERT_EQ(reads[1].rows().row_ranges_size(), 1);
  EXPECT_EQ(reads[1].rows().row_ranges(0).start_key_closed(), std::string("m\0", 2));
  EXPECT_EQ(reads[1].rows_limit(), 9);
}

TEST_F(FaultsTest, AReadWhoseRowsHaveAllComeIsNotResumed) {
  fake_.read_rows = [&](int, const v2::ReadRowsRequest&, auto* writer, auto*) {
    writer->Write(ParseResponse(R"(chunks { row_key: "a" family_name { value: "f" } qualifier {}
                                            commit_row: true })"));
    return kUnavailable;
  };
  EXPECT_TRUE(table_->ReadRow("a").ok());
  EXPECT_EQ(ReadAll(RowRange::Single("a")), "a=, ");
  EXPECT_TRUE(error_.ok()) << error_;
  EXPECT_EQ(fake_.calls(), 2);
}

TEST_F(FaultsTest, ATableIsOpenedWhoseSchemaIsNotForTheCaller) {
  fake_.get_table = grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "");
  EXPECT_TRUE(database_->OpenTable("u").ok());
  EXPECT_TRUE(absl::IsPermissionDenied(database_->GetSchema("u").status()));
  fake_.get_table = grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "");
  EXPECT_TRUE(absl::IsUnauthenticated(database_->OpenTable("u").status()));
}

TEST_F(FaultsTest, AReadGoesOnAsLongAsRowsCome) {
  Connect({.retry_for = absl::Milliseconds(300)});
  fake_.read_rows = [&](int call, const v2::ReadRowsRequest&, auto* writer, auto*) {
    absl::SleepFor(absl::Milliseconds(100));
    v2::ReadRowsResponse response =
        ParseResponse("chunks { family_name {} qualifier {} commit_row: true }");
    response.mutable_chunks(0)->set_row_key(std::string(1, static_cast<char>('a' + call)));
    if (call < 8) writer->Write(response);
    return kUnavailable;
  };
  EXPECT_EQ(ReadAll(), "a=, b=, c=, d=, e=, f=, g=, h=, ");
  EXPECT_TRUE(absl::IsUnavailable(error_)) << error_;
}

TEST_F(FaultsTest, BadStreamsAreErrorsAndNeverRows) {
  const std::string begin = R"(row_key: "a" family_name { value: "f" } qualifier { value: "q" } )";
  const struct {
    std::string chunks;
    std::string rows;
    std::string error;
  } kCases[] = {
      {"chunks { " + begin + " }", "", "ends within row"},
      {R"(chunks { family_name { value: "f" } qualifier {} commit_row: true })", "",
       "without a key"},
      {R"(chunks { row_key: "a" qualifier {} commit_row: true })", "", "without a family"},
      {R"(chunks { row_key: "a" family_name { value: "f" } commit_row: true })", "",
       "without a qualifier"},
      {"chunks { " + begin + R"( } chunks { family_name { value: "g" } commit_row: true })", "",
       "without a qualifier"},
      {"chunks { " + begin + R"( } chunks { row_key: "b" commit_row: true })", "", "within row"},
      {"chunks { reset_row: true }", "", "no row to reset"},
      {"chunks { " + begin + R"( } chunks { reset_row: true value: "v" })", "", "has a cell"},
      {"chunks { " + begin + R"( } chunks { reset_row: true } chunks { commit_row: true })", "",
       "without a key"},
      {"chunks { " + begin + R"( value: "v" value_size: 2 commit_row: true })", "",
       "within a value"},
      {"chunks { " + begin + R"( value: "v" value_size: 2 } chunks { row_key: "a" value: "w"
       commit_row: true })",
       "", "within a value"},
      {"chunks { " + begin + R"( value: "v" value_size: 2 } chunks { timestamp_micros: 1 value: "w"
       commit_row: true })",
       "", "within a value"},
      {"chunks { " + begin +
           R"( value: "v" value_size: 3 } chunks { value: "w" commit_row: true })",
       "", "has 2 bytes, and should have 3"},
      {"chunks { " + begin + R"( value: "vw" value_size: 1 } chunks { commit_row: true })", "",
       "has 2 bytes, and should have 1"},
      {"chunks { " + begin + R"( value: "v" value_size: 3 } chunks { value: "w" value_size: 4 })",
       "", "should have 3"},
      {"chunks { " + begin + R"( value_size: -1 commit_row: true })", "", "value"},
      {"chunks { " + begin + R"( timestamp_micros: -1 commit_row: true })", "", "timestamp"},
      {"chunks { " + begin + R"( labels: "x" labels: "y" commit_row: true })", "", "labels"},
      {"chunks { " + begin + " commit_row: true } chunks { " + begin + " commit_row: true }",
       "a=, ", "comes after"},
      {"chunks { " + begin +
           R"( commit_row: true } chunks { row_key: "A" family_name {} qualifier {}
       commit_row: true })",
       "a=, ", "comes after"},
      {R"(chunks { row_key: "zz" family_name {} qualifier {} commit_row: true })", "",
       "was not asked for"},
      {"chunks { " + begin + R"( } last_scanned_row_key: "b")", "", "within row"},
      {"chunks { " + begin + R"( commit_row: true } last_scanned_row_key: "A")", "a=, ",
       "comes after"},
  };
  for (const auto& test : kCases) {
    fake_.read_rows = [&](int, const v2::ReadRowsRequest&, auto* writer, auto*) {
      writer->Write(ParseResponse(test.chunks));
      return grpc::Status::OK;
    };
    const int before = fake_.calls();
    EXPECT_EQ(ReadAll(RowRange::Closed("A", "z")), test.rows) << test.chunks;
    EXPECT_TRUE(absl::IsInternal(error_)) << test.chunks << error_;
    EXPECT_THAT(std::string(error_.message()), HasSubstr(test.error));
    EXPECT_EQ(fake_.calls(), before + 1) << test.chunks;
  }
}

TEST_F(FaultsTest, RowsAreInOrderWhateverTheOrderOfFamilies) {
  fake_.read_rows = [&](int, const v2::ReadRowsRequest&, auto* writer, auto*) {
    writer->Write(ParseResponse(R"(
      chunks { row_key: "a" family_name { value: "g" } qualifier { value: "p" } value: "3" }
      chunks { family_name { value: "f" } qualifier { value: "p" } value: "1" }
      chunks { qualifier { value: "q" } value: "2" commit_row: true })"));
    return grpc::Status::OK;
  };
  EXPECT_EQ(ReadAll(), "a=1,2,3, ");
}

TEST_F(FaultsTest, AWriteIsTriedAgainWithTheSameTimestamps) {
  fake_.mutate_row = [&](int call, grpc::ServerContext*) {
    if (call == 0) return kUnavailable;
    if (call == 1) return grpc::Status(grpc::StatusCode::ABORTED, "");
    if (call == 2) return grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "");
    return grpc::Status::OK;
  };
  EXPECT_TRUE(table_->Apply(RowMutation("r").Set("f:q", "v")).ok());
  const auto writes = fake_.writes();
  ASSERT_EQ(writes.size(), 4u);
  const int64_t timestamp = writes[0].mutations(0).set_cell().timestamp_micros();
  EXPECT_GT(timestamp, 0);
  EXPECT_EQ(timestamp % 1000, 0);
  for (const auto& write : writes) {
    EXPECT_EQ(write.mutations(0).set_cell().timestamp_micros(), timestamp);
  }
}

TEST_F(FaultsTest, WhatMayNotBeDoneTwiceIsNotTriedAgain) {
  fake_.mutate_row = [&](int, grpc::ServerContext*) { return kUnavailable; };
  fake_.check_and_mutate = [&](int) { return kUnavailable; };
  fake_.read_modify_write = [&](int) { return kUnavailable; };
  const std::vector<absl::Status> statuses = {
      table_->Apply(RowMutation("r").AddToCell("s:q", Timestamp(0), 1)),
      table_->Apply(RowMutation("r").MergeToCell("s:q", Timestamp(0), "x")),
      table_->CheckAndMutateRow("r", {}, RowMutation("r").DeleteRow(), RowMutation("r")).status(),
      table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment("f:q", 1)).status()};
  for (const absl::Status& status : statuses) {
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("is not known"));
  }
  EXPECT_EQ(fake_.calls(), 4);
}

TEST_F(FaultsTest, ErrorsThatDoNotPassAreReturnedAtOnce) {
  fake_.mutate_row = [&](int, grpc::ServerContext*) {
    return grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "no");
  };
  EXPECT_TRUE(absl::IsPermissionDenied(table_->Apply(RowMutation("r").DeleteRow())));
  EXPECT_EQ(fake_.calls(), 1);
}

TEST_F(FaultsTest, OnlyTheEntriesThatHaveFailedAreSentAgain) {
  std::vector<std::vector<std::string>> sent;
  fake_.mutate_rows = [&](int call, const v2::MutateRowsRequest& request,
                          v2::MutateRowsResponse* response) {
    sent.emplace_back();
    for (int i = 0; i < request.entries_size(); ++i) {
      const std::string& key = request.entries(i).row_key();
      sent.back().push_back(key);
      if (call == 0 && key == "silent") continue;
      auto* const entry = response->add_entries();
      entry->set_index(i);
      if (key == "bad") entry->mutable_status()->set_code(3);
      if (call == 0 && (key == "again" || key == "sum")) entry->mutable_status()->set_code(14);
    }
    return call == 0 ? kUnavailable : grpc::Status::OK;
  };
  const std::vector<absl::Status> statuses = table_->ApplyBatch(
      std::vector<RowMutation>{RowMutation("good").DeleteRow(), RowMutation("again").DeleteRow(),
                               RowMutation("bad").DeleteRow(), RowMutation("silent").DeleteRow(),
                               RowMutation("sum").AddToCell("s:q", Timestamp(0), 1)});
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_THAT(sent[0], ElementsAre("good", "again", "bad", "silent", "sum"));
  EXPECT_THAT(sent[1], ElementsAre("again", "silent"));
  EXPECT_TRUE(statuses[0].ok());
  EXPECT_TRUE(statuses[1].ok());
  EXPECT_TRUE(absl::IsInvalidArgument(statuses[2])) << statuses[2];
  EXPECT_TRUE(statuses[3].ok()) << statuses[3];
  EXPECT_TRUE(absl::IsUnavailable(statuses[4])) << statuses[4];
}

TEST_F(FaultsTest, MutationsOfOneRowFollowEachOther) {
  std::vector<std::string> sent;
  fake_.mutate_rows = [&](int, const v2::MutateRowsRequest& request,
                          v2::MutateRowsResponse* response) {
    sent.emplace_back();
    for (int i = 0; i < request.entries_size(); ++i) {
      sent.back() +=
          request.entries(i).row_key() + request.entries(i).mutations(0).set_cell().value() + " ";
      response->add_entries()->set_index(i);
    }
    return grpc::Status::OK;
  };
  std::vector<RowMutation> mutations;
  for (const char* key : {"a", "b", "a", "a", "c"}) {
    mutations.push_back(RowMutation(key).Set("f:q", std::to_string(mutations.size())));
  }
  for (const absl::Status& status : table_->ApplyBatch(mutations)) EXPECT_TRUE(status.ok());
  EXPECT_THAT(sent, ElementsAre("a0 b1 c4 ", "a2 ", "a3 "));
}

TEST_F(FaultsTest, MessagesOfABatchAreBounded) {
  size_t largest = 0;
  int entries = 0;
  fake_.mutate_rows = [&](int, const v2::MutateRowsRequest& request,
                          v2::MutateRowsResponse* response) {
    if (request.entries_size() > 1) largest = std::max(largest, request.ByteSizeLong());
    entries += request.entries_size();
    for (int i = 0; i < request.entries_size(); ++i) response->add_entries()->set_index(i);
    return grpc::Status::OK;
  };
  Connect({.max_outstanding_bytes = 1 << 20});
  std::vector<RowMutation> mutations;
  for (int i = 0; i < 40; ++i) {
    mutations.push_back(
        RowMutation(std::to_string(i)).Set("f:q", std::string(i == 7 ? 6 << 20 : 300 << 10, 'v')));
  }
  for (const absl::Status& status : table_->ApplyBatch(mutations)) EXPECT_TRUE(status.ok());
  EXPECT_EQ(entries, 40);
  EXPECT_GT(largest, size_t{2} << 20);
  EXPECT_LE(largest, size_t{4} << 20);
}

TEST_F(FaultsTest, TheServersDelayIsHonoured) {
  fake_.mutate_row = [&](int call, grpc::ServerContext*) {
    return call == 0 ? WithRetryInfo(grpc::StatusCode::RESOURCE_EXHAUSTED, 200) : grpc::Status::OK;
  };
  const absl::Time begin = absl::Now();
  EXPECT_TRUE(table_->Apply(RowMutation("r").DeleteRow()).ok());
  EXPECT_GE(absl::Now() - begin, absl::Milliseconds(200));
  EXPECT_EQ(fake_.calls(), 2);
  // A delay that is longer than the time that is left is the caller's to wait for.
  fake_.mutate_row = [&](int, grpc::ServerContext*) {
    return WithRetryInfo(grpc::StatusCode::RESOURCE_EXHAUSTED, 900);
  };
  const absl::Status refused =
      table_->Apply(RowMutation("r").DeleteRow(), {.deadline = absl::Now() + absl::Seconds(0.5)});
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(RetryAfter(refused), absl::Milliseconds(900));
}

// Runs `call`, which the server does not answer, and returns how long it took after `end`.
template <typename Call>
absl::Duration TimeToEnd(absl::Time end, const Call& call) {
  call();
  return absl::Now() - end;
}

// Far above the twenty milliseconds that it should take, since a busy machine is no failure.
constexpr absl::Duration kSoon = absl::Milliseconds(300);

TEST_F(FaultsTest, DeadlineAndCancellationEndACallSoon) {
  const auto wait = [](grpc::ServerContext* context) {
    for (int i = 0; i < 1000 && !context->IsCancelled(); ++i) {
      absl::SleepFor(absl::Milliseconds(10));
    }
    return grpc::Status::OK;
  };
  fake_.mutate_row = [&](int, grpc::ServerContext* context) { return wait(context); };
  fake_.read_rows = [&](int, const v2::ReadRowsRequest&, auto*, grpc::ServerContext* context) {
    return wait(context);
  };
  const absl::Time deadline = absl::Now() + absl::Milliseconds(100);
  EXPECT_LT(TimeToEnd(deadline,
                      [&] {
                        const absl::Status status =
                            table_->Apply(RowMutation("r").DeleteRow(), {.deadline = deadline});
                        EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
                      }),
            kSoon);
  for (const bool is_read : {false, true}) {
    Cancellation cancellation;
    absl::Time cancelled;
    std::thread canceller([&] {
      absl::SleepFor(absl::Milliseconds(100));
      cancelled = absl::Now();
      cancellation.Cancel();
    });
    const absl::Status status =
        is_read ? table_->ReadRow("r", {}, {.cancellation = &cancellation}).status()
                : table_->Apply(RowMutation("r").DeleteRow(), {.cancellation = &cancellation});
    const absl::Time ended = absl::Now();
    canceller.join();
    EXPECT_TRUE(absl::IsCancelled(status)) << status;
    EXPECT_LT(ended - cancelled, kSoon);
  }
}

TEST_F(FaultsTest, CloseEndsACallThatWaits) {
  fake_.mutate_row = [](int, grpc::ServerContext* context) {
    while (!context->IsCancelled()) absl::SleepFor(absl::Milliseconds(10));
    return grpc::Status::OK;
  };
  std::thread closer([&] {
    absl::SleepFor(absl::Milliseconds(50));
    EXPECT_TRUE(database_->Close().ok());
  });
  // Longer than the test should take, so that it ends if Close is not noticed.
  const absl::Status closed =
      table_->Apply(RowMutation("r").DeleteRow(), {.deadline = absl::Now() + absl::Seconds(5)});
  EXPECT_TRUE(absl::IsFailedPrecondition(closed)) << closed;
  closer.join();
}

TEST_F(FaultsTest, APauseBeforeTheNextTryEndsSoonToo) {
  fake_.mutate_row = [&](int, grpc::ServerContext*) {
    return WithRetryInfo(grpc::StatusCode::UNAVAILABLE, 900);
  };
  Cancellation cancellation;
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(50));
    cancellation.Cancel();
  });
  const absl::Time begin = absl::Now();
  EXPECT_TRUE(absl::IsCancelled(
      table_->Apply(RowMutation("r").DeleteRow(), {.cancellation = &cancellation})));
  EXPECT_LT(absl::Now() - begin, absl::Milliseconds(800));
  canceller.join();
}

TEST_F(FaultsTest, APauseBeforeTheNextTryEndsWithTheDatabase) {
  fake_.mutate_row = [&](int, grpc::ServerContext*) {
    return WithRetryInfo(grpc::StatusCode::UNAVAILABLE, 5000);
  };
  std::thread closer([&] {
    absl::SleepFor(absl::Milliseconds(50));
    EXPECT_TRUE(database_->Close().ok());
  });
  const absl::Time begin = absl::Now();
  EXPECT_TRUE(absl::IsFailedPrecondition(table_->Apply(RowMutation("r").DeleteRow())));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(4));
  closer.join();
}

TEST_F(FaultsTest, AServerThatStaysSilentIsGivenUp) {
  Connect({.retry_for = absl::Milliseconds(300), .attempt_timeout = absl::Milliseconds(100)});
  fake_.mutate_row = [&](int, grpc::ServerContext* context) {
    while (!context->IsCancelled()) absl::SleepFor(absl::Milliseconds(10));
    return grpc::Status::OK;
  };
  const absl::Status status = table_->Apply(RowMutation("r").DeleteRow());
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("100ms"));
  EXPECT_GT(fake_.calls(), 1);
}

TEST(ConnectTest, AServerThatIsNotThereIsUnavailable) {
  const auto database = Connect("127.0.0.1:1", {.retry_for = absl::Milliseconds(100)});
  ASSERT_TRUE(database.ok());
  EXPECT_TRUE(absl::IsUnavailable((*database)->OpenTable("t").status()));
}

TEST(ConnectTest, OptionsAreChecked) {
  const auto error = [](std::string_view endpoint, const RemoteOptions& options) {
    return std::string(Connect(endpoint, options).status().message());
  };
  using Security = RemoteOptions::Security;
  EXPECT_THAT(error("", {}), HasSubstr("host:port"));
  EXPECT_THAT(error("10.0.0.1:80", {}), HasSubstr("not on this machine"));
  EXPECT_THAT(error("127.example.com:80", {}), HasSubstr("not on this machine"));
  EXPECT_EQ(error("127.0.0.2:80", {}), "");
  EXPECT_EQ(error("10.0.0.1:80", {.plaintext = true}), "");
  EXPECT_EQ(error("localhost:80", {}), "");
  EXPECT_EQ(error("10.0.0.1:80", {.security = Security::kTls}), "");
  EXPECT_THAT(error("localhost:80", {.project = "a/b"}), HasSubstr("project"));
  EXPECT_THAT(error("localhost:80", {.instance = ""}), HasSubstr("instance"));
  EXPECT_THAT(error("localhost:80", {.app_profile = "a b"}), HasSubstr("app_profile"));
  EXPECT_THAT(error("localhost:80", {.root_certificates = "x"}), HasSubstr("kTls"));
  EXPECT_THAT(error("localhost:80", {.security = Security::kTls, .root_certificates = "/none"}),
              HasSubstr("/none"));
  EXPECT_THAT(error("localhost:80", {.security = Security::kTls, .client_key = "x"}),
              HasSubstr("together"));
  EXPECT_THAT(error("localhost:80", {.token = "a", .token_file = "b"}), HasSubstr("both"));
  EXPECT_THAT(error("localhost:80", {.token = "a\nb"}), HasSubstr("token"));
  EXPECT_THAT(error("localhost:80", {.token_file = "/none"}), HasSubstr("/none"));
  EXPECT_THAT(error("localhost:80", {.retry_for = -absl::Seconds(1)}), HasSubstr("retry_for"));
  EXPECT_THAT(error("localhost:80", {.attempt_timeout = absl::ZeroDuration()}),
              HasSubstr("attempt_timeout"));
  EXPECT_THAT(error("localhost:80", {.max_outstanding_bytes = 1}),
              HasSubstr("max_outstanding_bytes"));
  EXPECT_THAT(error("localhost:80", {.connections = 0}), HasSubstr("connections"));
}

}  // namespace
}  // namespace bigtable::remote
