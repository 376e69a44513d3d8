// Clients that send what is no request, or too much, or die.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"

#include "server/data/streams.h"
#include "server/server_fixture.h"

namespace bigtable::server {
namespace {

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

TEST_F(ServerTest, ARequestThatIsTooLargeIsRefused) {
  Start();
  const grpc::Status status = Set("r", std::string((256 << 20) + (1 << 20), 'v'));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
  grpc::ClientContext context;
  EXPECT_EQ(Drain(stub_->ReadRows(&context, All()).get()), 0);
  EXPECT_TRUE(Set("r", "v").ok());
}

}  // namespace
}  // namespace bigtable::server
