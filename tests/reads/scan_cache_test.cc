// The scan cache serves reads of the same rows, and changes no result.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "base/checksum.h"
#include "support/database_fixture.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

class ScanCacheTest : public DatabaseFixture {
 protected:
  void OpenWithCache(const GcRule& rule = {}) {
    DatabaseOptions options = Options();
    options.scan_cache = true;
    Open(options);
    TableSchema schema;
    schema.families["f"] = {.gc = rule};
    schema.families["g"] = {};
    table_ = CreateTable("t", schema);
  }
  void SetCell(const std::string& row, const std::string& column, int64_t timestamp,
               const std::string& value) {
    ASSERT_OK(table_->Apply(RowMutation(row).Set(column, Timestamp(timestamp), value)));
  }
  std::string Read(const std::string& row, const Filter& filter = Filter(),
                   const ReadOptions& options = {}) {
    return Show(table_->ReadRow(row, filter, options));
  }
  // The effect of a read: "hit" or "miss".
  std::string Hit(const std::string& row, const Filter& filter = Filter(),
                  const ReadOptions& options = {}) {
    const uint64_t before = database_->Statistics().scan_cache_hits;
    Read(row, filter, options);
    return database_->Statistics().scan_cache_hits > before ? "hit" : "miss";
  }

  uint64_t Hits() { return database_->Statistics().scan_cache_hits; }

  // These tests test the cache itself, so it must be on.
  const ScopedShortcutsOn shortcuts_;
  Table* table_ = nullptr;
};

TEST_F(ScanCacheTest, ServesARowThatWasReadBefore) {
  OpenWithCache();
  SetCell("r", "f:a", 1, "one");
  SetCell("r", "f:a", 2, "two");
  SetCell("r", "g:", 3, "three");
  const std::string expected = "f:a@2=two f:a@1=one g:@3=three";
  EXPECT_EQ(Read("r"), expected);
  EXPECT_EQ(Hit("r"), "hit");
  EXPECT_EQ(Read("r"), expected);
  // Absent rows are cached too.
  EXPECT_EQ(Hit("none"), "miss");
  EXPECT_EQ(Hit("none"), "hit");
  EXPECT_EQ(Read("none"), "");
}

TEST_F(ScanCacheTest, AWriteToTheRowInvalidatesIt) {
  OpenWithCache();
  SetCell("r", "f:a", 1, "one");
  SetCell("s", "f:a", 1, "one");
  Read("r");
  Read("s");
  SetCell("r", "f:a", 2, "two");
  EXPECT_EQ(Hit("s"), "hit");
  EXPECT_EQ(Hit("r"), "miss");
  EXPECT_EQ(Hit("r"), "hit");
  EXPECT_EQ(Read("r"), "f:a@2=two f:a@1=one");
  ASSERT_OK(table_->Apply(RowMutation("r").DeleteRow()));
  EXPECT_EQ(Read("r"), "");
  EXPECT_EQ(Read("r"), "");
  // Writes without the log invalidate it too.
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:a", Timestamp(3), "three"),
                          {.durability = Durability::kNone}));
  EXPECT_EQ(Read("r"), "f:a@3=three");
}

TEST_F(ScanCacheTest, ASnapshotReadIsNotServedFromLaterRows) {
  OpenWithCache();
  SetCell("r", "f:a", 1, "one");
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<const Snapshot> before, database_->TakeSnapshot());
  SetCell("r", "f:a", 2, "two");
  EXPECT_EQ(Read("r"), "f:a@2=two f:a@1=one");
  EXPECT_EQ(Read("r", Filter(), {.snapshot = before}), "f:a@1=one");
  // Other reads do not see what the snapshot read left in the cache.
  EXPECT_EQ(Read("r"), "f:a@2=two f:a@1=one");
  EXPECT_EQ(Read("r", Filter(), {.snapshot = before}), "f:a@1=one");
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<const Snapshot> after, database_->TakeSnapshot());
  EXPECT_EQ(Read("r"), "f:a@2=two f:a@1=one");
  EXPECT_EQ(Hit("r", Filter(), {.snapshot = after}), "hit");
}

TEST_F(ScanCacheTest, FiltersApplyToCachedRowsAsToOthers) {
  OpenWithCache();
  for (int column = 0; column < 3; ++column) {
    for (int64_t timestamp = 1; timestamp <= 3; ++timestamp) {
      SetCell("r", absl::StrCat("f:q", column), timestamp, absl::StrCat(column, "/", timestamp));
      SetCell("r", absl::StrCat("g:q", column), timestamp, absl::StrCat(column, "/", timestamp));
    }
  }
  const std::vector<Filter> filters = {
      Filter::Latest(1),
      Filter::Latest(2),
      Filter::Family("g"),
      Filter::ColumnRegex("q[02]"),
      Filter::ColumnRange("f", "q1", "q2"),
      Filter::ColumnPrefix("g", "q2"),
      Filter::TimestampRange(Timestamp(2), Timestamp(3)),
      Filter::Chain({Filter::Family("f"), Filter::Latest(1)}),
  };
  std::vector<std::string> uncached;
  for (const Filter& filter : filters) uncached.push_back(Read("r", filter));
  EXPECT_EQ(database_->Statistics().scan_cache_hits, 0u);  // a part of a row is not cached
  Read("r");
  for (size_t i = 0; i < filters.size(); ++i) {
    EXPECT_EQ(Hit("r", filters[i]), "hit") << i;
    EXPECT_EQ(Read("r", filters[i]), uncached[i]) << i;
    EXPECT_NE(uncached[i], "") << i;
  }
}

