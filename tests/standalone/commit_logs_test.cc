// Commit logs read without opening the database (bigtable/commit_log.h).
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/commit_log.h"
#include "bigtable/database.h"
#include "bigtable/table.h"
#include "bigtable/testing/in_memory_file_system.h"
#include "bigtable/write_batch.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

class CommitLogsTest : public testing::Test {
 protected:
  void Open(int servers) {
    DatabaseOptions options;
    options.file_system = &files_;
    options.tablet_servers = servers;
    options.log_segment_size = 64 << 10;
    options.memory_budget = 8 << 20;
    ASSERT_OK_AND_ASSIGN(database_, Database::Open("/db", options));
    TableSchema schema;
    schema.families["f"] = {};
    ASSERT_OK(database_->CreateTable("t", schema, {.split_rows = {"m"}}));
    ASSERT_OK_AND_ASSIGN(table_, database_->OpenTable("t"));
  }
  std::vector<CommitLogInfo> Logs() {
    const auto logs = ListCommitLogs("/db", &files_);
    EXPECT_OK(logs.status());
    return logs.value_or(std::vector<CommitLogInfo>());
  }
  // The entries of the table, from all logs, by sequence number, as text.
  std::vector<std::string> Entries() {
    std::vector<std::pair<uint64_t, std::string>> entries;
    for (const CommitLogInfo& log : Logs()) {
      EXPECT_OK(ReadCommitLog(
          "/db", log.server,
          [&](const CommitLogEntry& logged) {
            if (logged.table != "t") return absl::OkStatus();
            std::string text = DebugString(logged.entry);
            text.replace(text.find('#') + 1, text.rfind('.') - text.find('#') - 1, "N");
            entries.emplace_back(logged.entry.sequence,
                                 text + " " + std::string(logged.entry.value));
            return absl::OkStatus();
          },
          &files_));
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> texts;
    for (const auto& [sequence, text] : entries) texts.push_back(text);
    return texts;
  }

  InMemoryFileSystem files_;
  std::unique_ptr<Database> database_;
  Table* table_ = nullptr;
};

TEST_F(CommitLogsTest, AMutationIsReadWithItsOperationsInOrder) {
  Open(1);
  RowMutation mutation("r");
  mutation.Set("f:a", Timestamp(5), "v").Delete("f:b").DeleteFamily("f");
  ASSERT_OK(table_->Apply(mutation));
  EXPECT_THAT(Entries(), testing::ElementsAre("r/f:a@5#N.0 cell v", "r/f:b#N.1 delete-column ",
                                              "r/f:#N.2 delete-family "));
}

TEST_F(CommitLogsTest, ACellWithoutATimestampHasTheOneThatItWasGiven) {
  Open(1);
  const int64_t before = absl::ToUnixMicros(absl::Now());
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:a", "v")));
  Timestamp logged_at;
  for (const CommitLogInfo& log : Logs()) {
    EXPECT_OK(ReadCommitLog(
        "/db", log.server,
        [&](const CommitLogEntry& logged) {
          if (logged.table == "t") logged_at = logged.entry.timestamp;
          return absl::OkStatus();
        },
        &files_));
  }
  EXPECT_GE(logged_at.micros(), before);
  ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow("r"));
  EXPECT_EQ(row.cells()[0].timestamp, logged_at);
}

TEST_F(CommitLogsTest, ABatchIsReadFromTheLogsOfAllItsServers) {
  Open(2);
  WriteBatch batch;
  batch.Apply(table_, RowMutation("a").Set("f:x", Timestamp(1), "1"));
  batch.Apply(table_, RowMutation("b").Set("f:x", Timestamp(1), "2"));
  batch.Apply(table_, RowMutation("z").Set("f:x", Timestamp(1), "3"));
  ASSERT_OK(database_->Apply(batch));
  std::vector<std::string> entries = Entries();
  std::sort(entries.begin(), entries.end());
  EXPECT_THAT(entries, testing::ElementsAre("a/f:x@1#N.0 cell 1", "b/f:x@1#N.0 cell 2",
                                            "z/f:x@1#N.0 cell 3"));
}

TEST_F(CommitLogsTest, TheMutationsOfABatchHaveTheSequenceNumbersBeforeThatOfItsRecord) {
  Open(1);
  WriteBatch batch;
  for (const char* row : {"a", "b", "c"}) {
    batch.Apply(table_, RowMutation(row).Set("f:x", Timestamp(1), "v"));
  }
  ASSERT_OK(database_->Apply(batch));
  for (const CommitLogInfo& log : Logs()) {
    if (!log.server.starts_with("server-")) continue;
    std::vector<uint64_t> sequences;
    EXPECT_OK(ReadCommitLog(
        "/db", log.server,
        [&](const CommitLogEntry& logged) {
          sequences.push_back(logged.entry.sequence);
          return absl::OkStatus();
        },
        &files_));
    const uint64_t last = log.segments[0].last_sequence;
    EXPECT_EQ(log.segments[0].records, 1u);
    EXPECT_THAT(sequences, testing::ElementsAre(last - 2, last - 1, last));
  }
}

