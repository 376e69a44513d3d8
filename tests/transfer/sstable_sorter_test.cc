// SSTableSorter: rows in any order become files that are in order, whether they fit into memory or
// not, and with any number of threads.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

class SSTableSorterTest : public TabletsFixture {
 protected:
  void SetUp() override {
    Open();
    ASSERT_OK(file_system_->CreateDirectory("/in"));
  }
  static TableSchema Schema() {
    TableSchema schema = StillSchema();
    schema.locality_groups["other"] = {.compression = Compression::kZstd};
    schema.families["g"] = {.locality_group = "other"};
    schema.families["n"] = {.value_type = ValueType::kInt64Sum};
    return schema;
  }
  SSTableSorterOptions Sorting() {
    return {.memory = 1 << 20,
            .file_size = 64 << 10,
            .clock = &clock_,
            .file_system = file_system_.get()};
  }
  std::unique_ptr<SSTableSorter> Create(const SSTableSorterOptions& options) {
    auto sorter = SSTableSorter::Create("/in", Schema(), options);
    EXPECT_OK(sorter);
    return *std::move(sorter);
  }
  int tables_ = 0;
  std::vector<std::string> FilesIn() { return file_system_->ListDirectory("/in").value(); }
};

TEST_F(SSTableSorterTest, RowsInAnyOrderAreIngested) {
  Table* const table = CreateTable("t", Schema());
  const std::unique_ptr<SSTableSorter> sorter = Create(Sorting());
  for (int i = 999; i >= 0; --i) {
    ASSERT_OK(sorter->Add(RowOf(i * 7919 % 1000), "f:q", Timestamp(1), Cat("v", i * 7919 % 1000)));
  }
  EXPECT_EQ(sorter->mutations(), 1000u);
  const absl::StatusOr<std::vector<std::string>> files = sorter->Finish();
  ASSERT_OK(files);
  EXPECT_EQ(FilesIn().size(), files->size());
  const absl::StatusOr<IngestSummary> summary = table->Ingest(*files, {.moves_files = true});
  ASSERT_OK(summary);
  EXPECT_EQ(summary->rewritten, 0u);
  EXPECT_EQ(summary->linked, files->size());
  EXPECT_TRUE(FilesIn().empty());
  ExpectFilled(table, 0, 1000);
}

TEST_F(SSTableSorterTest, AllKindsOfOperationsAreLikeThoseOfApply) {
  Table* const sorted = CreateTable("sorted", Schema());
  Table* const applied = CreateTable("applied", Schema());
  const std::unique_ptr<SSTableSorter> sorter = Create(Sorting());
  const auto add = [&](const RowMutation& mutation) {
    ASSERT_OK(sorter->Add(mutation));
    ASSERT_OK(applied->Apply(mutation));
  };
  for (const char* const row : {"b", "a", "c"}) {
    add(RowMutation(row).Set("f:a", Timestamp(1), "1").Set("f:a", Timestamp(1), "2"));
    add(RowMutation(row).Set("f:b", Timestamp(5), "5").Set("f:b", Timestamp(7), "7"));
    add(RowMutation(row).Set("g:a", Timestamp(1), "1").AddToCell("n:n", Timestamp(1), 3));
    add(RowMutation(row).AddToCell("n:n", Timestamp(1), 4));
  }
  add(RowMutation("a").Delete("f:a"));
  add(RowMutation("b").DeleteRow().Set("f:new", Timestamp(2), "new"));
  add(RowMutation("c").DeleteFamily("f").DeleteTimeRange("g:a", Timestamp(0), Timestamp(2)));
  add(RowMutation("a").Set("f:", Timestamp(3), std::string_view("\0x", 2)));
  add(RowMutation(std::string_view("\0\xff", 2)).Set("g:x", Timestamp(1), ""));
  ASSERT_OK(sorted->Ingest(sorter->Finish().value()));
  const auto show = [](Table* table) {
    std::string text;
    RowReader reader = table->ReadRows(RowRange::All());
    for (const Row& row : reader) absl::StrAppend(&text, ToAbsl(row.key()), " ", Show(row), "\n");
    EXPECT_OK(reader.status());
    return text;
  };
  EXPECT_EQ(show(sorted), show(applied));
  ASSERT_OK(database_->Compact("sorted"));
  EXPECT_EQ(show(sorted), show(applied));
}

