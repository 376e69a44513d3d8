// The memory of the process while much is written or read. Anonymous memory and the log pages that
// memtables pin stay within the budget plus a quarter of it, plus the base memory of a program.
//
// BIGTABLE_TEST_FULL=1 also runs the full measure: 1 GB of writes with 256 MB.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/expect_status.h"
#include "support/random.h"
#include "support/read_mode.h"
#include "support/seeds.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

constexpr uint64_t kMegabyte = 1'000'000;

// A line of /proc/self/status, in bytes: VmRSS is all resident memory, RssAnon the part that is not
// a page of a file.
uint64_t ProcessMemory(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string key;
  while (status >> key) {
    uint64_t kilobytes = 0;
    if (key == name + ":" && status >> kilobytes) return kilobytes * 1024;
    status.ignore(1000, '\n');
  }
  return 0;
}

// Samples the memory of the process every few milliseconds, for its maximum.
class MemoryWatch {
 public:
  explicit MemoryWatch(Database* database) : thread_([this, database] { Watch(database); }) {}
  ~MemoryWatch() { Stop(); }

  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  // The maximum of anonymous memory and pinned log together; the maximum of all resident memory.
  uint64_t most_used() const { return most_used_; }
  uint64_t most_resident() const { return most_resident_; }

 private:
  void Watch(Database* database) {
    while (!stop_) {
      const uint64_t used = ProcessMemory("RssAnon") + database->Statistics().memory_log;
      most_used_ = std::max(most_used_.load(), used);
      most_resident_ = std::max(most_resident_.load(), ProcessMemory("VmRSS"));
      absl::SleepFor(absl::Milliseconds(2));
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> most_used_{0};
  std::atomic<uint64_t> most_resident_{0};
  std::thread thread_;
};

struct Load {
  uint64_t bytes;
  uint64_t budget;
  LocalityGroup group = {};
  bool read_too = false;
};
struct Measured {
  uint64_t used = 0;
  uint64_t resident = 0;
};

// Writes values of 1000 bytes to random rows.
void WriteAndWatch(const Load& load, Measured* measured) {
  const TempDirectory directory;
  DatabaseOptions options = TestOptions();
  options.memory_budget = load.budget;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database,
                       Database::Open(directory.database(), options));
  TableSchema schema;
  schema.locality_groups["default"] = load.group;
  schema.families["f"] = {};
  ASSERT_OK(database->CreateTable("t", schema));
  ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("t"));

  Random random(1);
  const uint64_t rows = load.bytes / 1000;
  MemoryWatch watch(database.get());
  for (uint64_t i = 0; i < rows; ++i) {
    const std::string row = absl::StrCat("row", random.Below(rows));
    ASSERT_OK(table->Apply(RowMutation(row).Set("f:q", Timestamp(1), random.Bytes(1000))));
    if (load.read_too && i % 4 == 0) {
      ASSERT_OK(table->ReadRow(absl::StrCat("row", random.Below(rows))));
    }
  }
  watch.Stop();
  *measured = {watch.most_used(), watch.most_resident()};
  EXPECT_OK(database->Statistics().background_error);
  std::printf("%llu MB written, budget %llu MB: %llu MB anonymous and log, %llu MB resident\n",
              static_cast<unsigned long long>(load.bytes / kMegabyte),
              static_cast<unsigned long long>(load.budget / kMegabyte),
              static_cast<unsigned long long>(measured->used / kMegabyte),
              static_cast<unsigned long long>(measured->resident / kMegabyte));
}

// The memory of the program itself, its threads and zstd's contexts.
constexpr uint64_t kBesides = 16 * kMegabyte;

class MemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory is larger than the engine's";
  }
};

TEST_F(MemoryTest, WritesStayWithinTheBudget) {
  const uint64_t before = ProcessMemory("RssAnon");
  const Load load = {.bytes = 200 * kMegabyte, .budget = 32 * kMegabyte};
  Measured measured;

  WriteAndWatch(load, &measured);

  EXPECT_LE(measured.used, before + load.budget * 5 / 4 + kBesides);
}

TEST_F(MemoryTest, CompressedWritesAndReadsStayWithinTheBudget) {
  const uint64_t before = ProcessMemory("RssAnon");
  const Load load = {.bytes = 100 * kMegabyte,
                     .budget = 32 * kMegabyte,
                     .group = {.compression = Compression::kZstd, .compression_level = 1},
                     .read_too = true};
  Measured measured;

  WriteAndWatch(load, &measured);

  EXPECT_LE(measured.used, before + load.budget * 5 / 4 + kBesides);
}

// malloc keeps what is freed for the thread that allocated it. Blocks in the cache are allocated by
// one thread and freed for another.
TEST_F(MemoryTest, ReadsOfThreadsInTurnStayWithinTheBudget) {
  constexpr uint64_t kRows = 40'000;
  constexpr int kThreads = 16;
  const TempDirectory directory;
  DatabaseOptions options = TestOptions();
  options.memory_budget = 16 * kMegabyte;
  options.read_mode = FileSystem::ReadMode::kPositional;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database,
                       Database::Open(directory.database(), options));
  TableSchema schema;
  schema.families["f"] = {};
  ASSERT_OK(database->CreateTable("t", schema));
  ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("t"));
  Random random(1);
  for (uint64_t row = 0; row < kRows; ++row) {
    ASSERT_OK(table->Apply(RowMutation(absl::StrCat("row", row)).Set("f:q", random.Bytes(1000))));
  }
  ASSERT_OK(database->Flush("t"));
  ASSERT_OK(database->WaitUntilQuiet());
  const uint64_t before = ProcessMemory("RssAnon");

  std::atomic<int> turn{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Random rows(static_cast<uint64_t>(thread));
      while (turn != thread) absl::SleepFor(absl::Microseconds(100));
      for (int i = 0; i < 8000; ++i) {
        EXPECT_OK(table->ReadRow(absl::StrCat("row", rows.Below(kRows))));
      }
      ++turn;
      while (turn != kThreads) absl::SleepFor(absl::Milliseconds(1));  // none of it is given back
    });
  }
  for (std::thread& thread : threads) thread.join();
  // The cache had most of the budget, and twice as much was read by each.
  EXPECT_GE(database->Statistics().memory_block_cache, options.memory_budget / 2);
  const uint64_t now = ProcessMemory("RssAnon");
  std::printf("reads of %d threads, budget %llu MB: %llu MB anonymous, before %llu\n", kThreads,
              static_cast<unsigned long long>(options.memory_budget / kMegabyte),
              static_cast<unsigned long long>(now / kMegabyte),
              static_cast<unsigned long long>(before / kMegabyte));
  EXPECT_LE(now, before + options.memory_budget * 5 / 4);
}

TEST_F(MemoryTest, AGigabyteOfWritesStaysWithin320MBOfA256MBBudget) {
  if (std::getenv("BIGTABLE_TEST_FULL") == nullptr) GTEST_SKIP() << "BIGTABLE_TEST_FULL is not set";
  Measured measured;

  WriteAndWatch({.bytes = 1000 * kMegabyte, .budget = 256 * kMegabyte}, &measured);

  EXPECT_LE(measured.used, 320 * kMegabyte);
}

}  // namespace
}  // namespace bigtable
