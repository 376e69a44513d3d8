// Change streams by gRPC: what their messages have, and when they end.
#include "server/data/change_streams.h"

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "server/server_fixture.h"
#include "support/expect_status.h"

namespace bigtable::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Strings = std::vector<std::string>;
using std::chrono::steady_clock;

// An open call.
struct OpenStream {
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<data::ReadChangeStreamResponse>> reader;

  data::ReadChangeStreamResponse Read() const {
    data::ReadChangeStreamResponse response;
    EXPECT_TRUE(reader->Read(&response)) << reader->Finish().error_message();
    return response;
  }
  // The next message that is no heartbeat.
  data::ReadChangeStreamResponse ReadNext() const {
    while (true) {
      data::ReadChangeStreamResponse response = Read();
      if (!response.has_heartbeat()) return response;
    }
  }
  grpc::Status End() const {
    data::ReadChangeStreamResponse response;
    while (reader->Read(&response)) EXPECT_TRUE(response.has_heartbeat());
    return reader->Finish();
  }
};

std::string Text(const data::StreamPartition& partition) {
  return absl::StrCat("[", partition.row_range().start_key_closed(), ",",
                      partition.row_range().end_key_open(), ")");
}

google::protobuf::Timestamp ToProto(absl::Time time) {
  google::protobuf::Timestamp proto;
  proto.set_seconds(absl::ToUnixSeconds(time));
  proto.set_nanos(
      static_cast<int>(absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(proto.seconds()))));
  return proto;
}

class ChangeStreamsTest : public ServerTest {
 protected:
  void StartWithStream() {
    Start();
    ASSERT_OK(server_->database()->SetChangeStream("t", {.retention = absl::Hours(24)}));
  }
  static data::ReadChangeStreamRequest Request(const data::StreamPartition& partition = {}) {
    data::ReadChangeStreamRequest request;
    request.set_table_name(kTable);
    *request.mutable_partition() = partition;
    return request;
  }
  // Everything that was kept.
  static data::ReadChangeStreamRequest FromTheBeginning() {
    data::ReadChangeStreamRequest request = Request();
    request.mutable_start_time()->set_seconds(0);
    return request;
  }
  // What is written from now on, also before the server begins to read.
  static data::ReadChangeStreamRequest FromNow() {
    data::ReadChangeStreamRequest request = Request();
    *request.mutable_start_time() = ToProto(absl::Now());
    return request;
  }
  static data::ReadChangeStreamRequest From(const data::StreamContinuationToken& token) {
    data::ReadChangeStreamRequest request = Request(token.partition());
    *request.mutable_continuation_tokens()->add_tokens() = token;
    return request;
  }
  std::unique_ptr<OpenStream> Open(const data::ReadChangeStreamRequest& request) {
    auto stream = std::make_unique<OpenStream>();
    // A stream that says nothing fails the test instead of waiting for ever.
    stream->context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(2));
    stream->reader = stub_->ReadChangeStream(&stream->context, request);
    return stream;
  }
  // How a call ends that is refused.
  std::string Error(const data::ReadChangeStreamRequest& request) {
    const grpc::Status status = Open(request)->End();
    return absl::StrCat(status.error_code(), ": ", status.error_message());
  }
  Strings Partitions() {
    data::GenerateInitialChangeStreamPartitionsRequest request;
    request.set_table_name(kTable);
    grpc::ClientContext context;
    const auto reader = stub_->GenerateInitialChangeStreamPartitions(&context, request);
    Strings partitions;
    data::GenerateInitialChangeStreamPartitionsResponse response;
    while (reader->Read(&response)) partitions.push_back(Text(response.partition()));
    const grpc::Status status = reader->Finish();
    if (!status.ok()) partitions.push_back(status.error_message());
    return partitions;
  }
  size_t open() const { return server_->data().change_streams().open(); }
  Table* table() { return *server_->database()->OpenTable("t"); }
};

TEST_F(ChangeStreamsTest, ATabletIsAPartition) {
  StartWithStream();
  EXPECT_EQ(Partitions(), (Strings{"[,)"}));
  ASSERT_OK(server_->database()->SplitTablet("t", "m"));
  EXPECT_EQ(Partitions(), (Strings{"[,m)", "[m,)"}));
  ASSERT_OK(server_->database()->SetChangeStream("t", {}));
  EXPECT_THAT(Partitions(), ElementsAre(HasSubstr("table t has no change stream")));
}

