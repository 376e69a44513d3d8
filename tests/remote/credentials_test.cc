// How a connected database says who it is, to a server that asks, and how it knows the server:
// tokens and TLS.
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/remote.h"

#include "server/server.h"
#include "support/temp_directory.h"

namespace bigtable::remote {
namespace {

using testing::HasSubstr;
using ConnectSecurity = RemoteOptions::Security;

constexpr const char* kToken = "0123456789abcdef";

class CredentialsTest : public testing::Test {
 protected:
  void SetUp() override { Write("tokens", std::string("alice ") + kToken + "\n"); }

  // The table t has the family f, which alice may read, and nobody else.
  void Start(server::ServerOptions options) {
    options.directory = directory_.path() + "/served";
    options.address = "127.0.0.1:0";
    options.drain_seconds = 0;
    auto started = server::Server::Start(options);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    Database* const database = server_->database();
    ASSERT_TRUE(database->SetAccessList("alices", {.readers = {"alice"}}).ok());
    ASSERT_TRUE(
        database->OpenOrCreateTable("t", {.families = {{"f", {.access_list = "alices"}}}}).ok());
  }
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(Path(name)) << text;
  }
  absl::Status TryToRead(RemoteOptions options) const {
    options.retry_for = absl::Milliseconds(100);
    const auto database = Connect(server_->address(), options);
    if (!database.ok()) return database.status();
    const auto table = (*database)->OpenTable("t");
    return table.ok() ? (*table)->ReadRow("r").status() : table.status();
  }

  TempDirectory directory_{TempDirectory::Where::kMemory};
  std::unique_ptr<server::Server> server_;
};

TEST_F(CredentialsTest, TokensAreSent) {
  Start({.tokens = Path("tokens")});
  EXPECT_TRUE(absl::IsUnauthenticated(TryToRead({})));
  EXPECT_TRUE(absl::IsUnauthenticated(TryToRead({.token = "fedcba9876543210"})));
  const absl::Status read = TryToRead({.token = kToken});
  EXPECT_TRUE(read.ok()) << read;
}

TEST_F(CredentialsTest, ATokenIsReadFromItsFile) {
  Start({.tokens = Path("tokens")});
  Write("mine", std::string(kToken) + "\n\n");
  const absl::Status read = TryToRead({.token_file = Path("mine")});
  EXPECT_TRUE(read.ok()) << read;
  Write("bad", "01234 56789");
  EXPECT_TRUE(absl::IsInvalidArgument(TryToRead({.token_file = Path("bad")})));
}

class TlsTest : public CredentialsTest {
 protected:
  static void SetUpTestSuite() {
    certificates_ = new TempDirectory(TempDirectory::Where::kMemory);
    const std::string command =
        std::string(BIGTABLE_TEST_CERTIFICATES) + " " + certificates_->path();
    made_ = WEXITSTATUS(std::system(command.c_str()));
  }
  static void TearDownTestSuite() {
    delete certificates_;
    certificates_ = nullptr;
  }
  void SetUp() override {
    CredentialsTest::SetUp();
    if (made_ == 77) GTEST_SKIP() << "the program openssl is not installed";
    ASSERT_EQ(made_, 0);
  }
  static std::string Certificate(const std::string& name) {
    return certificates_->path() + "/" + name + ".pem";
  }
  static std::string Key(const std::string& name) {
    return certificates_->path() + "/" + name + ".key";
  }

  // A server with this certificate, and clients of this authority unless it is empty.
  void StartTls(const std::string& name, const std::string& authority = "",
                const std::string& tokens = "") {
    server_ = nullptr;
    Start({.certificate = Certificate(name),
           .key = Key(name),
           .client_authority = authority.empty() ? "" : Certificate(authority),
           .tokens = tokens,
           .administrators = authority.empty() ? "" : "alice"});
  }
  // A client that trusts this authority, and has this certificate unless it is empty.
  static RemoteOptions Client(const std::string& authority, const std::string& client = "",
                              const std::string& token = "") {
    RemoteOptions options;
    options.security = ConnectSecurity::kTls;
    options.root_certificates = Certificate(authority);
    if (!client.empty()) {
      options.client_certificate = Certificate(client);
      options.client_key = Key(client);
    }
    options.token = token;
    return options;
  }
  void ExpectError(const RemoteOptions& options, absl::StatusCode code,
                   const std::string& text) const {
    const absl::Status read = TryToRead(options);
    EXPECT_EQ(read.code(), code) << read;
    EXPECT_THAT(std::string(read.message()), HasSubstr(text));
  }