TEST_F(ScanCacheTest, AChangedSchemaInvalidatesRows) {
  OpenWithCache();
  SetCell("r", "f:a", 1, "one");
  SetCell("r", "f:a", 2, "two");
  SetCell("r", "g:", 3, "three");
  Read("r");
  ASSERT_OK(database_->DropFamily("t", "g"));
  EXPECT_EQ(Read("r"), "f:a@2=two f:a@1=one");
  ASSERT_OK(database_->UpdateFamily("t", "f", {.gc = GcRule::MaxVersions(1)}));
  EXPECT_EQ(Read("r"), "f:a@2=two");
  EXPECT_EQ(Read("r"), "f:a@2=two");
}

TEST_F(ScanCacheTest, CellsThatExpireAreNotCached) {
  OpenWithCache(GcRule::MaxAge(absl::Seconds(1000)));
  SetCell("r", "g:", 1, "one");
  Read("r");
  EXPECT_EQ(Hit("r"), "miss");
}

TEST_F(ScanCacheTest, LargeRowsAndReadsWithoutFillAreNotCached) {
  OpenWithCache();
  SetCell("large", "f:a", 1, std::string(1 << 20, 'x'));
  SetCell("small", "f:a", 1, "x");
  Read("large");
  EXPECT_EQ(Hit("large"), "miss");
  EXPECT_EQ(Hit("small", Filter(), {.fill_cache = false}), "miss");
  EXPECT_EQ(Hit("small"), "miss");
  EXPECT_EQ(Hit("small"), "hit");
}

TEST_F(ScanCacheTest, RowsStayValidAfterEvictionAndAfterClose) {
  OpenWithCache();
  SetCell("r", "f:a", 1, "one");
  Read("r");
  ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow("r"));
  EXPECT_EQ(database_->Statistics().scan_cache_hits, 1u);
  SetCell("r", "f:a", 2, "two");
  Read("r");
  ASSERT_OK(database_->Close());
  ASSERT_EQ(row.cells().size(), 1u);
  EXPECT_EQ(row.cells()[0].family, "f");
  EXPECT_EQ(row.cells()[0].qualifier, "a");
  EXPECT_EQ(row.cells()[0].value, "one");
}

TEST_F(ScanCacheTest, IsOffByDefault) {
  Open(Options());
  table_ = CreateTable("t", {"f"});
  SetCell("r", "f:a", 1, "one");
  Read("r");
  Read("r");
  EXPECT_EQ(database_->Statistics().scan_cache_hits, 0u);
  EXPECT_EQ(database_->Statistics().scan_cache_misses, 0u);
}

// A table with two tablets, each on a server of its own. Each server records its last writes for
// groups of rows, by the row's hash. Sequence numbers ascend only within one server.
class ScanCacheOfServersTest : public ScanCacheTest {
 protected:
  void SetUp() override {
    faulty_ = std::make_unique<FaultyFileSystem>(file_system_.get());
    DatabaseOptions options = Options();
    options.scan_cache = true;
    options.tablet_servers = 2;
    options.file_system = faulty_.get();
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    ASSERT_OK(opened);
    database_ = *std::move(opened);
    table_ = CreateTable("t", {"f"});
    ASSERT_OK(database_->SplitTablet("t", "m"));
    ASSERT_OK(database_->MoveTablet("t", "a", 0));
    ASSERT_OK(database_->MoveTablet("t", "z", 1));
    // The hashes agree in the first twenty bits, so both rows are in one group, whatever the number
    // of groups.
    const uint64_t hash = Checksum("a0") >> 44;
    for (int i = 0; same_group_.empty(); ++i) {
      const std::string row = absl::StrCat("z", i);
      if (Checksum(row) >> 44 == hash) same_group_ = row;
    }
  }
  void TearDown() override {
    faulty_->ReleaseCalls();
    database_.reset();
  }

  std::unique_ptr<FaultyFileSystem> faulty_;
  std::string same_group_;  // a row on the other server
};

