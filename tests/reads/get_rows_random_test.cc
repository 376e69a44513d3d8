// Random writes and changes of tablets over a tiny alphabet of rows. Then GetRows, GetRowsAsync,
// streams over the same rows, and reads of single rows return the same.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "support/cold_file_system.h"
#include "support/database_fixture.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"
#include "support/seeds.h"
#include "support/test_clock.h"
#include "support/wait_for_rows.h"

namespace bigtable {
namespace {

class GetRowsProgram {
 public:
  explicit GetRowsProgram(uint64_t seed) : random_(seed), shortcuts_(RandomShortcuts(random_)) {}

  void Run() {
    mode_ = random_.OneIn(2) ? FileSystem::ReadMode::kMapped : FileSystem::ReadMode::kPositional;
    ASSERT_NO_FATAL_FAILURE(Open());
    TableSchema schema;
    schema.locality_groups["one"] = RandomGroup();
    schema.locality_groups["two"] = RandomGroup();
    schema.families["f"] = {.locality_group = "one"};
    schema.families["g"] = {.locality_group = "two", .gc = GcRule::MaxVersions(2)};
    schema.split.tablet_size = schema.split.merge_size = 0;
    ASSERT_OK(database_->CreateTable("t", schema));
    table_ = database_->OpenTable("t").value();
    for (int step = 0; step < 60 && !testing::Test::HasFailure(); ++step) {
      Step();
      Compare();
    }
  }

 private:
  static uint64_t RandomShortcuts(Random& random) {
    uint64_t off = random.OneIn(3) ? ScopedShortcuts::Bit(Shortcut::kRequests) : 0;
    if (random.OneIn(3)) off |= random.Next() & random.Next() & ScopedShortcuts::kAll;
    return off;
  }
  LocalityGroup RandomGroup() {
    static constexpr FilterKind kFilters[] = {FilterKind::kNone, FilterKind::kRow,
                                              FilterKind::kRowAndColumn, FilterKind::kRowIndex};
    LocalityGroup group;
    group.compression = random_.OneIn(4) ? Compression::kZstd : Compression::kNone;
    group.block_size = 1 << 10;
    group.filter = kFilters[random_.Below(4)];
    group.in_memory = random_.OneIn(6);
    group.compaction = CompactionStyle::kNone;
    return group;
  }
  void Open() {
    DatabaseOptions options;
    options.memory_budget = 16 << 20;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = 2;
    options.balance_interval = absl::InfiniteDuration();
    options.read_mode = mode_;
    options.scan_cache = random_.OneIn(3);
    options.file_system = &files_;
    options.clock = &clock_;
    auto opened = Database::Open("/db", options);
    ASSERT_OK(opened);
    database_ = *std::move(opened);
  }
  std::string RandomRow() {
    std::string row;
    for (int64_t n = random_.Between(1, 3); n > 0; --n) {
      row += static_cast<char>('a' + random_.Below(4));
    }
    return row;
  }
  Filter RandomFilter() {
    switch (random_.Below(12)) {
      case 0:
        return Filter::Latest(1);
      case 1:
        return Filter::Column("f", "1");
      case 2:
        return Filter::Family("g");
      case 3:
        return Filter::ValueRegex("[1-5]+.*");
      case 4:
        return Filter::Interleave(Filter::Column("g", "2"), Filter::Family("f"));
      case 5:
        return Filter::TimestampRange(Timestamp(3), Timestamp(6));
      case 6:
        return Filter::CellsRowLimit(2);
      case 7:
        return Filter::RowKeysRegex("a.*|d");
      default:
        return Filter();
    }
  }

