// How a connected database says who it is, to a server that asks.
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "bigtable/remote.h"

#include "server/server.h"
#include "support/temp_directory.h"

namespace bigtable::remote {
namespace {

class CredentialsTest : public testing::Test {
 protected:
  void SetUp() override {
    Write("tokens", "alice 0123456789abcdef\n");
    server::ServerOptions options;
    options.directory = directory_.path() + "/served";
    options.address = "127.0.0.1:0";
    options.tokens = directory_.path() + "/tokens";
    options.drain_seconds = 0;
    auto started = server::Server::Start(options);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_.path() + "/" + name) << text;
  }
  absl::Status TryToList(const RemoteOptions& options) {
    const auto database = Connect(server_->address(), options);
    return database.ok() ? (*database)->ListTables().status() : database.status();
  }

  TempDirectory directory_{TempDirectory::Where::kMemory};
  std::unique_ptr<server::Server> server_;
};

TEST_F(CredentialsTest, TokensAreSent) {
  EXPECT_TRUE(absl::IsUnauthenticated(TryToList({})));
  EXPECT_TRUE(absl::IsUnauthenticated(TryToList({.token = "fedcba9876543210"})));
  const absl::Status listed = TryToList({.token = "0123456789abcdef"});
  EXPECT_TRUE(listed.ok()) << listed;
}

TEST_F(CredentialsTest, ATokenIsReadFromItsFile) {
  Write("mine", "0123456789abcdef\n\n");
  const absl::Status listed = TryToList({.token_file = directory_.path() + "/mine"});
  EXPECT_TRUE(listed.ok()) << listed;
  Write("bad", "01234 56789");
  EXPECT_TRUE(absl::IsInvalidArgument(TryToList({.token_file = directory_.path() + "/bad"})));
}

}  // namespace
}  // namespace bigtable::remote
