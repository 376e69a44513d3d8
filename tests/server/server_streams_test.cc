// Streams of rows: where they end, and what those hold whose clients do not read.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "gtest/gtest.h"

#include "server/data/streams.h"
#include "server/server_fixture.h"

namespace bigtable::server {
namespace {

TEST_F(ServerTest, ALimitEndsAStreamWhereverAMessageEnds) {
  Start();
  Fill(2000);
  // Messages grow from 16 KiB, so their ends fall on many of these.
  for (int limit = 1; limit < 2000; limit += 13) {
    grpc::ClientContext context;
    const auto reader = stub_->ReadRows(&context, All(limit));
    ASSERT_EQ(Drain(reader.get()), limit);
    ASSERT_TRUE(reader->Finish().ok());
  }
}

TEST_F(ServerTest, AStreamWhoseClientDoesNotReadHoldsNothingAndGoesOn) {
  Start();
  Fill(20'000);
  grpc::ClientContext context;
  const auto reader = stub_->ReadRows(&context, All(19'990));
  data::ReadRowsResponse first;
  ASSERT_TRUE(reader->Read(&first));
  const Streams& streams = server_->data().streams();
  EXPECT_TRUE(Eventually([&] { return streams.waiting() == 1 && streams.holding() == 0; }));
  // What is written meanwhile may be seen; what was sent is not sent again, and nothing is lost.
  int rows = Drain(reader.get());
  for (const auto& chunk : first.chunks()) rows += chunk.commit_row() ? 1 : 0;
  EXPECT_EQ(rows, 19'990);
  EXPECT_TRUE(reader->Finish().ok());
}

// Within a row that is larger than what a connection buffers: of the database the call holds this
// row alone. If it is the last row that the limit allows, there is nothing to be read after it.
TEST_F(ServerTest, AStreamThatWaitsWithinARowHoldsNoReader) {
  Start();
  absl::StatusOr<Table*> table = server_->database()->OpenTable("t");
  ASSERT_TRUE(table.ok());
  RowMutation mutation("large");
  for (int i = 0; i < 12; ++i) {
    mutation.Set(absl::StrCat("f:q", i), Timestamp(1000), std::string(2 << 20, 'v'));
  }
  ASSERT_TRUE((*table)->Apply(mutation).ok());
  ASSERT_TRUE(Set("next", "v").ok());
  for (const int limit : {0, 1}) {
    grpc::ClientContext context;
    const auto reader = stub_->ReadRows(&context, All(limit));
    const Streams& streams = server_->data().streams();
    EXPECT_TRUE(Eventually([&] { return streams.waiting() == 1 && streams.holding() == 0; }));
    EXPECT_EQ(Drain(reader.get()), limit == 1 ? 1 : 2);
    EXPECT_TRUE(reader->Finish().ok());
  }
}

// What regular expressions hold is released with the reader.
TEST_F(ServerTest, AStreamThatWasReleasedGoesOnWithItsFilter) {
  Start();
  Fill(20'000);
  data::ReadRowsRequest request = All();
  request.mutable_filter()->set_value_regex_filter("[a-y]+");
  grpc::ClientContext context;
  const auto reader = stub_->ReadRows(&context, request);
  data::ReadRowsResponse first;
  ASSERT_TRUE(reader->Read(&first));
  const Streams& streams = server_->data().streams();
  ASSERT_TRUE(Eventually([&] { return streams.waiting() == 1 && streams.holding() == 0; }));
  EXPECT_EQ(server_->database()->Statistics().memory_reads, 0u);
  int rows = Drain(reader.get());
  for (const auto& chunk : first.chunks()) rows += chunk.commit_row() ? 1 : 0;
  EXPECT_EQ(rows, 20'000 - 769);  // of 'z'
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(ServerTest, ACancelledStreamEnds) {
  Start();
  Fill(20'000);
  {
    grpc::ClientContext context;
    const auto reader = stub_->ReadRows(&context, All());
    data::ReadRowsResponse response;
    ASSERT_TRUE(reader->Read(&response));
    context.TryCancel();
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  EXPECT_TRUE(Eventually([&] { return server_->data().streams().running() == 0; }));
}

// The filter passes nothing and takes seconds: no message is sent by which the call could notice.
TEST_F(ServerTest, ACancelledStreamThatSendsNothingStopsReading) {
  Start();
  Fill(30'000);
  data::ReadRowsRequest request = All();
  *request.mutable_filter() = SlowFilter();
  grpc::ClientContext context;
  const auto reader = stub_->ReadRows(&context, request);
  ASSERT_TRUE(Eventually([&] { return server_->data().streams().running() == 1; }));
  const auto before = std::chrono::steady_clock::now();
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  ASSERT_TRUE(Eventually([&] { return server_->data().streams().running() == 0; }));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(1));
  const auto cancelled = [&] {
    return server_->monitor().calls().Read(Method::kReadRows).by_code[grpc::StatusCode::CANCELLED];
  };
  EXPECT_TRUE(Eventually([&] { return cancelled() == 1; }));
}

TEST_F(ServerTest, AStreamThatIsCancelledWhileItWaitsEnds) {
  Start();
  Fill(20'000);
  grpc::ClientContext context;
  const auto reader = stub_->ReadRows(&context, All());
  const Streams& streams = server_->data().streams();
  ASSERT_TRUE(Eventually([&] { return streams.waiting() == 1 && streams.holding() == 0; }));
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(Eventually([&] { return streams.running() == 0 && streams.waiting() == 0; }));
}

TEST_F(ServerTest, OpenStreamsAreLimitedByTheMemory) {
  options_.memory = 8 << 20;
  constexpr size_t kMost = (8 << 20) / (32 << 10);
  Start();
  Fill(2'000);
  // On a busy machine a client with probes takes whole streams.
  stub_ = Connect(/*probes=*/false);
  const Streams& streams = server_->data().streams();
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<data::ReadRowsResponse>>> readers;
  for (size_t i = 1; i <= kMost; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    readers.push_back(stub_->ReadRows(contexts.back().get(), All()));
    // Few begin at once: with so little memory, the server receives sixteen requests of a size that
    // it does not know.
    if (i % 16 == 0) {
      ASSERT_TRUE(Eventually([&] { return streams.running() == i; }));
    }
  }
  ASSERT_TRUE(Eventually([&] { return streams.waiting() == kMost; }));
  const auto read = [&] {
    grpc::ClientContext context;
    data::ReadRowsRequest one = All();
    one.mutable_rows()->add_row_keys("row1");
    const auto reader = stub_->ReadRows(&context, one);
    for (data::ReadRowsResponse response; reader->Read(&response);) {
    }
    return reader->Finish().error_code();
  };
  EXPECT_EQ(read(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(Set("row1", "v").ok());
  contexts.front()->TryCancel();
  EXPECT_TRUE(Eventually([&] { return streams.running() < kMost; }));
  EXPECT_EQ(read(), grpc::StatusCode::OK);
  for (const auto& context : contexts) context->TryCancel();
  for (const auto& reader : readers) EXPECT_FALSE(reader->Finish().ok());
}

// Its reader, which was released, is not opened once more, only to fail.
TEST_F(ServerTest, AStreamWhoseDeadlinePassesWhileItWaitsEnds) {
  Start();
  Fill(20'000);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(3));
  const auto reader = stub_->ReadRows(&context, All());
  const Streams& streams = server_->data().streams();
  ASSERT_TRUE(Eventually([&] { return streams.waiting() == 1 && streams.holding() == 0; }));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(Eventually([&] { return streams.running() == 0 && streams.waiting() == 0; }));
  std::ifstream log(options_.directory + "/LOG");
  const std::string text(std::istreambuf_iterator<char>(log), {});
  EXPECT_FALSE(text.empty());
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("did not check its status")));
}

// More than there are threads that wait for requests.
TEST_F(ServerTest, ReadsThatTakeLongDoNotHoldUpOthers) {
  Start();
  Fill(30'000);
  data::ReadRowsRequest request = All();
  *request.mutable_filter() = SlowFilter();
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<data::ReadRowsResponse>>> readers;
  for (int i = 0; i < 30; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    readers.push_back(stub_->ReadRows(contexts.back().get(), request));
  }
  const Streams& streams = server_->data().streams();
  ASSERT_TRUE(Eventually([&] { return streams.running() == 30; }));
  EXPECT_TRUE(Set("row1", "v").ok());
  data::ReadRowsRequest one = All();
  one.mutable_rows()->add_row_keys("row1");
  grpc::ClientContext context;
  EXPECT_EQ(Drain(stub_->ReadRows(&context, one).get()), 1);
  EXPECT_EQ(streams.running(), 30);  // which have not ended
  for (const auto& stream : contexts) stream->TryCancel();
  for (const auto& reader : readers) {
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  EXPECT_TRUE(Eventually([&] { return streams.running() == 0; }));
}

// The first reads after an opening wait for the disk: the engine has them, and continues the calls.
TEST_F(ServerTest, SingleRowsAreReadAsOtherRowsAlsoIfTheyAreNotInMemory) {
  Start();
  Fill(3000);
  ASSERT_TRUE(Set("large", std::string(3 << 20, 'v')).ok());
  ASSERT_TRUE(server_->database()->Flush("t").ok());
  const auto read = [&](const data::ReadRowsRequest& request) {
    grpc::ClientContext context;
    const auto reader = stub_->ReadRows(&context, request);
    std::string text;
    data::ReadRowsResponse response;
    while (reader->Read(&response)) {
      for (const auto& chunk : response.chunks()) {
        absl::StrAppend(&text, chunk.row_key(), chunk.value(), chunk.commit_row() ? ";" : "");
      }
      const auto& counts = response.request_stats().full_read_stats_view().read_iteration_stats();
      if (response.has_request_stats()) absl::StrAppend(&text, counts.rows_returned_count());
    }
    const grpc::Status status = reader->Finish();
    return status.ok() ? text : status.error_message();
  };
  int reads = 0;
  for (const std::string row : {"row1000000", "row1002999", "row1001500x", "large", ""}) {
    for (const int variant : {0, 1, 2, 3, 4, 5, 6}) {
      data::ReadRowsRequest one = All(variant == 1 ? 1 : 0);
      if (variant == 2) one.mutable_filter()->set_value_regex_filter("[bc]+");
      if (variant == 3) one.mutable_filter()->set_value_regex_filter(std::string(5000, 'x') + "*");
      if (variant == 4) one.set_request_stats_view(data::ReadRowsRequest::REQUEST_STATS_FULL);
      if (variant == 5) one.set_reversed(true);
      if (variant == 6) {
        auto* const chain = one.mutable_filter()->mutable_chain();
        chain->add_filters()->set_family_name_regex_filter("f");
        chain->add_filters()->set_cells_per_column_limit_filter(1);
      }
      data::ReadRowsRequest several = one;
      one.mutable_rows()->add_row_keys(row);
      several.mutable_rows()->add_row_keys(row);
      if (!row.empty()) several.mutable_rows()->add_row_keys("nothing");
      if (reads++ % 4 == 0) {
        server_.reset();
        Start();
      }
      const std::string found = read(one);
      EXPECT_EQ(found, read(several)) << row << " " << variant;
      EXPECT_EQ(found, read(one)) << row << " " << variant;
    }
  }
}

// Also while reads of the old one wait in the engine.
TEST_F(ServerTest, ASingleRowOfATableThatWasCreatedAgainIsThatOfTheNewOne) {
  Start();
  for (int round = 0; round < 10; ++round) {
    Fill(300);
    ASSERT_TRUE(server_->database()->Flush("t").ok());
    std::atomic<bool> is_over = false;
    std::vector<std::thread> clients;
    for (int c = 0; c < 3; ++c) {
      clients.emplace_back([&, c] {
        for (int i = c; !is_over; ++i) {
          data::ReadRowsRequest request = All();
          request.mutable_rows()->add_row_keys(absl::StrCat("row", 1'000'000 + i % 300));
          grpc::ClientContext context;
          const auto reader = stub_->ReadRows(&context, request);
          EXPECT_LE(Drain(reader.get()), 1);
          const grpc::Status status = reader->Finish();
          EXPECT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::NOT_FOUND)
              << status.error_message();
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_TRUE(server_->database()->DeleteTable("t").ok());
    TableSchema schema;
    schema.families["f"] = {.gc = GcRule::MaxVersions(1)};
    ASSERT_TRUE(server_->database()->CreateTable("t", schema).ok());
    ASSERT_TRUE(Set("row1000000", "new").ok());
    is_over = true;
    for (std::thread& client : clients) client.join();
    data::ReadRowsRequest request = All();
    request.mutable_rows()->add_row_keys("row1000000");
    grpc::ClientContext context;
    const auto reader = stub_->ReadRows(&context, request);
    data::ReadRowsResponse response;
    ASSERT_TRUE(reader->Read(&response)) << reader->Finish().error_message();
    EXPECT_EQ(response.chunks(0).value(), "new");
    Drain(reader.get());
    EXPECT_TRUE(reader->Finish().ok());
  }
}

TEST_F(ServerTest, ManyClientsOfRowsOfFilesThatAreNotOpenAreServed) {
  Start();
  Fill(5000);
  ASSERT_TRUE(server_->database()->Flush("t").ok());
  for (int round = 0; round < 3; ++round) {
    server_.reset();
    Start();
    std::atomic<int> found = 0, ended = 0;
    std::vector<std::thread> clients;
    for (int c = 0; c < 16; ++c) {
      clients.emplace_back([&, c] {
        for (int i = 0; i < 50; ++i) {
          data::ReadRowsRequest request = All();
          request.mutable_rows()->add_row_keys(
              absl::StrCat("row", 1'000'000 + (c * 313 + i * 97) % 5000));
          grpc::ClientContext context;
          const auto reader = stub_->ReadRows(&context, request);
          if (i % 10 == 9) context.TryCancel();
          found += Drain(reader.get());
          ended += reader->Finish().ok() ? 1 : 0;
        }
      });
    }
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(found, ended);
    EXPECT_GE(ended, 16 * 45);
    EXPECT_TRUE(Eventually([&] { return server_->data().streams().running() == 0; }));
  }
}

TEST_F(ServerTest, ADeadlineEndsACall) {
  Start();
  Fill(20'000);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(300));
  const auto reader = stub_->ReadRows(&context, All());
  data::ReadRowsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(Eventually([&] { return server_->data().streams().running() == 0; }));
}

TEST_F(ServerTest, RequestStatisticsComeWithTheLastMessage) {
  Start();
  Fill(100);
  data::ReadRowsRequest request = All();
  request.set_request_stats_view(data::ReadRowsRequest::REQUEST_STATS_FULL);
  grpc::ClientContext context;
  const auto reader = stub_->ReadRows(&context, request);
  data::ReadRowsResponse response;
  data::RequestStats stats;
  while (reader->Read(&response)) {
    if (response.has_request_stats()) stats = response.request_stats();
  }
  const auto& counts = stats.full_read_stats_view().read_iteration_stats();
  EXPECT_EQ(counts.rows_returned_count(), 100);
  EXPECT_EQ(counts.cells_returned_count(), 100);
}

}  // namespace
}  // namespace bigtable::server
