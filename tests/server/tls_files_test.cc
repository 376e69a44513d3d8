// The files of TLS that a server is started with.
#include "server/tls_files.h"

#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "server/server.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

class TlsFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string command = std::string(BIGTABLE_TEST_CERTIFICATES) + " " + directory_.path();
    const int made = WEXITSTATUS(std::system(command.c_str()));
    if (made == 77) GTEST_SKIP() << "the program openssl is not installed";
    ASSERT_EQ(made, 0);
    options_.directory = directory_.path() + "/database";
    options_.address = "127.0.0.1:0";
    options_.certificate = directory_.path() + "/server.pem";
    options_.key = directory_.path() + "/server.key";
  }
  // How the server says that it does not start.
  std::string Error(std::string ServerOptions::*option, const std::string& file) const {
    ServerOptions options = options_;
    options.*option = directory_.path() + "/" + file;
    return std::string(Server::Start(options).status().message());
  }

  TempDirectory directory_{TempDirectory::Where::kMemory};
  ServerOptions options_;
};

TEST_F(TlsFilesTest, TheOneThatIsWrongIsNamed) {
  using testing::HasSubstr;
  std::ofstream(directory_.path() + "/empty") << "";
  EXPECT_EQ(Error(&ServerOptions::client_authority, "authority.pem"), "");
  EXPECT_THAT(Error(&ServerOptions::certificate, "none"), HasSubstr("/none cannot be read"));
  EXPECT_THAT(Error(&ServerOptions::certificate, "empty"), HasSubstr("--certificate"));
  EXPECT_THAT(Error(&ServerOptions::certificate, "server.key"), HasSubstr("with a certificate"));
  EXPECT_THAT(Error(&ServerOptions::key, "none"), HasSubstr("/none cannot be read"));
  EXPECT_THAT(Error(&ServerOptions::key, "server.pem"), HasSubstr("with a private key"));
  EXPECT_THAT(Error(&ServerOptions::key, "alice.key"), HasSubstr("is not the key of"));
  EXPECT_THAT(Error(&ServerOptions::key, "server-passphrase.key"), HasSubstr("passphrase"));
  // It would refuse everybody.
  EXPECT_THAT(Error(&ServerOptions::client_authority, "empty"), HasSubstr("--client-authority"));
  EXPECT_THAT(Error(&ServerOptions::client_authority, "alice.key"),
              HasSubstr("--client-authority"));
}

}  // namespace
}  // namespace bigtable::server