TEST_F(SSTableSorterTest, CellsWithoutATimestampHaveTheTimeOfTheClock) {
  Table* const table = CreateTable("t", Schema());
  const std::unique_ptr<SSTableSorter> sorter = Create(Sorting());
  ASSERT_OK(sorter->Add(RowMutation("a").Set("f:q", "first")));
  ASSERT_OK(sorter->Add(RowMutation("a").Set("f:q", "second")));
  ASSERT_OK(table->Ingest(sorter->Finish().value()));
  const absl::StatusOr<Row> row = table->ReadRow("a");
  ASSERT_OK(row);
  ASSERT_EQ(row->cells().size(), 2u);
  EXPECT_EQ(row->cells()[0].value, "second");
  EXPECT_GT(row->cells()[0].timestamp, row->cells()[1].timestamp);
}

TEST_F(SSTableSorterTest, WhatIsWrongIsRefusedAndTheRestGoesOn) {
  const std::unique_ptr<SSTableSorter> sorter = Create(Sorting());
  EXPECT_STATUS(kNotFound, "family \"x\"", sorter->Add("a", "x:q", Timestamp(1), "v"));
  EXPECT_STATUS(kNotFound, "family \"x\"", sorter->Add(RowMutation("a").Set("x:q", "v")));
  EXPECT_STATUS(kInvalidArgument, "row", sorter->Add("", "f:q", Timestamp(1), "v"));
  EXPECT_STATUS(kInvalidArgument, "colon", sorter->Add("a", "f", Timestamp(1), "v"));
  EXPECT_STATUS(kInvalidArgument, "negative", sorter->Add("a", "f:q", Timestamp(-1), "v"));
  EXPECT_STATUS(kInvalidArgument, "AddToCell", sorter->Add("a", "n:q", Timestamp(1), "v"));
  EXPECT_STATUS(kInvalidArgument, "operations", sorter->Add(RowMutation("a")));
  EXPECT_EQ(sorter->mutations(), 0u);
  ASSERT_OK(sorter->Add("a", "f:q", Timestamp(1), "v"));
  EXPECT_EQ(sorter->Finish().value().size(), 1u);
  EXPECT_STATUS(kFailedPrecondition, "finished", sorter->Add("a", "f:q", Timestamp(1), "v"));
  EXPECT_STATUS(kFailedPrecondition, "finished", sorter->Finish());
  for (SSTableSorterOptions options :
       {SSTableSorterOptions{.memory = 1000}, SSTableSorterOptions{.file_size = 1000},
        SSTableSorterOptions{.threads = 0}}) {
    options.file_system = file_system_.get();
    EXPECT_STATUS(kInvalidArgument, "SSTableSorterOptions",
                  SSTableSorter::Create("/in", Schema(), options));
  }
  EXPECT_STATUS(kInvalidArgument, "family",
                SSTableSorter::Create("/in", TableSchema{.families = {{"bad name", {}}}}));
}

// More files than are merged at a time.
TEST_F(SSTableSorterTest, ManySpillsAreMergedInSeveralPasses) {
  Table* const table = CreateTable("t", Schema());
  const std::unique_ptr<SSTableSorter> sorter = Create(Sorting());
  constexpr int kRows = 700;
  std::string value(120000, 'v');
  for (int i = 0; i < kRows; ++i) {
    const int row = i * 379 % kRows;
    value.replace(0, 8, RowOf(row));
    ASSERT_OK(sorter->Add(RowOf(row), "f:q", Timestamp(1), value));
  }
  EXPECT_GT(FilesIn().size(), 64u);
  const absl::StatusOr<std::vector<std::string>> files = sorter->Finish();
  ASSERT_OK(files);
  EXPECT_EQ(FilesIn().size(), files->size());
  ASSERT_OK(table->Ingest(*files, {.moves_files = true}));
  int rows = 0;
  RowReader reader = table->ReadRows(RowRange::All());
  for (const Row& row : reader) {
    ASSERT_EQ(row.key(), RowOf(rows));
    ASSERT_TRUE(row.cells()[0].value.starts_with(RowOf(rows)));
    ++rows;
  }
  EXPECT_OK(reader.status());
  EXPECT_EQ(rows, kRows);
}