TEST_F(ScanCacheOfServersTest, AnEarlierWriteOfAnotherServerThatEndsLaterHidesNoWrite) {
  SetCell("a0", "f:q", 1, "old");
  faulty_->StallCalls({.kinds = {FileCall::kLogSync}});
  std::thread writer([&] {
    // Takes its sequence number now.
    EXPECT_OK(table_->Apply(RowMutation(same_group_).Set("f:q", Timestamp(1), "v"),
                            {.durability = Durability::kSync}));
  });
  ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  SetCell("a1", "f:q", 1, "v");
  EXPECT_EQ(Read("a0"), "f:q@1=old");  // and is cached
  SetCell("a0", "f:q", 1, "new");
  faulty_->ReleaseCalls();
  writer.join();
  EXPECT_EQ(Read("a0"), "f:q@1=new");
}

TEST_F(ScanCacheOfServersTest, WritesOfAnotherServerInvalidateNothing) {
  SetCell("a0", "f:q", 1, "v");
  SetCell(same_group_, "f:q", 1, "v");
  EXPECT_EQ(Hit("a0"), "miss");
  EXPECT_EQ(Hit("a0"), "hit");
  SetCell(same_group_, "f:q", 1, "w");
  EXPECT_EQ(Hit("a0"), "hit");
  EXPECT_EQ(Hit(same_group_), "miss");
  EXPECT_EQ(Hit(same_group_), "hit");
}

TEST_F(ScanCacheOfServersTest, RowsReadOnAnotherServerAreReadAgain) {
  SetCell("a0", "f:q", 1, "first");
  EXPECT_EQ(Read("a0"), "f:q@1=first");
  ASSERT_OK(database_->MoveTablet("t", "a0", 1));
  SetCell("a0", "f:q", 1, "second");
  EXPECT_EQ(Read("a0"), "f:q@1=second");
  ASSERT_OK(database_->MoveTablet("t", "a0", 0));
  EXPECT_EQ(Read("a0"), "f:q@1=second");
  SetCell("a0", "f:q", 1, "third");
  EXPECT_EQ(Read("a0"), "f:q@1=third");
}

TEST_F(ScanCacheOfServersTest, AReadAtASnapshotFromBeforeAMoveCachesNothing) {
  SetCell("a0", "f:q", 1, "old");
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<const Snapshot> snapshot, database_->TakeSnapshot());
  SetCell("a0", "f:q", 1, "new");
  ASSERT_OK(database_->MoveTablet("t", "a0", 1));
  // The new server has recorded none of these writes.
  EXPECT_EQ(Read("a0", Filter(), {.snapshot = snapshot}), "f:q@1=old");
  EXPECT_EQ(Read("a0"), "f:q@1=new");
  EXPECT_EQ(Read("a0", Filter(), {.snapshot = snapshot}), "f:q@1=old");
}

TEST_F(ScanCacheOfServersTest, AWriterSeesItsOwnWritesBesideConcurrentOnesOfAnotherServer) {
  std::atomic<bool> done = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i) {
    others.emplace_back([&, i] {
      const RowMutation mutation =
          RowMutation(same_group_).Set("f:q", Timestamp(i), std::string(100, 'v'));
      while (!done) EXPECT_OK(table_->Apply(mutation, {.durability = Durability::kSync}));
    });
  }
  int behind = 0;
  for (int64_t i = 1; i <= 3000; ++i) {
    SetCell("a0", "f:q", 1, absl::StrCat(i));
    for (int n = 0; n < 2; ++n) behind += Read("a0") != absl::StrCat("f:q@1=", i) ? 1 : 0;
    SetCell("a1", "f:q", 1, "v");
    behind += Read("a0") != absl::StrCat("f:q@1=", i) ? 1 : 0;
  }
  done = true;
  for (std::thread& thread : others) thread.join();
  EXPECT_EQ(behind, 0);
}

// A reader sees at least what was acknowledged before its read began.
TEST_F(ScanCacheTest, ConcurrentReadersSeeWhatWasAcknowledged) {
  OpenWithCache();
  constexpr int kRows = 4;
  constexpr int kWrites = 5000;
  std::vector<std::atomic<int64_t>> acknowledged(kRows);
  std::atomic<bool> done = false;
  std::atomic<int64_t> behind = 0;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&, reader] {
      Random random(reader);
      while (!done) {
        const size_t row = random.Below(kRows);
        const int64_t least = acknowledged[row];
        const absl::StatusOr<Row> read = table_->ReadRow(absl::StrCat(row), Filter::Latest(1));
        const int64_t seen = read.ok() && !read->empty() ? read->cells()[0].timestamp.micros() : 0;
        if (seen < least) ++behind;
        if (random.OneIn(2)) table_->ReadRow(absl::StrCat(row)).IgnoreError();
      }
    });
  }
  // In bursts, so that readers find cached rows and changed rows, and for as long as necessary on a
  // busy machine.
  for (int64_t i = 1; i <= kWrites || (i < 100 * kWrites && Hits() == 0); ++i) {
    const size_t row = static_cast<size_t>(i) % kRows;
    SetCell(absl::StrCat(row), "f:a", i, "v");
    acknowledged[row] = i;
    if (i % 16 == 0) absl::SleepFor(absl::Microseconds(50));
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(behind, 0);
  EXPECT_GT(Hits(), 0u);
}

}  // namespace
}  // namespace bigtable