TEST_F(ChangeStreamsTest, AChangeHasItsMutationAndAPlaceToGoOn) {
  StartWithStream();
  const absl::Time before = absl::Now();
  const auto stream = Open(FromNow());
  ASSERT_TRUE(Eventually([&] { return open() == 1; }));
  ASSERT_TRUE(Set("a", "1").ok());
  ASSERT_OK(table()->Apply(RowMutation("b").DeleteRow().Set("f:q", Timestamp(1500), "2")));
  ASSERT_TRUE(Set("c", "3").ok());

  const data::ReadChangeStreamResponse::DataChange a = stream->ReadNext().data_change();
  EXPECT_EQ(a.type(), data::ReadChangeStreamResponse::DataChange::USER);
  EXPECT_EQ(a.source_cluster_id(), "local-c1");
  EXPECT_EQ(a.row_key(), "a");
  EXPECT_GE(a.commit_timestamp().seconds(), absl::ToUnixSeconds(before));
  EXPECT_TRUE(a.done());
  EXPECT_GE(a.estimated_low_watermark().seconds(), absl::ToUnixSeconds(before));
  ASSERT_EQ(a.chunks_size(), 1);
  EXPECT_EQ(a.chunks(0).mutation().set_cell().value(), "1");
  EXPECT_FALSE(a.chunks(0).has_chunk_info());

  const data::ReadChangeStreamResponse::DataChange b = stream->ReadNext().data_change();
  ASSERT_EQ(b.chunks_size(), 2);
  EXPECT_EQ(b.chunks(0).mutation().delete_from_family().family_name(), "f");
  EXPECT_EQ(b.chunks(1).mutation().set_cell().timestamp_micros(), 1500);
  EXPECT_GT(b.tiebreaker(), a.tiebreaker());

  data::StreamContinuationToken token;
  token.set_token(b.token());
  EXPECT_EQ(Open(From(token))->ReadNext().data_change().row_key(), "c");
  token.set_token(a.token());
  EXPECT_EQ(Open(From(token))->ReadNext().data_change().row_key(), "b");
}

