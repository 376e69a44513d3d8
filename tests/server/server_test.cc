// The server as a whole, by gRPC's own client: streams and slow clients, who may call, tables that
// are created again, hostile bytes, and the end.
#include "server/server.h"

#include <arpa/inet.h>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/bigtable/admin/v2/bigtable_instance_admin.grpc.pb.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "google/bigtable/v2/response_params.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "grpc/grpc.h"
#include "server/data/response_params.h"
#include "server/options.h"
#include "support/expect_status.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

constexpr const char* kTable = "projects/local/instances/local/tables/t";

// Passes nothing, and takes seconds with some ten thousand rows.
data::RowFilter SlowFilter() {
  data::RowFilter filter;
  for (int i = 0; i < 60; ++i) {
    filter.mutable_interleave()->add_filters()->set_value_regex_filter(
        absl::StrCat(".*(x.*y.*z.*)+", i));
  }
  return filter;
}

class ServerTest : public testing::Test {
 protected:
  // gRPC is not ended between tests: that waits for a timer of its client, up to ten seconds.
  static void SetUpTestSuite() {
    static const bool is_kept = (grpc_init(), true);
    static_cast<void>(is_kept);
  }
  void Start() {
    options_.directory = directory_.path() + "/database";
    options_.address = "127.0.0.1:0";
    options_.http = "";
    if (options_.memory == ServerOptions().memory) options_.memory = 64 << 20;
    absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    TableSchema schema;
    schema.families["f"] = {.gc = GcRule::MaxVersions(1)};
    ASSERT_TRUE(server_->database()->OpenOrCreateTable("t", schema).ok());
    stub_ = Connect();
  }
  // A connection of its own. Without `probes` the client takes little of a stream that is not read.
  std::unique_ptr<data::Bigtable::Stub> Connect(bool probes = true) const {
    grpc::ChannelArguments arguments;
    if (!probes) arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    return data::Bigtable::NewStub(grpc::CreateCustomChannel(
        server_->address(), grpc::InsecureChannelCredentials(), arguments));
  }
  grpc::Status Set(const std::string& row, const std::string& value,
                   const std::string& token = "") {
    data::MutateRowRequest request;
    request.set_table_name(kTable);
    request.set_row_key(row);
    data::Mutation::SetCell* const cell = request.add_mutations()->mutable_set_cell();
    cell->set_family_name("f");
    cell->set_column_qualifier("q");
    cell->set_timestamp_micros(1000);
    cell->set_value(value);
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    data::MutateRowResponse response;
    return stub_->MutateRow(&context, request, &response);
  }
  // Rows of a kilobyte each, by the library.
  void Fill(int rows) {
    absl::StatusOr<Table*> table = server_->database()->OpenTable("t");
    ASSERT_TRUE(table.ok());
    std::vector<RowMutation> mutations;
    for (int i = 0; i < rows; ++i) {
      RowMutation mutation(absl::StrCat("row", 1'000'000 + i));
      mutation.Set("f:q", Timestamp(1000), std::string(1000, static_cast<char>('a' + i % 26)));
      mutations.push_back(std::move(mutation));
    }
    for (const absl::Status& status : (*table)->ApplyBatch(mutations)) ASSERT_TRUE(status.ok());
  }
  static data::ReadRowsRequest All(int64_t limit = 0) {
    data::ReadRowsRequest request;
    request.set_table_name(kTable);
    request.set_rows_limit(limit);
    return request;
  }
  // Counts the rows of a stream.
  static int Drain(grpc::ClientReader<data::ReadRowsResponse>* reader) {
    int rows = 0;
    data::ReadRowsResponse response;
    while (reader->Read(&response)) {
      for (const auto& chunk : response.chunks()) rows += chunk.commit_row() ? 1 : 0;
    }
    return rows;
  }
  template <typename Condition>
  static bool Eventually(const Condition& condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
  }

  TempDirectory directory_;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<data::Bigtable::Stub> stub_;
};

