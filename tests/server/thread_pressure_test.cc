// The server while the system has no thread for it: it does not start, with an error that says why;
// one that runs goes on with those that it has.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <grp.h>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grpc/grpc.h"
#include "server/pressed_server.h"
#include "server/start_checks.h"
#include "support/seeds.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A user without other processes, whose limit of threads counts all of them. Root has no limit. Not
// that of another run of this test at the same time.
const uid_t kUser = 20'000 + static_cast<uid_t>(getpid() % 40'000);

class ThreadPressureTest : public testing::Test {
 protected:
  // gRPC is not ended after the test: that waits for a timer of its client, up to ten seconds.
  static void SetUpTestSuite() { grpc_init(); }
  void SetUp() override {
    // It starts one at the end of the process.
    if (kSanitized) GTEST_SKIP() << "LeakSanitizer needs a thread";
    if (getuid() != 0) GTEST_SKIP() << "only root can become a user without processes";
    ASSERT_EQ(chown(directory_.path().c_str(), kUser, kUser), 0);
  }

  // As that user, who may have so many threads; 0: any number. False: it did not start.
  bool Start(rlim_t threads) {
    server_ = std::make_unique<PressedServer>();
    const auto become = [threads] {
      if (setgroups(0, nullptr) != 0 || setgid(kUser) != 0 || setuid(kUser) != 0) _exit(125);
      if (access(BIGTABLE_SERVER, X_OK) != 0) _exit(124);
      const rlimit limit = {threads, threads};
      if (threads > 0) setrlimit(RLIMIT_NPROC, &limit);
    };
    std::filesystem::remove(errors());
    return server_->Start(database(), {"--http", "127.0.0.1:0", "--memory", "16MB", "--drain", "1"},
                          {.in_child = become, .errors = errors()});
  }
  bool IsOutOfReach() const {
    return WIFEXITED(server_->exit_status()) && WEXITSTATUS(server_->exit_status()) == 124;
  }
  // Of the server that runs. As its user: root without all capabilities may not.
  void LimitThreads(rlim_t threads) {
    const pid_t server = server_->pid();
    const pid_t child = fork();
    if (child == 0) {
      rlimit limit = {};
      const bool is_set = setgid(kUser) == 0 && setuid(kUser) == 0 &&
                          prlimit(server, RLIMIT_NPROC, nullptr, &limit) == 0 &&
                          (limit.rlim_cur = std::min(threads, limit.rlim_max), true) &&
                          prlimit(server, RLIMIT_NPROC, &limit, nullptr) == 0;
      _exit(is_set ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  std::string database() const { return directory_.path() + "/database"; }
  std::string errors() const { return directory_.path() + "/errors"; }
  std::string Errors() const {
    std::ifstream file(errors());
    return std::string((std::istreambuf_iterator<char>(file)), {});
  }

  const TempDirectory directory_;
  std::unique_ptr<PressedServer> server_;
};

TEST_F(ThreadPressureTest, AServerThatMayNotStartItsThreadsSaysSo) {
  for (const rlim_t threads : {1, 2, 10, kLeastThreads - 1}) {
    SCOPED_TRACE(threads);
    ASSERT_FALSE(Start(threads));
    if (IsOutOfReach()) GTEST_SKIP() << "another user may not run the program here";
    ASSERT_TRUE(WIFEXITED(server_->exit_status())) << server_->exit_status() << Errors();
    EXPECT_EQ(WEXITSTATUS(server_->exit_status()), 1);
    // The process has one itself.
    EXPECT_EQ(Errors(), absl::StrCat("bigtable-server: the process must be allowed to start at "
                                     "least 64 threads (ulimit -u, or TasksMax of systemd), and "
                                     "may start ",
                                     threads - 1, "\n"));
    EXPECT_FALSE(std::filesystem::exists(database()));
  }
  // With as many as it asks for, it starts.
  ASSERT_TRUE(Start(kLeastThreads + 1)) << Errors();
  EXPECT_TRUE(PressedServer::CreateTable(server_->NewAdmin().get(), "t").ok());
  EXPECT_EQ(server_->End(), 0);
}

TEST_F(ThreadPressureTest, RandomLoadIsServedByTheThreadsThatThereAre) {
  if (!Start(0)) {
    if (IsOutOfReach()) GTEST_SKIP() << "another user may not run the program here";
    FAIL() << Errors();
  }
  ASSERT_TRUE(PressedServer::CreateTable(server_->NewAdmin().get(), "t").ok());
  ForEachSeed(1, [&](uint64_t seed) {
    LimitThreads(1);
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    std::atomic<int> served{0};
    std::atomic<int> refused{0};
    // One connection: for more, gRPC may want another thread of its own (docs/server.md).
    const std::shared_ptr<grpc::Channel> channel = server_->Connect();
    const auto data = google::bigtable::v2::Bigtable::NewStub(channel);
    const auto admin = google::bigtable::admin::v2::BigtableTableAdmin::NewStub(channel);
    std::vector<std::thread> clients;
    for (uint64_t client = 0; client < 60; ++client) {
      clients.emplace_back([&, client] {
        std::mt19937_64 random(seed * 100 + client);
        for (int i = 0; std::chrono::steady_clock::now() < until; ++i) {
          const std::string name = absl::StrCat(seed, "-", client, "-", i);
          grpc::Status status;
          switch (random() % 8) {
            case 0:
              // Few, as each is synced.
              status = client % 8 == 0 && i % 8 == 0
                           ? PressedServer::CreateTable(admin.get(), absl::StrCat("t", name))
                           : grpc::Status::OK;
              break;
            case 1:
            case 2:
              PressedServer::SizeOfRow(data.get(), name, &status);
              break;
            default:
              status = PressedServer::WriteRow(data.get(), name, random() % 20'000);
          }
          EXPECT_TRUE(status.ok() || PressedServer::MayTryAgain(status))
              << status.error_code() << ": " << status.error_message();
          ++(status.ok() ? served : refused);
        }
      });
    }
    for (std::thread& client : clients) client.join();
    std::printf("served: %d, refused: %d\n", served.load(), refused.load());
    EXPECT_GT(served.load(), 100);
    ASSERT_TRUE(server_->IsAlive()) << Errors();
    EXPECT_EQ(server_->Metric("bigtable_grpc_healthy"), 1);
    LimitThreads(RLIM_INFINITY);
    EXPECT_TRUE(PressedServer::WriteRow(data.get(), "afterwards", 100).ok());
  });
  LimitThreads(1);  // it can end, too
  EXPECT_EQ(server_->End(), 0) << Errors();
}

}  // namespace
}  // namespace bigtable::server
