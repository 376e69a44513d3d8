// The status page as a server of HTTP: its paths, who may see it, TLS, and its clients.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <httplib.h>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "server/http_fixture.h"

namespace bigtable::server {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(HttpTest, ThePageIsOneDocumentThatNamesNoOtherHost) {
  Start();
  const std::string page = Get("/");
  EXPECT_THAT(page, testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(page, HasSubstr("new HeatMap()"));
  EXPECT_THAT(page, HasSubstr("--background:"));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_THAT(page, Not(HasSubstr(" src=")));
  EXPECT_EQ(last_headers_.find("Content-Type")->second, "text/html; charset=utf-8");
  EXPECT_THAT(last_headers_.find("Content-Security-Policy")->second,
              HasSubstr("default-src 'none'"));
}

TEST_F(HttpTest, HealthzSaysWhyTheServerCannotServe) {
  Start();
  EXPECT_EQ(Get("/healthz"), "ok\n");
  std::filesystem::rename(options_.directory, options_.directory + ".gone");
  EXPECT_THAT(Get("/healthz", 503), HasSubstr("is not there any more"));
  EXPECT_THAT(Get("/healthz/writes", 503), HasSubstr("is not there any more"));
  EXPECT_EQ(Status()["server"]["is_healthy"], false);
  EXPECT_THAT(Get("/metrics"), HasSubstr("\nbigtable_grpc_healthy 0\n"));
  EXPECT_THAT(Get("/metrics"), HasSubstr("\nbigtable_grpc_serves_reads 0\n"));
  std::filesystem::rename(options_.directory + ".gone", options_.directory);
  EXPECT_EQ(Get("/healthz"), "ok\n");
}

TEST_F(HttpTest, OtherRequestsAreRefused) {
  Start();
  Get("/other", 404);
  EXPECT_THAT(Get("/status.json?epoch=x", 400), HasSubstr("epoch=\"x\""));
  const httplib::Result posted = http_->Post("/", "body", "text/plain");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->status, 405);
  EXPECT_EQ(posted->get_header_value("Allow"), "GET, HEAD");
}

TEST_F(HttpTest, OnLoopbackOnlyNamesOfThisMachineAreAnswered) {
  Start();
  for (const char* host : {"localhost", "localhost:1234", "127.0.0.1", "[::1]", "[::1]:80"}) {
    Get("/status.json", 200, {{"Host", host}});
  }
  for (const char* host : {"example.com", "127.0.0.1.example.com:80", "10.0.0.1"}) {
    EXPECT_THAT(Get("/status.json", 403, {{"Host", host}}), HasSubstr(host));
  }
}

TEST_F(HttpTest, OtherMachinesNeedAToken) {
  options_.http = "0.0.0.0:0";
  options_.plaintext = true;
  options_.tokens = WriteFile("tokens", std::string("user ") + kToken + "\n");
  Start();
  for (const char* path : {"/", "/status.json", "/metrics"}) {
    Get(path, 401);
    EXPECT_THAT(last_headers_.find("WWW-Authenticate")->second, HasSubstr("Basic"));
    Get(path, 401, {{"Authorization", "Bearer 0123456789abcdeX"}});
    Get(path, 401, {{"Authorization", "Bearer "}});
    Get(path, 401, {{"Authorization", "Basic !"}});
    Get(path, 200, {{"Authorization", std::string("Bearer ") + kToken}});
    Get(path, 200, {httplib::make_basic_authentication_header("anybody", kToken)});
    Get(path, 200, {{"Authorization", std::string("Bearer ") + kToken}, {"Host", "example.com"}});
  }
}

// The page shows row keys, and other users of this machine are no callers.
TEST_F(HttpTest, WithTokensThisMachineNeedsOneToo) {
  options_.tokens = WriteFile("tokens", std::string("user ") + kToken + "\n");
  Start();
  EXPECT_THAT(server_->http_address(), testing::StartsWith("http://"));
  for (const char* path : {"/", "/status.json", "/metrics"}) {
    Get(path, 401);
    EXPECT_THAT(last_headers_.find("WWW-Authenticate")->second, HasSubstr("Basic"));
    Get(path, 401, {{"Authorization", "Bearer 0123456789abcdeX"}});
    Get(path, 200, {{"Authorization", std::string("Bearer ") + kToken}});
    Get(path, 200, {httplib::make_basic_authentication_header("anybody", kToken)});
    Get(path, 403, {{"Authorization", std::string("Bearer ") + kToken}, {"Host", "example.com"}});
  }
}

// As gRPC's health service: who looks after the machine need not be a caller.
TEST_F(HttpTest, HealthzNeedsNoTokenAndThenGivesNoReason) {
  options_.tokens = WriteFile("tokens", std::string("user ") + kToken + "\n");
  Start();
  EXPECT_EQ(Get("/healthz"), "ok\n");
  std::filesystem::rename(options_.directory, options_.directory + ".gone");
  EXPECT_EQ(Get("/healthz", 503), "not healthy\n");
  EXPECT_THAT(Get("/healthz", 503, {{"Authorization", std::string("Bearer ") + kToken}}),
              HasSubstr("is not there any more"));
  std::filesystem::rename(options_.directory + ".gone", options_.directory);
}

TEST_F(HttpTest, ThePageResumesTheDatabase) {
  Start();
  const httplib::Result resumed = http_->Post("/resume", ResumeHeaders());
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->status, 200);
  EXPECT_EQ(resumed->body, "resumed\n");
  const httplib::Result refused = http_->Post("/resume");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 403);
  EXPECT_EQ(Status()["can_resume"], false);
}

