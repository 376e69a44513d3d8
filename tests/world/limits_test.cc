// Limits of the process: a resource that is not available is an error of the call, and the host
// program survives.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "world_fixture.h"

namespace bigtable {
namespace {

constexpr uid_t kNobody = 65534;

class LimitsTest : public WorldFixture {
 protected:
  static void Limit(decltype(RLIMIT_FSIZE) resource, uint64_t limit) {
    struct rlimit both = {limit, limit};
    setrlimit(resource, &both);
  }
  // To be called in a child: gives up the rights of root, to whom the limit of processes does not
  // apply.
  static bool BecomeNobody() { return setgid(kNobody) == 0 && setuid(kNobody) == 0; }
  void GiveToNobody() { ASSERT_EQ(chown(directory_.path().c_str(), kNobody, kNobody), 0); }
  // A database of that user, with fifty rows in an SSTable.
  void CreateAsNobody() {
    ASSERT_NO_FATAL_FAILURE(GiveToNobody());
    EXPECT_TRUE(InChild([&] {
      alarm(60);
      if (!BecomeNobody()) return false;
      auto database = Create(directory_.database());
      return Write(database.get(), "early", 50).ok() && database->Flush("t").ok() &&
             database->Close().ok();
    }));
  }
};

TEST_F(LimitsTest, WithoutThreadsAnOpeningFailsAndLeavesTheDatabaseIntact) {
  if (getuid() != 0) GTEST_SKIP() << "only root can become a user without processes";
  CreateAsNobody();
  // Increasing numbers of threads until there are enough: first the first one is missing, then the
  // second, and so on.
  int failures = 0;
  for (uint64_t threads = 1; threads < 64; ++threads) {
    const bool opened = InChild([&] {
      alarm(60);
      if (!BecomeNobody()) _exit(2);
      Limit(RLIMIT_NPROC, threads);  // other processes of this user count, too
      auto database = Database::Open(directory_.database(), SmallOptions());
      if (!database.ok()) {
        const bool good = absl::IsResourceExhausted(database.status()) &&
                          database.status().message().find("no thread") != std::string::npos;
        if (!good) {
          std::fprintf(stderr, "%s\n", std::string(database.status().ToString()).c_str());
          std::abort();
        }
        return false;
      }
      return Count(database->get(), "early", 50) == 50 && (*database)->Close().ok();
    });
    if (opened) break;
    ++failures;
  }
  EXPECT_GT(failures, 5);
  EXPECT_LT(failures, 63);
  auto database = Open(directory_.database());
  EXPECT_EQ(Count(database.get(), "early", 50), 50);
}

// Then its caller waits for it after all.
TEST_F(LimitsTest, WithoutAThreadAnAsynchronousReadReturnsItsRow) {
  if (getuid() != 0) GTEST_SKIP() << "only root can become a user without processes";
  CreateAsNobody();
  EXPECT_TRUE(InChild([&] {
    alarm(60);
    if (!BecomeNobody()) return false;
    auto database = Database::Open(directory_.database(), SmallOptions());
    if (!database.ok()) return false;
    const auto table = (*database)->OpenTable("t");
    auto row = (*table)->ReadRows(RowRange::All(), ReadOptions{.row_limit = 1});
    if (!row.Next()) return false;
    const std::string key(row.row().key());
    if (!(*database)->Close().ok()) return false;
    // Opened again, its file is not in memory.
    database = Database::Open(directory_.database(), SmallOptions());
    if (!database.ok()) return false;
    Limit(RLIMIT_NPROC, 1);
    bool is_found = false;
    (*(*database)->OpenTable("t"))->ReadRowAsync(key, {}, {}, [&](const absl::StatusOr<Row>& got) {
      is_found = got.ok() && got->key() == key;
    });
    return is_found && (*database)->Close().ok();
  }));
}

// Whether each log has the segment that it writes to and a spare, and makes no other.
bool HasAllSpares(const std::filesystem::path& database) {
  namespace fs = std::filesystem;
  for (const auto& log : fs::directory_iterator(database / "log")) {
    int segments = 0;
    for (const auto& file : fs::directory_iterator(log)) {
      if (file.path().extension() == ".tmp") return false;
      segments += file.path().extension() == ".log" ? 1 : 0;
    }
    if (segments < 2) return false;
  }
  return true;
}

TEST_F(LimitsTest, AFileAboveTheLimitOfTheProcessIsAnErrorAndNoSignal) {
  EXPECT_TRUE(InChild([&] {
    alarm(60);
    auto database = Create(directory_.database());
    if (!Write(database.get(), "early", 50).ok()) return false;
    // A file that is being made meanwhile has been checked against the old limit.
    while (!HasAllSpares(directory_.database())) usleep(1000);  // up to the alarm
    if (!database->WaitUntilQuiet().ok()) return false;
    Limit(RLIMIT_FSIZE, 20 << 10);
    // The first larger file fails, a memtable's SSTable or the next segment of a log.
    Table* const table = OpenTable(database.get());
    absl::Status status;
    for (int i = 0; i < 100 && status.ok(); ++i) {
      status = table->Apply(RowMutation(Cat("large", i)).Set("f:q", std::string(8 << 10, 'x')));
      if (status.ok() && i % 10 == 9) status = database->Flush("t");
    }
    return absl::IsResourceExhausted(status) && Count(database.get(), "early", 50) == 50;
  }));
  auto database = Open(directory_.database());
  EXPECT_EQ(Count(database.get(), "early", 50), 50);
}

TEST_F(LimitsTest, AnOpeningWithoutAnyFilesFails) {
  EXPECT_TRUE(InChild([&] {
    alarm(60);
    Limit(RLIMIT_FSIZE, 0);
    return absl::IsResourceExhausted(
        Database::Open(directory_.database(), SmallOptions()).status());
  }));
  EXPECT_OK(Database::Open(directory_.database(), SmallOptions()));
}

TEST_F(LimitsTest, WithoutDescriptorsAnOpeningFailsAndLeavesTheDatabaseIntact) {
  {
    auto database = Create(directory_.database());
    EXPECT_OK(Write(database.get(), "early", 50));
    EXPECT_OK(database->Close());
  }
  int failures = 0;
  for (uint64_t files = 4; files < 100; ++files) {
    const std::string copy = directory_.path() + "/copy";
    std::filesystem::copy(directory_.database(), copy, std::filesystem::copy_options::recursive);
    const bool opened = InChild([&] {
      alarm(60);
      Limit(RLIMIT_NOFILE, files);
      auto database = Database::Open(copy, SmallOptions());
      if (!database.ok()) {
        if (!absl::IsResourceExhausted(database.status())) {
          std::fprintf(stderr, "%s\n", std::string(database.status().ToString()).c_str());
          std::abort();
        }
        return false;
      }
      return (*database)->Close().ok();
    });
    auto database = Open(copy);
    EXPECT_EQ(Count(database.get(), "early", 50), 50);
    database.reset();
    std::filesystem::remove_all(copy);
    if (opened) break;
    ++failures;
  }
  EXPECT_GT(failures, 3);
  EXPECT_LT(failures, 90);
}

}  // namespace
}  // namespace bigtable