TEST_F(ServerTest, WhatIsAcknowledgedIsFoundAfterARestart) {
  Start();
  ASSERT_TRUE(Set("r", "value").ok());
  EXPECT_OK(server_->Shutdown());
  server_.reset();
  Start();
  grpc::ClientContext context;
  const auto reader = stub_->ReadRows(&context, All());
  data::ReadRowsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.chunks(0).row_key(), "r");
  EXPECT_EQ(response.chunks(0).value(), "value");
}

// --- Streams ---

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

// --- Writes ---

TEST_F(ServerTest, ARefusedEntryOfMutateRowsChangesNothingAndTheOthersAreApplied) {
  Start();
  data::MutateRowsRequest request;
  request.set_table_name(kTable);
  const auto add = [&](const std::string& row, const std::string& family) {
    data::MutateRowsRequest::Entry* const entry = request.add_entries();
    entry->set_row_key(row);
    for (const std::string& name : {std::string("f"), family}) {
      data::Mutation::SetCell* const cell = entry->add_mutations()->mutable_set_cell();
      cell->set_family_name(name);
      cell->set_timestamp_micros(1000);
    }
  };
  add("a", "f");
  add("b", "x");  // no such family
  add("", "f");   // no row
  add("c", "f");
  grpc::ClientContext context;
  const auto reader = stub_->MutateRows(&context, request);
  data::MutateRowsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  ASSERT_EQ(response.entries_size(), 4);
  EXPECT_EQ(response.entries(0).status().code(), 0);
  EXPECT_EQ(response.entries(1).status().code(), static_cast<int>(grpc::StatusCode::NOT_FOUND));
  EXPECT_EQ(response.entries(2).status().code(),
            static_cast<int>(grpc::StatusCode::INVALID_ARGUMENT));
  EXPECT_EQ(response.entries(3).status().code(), 0);
  EXPECT_TRUE(reader->Finish().ok());
  grpc::ClientContext read_context;
  EXPECT_EQ(Drain(stub_->ReadRows(&read_context, All()).get()), 2);
}

TEST_F(ServerTest, ATableThatWasCreatedAgainIsFound) {
  Start();
  ASSERT_TRUE(Set("r", "old").ok());
  ASSERT_OK(server_->database()->DeleteTable("t"));
  EXPECT_EQ(Set("r", "none").error_code(), grpc::StatusCode::NOT_FOUND);
  TableSchema schema;
  schema.families["f"] = {};
  ASSERT_OK(server_->database()->CreateTable("t", schema));
  EXPECT_TRUE(Set("r", "new").ok());
  ASSERT_OK(server_->database()->DeleteTable("t"));
  ASSERT_OK(server_->database()->CreateTable("t", schema));
  grpc::ClientContext context;  // the read is the first that meets the new table
  const auto reader = stub_->ReadRows(&context, All());
  EXPECT_EQ(Drain(reader.get()), 0);
  EXPECT_TRUE(reader->Finish().ok());
}

// --- Who may call ---

class ServerCallersTest : public ServerTest {
 protected:
  void SetUp() override {
    const std::string path = directory_.path() + "/tokens";
    std::ofstream(path) << "# callers\nann 0123456789abcdef\nbob fedcba9876543210\n";
    options_.tokens = path;
    options_.administrators = "ann";
    Start();
  }
};

