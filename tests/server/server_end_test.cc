// The end of the server, while clients have calls open.
#include <chrono>
#include <memory>
#include <vector>

#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "gtest/gtest.h"

#include "server/data/streams.h"
#include "server/server_fixture.h"
#include "support/expect_status.h"

namespace bigtable::server {
namespace {

TEST_F(ServerTest, TheEndWaitsForCallsAndThenCancelsThem) {
  options_.drain_seconds = 1;
  Start();
  Fill(20'000);
  grpc::ClientContext context;
  const auto reader = stub_->ReadRows(&context, All());
  data::ReadRowsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_OK(server_->Shutdown());  // the client does not read
  const auto taken = std::chrono::steady_clock::now() - before;
  EXPECT_GE(taken, std::chrono::milliseconds(900));
  EXPECT_LT(taken, std::chrono::seconds(20));
  while (reader->Read(&response)) {
  }
  EXPECT_FALSE(reader->Finish().ok());
}

TEST_F(ServerTest, TheEndCancelsManyStreamsThatWait) {
  options_.drain_seconds = 1;
  Start();
  Fill(20'000);
  constexpr size_t kStreams = 100;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<data::ReadRowsResponse>>> readers;
  for (size_t i = 0; i < kStreams; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    readers.push_back(stub_->ReadRows(contexts.back().get(), All()));
  }
  ASSERT_TRUE(Eventually([&] { return server_->data().streams().waiting() == kStreams; }));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_OK(server_->Shutdown());
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10));
  for (const auto& reader : readers) {
    Drain(reader.get());
    EXPECT_FALSE(reader->Finish().ok());
  }
}

// A filter that passes nothing keeps each thread busy, and no client takes part in the end.
TEST_F(ServerTest, TheEndCancelsReadsThatSendNothing) {
  options_.drain_seconds = 0;
  Start();
  Fill(30'000);
  data::ReadRowsRequest request = All();
  *request.mutable_filter() = SlowFilter();
  grpc::ClientContext context;
  const auto reader = stub_->ReadRows(&context, request);
  ASSERT_TRUE(Eventually([&] { return server_->data().streams().running() == 1; }));
  EXPECT_OK(server_->Shutdown());
  EXPECT_FALSE(reader->Finish().ok());
}

}  // namespace
}  // namespace bigtable::server