  void Write() {
    for (int64_t n = random_.Between(1, 30); n > 0; --n) {
      RowMutation mutation(RandomRow());
      if (random_.OneIn(10)) mutation.DeleteRow();
      if (random_.OneIn(10)) mutation.Delete("f:1");
      const int64_t cells = random_.OneIn(8) ? 20 : 2;  // the row has several blocks, or one
      for (int64_t i = 0; i < cells; ++i) {
        mutation.Set(Cat(random_.OneIn(2) ? "f:" : "g:", random_.Below(4)),
                     Timestamp(random_.Between(1, 9)),
                     Cat(random_.Below(10'000), std::string(random_.OneIn(4) ? 400 : 1, '.')));
      }
      ASSERT_OK(table_->Apply(mutation));
    }
  }
  // Splits at a row, merges the tablet of a row with the next one, or moves it.
  void ChangeTablets() {
    const std::string row = RandomRow();
    // A tablet may begin at the row already, or be the last one.
    switch (random_.Below(3)) {
      case 0:
        database_->SplitTablet("t", row).IgnoreError();
        break;
      case 1:
        database_->MergeTablets("t", row).IgnoreError();
        break;
      default:
        ASSERT_OK(database_->MoveTablet("t", row, static_cast<int>(random_.Below(2))));
    }
  }
  void Step() {
    files_.SetCold(random_.OneIn(2));
    switch (random_.Below(12)) {
      case 0:
      case 1:
      case 2:
        ASSERT_OK(database_->Flush("t"));
        break;
      case 3:
        ASSERT_NO_FATAL_FAILURE(ChangeTablets());
        break;
      case 4:
        if (random_.OneIn(3)) {
          ASSERT_OK(database_->Compact("t"));
        }
        break;
      case 5:
        snapshot_ = random_.OneIn(3) ? nullptr : database_->TakeSnapshot().value();
        break;
      case 6:
        if (!random_.OneIn(3)) break;
        snapshot_ = nullptr;
        ASSERT_OK(database_->Close());
        database_.reset();
        ASSERT_NO_FATAL_FAILURE(Open());
        table_ = database_->OpenTable("t").value();
        break;
      default:
        ASSERT_NO_FATAL_FAILURE(Write());
    }
  }

  std::vector<absl::StatusOr<Row>> Read(const std::vector<std::string>& rows, const Filter& filter,
                                        const ReadOptions& options) {
    if (random_.OneIn(2)) {
      return table_->GetRows(std::vector<std::string_view>(rows.begin(), rows.end()), filter,
                             options);
    }
    return WaitForRows(table_, rows, filter, options);
  }

  void Compare() {
    std::vector<std::string> rows;
    for (int64_t n = random_.OneIn(8) ? 100 : random_.Between(0, 12); n > 0; --n) {
      rows.push_back(RandomRow());
    }
    const bool has_bad = random_.OneIn(10);
    if (has_bad)
      rows.insert(rows.begin() + static_cast<int64_t>(random_.Below(rows.size() + 1)), "");
    const Filter filter = RandomFilter();
    ReadOptions options;
    options.snapshot = random_.OneIn(3) ? snapshot_ : nullptr;
    options.fill_cache = random_.OneIn(2);
    options.verify_checksums = random_.OneIn(4);
    SCOPED_TRACE(absl::StrJoin(rows, " "));

    const std::vector<absl::StatusOr<Row>> found = Read(rows, filter, options);

    ASSERT_EQ(found.size(), rows.size());
    std::map<std::string, std::string> present;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].empty()) {
        EXPECT_STATUS(kInvalidArgument, "", found[i]);
        continue;
      }
      ASSERT_OK(found[i]);
      ASSERT_EQ(found[i]->key(), rows[i]);
      ASSERT_EQ(Show(found[i]), Show(table_->ReadRow(rows[i], filter, options))) << i;
      if (!found[i]->empty()) present[rows[i]] = Show(found[i]);
    }
    options.row_limit = random_.OneIn(2) ? 0 : random_.Between(1, 5);
    CompareStream(rows, filter, options, present);
  }
  void CompareStream(const std::vector<std::string>& rows, const Filter& filter,
                     const ReadOptions& options,
                     const std::map<std::string, std::string>& present) {
    RowSet set;
    for (const std::string& row : rows) {
      if (!row.empty()) set.Append(row);
    }
    RowReader reader = table_->ReadRows(set, filter, options);
    auto expected = present.begin();
    int64_t count = 0;
    while (reader.Next()) {
      ASSERT_NE(expected, present.end());
      ASSERT_EQ(reader.row().key(), expected->first);
      ASSERT_EQ(Show(reader.row()), expected->second) << expected->first;
      ++expected;
      ++count;
    }
    ASSERT_OK(reader.status());
    if (options.row_limit == 0 || count < options.row_limit) {
      ASSERT_EQ(expected, present.end());
    }
    if (options.row_limit > 0) {
      ASSERT_LE(count, options.row_limit);
    }
  }

  Random random_;
  const ScopedShortcuts shortcuts_;
  FileSystem::ReadMode mode_ = FileSystem::ReadMode::kMapped;
  TestClock clock_{1000};
  InMemoryFileSystem memory_;
  ColdFileSystem files_{&memory_, /*is_cold=*/false};
  std::unique_ptr<Database> database_;
  std::shared_ptr<const Snapshot> snapshot_;
  Table* table_ = nullptr;
};

TEST(GetRowsRandomTest, GetRowsStreamsAndReadsOfSingleRowsReturnTheSame) {
  ForEachSeed(kSlow ? 2 : 6, [](uint64_t seed) { GetRowsProgram(seed).Run(); });
}

}  // namespace
}  // namespace bigtable