TEST_F(ServerCallersTest, ACallNeedsATokenThatIsKnown) {
  EXPECT_EQ(Set("r", "v").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Set("r", "v", "0123456789abcdeX").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(Set("r", "v", "0123456789abcdef").ok());
}

TEST_F(ServerCallersTest, AccessListsApplyToTheCaller) {
  ASSERT_OK(
      server_->database()->SetAccessList("writers", {.readers = {"bob"}, .writers = {"ann"}}));
  ASSERT_OK(server_->database()->UpdateFamily("t", "f", {.access_list = "writers"}));
  EXPECT_TRUE(Set("r", "v", "0123456789abcdef").ok());
  EXPECT_EQ(Set("r", "v", "fedcba9876543210").error_code(), grpc::StatusCode::PERMISSION_DENIED);
}

TEST(ServerOptionsTest, RefusesCallersOfOtherMachinesThatNeedNotSayWhoTheyAre) {
  const auto check = [](const std::string& address, const std::string& tokens,
                        const std::string& certificate, bool plaintext) {
    ServerOptions options;
    options.directory = "/d";
    options.http = "";
    options.address = address;
    options.tokens = tokens;
    options.certificate = options.key = certificate;
    options.plaintext = plaintext;
    return CheckOptions(options).ok();
  };
  for (const char* local : {"127.0.0.1:1", "127.1.2.3:1", "localhost:1", "[::1]:1"}) {
    EXPECT_TRUE(check(local, "", "", false)) << local;
  }
  for (const char* open :
       {"0.0.0.0:1", "[::]:1", "192.168.0.1:1", "example.com:1", "127.example.com:1", "*:1"}) {
    EXPECT_FALSE(check(open, "", "", false)) << open;
    EXPECT_FALSE(check(open, "", "", true)) << open;
    EXPECT_FALSE(check(open, "", "file", false)) << open;
    EXPECT_FALSE(check(open, "file", "", false)) << open;
    EXPECT_TRUE(check(open, "file", "", true)) << open;
    EXPECT_TRUE(check(open, "file", "file", false)) << open;
  }
}

// --- Hostile clients, and the end ---

// A socket, or -1.
int ConnectTo(const std::string& address) {
  const int socket_fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  if (connect(socket_fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) return socket_fd;
  close(socket_fd);
  return -1;
}

// Sends the bytes on a connection of its own and closes it.
void SendBytes(const std::string& address, const std::string& bytes) {
  const int socket_fd = ConnectTo(address);
  ASSERT_GE(socket_fd, 0);
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = send(socket_fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) break;  // the server has closed the connection
    sent += static_cast<size_t>(n);
  }
  close(socket_fd);
}

TEST_F(ServerTest, HostileBytesChangeNothing) {
  Start();
  ASSERT_TRUE(Set("r", "v").ok());
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  SendBytes(server_->address(), "GET / HTTP/1.1\r\n\r\n");
  SendBytes(server_->address(), preface.substr(0, 10));
  SendBytes(server_->address(), preface + std::string(100'000, '\xff'));
  SendBytes(server_->address(), preface + std::string("\x7f\xff\xff\x00\x00\x00\x00\x00\x01", 9));
  for (int type = 0; type < 12; ++type) {
    std::string frame("\x00\x00\x10\x00\x25\x00\x00\x00\x01", 9);
    frame[3] = static_cast<char>(type);
    SendBytes(server_->address(), preface + frame + std::string(16, static_cast<char>(type * 19)));
  }
  EXPECT_TRUE(Set("r2", "v").ok());
  grpc::ClientContext context;
  EXPECT_EQ(Drain(stub_->ReadRows(&context, All()).get()), 2);
}

// A frame of HTTP/2 of stream 1.
std::string Frame(char type, char flags, const std::string& payload) {
  std::string frame(9, '\0');
  frame[1] = static_cast<char>(payload.size() >> 8);
  frame[2] = static_cast<char>(payload.size());
  frame[3] = type;
  frame[4] = flags;
  frame[8] = type == 4 ? 0 : 1;  // settings are the connection's
  return frame + payload;
}

// A header that is not in any table.
std::string Header(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name +
         static_cast<char>(value.size()) + value;
}

TEST_F(ServerTest, AClientThatDiesWhileItsStreamWaitsLeavesNothing) {
  Start();
  Fill(20'000);
  const std::string request = All().SerializeAsString();
  const std::string headers = Header(":method", "POST") + Header(":scheme", "http") +
                              Header(":path", "/google.bigtable.v2.Bigtable/ReadRows") +
                              Header(":authority", "a") + Header("te", "trailers") +
                              Header("content-type", "application/grpc");
  const std::string message = std::string(4, '\0') + static_cast<char>(request.size()) + request;
  const int connection = ConnectTo(server_->address());
  ASSERT_GE(connection, 0);
  const std::string bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(4, 0, "") +
                            Frame(1, 4, headers) + Frame(0, 1, message);
  ASSERT_EQ(send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
  const Streams& streams = server_->data().streams();
  EXPECT_TRUE(Eventually([&] { return streams.waiting() == 1 && streams.holding() == 0; }));
  const linger reset = {.l_onoff = 1, .l_linger = 0};
  ASSERT_EQ(setsockopt(connection, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
  close(connection);
  EXPECT_TRUE(Eventually([&] { return streams.running() == 0 && streams.waiting() == 0; }));
  EXPECT_TRUE(Set("r", "v").ok());
}

TEST_F(ServerTest, ARequestThatIsNoMessageIsRefused) {
  Start();
  grpc::GenericStub stub(
      grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  for (const char* method : {"ReadRows", "SampleRowKeys", "MutateRow", "MutateRows",
                             "CheckAndMutateRow", "ReadModifyWriteRow", "PingAndWarm"}) {
    const grpc::Slice slice(std::string(100, '\xff'));
    const grpc::ByteBuffer request(&slice, 1);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareUnaryCall(
        &context, absl::StrCat("/google.bigtable.v2.Bigtable/", method), request, &queue);
    call->StartCall();
    grpc::ByteBuffer response;
    grpc::Status status;
    call->Finish(&response, &status, nullptr);
    void* tag;
    bool ok;
    ASSERT_TRUE(queue.Next(&tag, &ok));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL) << method;
    queue.Shutdown();
  }
}

TEST_F(ServerTest, AnErrorDoesNotNameTheFilesOfTheServer) {
  Start();
  Fill(200);
  ASSERT_TRUE(server_->database()->Flush("t").ok());
  EXPECT_OK(server_->Shutdown());
  server_.reset();
  std::filesystem::path largest;
  for (const auto& file : std::filesystem::directory_iterator(options_.directory + "/sst")) {
    if (largest.empty() || file.file_size() > std::filesystem::file_size(largest)) {
      largest = file.path();
    }
  }
  std::fstream damaged(largest, std::ios::in | std::ios::out | std::ios::binary);
  damaged.seekp(100);
  damaged << std::string(200, '\xff');
  damaged.close();

  testing::internal::CaptureStderr();
  Start();
  grpc::ClientContext context;
  const auto reader = stub_->ReadRows(&context, All());
  Drain(reader.get());
  const grpc::Status status = reader->Finish();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_THAT(status.error_message(), testing::HasSubstr("a file of the database: "));
  EXPECT_THAT(status.error_message(), testing::Not(testing::HasSubstr(directory_.path())));
  EXPECT_THAT(log, testing::HasSubstr("ReadRows has failed: DATA_LOSS: " + largest.string()));
}

// What the metrics of Cloud Bigtable's clients are made of.
TEST_F(ServerTest, ResponsesSayHowLongTheyTookAndWhichClusterTheyAreFrom) {
  Start();
  const auto shown = [](const grpc::ClientContext& context) {
    const auto timing = context.GetServerInitialMetadata().find("server-timing");
    if (timing == context.GetServerInitialMetadata().end()) return std::string("no timing");
    const std::string value(timing->second.data(), timing->second.size());
    EXPECT_THAT(value, testing::MatchesRegex("gfet4t7; dur=[0-9]+"));
    const auto trailer = context.GetServerTrailingMetadata().find(kResponseParamsTrailer);
    if (trailer == context.GetServerTrailingMetadata().end()) return std::string("no cluster");
    data::ResponseParams params;
    EXPECT_TRUE(params.ParseFromString({trailer->second.data(), trailer->second.size()}));
    return absl::StrCat(params.zone_id(), " ", params.cluster_id());
  };
  const auto read = [&](const std::string& table) {
    grpc::ClientContext context;
    data::ReadRowsRequest request = All();
    request.set_table_name(table);
    const auto reader = stub_->ReadRows(&context, request);
    Drain(reader.get());
    static_cast<void>(reader->Finish());
    return shown(context);
  };
  const auto mutate = [&] {
    grpc::ClientContext context;
    data::MutateRowsRequest request;
    request.set_table_name(kTable);
    const auto reader = stub_->MutateRows(&context, request);
    data::MutateRowsResponse response;
    while (reader->Read(&response)) {
    }
    static_cast<void>(reader->Finish());
    return shown(context);
  };
  const auto ping = [&] {
    grpc::ClientContext context;
    data::PingAndWarmRequest request;
    request.set_name("projects/local/instances/local");
    data::PingAndWarmResponse response;
    EXPECT_TRUE(stub_->PingAndWarm(&context, request, &response).ok());
    return shown(context);
  };
  EXPECT_EQ(read("projects/local/instances/other/tables/t"), "no cluster");
  EXPECT_EQ(read(kTable), "local local-c1");
  EXPECT_EQ(mutate(), "local local-c1");
  EXPECT_EQ(ping(), "local local-c1");

  const auto admin_stub = admin::BigtableInstanceAdmin::NewStub(
      grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  admin::CreateClusterRequest create;
  create.set_parent("projects/local/instances/local");
  create.set_cluster_id("a-cluster");
  create.mutable_cluster()->set_location("projects/local/locations/z-1");
  grpc::ClientContext context;
  google::longrunning::Operation operation;
  ASSERT_TRUE(admin_stub->CreateCluster(&context, create, &operation).ok());
  EXPECT_EQ(read(kTable), "z-1 a-cluster");
}

// Newer clients than the API definitions that the server is built with.
TEST_F(ServerTest, ClientsAreToldToUseNoSessions) {
  Start();
  grpc::GenericStub stub(
      grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  const auto call = [&](const std::string& method, const std::string& bytes, std::string* answer) {
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer request(&slice, 1);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const auto unary =
        stub.PrepareUnaryCall(&context, "/google.bigtable.v2.Bigtable/" + method, request, &queue);
    unary->StartCall();
    grpc::ByteBuffer response;
    grpc::Status status;
    unary->Finish(&response, &status, nullptr);
    void* tag;
    bool ok;
    EXPECT_TRUE(queue.Next(&tag, &ok));
    grpc::Slice whole;
    if (answer != nullptr && response.DumpToSingleSlice(&whole).ok()) {
      answer->assign(reinterpret_cast<const char*>(whole.begin()), whole.size());
    }
    return status;
  };
  // {1: "projects/local/instances/local"}, and {2: {}, 3: true}: no session_load.
  const std::string instance = "projects/local/instances/local";
  std::string answer;
  EXPECT_TRUE(call("GetClientConfiguration",
                   std::string("\x0a") + static_cast<char>(instance.size()) + instance, &answer)
                  .ok());
  EXPECT_EQ(answer, std::string("\x12\0\x18\x01", 4));
  EXPECT_EQ(call("GetClientConfiguration", "", nullptr).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  for (const char* method : {"OpenTable", "OpenAuthorizedView", "OpenMaterializedView"}) {
    const grpc::Status status = call(method, "", nullptr);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
    EXPECT_EQ(status.error_message(), "this server has no sessions") << method;
  }
}

TEST_F(ServerTest, ARequestThatIsTooLargeIsRefused) {
  Start();
  const grpc::Status status = Set("r", std::string((256 << 20) + (1 << 20), 'v'));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
  grpc::ClientContext context;
  EXPECT_EQ(Drain(stub_->ReadRows(&context, All()).get()), 0);
  EXPECT_TRUE(Set("r", "v").ok());
}

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
