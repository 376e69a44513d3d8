// The tablets of a server are flushed together, and some are split meanwhile. After a power loss at
// any time of this, a prefix of the writes is found, although the log was never synced.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "support/expect_status.h"
#include "support/read_mode.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

constexpr const char* kPath = "/db";
constexpr int kTablets = 4;
constexpr int kWrites = 500;
constexpr int kBetweenSplits = 150;

// Writes go to all tablets in turn: row k is in tablet k % kTablets, and has two locality groups.
std::string RowOf(int k) { return absl::StrFormat("%c%06d", 'a' + k % kTablets, k); }

class FlushTogetherTest : public testing::Test {
 protected:
  static absl::StatusOr<std::unique_ptr<Database>> Open(FileSystem* file_system) {
    DatabaseOptions options = TestOptions();
    options.memory_budget = MemoryBudget::kMinimum;
    options.memtable_size = 64 << 10;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = 1;
    options.file_system = file_system;
    return Database::Open(kPath, options);
  }
  static void Create(Database* database) {
    TableSchema schema;
    schema.locality_groups["other"] = {};
    schema.families["f"] = {};
    schema.families["g"] = {.locality_group = "other"};
    CreateTableOptions options;
    for (int i = 1; i < kTablets; ++i) options.split_rows.push_back(std::string(1, 'a' + i));
    ASSERT_OK(database->CreateTable("t", schema, options));
    database->PauseCompactions();
  }
  // Writes until one write fails, and returns the number of acknowledged writes. Splits a tablet
  // now and then, when it is quiet.
  static int WriteAll(Database* database) {
    const absl::StatusOr<Table*> table = database->OpenTable("t");
    if (!table.ok()) return 0;
    int k = 0;
    for (; k < kWrites; ++k) {
      if (k % kBetweenSplits == kBetweenSplits - 1) {
        if (!database->WaitUntilQuiet().ok()) break;
        if (!database->SplitTablet("t", RowOf(k - kBetweenSplits / 2)).ok()) break;
      }
      RowMutation mutation(RowOf(k));
      mutation.Set("f:q", Timestamp(1), std::string(1000, 'v'));
      mutation.Set("g:q", Timestamp(1), std::string(100, 'v'));
      if (!(*table)->Apply(mutation).ok()) break;
    }
    return k;
  }
  static TabletServerStatistics Server(Database* database) {
    for (const auto& [name, server] : database->Statistics().servers) {
      if (server.tablets.size() == kTablets + kWrites / kBetweenSplits) return server;
    }
    ADD_FAILURE() << "no server has the table";
    return {};
  }
};

// Checks that the found writes are complete, and that they are a prefix.
void ExpectPrefix(Database* database, int* count) {
  ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("t"));
  std::vector<size_t> cells(kWrites);
  RowReader reader = table->ReadRows(RowRange::All());
  for (const Row& row : reader)
    cells[std::stoul(std::string(row.key().substr(1)))] = row.cells().size();
  ASSERT_OK(reader.status());
  *count = 0;
  while (*count < kWrites && cells[*count] == 2) ++*count;
  for (int k = *count; k < kWrites; ++k) {
    ASSERT_EQ(cells[k], 0u) << "write " << k << " is there, write " << *count << " is not";
  }
}

TEST_F(FlushTogetherTest, TheLogIsNotSynced) {
  InMemoryFileSystem disk;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database, Open(&disk));
  Create(database.get());
  const uint64_t flushes = database->Statistics().minor_compactions;
  ASSERT_EQ(WriteAll(database.get()), kWrites);
  ASSERT_OK(database->WaitUntilQuiet());
  EXPECT_GE(database->Statistics().minor_compactions, flushes + 2 * kTablets);
  EXPECT_EQ(Server(database.get()).log_syncs, 0u);
}

// All calls of the file system fail after a certain call. Then the power is lost.
TEST_F(FlushTogetherTest, APowerLossLeavesAPrefix) {
  bool failed_once = true;
  const uint64_t step = kSlow ? 7 : 2;
  int longest = 0;
  for (uint64_t n = 1; failed_once; n += step) {
    SCOPED_TRACE(absl::StrCat("call ", n));
    InMemoryFileSystem disk;
    FaultyFileSystem faulty(&disk);
    std::unique_ptr<InMemoryFileSystem> left;
    {
      ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database, Open(&faulty));
      ASSERT_NO_FATAL_FAILURE(Create(database.get()));
      faulty.CountCalls();
      faulty.FailCall(n, absl::UnavailableError("no power"), FaultyFileSystem::Repeat::kFromThenOn);
      WriteAll(database.get());
      database->WaitUntilQuiet().IgnoreError();
      failed_once = faulty.faults() > 0;
      left = disk.CrashClone(n, n % 3 == 0 ? Unsynced::kNothing : Unsynced::kRandomPart);
    }
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database, Open(left.get()));
    int count = 0;
    ASSERT_NO_FATAL_FAILURE(ExpectPrefix(database.get(), &count));
    longest = std::max(longest, count);
  }
  EXPECT_GT(longest, 100);
}

}  // namespace
}  // namespace bigtable
