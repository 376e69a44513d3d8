// The time for which the tablets of a lost server with much data and a long log are unserved. With
// BIGTABLE_TEST_FULL=1 that is 1 GB of SSTables and the log of a budget of 512 MB; otherwise a
// sixteenth of both.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/random.h"
#include "support/read_mode.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

constexpr int kTablets = 20;
constexpr int kValueSize = 1000;

std::string RowOf(int i) { return absl::StrFormat("row%09d", i); }

// Reads each of the rows once, one after the other, and returns the time that this took.
absl::Duration ReadAll(Table* table, const std::vector<int>& rows, const std::string& value) {
  const absl::Time begin = absl::Now();
  for (const int row : rows) {
    const auto read = table->ReadRow(RowOf(row));
    EXPECT_TRUE(read.ok()) << read.status();
    if (!read.ok() || read->empty()) {
      ADD_FAILURE() << RowOf(row) << " is lost";
      break;
    }
    EXPECT_EQ(read->cells()[0].value.substr(0, value.size()), value);
  }
  return absl::Now() - begin;
}

TEST(ReplacementTest, AServerWithMuchDataAndALongLogIsReplacedInSeconds) {
  const bool full = std::getenv("BIGTABLE_TEST_FULL") != nullptr;
  const uint64_t data = (full ? 1024 : 64) * uint64_t{1000'000};
  const TempDirectory directory;
  FaultyFileSystem faulty(FileSystem::Posix());
  DatabaseOptions options = TestOptions();
  options.file_system = &faulty;
  options.tablet_servers = 2;
  options.memory_budget = full ? 512 << 20 : 32 << 20;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database,
                       Database::Open(directory.database(), options));
  const int rows = static_cast<int>(2 * data / kValueSize);  // half of them on each server
  TableSchema schema;
  schema.families["f"] = {};
  schema.split.tablet_size = 0;
  CreateTableOptions table_options;
  for (int i = 1; i < kTablets; ++i) table_options.split_rows.push_back(RowOf(rows / kTablets * i));
  ASSERT_OK(database->CreateTable("t", schema, table_options));
  ASSERT_OK_AND_ASSIGN(Table* const table, database->OpenTable("t"));
  Random random(1);
  const auto write = [&](int row, std::string_view what) {
    RowMutation mutation(RowOf(row));
    mutation.Set("f:q", Timestamp(1), Cat(what, random.Bytes(kValueSize)));
    return table->Apply(mutation);
  };
  for (int row = 0; row < rows; ++row) ASSERT_OK(write(row, "old"));
  ASSERT_OK(database->Flush("t"));
  ASSERT_OK(database->WaitUntilQuiet());

  DatabasePeer peer(database.get());
  TabletServer* const dead = peer.Servers().front();
  std::vector<int> written;  // the last of them are in its log only
  // Much more than the budget, and then until the log is about as long as it gets: it grows and
  // shrinks with each flush, and its longest moment may not come back.
  const size_t enough = 2 * options.memory_budget / kValueSize;
  for (uint64_t longest = 0;;) {
    const uint64_t log = dead->log().LiveBytes();
    longest = std::max(longest, log);
    if (written.size() >= enough && log >= longest / 3 * 2) break;
    const int row = static_cast<int>(random.Below(static_cast<uint64_t>(rows)));
    ASSERT_OK(write(row, "new"));
    written.push_back(row);
    ASSERT_LT(written.size(), 4 * enough) << "the log once had " << longest << " bytes";
  }
  std::sort(written.begin(), written.end());
  written.erase(std::unique(written.begin(), written.end()), written.end());
  const uint64_t log_bytes = dead->log().LiveBytes();
  ASSERT_OK_AND_ASSIGN(const auto files,
                       faulty.ListDirectory(Cat(directory.database(), "/log/", dead->name())));
  const auto segments = static_cast<uint64_t>(std::count_if(
      files.begin(), files.end(), [](const std::string& file) { return file.ends_with(".log"); }));
  uint64_t disk_bytes = 0;
  for (const auto& tablet : dead->tablets().All()) disk_bytes += tablet->DiskBytes();
  faulty.CountCalls({{FileCall::kNewRandomAccessFile}, ".log"});

  peer.Kill(dead);
  const absl::Time begin = absl::Now();
  const absl::Duration first = ReadAll(table, {written[0]}, "new");
  const absl::Duration reads = ReadAll(table, written, "new");
  peer.ReplaceLostServers();
  const absl::Duration whole = absl::Now() - begin;

  std::printf(
      "a server with %d MB in SSTables and %d MB of log in %d segments: a row was read again after "
      "%.2f s, %d rows that were written last after %.2f s, all was done after %.2f s\n",
      static_cast<int>(disk_bytes / 1000'000), static_cast<int>(log_bytes / 1000'000),
      static_cast<int>(segments), absl::ToDoubleSeconds(first), static_cast<int>(written.size()),
      absl::ToDoubleSeconds(first + reads), absl::ToDoubleSeconds(whole));
  EXPECT_GE(disk_bytes, data * 9 / 10);
  EXPECT_GT(segments, 2u);
  EXPECT_GT(faulty.calls(), 0u);
  EXPECT_LE(faulty.calls(), segments) << "a segment was read twice";
  EXPECT_LT(whole, absl::Seconds(30));
  ASSERT_OK(database->Close());
}

}  // namespace
}  // namespace bigtable
