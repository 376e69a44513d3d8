// What a filter excludes is not read: the blocks that a read used, and what its trace says of the
// filter.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "base/mutex.h"
#include "support/database_fixture.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

class LastTrace final : public TraceSink {
 public:
  void OnTrace(const RequestTrace& trace) override {
    MutexLock lock(&mutex_);
    trace_ = trace;
  }
  RequestTrace Take() {
    MutexLock lock(&mutex_);
    return std::exchange(trace_, {});
  }

 private:
  Mutex mutex_;
  RequestTrace trace_ ABSL_GUARDED_BY(mutex_);
};

// 100 rows. Each has a column of family "a" for each letter, in one locality group, and family "b",
// in another. A value fills a block. All cells of the row numbered n have the timestamp n.
class FilterTraceTest : public DatabaseFixture {
 protected:
  static constexpr int kRows = 100;
  static constexpr int kLetters = 4;
  static constexpr uint64_t kBlocks = kRows * (kLetters + 1);

  void SetUp() override {
    DatabaseOptions options = Options();
    options.trace_one_of = 1;
    options.trace_sink = &sink_;
    Open(options);
    TableSchema schema;
    LocalityGroup group;
    group.block_size = 1 << 10;
    group.compaction = CompactionStyle::kNone;
    schema.locality_groups["one"] = group;
    schema.locality_groups["two"] = group;
    schema.families["a"].locality_group = "one";
    schema.families["b"].locality_group = "two";
    schema.families["a"].gc = GcRule();
    table_ = CreateTable("t", schema);
    const std::string value(1 << 10, 'v');
    for (int row = 0; row < kRows; ++row) {
      for (int letter = 0; letter < kLetters; ++letter) {
        Set(table_, RowOf(row), Cat("a:", std::string(1, static_cast<char>('k' + letter))), row,
            value);
      }
      Set(table_, RowOf(row), "b:", row, value);
      // Files with a quarter of the rows each.
      if (row % (kRows / 4) == kRows / 4 - 1) {
        ASSERT_OK(database_->Flush("t"));
      }
    }
  }
  void TearDown() override { database_.reset(); }  // before the sink

  static std::string RowOf(int row) { return absl::StrFormat("row%02d", row); }
  static uint64_t Blocks(const RequestTrace& trace) {
    uint64_t blocks = 0;
    for (const FileTrace& file : trace.files) {
      blocks +=
          file.blocks_in_place + file.blocks_first_touched + file.cache_hits + file.cache_misses;
    }
    return blocks;
  }
  // Reads all rows.
  RequestTrace Read(const Filter& filter) {
    uint64_t cells = 0;
    {
      RowReader reader = table_->ReadRows(RowRange::All(), filter);
      while (reader.Next()) cells += reader.row().cells().size();
      EXPECT_OK(reader.status());
    }
    RequestTrace trace = sink_.Take();
    EXPECT_EQ(trace.cells, cells);
    return trace;
  }

  const ScopedShortcutsOn shortcuts_;
  LastTrace sink_;
  Table* table_ = nullptr;
};

TEST_F(FilterTraceTest, WithoutAFilterAllBlocksAreRead) {
  const RequestTrace trace = Read(Filter::PassAll());
  EXPECT_EQ(trace.cells, kBlocks);
  EXPECT_GE(Blocks(trace), kBlocks);
  EXPECT_FALSE(trace.narrowed_rows);
  EXPECT_EQ(trace.excluded_groups, 0u);
  EXPECT_EQ(trace.excluded_files, 0u);
}

TEST_F(FilterTraceTest, AnExcludedFamilyIsNotRead) {
  for (const Filter& filter :
       {Filter::Family("b"), Filter::FamilyRegex("b|x"),
        Filter::Interleave(Filter::Column("b", ""), Filter::Column("b", "x"))}) {
    const RequestTrace trace = Read(filter);
    EXPECT_EQ(trace.cells, uint64_t{kRows});
    EXPECT_LE(Blocks(trace), uint64_t{kRows} + 4);
    EXPECT_EQ(trace.excluded_groups, 1u);
  }
}

TEST_F(FilterTraceTest, AnExcludedColumnRangeIsNotRead) {
  const Filter k = Filter::Column("a", "k"), n = Filter::ColumnRange("a", "n", "");
  const RequestTrace one = Read(n);
  EXPECT_EQ(one.cells, uint64_t{kRows});
  // The block of the row's key at which a seek arrives is read as well.
  EXPECT_LE(Blocks(one), uint64_t{2 * kRows});

  const RequestTrace two = Read(Filter::Interleave(k, n));
  EXPECT_EQ(two.cells, uint64_t{2 * kRows});
  EXPECT_LE(Blocks(two), uint64_t{3 * kRows});
}

TEST_F(FilterTraceTest, AnExcludedRowRangeIsNotRead) {
  const RequestTrace trace = Read(Filter::RowKeysRegex("row4[0-4]"));
  EXPECT_EQ(trace.rows, 5u);
  EXPECT_EQ(trace.cells, 25u);
  EXPECT_LE(Blocks(trace), 25u + 2);
  EXPECT_TRUE(trace.narrowed_rows);

  const RequestTrace none = Read(Filter::Chain(Filter::RowKeysRegex("x.*"), Filter::Latest(1)));
  EXPECT_EQ(none.rows, 0u);
  EXPECT_EQ(Blocks(none), 0u);
}

TEST_F(FilterTraceTest, AFileOutsideTheTimeRangeIsNotRead) {
  const Filter filter = Filter::TimestampRange(Timestamp(30), Timestamp(40));
  const RequestTrace before = Read(filter);
  EXPECT_EQ(before.rows, 10u);
  EXPECT_LE(Blocks(before), kBlocks / 4 + 4);
  EXPECT_EQ(before.excluded_files, 6u);

  ASSERT_OK(database_->Compact("t"));
  const RequestTrace after = Read(filter);
  EXPECT_EQ(after.cells, before.cells);
}

}  // namespace
}  // namespace bigtable
