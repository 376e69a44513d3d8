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
    ASSERT_TRUE(server_->database()->CreateTable("t", {.families = {{"f", {}}}}).ok());
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_.path() + "/" + name) << text;
  }
  absl::Status TryToRead(const RemoteOptions& options) {
    const auto database = Connect(server_->address(), options);
    if (!database.ok()) return database.status();
    const auto table = (*database)->OpenTable("t");
    return table.ok() ? (*table)->ReadRow("r").status() : table.status();
  }

  TempDirectory directory_{TempDirectory::Where::kMemory};
  std::unique_ptr<server::Server> server_;
};

TEST_F(CredentialsTest, TokensAreSent) {
  EXPECT_TRUE(absl::IsUnauthenticated(TryToRead({})));
  EXPECT_TRUE(absl::IsUnauthenticated(TryToRead({.token = "fedcba9876543210"})));
  const absl::Status read = TryToRead({.token = "0123456789abcdef"});
  EXPECT_TRUE(read.ok()) << read;
}

TEST_F(CredentialsTest, ATokenIsReadFromItsFile) {
  Write("mine", "0123456789abcdef\n\n");
  const absl::Status read = TryToRead({.token_file = directory_.path() + "/mine"});
  EXPECT_TRUE(read.ok()) << read;
  Write("bad", "01234 56789");
  EXPECT_TRUE(absl::IsInvalidArgument(TryToRead({.token_file = directory_.path() + "/bad"})));
}

}  // namespace
}  // namespace bigtable::remote