TEST_F(HttpTest, OnLoopbackCertificatesAreShownByTlsAlone) {
  const std::string certificate = directory_ + "/certificate";
  const std::string key = directory_ + "/key";
  const std::string command =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=ann -out " + certificate +
      " -keyout " + key + " 2> /dev/null";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "the program openssl is not installed";
  options_.certificate = options_.client_authority = certificate;
  options_.key = key;
  options_.administrators = "ann";
  Start();
  EXPECT_THAT(server_->http_address(), testing::StartsWith("https://"));
  httplib::SSLClient without("127.0.0.1", port_);
  without.enable_server_certificate_verification(false);
  EXPECT_FALSE(without.Get("/status.json"));
  httplib::SSLClient ann("127.0.0.1", port_, certificate, key);
  ann.enable_server_certificate_verification(false);
  const httplib::Result status = ann.Get("/status.json");
  ASSERT_TRUE(status) << httplib::to_string(status.error());
  EXPECT_EQ(status->status, 200);
  const httplib::Result resumed = ann.Post("/resume", ResumeHeaders());
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->status, 200) << resumed->body;
}

TEST_F(HttpTest, OtherMachinesGetTls) {
  const std::string certificate = directory_ + "/certificate";
  const std::string key = directory_ + "/key";
  const std::string command =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -out " + certificate +
      " -keyout " + key + " 2> /dev/null";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "the program openssl is not installed";
  options_.http = "0.0.0.0:0";
  options_.certificate = certificate;
  options_.key = key;
  options_.tokens = WriteFile("tokens", std::string("user ") + kToken + "\n");
  Start();
  EXPECT_THAT(server_->http_address(), testing::StartsWith("https://"));
  httplib::SSLClient client("127.0.0.1", port_);
  client.enable_server_certificate_verification(false);
  const httplib::Result refused = client.Get("/metrics");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 401);
  client.set_bearer_token_auth(kToken);
  const httplib::Result answered = client.Get("/metrics");
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->status, 200);
  // In plain text there is nothing.
  EXPECT_FALSE(http_->Get("/healthz"));
}

TEST_F(HttpTest, CanBeTurnedOff) {
  options_.http = "";
  absl::StatusOr<std::unique_ptr<Server>> started = Server::Start(options_);
  ASSERT_TRUE(started.ok()) << started.status();
  EXPECT_EQ((*started)->http_address(), "");
}

TEST_F(HttpTest, APortThatIsTakenIsReported) {
  Start();
  ServerOptions second = options_;
  second.directory = directory_ + "/db2";
  second.http = "127.0.0.1:" + std::to_string(port_);
  const absl::Status status = Server::Start(second).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr(second.http));
}

TEST_F(HttpTest, AnAddressForOtherMachinesIsCheckedAsThatOfGrpc) {
  const auto refusal = [this](const std::string& http) {
    ServerOptions options = options_;
    options.http = http;
    return std::string(CheckOptions(options).message());
  };
  EXPECT_EQ(refusal("127.0.0.1:0"), "");
  EXPECT_EQ(refusal(""), "");
  EXPECT_THAT(refusal("nonsense"), HasSubstr("--http nonsense: must be HOST:PORT"));
  EXPECT_THAT(refusal("unix:/tmp/x"), HasSubstr("must be HOST:PORT"));
  EXPECT_THAT(refusal("0.0.0.0:80"), HasSubstr("--http 0.0.0.0:80 can be reached from other"));
  options_.plaintext = true;
  EXPECT_THAT(refusal("0.0.0.0:80"), HasSubstr("callers must say who they are"));
  options_.tokens = "file";
  EXPECT_EQ(refusal("0.0.0.0:80"), "");
}

// Clients that connect and say nothing do not keep others out for longer than their time.
TEST_F(HttpTest, SilentClientsLoseTheirConnections) {
  Start();
  std::vector<int> sockets;
  for (int i = 0; i < 8; ++i) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port_));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    sockets.push_back(fd);
  }
  http_->set_read_timeout(20);
  EXPECT_EQ(Get("/healthz"), "ok\n");
  const absl::Time began = absl::Now();
  EXPECT_TRUE(server_->Shutdown().ok());
  EXPECT_LT(absl::Now() - began, absl::Seconds(10));
  for (const int fd : sockets) close(fd);
}

}  // namespace
}  // namespace bigtable::server
