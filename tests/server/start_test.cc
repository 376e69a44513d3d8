// How the program starts, or does not: wrong options, a system that is not fit for it, directories
// of something else. An error names the value and the rule, is one line of the program's own, and
// leaves nothing behind.
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "server/options.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

namespace fs = std::filesystem;

class StartTest : public testing::Test {
 protected:
  struct Outcome {
    int code = -1;
    std::string text;  // of both outputs
  };
  // Runs the program, which is to end by itself. `before`: commands of the shell.
  Outcome Run(const std::string& arguments, const std::string& before = ":") const {
    const std::string command = absl::StrCat("{ ", before, "; exec timeout 30 ", BIGTABLE_SERVER,
                                             " ", arguments, "; } 2>&1");
    Outcome outcome;
    std::FILE* const output = popen(command.c_str(), "r");
    if (output == nullptr) return outcome;
    std::array<char, 4096> buffer;
    for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), output)) > 0;) {
      outcome.text.append(buffer.data(), n);
    }
    const int status = pclose(output);
    if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
    return outcome;
  }
  // What it says with these options, and a directory that is not there; it does not create it.
  std::string Refusal(const std::string& options, int code, const std::string& before = ":") const {
    const Outcome outcome = Run(absl::StrCat(database(), " ", options), before);
    EXPECT_EQ(outcome.code, code) << options << "\n" << outcome.text;
    EXPECT_FALSE(fs::exists(database())) << options;
    return outcome.text;
  }
  std::string database() const { return directory_.path() + "/database"; }

  TempDirectory directory_;
};

TEST_F(StartTest, SaysItsVersion) {
  const Outcome outcome = Run("--version");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.text, testing::MatchesRegex("bigtable-server [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(StartTest, AWrongOptionIsNamedWithItsRule) {
  EXPECT_EQ(Refusal("--address 127.0.0.1:99999", 2),
            "bigtable-server: --address 127.0.0.1:99999: must be HOST:PORT, or unix:PATH, with an "
            "IPv6 address in brackets and a port from 0 to 65535\n");
  for (const char* wrong : {"127.0.0.1", "127.0.0.1:", ":80", "::1:80", "localhost:http",
                            "localhost:-1", "localhost:+1", "unix:"}) {
    EXPECT_THAT(Refusal(absl::StrCat("--address ", wrong), 2),
                StartsWith(absl::StrCat("bigtable-server: --address ", wrong, ": must be HOST")));
  }
  EXPECT_EQ(Refusal("--http 127.0.0.1:70000", 2),
            "bigtable-server: --http 127.0.0.1:70000: must be HOST:PORT, or empty, with an IPv6 "
            "address in brackets and a port from 0 to 65535\n");
  EXPECT_THAT(Refusal("--address 127.0.0.1:80 --http 127.0.0.1:80", 2),
              HasSubstr("--http 127.0.0.1:80: must not be the same as --address"));
  EXPECT_EQ(Refusal("--project 'a b'", 2),
            "bigtable-server: --project \"a b\": must be 1 to 64 of [-_.:a-zA-Z0-9]\n");
  EXPECT_THAT(Refusal("--instance ''", 2), HasSubstr("--instance \"\": must be 1 to 64 of"));
  EXPECT_THAT(Refusal("--instance a/b", 2), HasSubstr("--instance \"a/b\": must be 1 to 64 of"));
  EXPECT_THAT(Refusal("--durability maybe", 2),
              StartsWith("--durability: must be one of buffered, none, sync, and is maybe\n"));
  EXPECT_THAT(Refusal("--log xml", 2), StartsWith("--log: must be one of file, json, and is xml"));
  EXPECT_THAT(Refusal("--memory lots", 2),
              StartsWith("--memory: must be a size, such as 512MB, and is lots\n"));
  EXPECT_THAT(Refusal("--threads none", 2), StartsWith("--threads: must be a number, and is none"));
  EXPECT_THAT(Refusal("--drain -1", 2), HasSubstr("--drain"));
}

TEST_F(StartTest, APortThatIsTakenIsReportedInOneLine) {
  const int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(taken, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(taken, 1), 0);
  ASSERT_EQ(getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string text = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  EXPECT_EQ(Refusal("--address " + text, 1),
            absl::StrCat("bigtable-server: --address ", text,
                         ": cannot be listened on: Address already in use\n"));
  EXPECT_EQ(Refusal("--address 127.0.0.1:0 --http " + text, 1),
            absl::StrCat("bigtable-server: --http ", text,
                         ": cannot be listened on: Address already in use\n"));
  // Which may have other addresses too, that are free.
  EXPECT_THAT(Refusal(absl::StrCat("--address localhost:", ntohs(address.sin_port)), 1),
              HasSubstr("cannot be listened on: Address already in use\n"));
  close(taken);
}

TEST_F(StartTest, ASocketInADirectoryThatIsNotThereIsReported) {
  EXPECT_EQ(Refusal("--address unix:/none/socket", 1),
            "bigtable-server: --address unix:/none/socket: cannot be listened on: No such file or "
            "directory\n");
  EXPECT_THAT(Refusal("--address unix:/tmp/" + std::string(200, 'x'), 2),
              HasSubstr("the path must have at most 107 bytes, and has 205\n"));
}

TEST_F(StartTest, TooFewOpenFilesAreNoticed) {
  EXPECT_EQ(Refusal("--address 127.0.0.1:0", 1, "ulimit -n 64"),
            "bigtable-server: the process must be allowed to open at least 256 files (ulimit -n), "
            "and may open 64\n");
}

TEST_F(StartTest, FilesOfTlsAndTokensAreReadBeforeADatabaseIsMade) {
  EXPECT_THAT(Refusal("--address 127.0.0.1:0 --certificate /none --key /none", 1),
              HasSubstr("/none cannot be read"));
  EXPECT_THAT(Refusal("--address 127.0.0.1:0 --tokens /none", 1),
              HasSubstr("/none cannot be read"));
}

TEST_F(StartTest, ADirectoryOfSomethingElseIsNotMadeADatabase) {
  fs::create_directory(database());
  std::ofstream(database() + "/passwd") << "root";
  const Outcome outcome = Run(database() + " --address 127.0.0.1:0 --http ''");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.text, StartsWith(absl::StrCat("bigtable-server: ", database(),
                                                    ": there is no database here, but other files, "
                                                    "such as \"passwd\";")));
  EXPECT_EQ(std::distance(fs::directory_iterator(database()), {}), 1);
}

}  // namespace
}  // namespace bigtable::server