TEST_F(SSTableSorterTest, NothingIsLeftOfASorterThatIsNotFinished) {
  {
    const std::unique_ptr<SSTableSorter> sorter = Create(Sorting());
    const std::string value(1000, 'v');
    for (int i = 0; i < 3000; ++i) ASSERT_OK(sorter->Add(RowOf(i), "f:q", Timestamp(1), value));
    EXPECT_FALSE(FilesIn().empty());
  }
  EXPECT_TRUE(FilesIn().empty());
  EXPECT_TRUE(Create(Sorting())->Finish().value().empty());
}

// Memory, file sizes and threads.
class SortedWithTest : public SSTableSorterTest,
                       public testing::WithParamInterface<std::tuple<uint64_t, uint64_t, int>> {};

TEST_P(SortedWithTest, FilesAreInOrderAndEqualToAMapRandom) {
  ForEachSeed(2, [&](uint64_t seed) {
    Random random(seed);
    SSTableSorterOptions options = Sorting();
    std::tie(options.memory, options.file_size, options.threads) = GetParam();
    const std::unique_ptr<SSTableSorter> sorter = Create(options);
    std::map<std::pair<std::string, std::string>, std::string> expected;
    for (int i = 0; i < 40000; ++i) {
      // Few rows, so that many mutations are of one cell.
      std::string row =
          absl::StrCat(random.Below(2) == 0 ? "r" : "longer row ", random.Below(3000));
      if (random.Below(50) == 0) row.push_back('\0');
      const std::string column = random.Below(4) == 0 ? "g:q" : "f:q";
      const std::string value = absl::StrCat(i, "-", std::string(random.Below(200), 'x'));
      if (random.Below(20) == 0) {
        ASSERT_OK(sorter->Add(RowMutation(row).DeleteRow()));
        for (const char* const other : {"f:q", "g:q"}) expected.erase({row, other});
      } else {
        ASSERT_OK(sorter->Add(row, column, Timestamp(1), value));
        expected[{row, column}] = value;
      }
    }
    const absl::StatusOr<std::vector<std::string>> files = sorter->Finish();
    ASSERT_OK(files);
    EXPECT_EQ(FilesIn().size(), files->size()) << "a spill is left";
    const std::string name = absl::StrCat("t", ++tables_);
    Table* const table = CreateTable(name, Schema());
    const absl::StatusOr<IngestSummary> summary = table->Ingest(*files, {.moves_files = true});
    ASSERT_OK(summary);
    EXPECT_EQ(summary->linked, files->size());
    EXPECT_EQ(summary->rewritten, 0u);
    std::map<std::pair<std::string, std::string>, std::string> found;
    RowReader reader = table->ReadRows(RowRange::All());
    for (const Row& row : reader) {
      for (const Cell& cell : row.cells()) {
        found[{std::string(row.key()), Cat(cell.family, ":", cell.qualifier)}] = cell.value;
      }
    }
    ASSERT_OK(reader.status());
    ASSERT_TRUE(found == expected);
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, SortedWithTest,
                         testing::Values(std::tuple(1 << 20, 64 << 10, 1),
                                         std::tuple(1 << 20, 1 << 20, 3),
                                         std::tuple(64 << 20, 256 << 10, 1),
                                         std::tuple(64 << 20, 64 << 20, 4)));

}  // namespace
}  // namespace bigtable