TEST_F(ChangeStreamsTest, ALargeValueComesInChunks) {
  StartWithStream();
  std::string value(size_t{5} << 19, 'a');  // two and a half messages
  for (size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>('a' + i % 23);
  ASSERT_OK(table()->Apply(RowMutation("r")
                               .Set("f:a", Timestamp(0), "small")
                               .Set("f:q", Timestamp(1000), value)
                               .Set("f:z", Timestamp(0), "last")));
  const auto stream = Open(FromTheBeginning());
  std::string received;
  for (int messages = 1;; ++messages) {
    const auto change = stream->ReadNext().data_change();
    EXPECT_EQ(change.type() == data::ReadChangeStreamResponse::DataChange::CONTINUATION,
              messages > 1);
    EXPECT_EQ(change.token().empty(), !change.done());
    for (int i = 0; i < change.chunks_size(); ++i) {
      const auto& chunk = change.chunks(i);
      if (!chunk.has_chunk_info()) continue;
      // Google's clients take no two chunks of a value in a message.
      EXPECT_EQ(chunk.chunk_info().chunked_value_offset() > 0 ? 0 : 1, i);
      EXPECT_TRUE(chunk.chunk_info().last_chunk() || i + 1 == change.chunks_size());
      EXPECT_EQ(static_cast<size_t>(chunk.chunk_info().chunked_value_size()), value.size());
      EXPECT_EQ(static_cast<size_t>(chunk.chunk_info().chunked_value_offset()), received.size());
      received += chunk.mutation().set_cell().value();
    }
    if (!change.done()) continue;
    EXPECT_EQ(messages, 3);
    EXPECT_EQ(change.chunks(1).mutation().set_cell().value(), "last");
    break;
  }
  EXPECT_TRUE(received == value);
}

TEST_F(ChangeStreamsTest, AHeartbeatSaysWhereToGoOn) {
  StartWithStream();
  data::ReadChangeStreamRequest request = Request();
  request.mutable_heartbeat_duration()->set_seconds(1);
  const auto before = steady_clock::now();
  const absl::Time began = absl::Now();
  const auto stream = Open(request);
  const data::ReadChangeStreamResponse first = stream->Read();
  EXPECT_GE(steady_clock::now() - before, std::chrono::milliseconds(990));
  EXPECT_LT(steady_clock::now() - before, std::chrono::seconds(5));
  ASSERT_TRUE(first.has_heartbeat());
  EXPECT_GE(first.heartbeat().estimated_low_watermark().seconds(), absl::ToUnixSeconds(began));
  ASSERT_TRUE(Set("a", "1").ok());
  EXPECT_EQ(stream->ReadNext().data_change().row_key(), "a");
  EXPECT_EQ(Open(From(first.heartbeat().continuation_token()))->ReadNext().data_change().row_key(),
            "a");
}

TEST_F(ChangeStreamsTest, TheEndTimeEndsIt) {
  StartWithStream();
  ASSERT_TRUE(Set("a", "1").ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  data::ReadChangeStreamRequest request = FromTheBeginning();
  *request.mutable_end_time() = ToProto(absl::Now());
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  ASSERT_TRUE(Set("b", "2").ok());
  const auto stream = Open(request);
  EXPECT_EQ(stream->ReadNext().data_change().row_key(), "a");
  const data::ReadChangeStreamResponse last = stream->ReadNext();
  ASSERT_TRUE(last.has_close_stream());
  EXPECT_EQ(last.close_stream().status().code(), 0);
  EXPECT_EQ(last.close_stream().continuation_tokens_size(), 0);
  EXPECT_TRUE(stream->End().ok());
}

TEST_F(ChangeStreamsTest, ASplitAndAMergeLeadToTheSuccessors) {
  StartWithStream();
  const auto stream = Open(FromNow());
  ASSERT_TRUE(Eventually([&] { return open() == 1; }));
  ASSERT_TRUE(Set("a", "1").ok());
  EXPECT_EQ(stream->ReadNext().data_change().row_key(), "a");
  ASSERT_OK(server_->database()->SplitTablet("t", "m"));
  const data::ReadChangeStreamResponse::CloseStream split = stream->ReadNext().close_stream();
  EXPECT_TRUE(stream->End().ok());
  EXPECT_EQ(split.status().code(), grpc::StatusCode::OUT_OF_RANGE);
  ASSERT_EQ(split.continuation_tokens_size(), 2);
  ASSERT_EQ(split.new_partitions_size(), 2);
  EXPECT_EQ(Text(split.new_partitions(0)), "[,m)");
  EXPECT_EQ(Text(split.new_partitions(1)), "[m,)");
  EXPECT_EQ(Text(split.continuation_tokens(1).partition()), "[m,)");

  ASSERT_TRUE(Set("b", "2").ok());
  ASSERT_TRUE(Set("n", "3").ok());
  const auto lower = Open(From(split.continuation_tokens(0)));
  const auto upper = Open(From(split.continuation_tokens(1)));
  EXPECT_EQ(lower->ReadNext().data_change().row_key(), "b");
  EXPECT_EQ(upper->ReadNext().data_change().row_key(), "n");
  ASSERT_OK(server_->database()->MergeTablets("t", "m"));
  const data::ReadChangeStreamResponse::CloseStream ends[] = {lower->ReadNext().close_stream(),
                                                              upper->ReadNext().close_stream()};
  data::ReadChangeStreamRequest merged = Request();
  for (const auto& end : ends) {
    ASSERT_EQ(end.new_partitions_size(), 1);
    EXPECT_EQ(Text(end.new_partitions(0)), "[,)");
    *merged.mutable_continuation_tokens()->add_tokens() = end.continuation_tokens(0);
  }
  EXPECT_EQ(Text(ends[0].continuation_tokens(0).partition()), "[,m)");
  ASSERT_TRUE(Set("z", "4").ok());
  EXPECT_EQ(Open(merged)->ReadNext().data_change().row_key(), "z");
  // Half of the rows only.
  merged.mutable_continuation_tokens()->mutable_tokens()->RemoveLast();
  EXPECT_THAT(Error(merged), HasSubstr("3: the partitions of the continuation_tokens"));
}

TEST_F(ChangeStreamsTest, DroppedRowsAndFamiliesAreLeftOut) {
  StartWithStream();
  ASSERT_TRUE(Set("a", "1").ok());
  ASSERT_OK(server_->database()->AddFamily("t", "g", {}));
  ASSERT_OK(table()->DropRowRange(RowRange::All()));
  ASSERT_OK(table()->Apply(RowMutation("b").DeleteRow()));
  const auto stream = Open(FromTheBeginning());
  EXPECT_EQ(stream->ReadNext().data_change().row_key(), "a");
  const auto b = stream->ReadNext().data_change();
  ASSERT_EQ(b.chunks_size(), 2);
  EXPECT_EQ(b.chunks(1).mutation().delete_from_family().family_name(), "g");
}

TEST_F(ChangeStreamsTest, BadRequestsAreRefused) {
  StartWithStream();
  data::ReadChangeStreamRequest request = Request();
  request.mutable_heartbeat_duration()->set_nanos(1);
  EXPECT_THAT(Error(request), HasSubstr("3: heartbeat_duration must be from 1s to 5m"));
  request = Request();
  request.mutable_continuation_tokens();
  EXPECT_THAT(Error(request), HasSubstr("3: continuation_tokens must have a token"));
  request.mutable_continuation_tokens()->add_tokens()->set_token("?");
  EXPECT_THAT(Error(request), HasSubstr("3: continuation_tokens[0]: a token must be one that"));
  request.mutable_continuation_tokens()->mutable_tokens(0)->set_token("YWJj");
  EXPECT_THAT(Error(request), HasSubstr("3: "));
  request = Request();
  request.mutable_partition()->mutable_row_range()->set_start_key_closed("b");
  request.mutable_partition()->mutable_row_range()->set_end_key_open("a");
  EXPECT_THAT(Error(request), HasSubstr("3: partition: "));
  request = Request();
  request.set_table_name("projects/local/instances/local/tables/other");
  EXPECT_THAT(Error(request), HasSubstr("5: Table not found: "));
  ASSERT_OK(server_->database()->SetChangeStream("t", {}));
  EXPECT_THAT(Error(Request()), HasSubstr("9: table t has no change stream"));
  EXPECT_EQ(open(), 0u);
}

TEST_F(ChangeStreamsTest, ATableThatIsDeletedEndsIt) {
  StartWithStream();
  const auto stream = Open(Request());
  ASSERT_TRUE(Eventually([&] { return open() == 1; }));
  ASSERT_OK(server_->database()->DeleteTable("t"));
  EXPECT_EQ(stream->End().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ChangeStreamsTest, CancellationAndDeadlineEndItSoon) {
  StartWithStream();
  const auto cancelled = Open(Request());
  ASSERT_TRUE(Eventually([&] { return open() == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the pauses are long now
  auto before = steady_clock::now();
  cancelled->context.TryCancel();
  ASSERT_TRUE(Eventually([&] { return open() == 0; }));
  EXPECT_LT(steady_clock::now() - before, std::chrono::seconds(1));

  auto late = std::make_unique<OpenStream>();
  before = steady_clock::now();
  late->context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(300));
  late->reader = stub_->ReadChangeStream(&late->context, Request());
  EXPECT_EQ(late->End().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  ASSERT_TRUE(Eventually([&] { return open() == 0; }));
  EXPECT_LT(steady_clock::now() - before, std::chrono::seconds(2));
}

TEST_F(ChangeStreamsTest, TheEndOfTheServerEndsIt) {
  StartWithStream();
  const auto stream = Open(Request());
  ASSERT_TRUE(Eventually([&] { return open() == 1; }));
  const auto before = steady_clock::now();
  std::thread ends([&] { EXPECT_OK(server_->Shutdown()); });
  EXPECT_EQ(stream->End().error_code(), grpc::StatusCode::UNAVAILABLE);
  ends.join();
  EXPECT_LT(steady_clock::now() - before, std::chrono::seconds(5)) << "--drain is ten";
}

TEST_F(ChangeStreamsTest, WaitingStreamsHoldNoThreadsAndTooManyAreRefused) {
  options_.threads = 16;
  StartWithStream();
  const size_t most = server_->data().change_streams().most();
  EXPECT_EQ(most, 8u) << "of 64 MiB";
  std::vector<std::unique_ptr<OpenStream>> streams;
  for (size_t i = 0; i < most; ++i) streams.push_back(Open(FromNow()));
  ASSERT_TRUE(Eventually([&] { return open() == most; }));
  EXPECT_THAT(Error(Request()), HasSubstr("8: there are 8 open change streams"));
  EXPECT_EQ(server_->data().change_streams().refused()[0], 1u);
  ASSERT_TRUE(Set("a", "1").ok());
  for (const auto& stream : streams) EXPECT_EQ(stream->ReadNext().data_change().row_key(), "a");
  streams[0]->context.TryCancel();
  ASSERT_TRUE(Eventually([&] { return open() == most - 1; }));
  const auto again = Open(FromTheBeginning());
  EXPECT_EQ(again->ReadNext().data_change().row_key(), "a");
}

// The client takes nothing, so the server does not read on; later nothing is missing.
TEST_F(ChangeStreamsTest, ASlowClientMissesNothing) {
  StartWithStream();
  const auto stub = Connect(/*probes=*/false);
  Fill(20'000);
  auto stream = std::make_unique<OpenStream>();
  stream->reader = stub->ReadChangeStream(&stream->context, FromTheBeginning());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(stream->ReadNext().data_change().row_key(), absl::StrCat("row", 1'000'000 + i));
  }
}

}  // namespace
}  // namespace bigtable::server
