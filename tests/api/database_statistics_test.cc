// The info log and Database::Statistics.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/capturing_sink.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/read_mode.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

class DatabaseStatisticsTest : public DatabaseFixture {};

TEST_F(DatabaseStatisticsTest, TheLogSinkGetsSingleLines) {
  const auto sink = std::make_shared<CapturingSink>();
  DatabaseOptions options = Options();
  options.log_sink = sink;
  Open(options);
  Set(CreateTable("t", {"f"}), "r", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->Close());

  const std::vector<CapturingSink::Message> messages = sink->messages();
  ASSERT_FALSE(messages.empty());
  for (const CapturingSink::Message& message : messages) {
    EXPECT_FALSE(message.text.empty());
    EXPECT_EQ(message.text.find('\n'), std::string::npos) << message.text;
    EXPECT_EQ(message.severity, LogSeverity::kInfo) << message.text;
  }
  EXPECT_FALSE(file_system_->FileExists(std::string(kPath) + "/LOG"));
}

TEST_F(DatabaseStatisticsTest, WithoutASinkTheFileLOGIsWritten) {
  Open();
  database_.reset();

  EXPECT_FALSE(file_system_->Contents(std::string(kPath) + "/LOG").empty());
}

TEST_F(DatabaseStatisticsTest, StatisticsCountWritesFlushesAndCompactions) {
  Open();
  TableSchema schema;
  schema.locality_groups["other"] = {};
  schema.families["f"] = {};
  schema.families["g"] = {.locality_group = "other"};
  Table* const table = CreateTable("t", schema);
  const DatabaseStatistics before = database_->Statistics();
  for (int i = 0; i < 100; ++i) {
    Set(table, absl::StrCat("row", i), "f:q", 1, std::string(1000, 'v'));
  }
  ASSERT_OK(table->Apply(RowMutation("row0").Delete("f:q"), {.durability = Durability::kSync}));
  const DatabaseStatistics written = database_->Statistics();
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->WaitUntilQuiet());  // and counted
  const DatabaseStatistics flushed = database_->Statistics();
  ASSERT_OK(database_->Compact("t"));
  DatabaseStatistics compacted = database_->Statistics();

  EXPECT_EQ(written.rows_written - before.rows_written, 101u);
  EXPECT_GE(written.log_bytes_written - before.log_bytes_written, 100'000u);
  EXPECT_GE(written.log_syncs - before.log_syncs, 1u);
  const LocalityGroupStatistics in_memory = written.tables.at("t").at("default");
  EXPECT_GE(in_memory.memtables, 1u);
  EXPECT_GE(in_memory.memtable_bytes, 100'000u);
  EXPECT_EQ(in_memory.files, 0u);
  EXPECT_GE(written.memory_memtables + written.memory_log, 100'000u);
  EXPECT_EQ(written.memory_limit, uint64_t{32} << 20);

  const LocalityGroupStatistics in_file = flushed.tables.at("t").at("default");
  EXPECT_GE(flushed.minor_compactions - before.minor_compactions, 1u);
  EXPECT_GE(flushed.minor_compaction_bytes_written - before.minor_compaction_bytes_written,
            100'000u);
  EXPECT_EQ(in_file.files, 1u);
  EXPECT_EQ(in_file.sorted_runs, 1u);
  EXPECT_EQ(in_file.deletions, 1u);
  EXPECT_GE(in_file.entries, 100u);
  EXPECT_GE(in_file.file_bytes, 100'000u);
  EXPECT_LT(in_file.memtable_bytes, 100'000u);
  EXPECT_EQ(flushed.tables.at("t").at("other").files, 0u);

  EXPECT_GE(compacted.major_compactions - before.major_compactions, 1u);
  EXPECT_GE(compacted.merging_compactions, compacted.major_compactions);
  EXPECT_GE(compacted.merging_compaction_bytes_read, 90'000u);
  EXPECT_GE(compacted.merging_compaction_bytes_written, 90'000u);
  EXPECT_EQ(compacted.tables["t"]["default"].entries, 99u);
  EXPECT_EQ(compacted.tables["t"]["default"].deletions, 0u);
  EXPECT_EQ(compacted.stall_reason, StallReason::kNone);
  EXPECT_EQ(compacted.write_delay, absl::ZeroDuration());
  EXPECT_OK(compacted.background_error);
}

TEST_F(DatabaseStatisticsTest, TheBlockCacheServesBlocksThatWereReadBefore) {
  const ScopedShortcutsOn shortcuts;
  DatabaseOptions options = Options();
  options.read_mode = FileSystem::ReadMode::kPositional;
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  Set(table, "r", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));

  ASSERT_OK(table->ReadRow("r"));
  const DatabaseStatistics first = database_->Statistics();
  ASSERT_OK(table->ReadRow("r"));
  const DatabaseStatistics second = database_->Statistics();

  EXPECT_GE(first.block_cache_misses, 1u);
  EXPECT_GT(second.block_cache_hits, first.block_cache_hits);
  EXPECT_EQ(second.block_cache_misses, first.block_cache_misses);
  EXPECT_GT(second.memory_block_cache, 0u);
}

}  // namespace
}  // namespace bigtable