  static TempDirectory* certificates_;
  static int made_;
};
TempDirectory* TlsTest::certificates_ = nullptr;
int TlsTest::made_ = 0;

using Code = absl::StatusCode;

TEST_F(TlsTest, TheServersCertificateIsChecked) {
  StartTls("server", "", Path("tokens"));
  const absl::Status read = TryToRead(Client("authority", "", kToken));
  EXPECT_TRUE(read.ok()) << read;
  ExpectError(Client("authority", "", "fedcba9876543210"), Code::kUnauthenticated, "token");
  ExpectError(Client("other-authority", "", kToken), Code::kUnauthenticated, "not signed by");
  // Those of the system.
  ExpectError({.security = ConnectSecurity::kTls, .token = kToken}, Code::kUnauthenticated,
              "not signed by");
  StartTls("old-server");
  ExpectError(Client("authority"), Code::kUnauthenticated, "has expired");
  StartTls("elsewhere");
  ExpectError(Client("authority"), Code::kUnauthenticated, "for another host");
}

// A certificate does not become right by waiting.
TEST_F(TlsTest, AServerThatIsNotTrustedIsNotTriedAgain) {
  StartTls("server");
  const auto database = Connect(server_->address(), Client("other-authority"));
  ASSERT_TRUE(database.ok());
  const absl::Time begin = absl::Now();
  EXPECT_TRUE(absl::IsUnauthenticated((*database)->ListTables().status()));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(20));
}

TEST_F(TlsTest, PlainTextAndTlsDoNotMix) {
  StartTls("server");
  ExpectError({}, Code::kUnavailable, "may want TLS");
  server_ = nullptr;
  Start({});
  ExpectError(Client("authority"), Code::kFailedPrecondition, "no TLS");
}

TEST_F(TlsTest, TheCommonNameOfAClientsCertificateIsTheCaller) {
  StartTls("server", "authority");
  const absl::Status read = TryToRead(Client("authority", "alice"));
  EXPECT_TRUE(read.ok()) << read;
  ExpectError(Client("authority", "bob"), Code::kPermissionDenied, "\"bob\" may not read");
  ExpectError(Client("authority", "nobody"), Code::kUnauthenticated, "no common name");
  for (const char* client : {"", "old-alice", "false-alice"}) {
    ExpectError(Client("authority", client), Code::kUnavailable, "may want a client certificate");
  }
  // And of the admin API.
  for (const char* client : {"alice", "bob"}) {
    const auto database = Connect(server_->address(), Client("authority", client));
    ASSERT_TRUE(database.ok());
    const absl::Status created = (*database)->CreateTable("of-alice", {.families = {{"f", {}}}});
    EXPECT_EQ(created.code(), client[0] == 'a' ? Code::kOk : Code::kPermissionDenied) << created;
  }
}

TEST_F(TlsTest, ACallerHasATokenOrACertificate) {
  StartTls("server", "authority", Path("tokens"));
  for (const RemoteOptions& options :
       {Client("authority", "alice"), Client("authority", "", kToken),
        // A token goes before a certificate.
        Client("authority", "bob", kToken), Client("authority", "nobody", kToken)}) {
    const absl::Status read = TryToRead(options);
    EXPECT_TRUE(read.ok()) << read;
  }
  ExpectError(Client("authority"), Code::kUnauthenticated, "a token");
  ExpectError(Client("authority", "alice", "fedcba9876543210"), Code::kUnauthenticated,
              "token is not known");
  // A certificate that is wrong is not made up for.
  ExpectError(Client("authority", "false-alice", kToken), Code::kUnavailable,
              "may want a client certificate");
}

TEST_F(TlsTest, FilesThatCannotBeUsed) {
  StartTls("server", "authority");
  Write("empty", "");
  Write("garbage", "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n");
  // Not the certificates of the system.
  RemoteOptions options = Client("authority", "alice");
  options.root_certificates = Path("empty");
  ExpectError(options, Code::kInvalidArgument, Path("empty") + " is no file of PEM");
  options.root_certificates = Path("garbage");
  ExpectError(options, Code::kInvalidArgument, "cannot be used for TLS");
  options = Client("authority", "alice");
  options.client_certificate = Key("alice");
  ExpectError(options, Code::kInvalidArgument, "alice.key is no file of PEM with a certificate");
  options = Client("authority", "alice");
  options.client_key = Certificate("alice");
  ExpectError(options, Code::kInvalidArgument, "alice.pem is no file of PEM with a private key");
  options.client_key = Key("bob");
  ExpectError(options, Code::kInvalidArgument, "of another certificate");
}

}  // namespace
}  // namespace bigtable::remote
