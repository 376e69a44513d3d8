// Table::SampleRowKeys and Table::ApproximateSizes: against what was written, while tablets are
// split and written to, and their errors.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "support/database_fixture.h"

namespace bigtable {
namespace {

class TableSizesTest : public DatabaseFixture {
 protected:
  static constexpr uint64_t kValue = 1000;

  static std::string RowAt(int i) { return absl::StrFormat("row%06d", i); }
  Table* NewTable() {
    TableSchema schema;
    schema.families["f"] = {};
    schema.split.tablet_size = 0;
    return CreateTable("t", schema);
  }
  // Rows [begin, end), in a random order.
  static void Write(Table* table, int begin, int end) {
    for (int i = 0; i < end - begin; ++i) {
      const int row = begin + i * 7919 % (end - begin);
      Set(table, RowAt(row), "f:q", 1, std::string(kValue, 'v'));
    }
  }
  static std::vector<RowKeySample> Samples(Table* table) {
    absl::StatusOr<std::vector<RowKeySample>> samples = table->SampleRowKeys();
    EXPECT_OK(samples);
    return samples.ok() ? *samples : std::vector<RowKeySample>(1);
  }
  static uint64_t SizeOf(Table* table, const RowRange& range) {
    const absl::StatusOr<std::vector<uint64_t>> sizes = table->ApproximateSizes({range});
    EXPECT_OK(sizes);
    return sizes.ok() ? sizes->at(0) : 0;
  }
  // The rows ascend up to the end of the table, and the size of each part is what ApproximateSizes
  // says about its rows.
  static void ExpectConsistent(Table* table, const std::vector<RowKeySample>& samples) {
    std::vector<RowRange> parts;
    for (size_t i = 0; i < samples.size(); ++i) {
      const std::string begin = i == 0 ? "" : samples[i - 1].row;
      const bool is_last = i + 1 == samples.size();
      EXPECT_EQ(samples[i].row.empty(), is_last);
      EXPECT_TRUE(is_last || begin < samples[i].row) << begin;
      parts.push_back(is_last ? RowRange::StartingAt(begin)
                              : RowRange::RightOpen(begin, samples[i].row));
    }
    const absl::StatusOr<std::vector<uint64_t>> sizes = table->ApproximateSizes(parts);
    ASSERT_OK(sizes);
    ASSERT_EQ(sizes->size(), samples.size());
    for (size_t i = 0; i < samples.size(); ++i) {
      const uint64_t begin = i == 0 ? 0 : samples[i - 1].offset_bytes;
      EXPECT_EQ(sizes->at(i), samples[i].offset_bytes - begin) << samples[i].row;
    }
  }
};

TEST_F(TableSizesTest, AnEmptyTableIsOnePartOfNothing) {
  Open();
  Table* const table = NewTable();
  EXPECT_EQ(Samples(table), (std::vector<RowKeySample>{{"", 0}}));
  EXPECT_EQ(SizeOf(table, RowRange::All()), 0);
  EXPECT_EQ(table->ApproximateSizes({})->size(), 0);
}

TEST_F(TableSizesTest, FewRowsInAMemtableCountAsTheyAre) {
  Open();
  Table* const table = NewTable();
  Set(table, "a", "f:q", 1, std::string(1000, 'v'));
  Set(table, "b", "f:q", 1, std::string(50'000, 'v'));
  Set(table, "c", "f:q", 1, std::string(2000, 'v'));

  const auto expect_about = [](uint64_t bytes, uint64_t expected) {
    EXPECT_GE(bytes, expected);
    EXPECT_LE(bytes, expected + 100);
  };
  expect_about(SizeOf(table, RowRange::Single("a")), 1000);
  expect_about(SizeOf(table, RowRange::Single("b")), 50'000);
  expect_about(SizeOf(table, RowRange::StartingAt("c")), 2000);
  EXPECT_EQ(SizeOf(table, RowRange::RightOpen("b2", "c")), 0);
  EXPECT_EQ(SizeOf(table, RowRange::RightOpen("c", "a")), 0);
  const std::vector<RowKeySample> samples = Samples(table);
  ASSERT_EQ(samples.size(), 3);  // "a" is the first row: no part ends before it
  EXPECT_EQ(samples[0].row, "b");
  EXPECT_EQ(samples[1].row, "c");
  ExpectConsistent(table, samples);
}

TEST_F(TableSizesTest, AFileIsDividedEvenly) {
  Open();
  Table* const table = NewTable();
  constexpr int kRows = 8000;
  Write(table, 0, kRows);
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->Compact("t"));

  const std::vector<RowKeySample> samples = Samples(table);
  ExpectConsistent(table, samples);
  EXPECT_GE(samples.size(), 100);
  EXPECT_LE(samples.size(), 300);
  const uint64_t total = samples.back().offset_bytes;
  EXPECT_NEAR(static_cast<double>(total), kRows * kValue, 0.1 * kRows * kValue);
  for (size_t i = 1; i < samples.size(); ++i) {
    EXPECT_LE(samples[i].offset_bytes - samples[i - 1].offset_bytes, total / 50);
  }
  for (const int part : {2, 5, 10}) {
    const RowRange range = RowRange::RightOpen(RowAt(kRows / part), RowAt(2 * kRows / part));
    EXPECT_NEAR(static_cast<double>(SizeOf(table, range)), static_cast<double>(total) / part,
                40'000);  // a block at either end
  }
}

TEST_F(TableSizesTest, ALargeMemtableIsEstimated) {
  DatabaseOptions options = Options();
  options.memory_budget = 256 << 20;
  options.memtable_size = 64 << 20;
  Open(options);
  Table* const table = NewTable();
  constexpr int kRows = 12'000;
  Write(table, 0, kRows);

  ASSERT_EQ(database_->Statistics().minor_compactions, 0);
  ExpectConsistent(table, Samples(table));
  const auto total = static_cast<double>(SizeOf(table, RowRange::All()));
  EXPECT_GE(total, 0.9 * kRows * kValue);
  for (const int part : {2, 5, 10}) {
    const RowRange range = RowRange::RightOpen(RowAt(kRows / part), RowAt(2 * kRows / part));
    EXPECT_NEAR(static_cast<double>(SizeOf(table, range)), total / part, 0.1 * total);
  }
}

TEST_F(TableSizesTest, TabletsAndHalvesOfOneAddUp) {
  DatabaseOptions options = Options();
  options.tablet_servers = 2;
  Open(options);
  Table* const table = NewTable();
  Write(table, 0, 3000);
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->Compact("t"));
  database_->PauseCompactions();  // sizes stay what they are
  const uint64_t total = SizeOf(table, RowRange::All());
  Write(table, 3000, 3500);  // in memtables
  const uint64_t with_memtable = SizeOf(table, RowRange::All());
  EXPECT_GE(with_memtable, total + 400 * kValue);

  ASSERT_OK(database_->SplitTablet("t", RowAt(1000)));
  ASSERT_OK(database_->SplitTablet("t", RowAt(2000)));
  EXPECT_NEAR(static_cast<double>(SizeOf(table, RowRange::All())),
              static_cast<double>(with_memtable), 1000);
  ASSERT_OK(database_->Flush("t"));
  const std::vector<RowKeySample> samples = Samples(table);
  ExpectConsistent(table, samples);
  for (const int row : {1000, 2000}) {
    EXPECT_TRUE(std::any_of(samples.begin(), samples.end(), [&](const RowKeySample& s) {
      return s.row == RowAt(row);
    })) << row;
  }
  // On the other server.
  ASSERT_OK(database_->MoveTablet("t", RowAt(1000), 1));
  ExpectConsistent(table, Samples(table));
}

TEST_F(TableSizesTest, AReadOnlyDatabaseAndFilesThatAreNotOpenYet) {
  Open();
  Write(NewTable(), 0, 1000);
  ASSERT_OK(database_->Flush("t"));
  const uint64_t total = SizeOf(OpenTable("t"), RowRange::All());
  DatabaseOptions options = Options();
  options.read_only = true;
  Reopen(options);
  EXPECT_EQ(SizeOf(OpenTable("t"), RowRange::All()), total);
  ExpectConsistent(OpenTable("t"), Samples(OpenTable("t")));
}

TEST_F(TableSizesTest, Errors) {
  Open();
  Table* const table = NewTable();
  Set(table, "a", "f:q", 1, "v");
  Cancellation cancelled;
  cancelled.Cancel();
  EXPECT_STATUS(kCancelled, "", table->SampleRowKeys({.cancellation = &cancelled}));
  EXPECT_STATUS(kCancelled, "",
                table->ApproximateSizes({RowRange::All()}, {.cancellation = &cancelled}));
  EXPECT_STATUS(kDeadlineExceeded, "", table->SampleRowKeys({.deadline = absl::InfinitePast()}));

  ASSERT_OK(database_->SetAccessList("staff", {.readers = {"ann"}, .writers = {}}));
  ASSERT_OK(database_->UpdateFamily("t", "f", {.access_list = "staff"}));
  Table* const of_bob = *database_->OpenTable("t", {.caller = "bob"});
  EXPECT_STATUS(kPermissionDenied, "\"bob\"", of_bob->SampleRowKeys());
  EXPECT_STATUS(kPermissionDenied, "\"bob\"", of_bob->ApproximateSizes({RowRange::All()}));
  EXPECT_OK((*database_->OpenTable("t", {.caller = "ann"}))->SampleRowKeys());

  ASSERT_OK(database_->DeleteTable("t"));
  EXPECT_STATUS(kNotFound, "table t was deleted", table->SampleRowKeys());
  EXPECT_STATUS(kNotFound, "table t was deleted", table->ApproximateSizes({RowRange::All()}));
  ASSERT_OK(database_->Close());
  EXPECT_STATUS(kFailedPrecondition, "closed", table->SampleRowKeys());
  EXPECT_STATUS(kFailedPrecondition, "closed", table->ApproximateSizes({RowRange::All()}));
}

TEST_F(TableSizesTest, WhileThreadsWriteAndTabletsAreSplitAndMove) {
  DatabaseOptions options = Options();
  options.tablet_servers = 2;
  options.memtable_size = 256 << 10;
  Open(options);
  Table* const table = NewTable();
  Write(table, 0, 200);
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; !done; ++i) Set(table, RowAt(i % 2000), "f:q", 1 + i, std::string(kValue, 'v'));
  });
  std::thread master([&] {
    for (int i = 0; !done; ++i) {
      const std::string row = RowAt(100 * (1 + i % 15));
      EXPECT_OK(database_->SplitTablet("t", row));
      EXPECT_OK(database_->MoveTablet("t", row, i % 2));
      EXPECT_OK(database_->MergeTablets("t", row));
    }
  });
  for (int i = 0; i < 100; ++i) {
    const std::vector<RowKeySample> samples = Samples(table);
    for (size_t j = 1; j < samples.size(); ++j) {
      EXPECT_TRUE(j + 1 == samples.size() || samples[j - 1].row < samples[j].row);
      EXPECT_LE(samples[j - 1].offset_bytes, samples[j].offset_bytes);
    }
    EXPECT_GE(SizeOf(table, RowRange::All()), 100 * kValue);
  }
  done = true;
  writer.join();
  master.join();
}

}  // namespace
}  // namespace bigtable