TEST_F(CommitLogsTest, ALogWhoseRemovalHasBegunIsNotListed) {
  Open(1);
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:a", Timestamp(1), "v")));
  const std::vector<CommitLogInfo> before = Logs();
  ASSERT_FALSE(before.empty());
  const std::string removed = "/db/log/" + before.back().server + "/REMOVED";
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<WritableFile> file, files_.NewWritableFile(removed));
  ASSERT_OK(file->Close());
  EXPECT_EQ(Logs().size(), before.size() - 1);
}

TEST_F(CommitLogsTest, SegmentsThatAreFlushedAreReusableAndOthersNeeded) {
  Open(1);
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(table_->Apply(RowMutation("r").Set("f:x", Timestamp(i), std::string(4000, 'v'))));
  }
  using State = CommitLogSegment::State;
  const auto count = [&](State state) {
    int64_t segments = 0;
    for (const CommitLogInfo& log : Logs()) {
      if (!log.server.starts_with("server-")) continue;
      for (const CommitLogSegment& segment : log.segments) {
        segments += segment.state == state ? 1 : 0;
        EXPECT_GE(segment.file_size, 64u << 10) << segment.path;
        EXPECT_LE(segment.record_bytes, segment.file_size) << segment.path;
        EXPECT_EQ(segment.records > 0, segment.last_sequence > 0) << segment.path;
        EXPECT_LE(segment.first_sequence, segment.last_sequence) << segment.path;
        if (state == State::kReusable && segment.state == state) {
          EXPECT_EQ(segment.records, 0u) << segment.path;
        }
      }
    }
    return segments;
  };
  // 400 KB in segments of 64 KiB. All but the last one are full.
  EXPECT_GE(count(State::kNeeded), 6);
  for (const CommitLogInfo& log : Logs()) {
    if (!log.server.starts_with("server-")) continue;
    EXPECT_TRUE(log.segments[0].is_full);
    EXPECT_EQ(log.segments[1].first_sequence, log.segments[0].last_sequence + 1);
  }
  ASSERT_OK(database_->Flush("t"));
  for (int i = 0; i < 1000 && count(State::kReusable) == 0; ++i) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_GE(count(State::kReusable), 1);
  EXPECT_LE(count(State::kNeeded), 2);
}

TEST_F(CommitLogsTest, TheTableOfADeletedTableHasNoName) {
  Open(1);
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:a", Timestamp(1), "v")));
  ASSERT_OK(database_->DeleteTable("t"));
  EXPECT_TRUE(Entries().empty());
  int entries = 0;
  for (const CommitLogInfo& log : Logs()) {
    EXPECT_OK(ReadCommitLog(
        "/db", log.server,
        [&](const CommitLogEntry& logged) {
          if (logged.entry.row == "r" && logged.table.empty() && logged.table_id > 1) ++entries;
          return absl::OkStatus();
        },
        &files_));
  }
  EXPECT_EQ(entries, 1);
}

TEST_F(CommitLogsTest, AnErrorOfTheCallbackEndsTheReading) {
  Open(1);
  for (const char* row : {"a", "b", "c"}) {
    ASSERT_OK(table_->Apply(RowMutation(row).Set("f:a", Timestamp(1), "v")));
  }
  std::string server;
  for (const CommitLogInfo& log : Logs()) {
    if (log.server.starts_with("server-")) server = log.server;
  }
  int calls = 0;
  EXPECT_STATUS(kCancelled, "enough",
                ReadCommitLog(
                    "/db", server,
                    [&](const CommitLogEntry&) {
                      return ++calls == 2 ? absl::CancelledError("enough") : absl::OkStatus();
                    },
                    &files_));
  EXPECT_EQ(calls, 2);
}

TEST_F(CommitLogsTest, AClosedDatabaseHasNoLogs) {
  Open(1);
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:a", Timestamp(1), "v")));
  EXPECT_FALSE(Logs().empty());
  ASSERT_OK(database_->Close());
  EXPECT_TRUE(Logs().empty());
}

TEST_F(CommitLogsTest, WhatIsNotThereIsNotFound) {
  const auto ignore = [](const CommitLogEntry&) { return absl::OkStatus(); };
  EXPECT_STATUS(kNotFound, "/db: there is no database here", ListCommitLogs("/db", &files_));
  EXPECT_STATUS(kNotFound, "no database here", ReadCommitLog("/db", "server-1", ignore, &files_));
  Open(1);
  for (const char* server : {"server-999", "", ".", "../db", "root"}) {
    EXPECT_STATUS(kNotFound, "no log of a server", ReadCommitLog("/db", server, ignore, &files_));
  }
}

}  // namespace
}  // namespace bigtable
