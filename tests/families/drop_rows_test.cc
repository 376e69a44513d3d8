// Table::DropRowRange: which rows are gone and which stay, from memtables, files and caches, that
// nothing is rewritten for it, and what happens with writers, faults and power losses beside it.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/faulty_network.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

// Two families in two locality groups; in place, or through messages.
class DropRowsTest : public DatabaseFixture, public testing::WithParamInterface<bool> {
 protected:
  void OpenTwoServers(DatabaseOptions options) {
    options.tablet_servers = 2;
    Open(options);
    peer_.emplace(database_.get());
    if (!GetParam()) return;
    network_ = std::make_unique<FaultyNetwork>(1, FaultyNetwork::Faults{});
    peer_->UseServices([this](ServerHost* host) { return network_->To(host); });
  }
  void OpenTwoServers() { OpenTwoServers(Options()); }
  void TearDown() override { database_.reset(); }

  void Create(const std::vector<std::string>& split_rows = {}) {
    TableSchema schema;
    schema.locality_groups["other"] = {};
    schema.families["f"] = {};
    schema.families["g"] = {.locality_group = "other"};
    schema.split.tablet_size = schema.split.merge_size = 0;
    ASSERT_OK(database_->CreateTable("t", schema, {.split_rows = split_rows}));
    table_ = OpenTable("t");
  }
  void Write(std::string_view rows, std::string_view value) {
    for (const char row : rows) {
      ASSERT_OK(table_->Apply(RowMutation(std::string(1, row))
                                  .Set("f:q", Timestamp(1), value)
                                  .Set("g:q", Timestamp(1), value)));
    }
  }
  std::string Keys(const ReadOptions& options = {}) {
    return ShowKeys(table_->ReadRows(RowRange::All(), options));
  }
  size_t Tablets() { return database_->ListTablets("t").value().size(); }
  std::vector<std::string> Files() {
    const auto names = file_system_->ListDirectory(Cat(kPath, "/sst"));
    EXPECT_OK(names);
    return *names;
  }
  // How many of these files are still there.
  size_t Left(const std::vector<std::string>& files) {
    const std::vector<std::string> now = Files();
    return static_cast<size_t>(std::count_if(files.begin(), files.end(), [&](const auto& file) {
      return std::find(now.begin(), now.end(), file) != now.end();
    }));
  }

  std::optional<DatabasePeer> peer_;
  std::unique_ptr<FaultyNetwork> network_;
  Table* table_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(InPlaceAndByMessages, DropRowsTest, testing::Bool(),
                         [](const auto& instance) {
                           return instance.param ? "Messages" : "InPlace";
                         });

TEST_P(DropRowsTest, TheRowsOfTheRangeAreGoneFromMemtablesAndFiles) {
  OpenTwoServers();
  Create({"d"});
  Write("abcdef", "flushed");
  ASSERT_OK(database_->Flush("t"));
  Write("bdf", "in memory");
  ASSERT_OK(table_->DropRowRange(RowRange::RightOpen("b", "e")));
  EXPECT_EQ(Keys(), "a e f");
  EXPECT_EQ(Show(table_->ReadRow("b")), "");
  EXPECT_EQ(Show(table_->ReadRow("f")), "f:q@1=in memory g:q@1=in memory");
  Write("c", "new");
  EXPECT_EQ(Keys(), "a c e f");
  EXPECT_EQ(Show(table_->ReadRow("c")), "f:q@1=new g:q@1=new");
  for (const bool kill : {false, true}) {
    if (kill) {
      Kill();
    } else {
      ASSERT_OK(database_->Close());
    }
    OpenTwoServers();
    table_ = OpenTable("t");
    EXPECT_EQ(Keys(), "a c e f") << kill;
    EXPECT_EQ(Show(table_->ReadRow("c")), "f:q@1=new g:q@1=new");
  }
}

TEST_P(DropRowsTest, ANewWriteIsKeptAndTheDropStaysAfterAPowerLoss) {
  OpenTwoServers();
  Create();
  Write("abc", "old");
  ASSERT_OK(table_->DropRowRange(RowRange::All()));
  ASSERT_OK(table_->Apply(RowMutation("b").Set("f:q", Timestamp(1), "new"),
                          {.durability = Durability::kSync}));
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto after = file_system_->CrashClone(seed);
    DatabaseOptions options = Options();
    options.file_system = after.get();
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> opened, Database::Open(kPath, options));
    ASSERT_OK_AND_ASSIGN(Table * table, opened->OpenTable("t"));
    EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), "b");
    EXPECT_EQ(Show(table->ReadRow("b")), "f:q@1=new");
  }
}

TEST_P(DropRowsTest, AllRowsAreDroppedWithoutSplitsAndWithoutRewriting) {
  OpenTwoServers();
  Create({"c", "e"});
  Write("abcdef", "flushed");
  const std::vector<std::string> others = Files();
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  // A file for each tablet and group, or for each server and group.
  ASSERT_EQ(Files().size(), others.size() + (Shortcuts().Has(Shortcut::kSharedFiles) ? 4 : 6));
  Write("abcdef", "in memory");
  const auto written = [&] {
    uint64_t bytes = 0;
    const DatabaseStatistics statistics = database_->Statistics();
    for (const auto& [label, server] : statistics.servers) {
      if (!label.starts_with("user")) continue;
      bytes += server.minor.bytes_written + server.merging.bytes_written;
    }
    return bytes;
  };
  const uint64_t before = written();
  ASSERT_GT(before, 0u);
  ASSERT_OK(table_->DropRowRange(RowRange::All()));
  EXPECT_EQ(written(), before);
  EXPECT_EQ(Tablets(), 3u);
  EXPECT_EQ(Files(), others);
  EXPECT_EQ(Keys(), "");
  EXPECT_EQ(table_->ApproximateSizes({RowRange::All()}).value(), std::vector<uint64_t>{0});
  Write("d", "new");
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Keys(), "d");
}

TEST_P(DropRowsTest, TabletsThatWereSplitForManyRangesAreMergedAgain) {
  OpenTwoServers();
  Create({"m"});
  const auto write = [&](std::string_view value) {
    for (int i = 100; i < 180; ++i) {
      const std::string row = Cat(i < 140 ? "a" : "z", i);
      ASSERT_OK(table_->Apply(RowMutation(row).Set("f:q", Timestamp(1), value)));
    }
  };
  write("flushed");
  ASSERT_OK(database_->Flush("t"));
  write("in memory");
  std::string left;
  for (int i = 100; i < 180; ++i) {
    const std::string row = Cat(i < 140 ? "a" : "z", i);
    if (i % 4 != 0) {
      left += (left.empty() ? "" : " ") + row;
    } else {
      ASSERT_OK(table_->DropRowRange(RowRange::Single(row)));
    }
  }
  EXPECT_EQ(Tablets(), 42u);
  EXPECT_STATUS(kAlreadyExists, "a120", database_->SplitTablet("t", "a120"));
  ASSERT_OK(database_->WaitUntilQuiet());
  // What the table was created with stays, and what was required since.
  std::string begins;
  const std::vector<TabletInfo> tablets = database_->ListTablets("t").value();
  for (const TabletInfo& tablet : tablets) begins += tablet.rows.begin() + " ";
  EXPECT_EQ(begins, " a120 m ");
  EXPECT_EQ(Keys(), left);
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Keys(), left);
}

TEST_P(DropRowsTest, SnapshotsDoNotSeeTheRowsEither) {
  OpenTwoServers();
  Create({"c"});
  Write("abcd", "v");
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<const Snapshot> snapshot, database_->TakeSnapshot());
  ASSERT_OK(table_->DropRowRange(RowRange::Closed("b", "c")));
  Write("b", "new");
  EXPECT_EQ(Keys({.snapshot = snapshot}), "a d");
  EXPECT_EQ(Keys(), "a b d");
}

TEST_P(DropRowsTest, AStreamThatHasBegunEndsWithoutAnError) {
  OpenTwoServers();
  Create({"c"});
  Write("abcd", "v");
  RowReader reader = table_->ReadRows(RowRange::All());
  ASSERT_TRUE(reader.Next());
  ASSERT_OK(table_->DropRowRange(RowRange::All()));
  while (reader.Next()) {
  }
  EXPECT_OK(reader.status());
}

TEST_P(DropRowsTest, AnAtomicOperationReadsADroppedRowAgain) {
  OpenTwoServers();
  Create();
  Write("ab", "old");
  // The first operation of a server is always tried again, because its notes begin with it.
  ASSERT_OK(table_->ReadModifyWriteRow(ReadModifyWrite("a").Append("f:q", "er")));
  std::vector<std::string> seen;
  EXPECT_OK(table_->MutateRowAtomically(
      "b", Filter(), [&](const Row& row) -> absl::StatusOr<RowMutation> {
        seen.push_back(Show(row));
        if (seen.size() == 1) {
          EXPECT_OK(table_->DropRowRange(RowRange::All()));
        }
        return RowMutation("b").Set("f:q", Timestamp(2), Cat("after ", row.cells().size()));
      }));
  EXPECT_EQ(seen, (std::vector<std::string>{"f:q@1=old g:q@1=old", ""}));
  EXPECT_EQ(Show(table_->ReadRow("b")), "f:q@2=after 0");
}

TEST_P(DropRowsTest, CachedRowsAreGone) {
  const ScopedShortcutsOn shortcuts;
  DatabaseOptions options = Options();
  options.scan_cache = true;
  OpenTwoServers(options);
  Create();
  Write("ab", "v");
  for (int i = 0; i < 3; ++i) EXPECT_NE(Show(table_->ReadRow("b")), "");
  ASSERT_OK(table_->DropRowRange(RowRange::Single("b")));
  EXPECT_EQ(Show(table_->ReadRow("b")), "");
  EXPECT_NE(Show(table_->ReadRow("a")), "");
}

TEST_P(DropRowsTest, RefusedCallsChangeNothing) {
  OpenTwoServers();
  Create({"c"});
  Write("abcd", "v");
  EXPECT_STATUS(kDeadlineExceeded, "",
                table_->DropRowRange(RowRange::All(), {.deadline = absl::InfinitePast()}));
  EXPECT_OK(table_->DropRowRange(RowRange::RightOpen("b", "b")));
  EXPECT_EQ(Keys(), "a b c d");
  EXPECT_EQ(Tablets(), 2u);
  ASSERT_OK(database_->DeleteTable("t"));
  EXPECT_STATUS(kNotFound, "deleted", table_->DropRowRange(RowRange::All()));
}

TEST_P(DropRowsTest, BoundsMayBeLongerThanRows) {
  OpenTwoServers();
  Create();
  const std::string longest(RowMutation::kMaxRowSize, 'x');
  const std::string last(RowMutation::kMaxRowSize, '\xff');
  const auto write = [&] {
    Write("axy", "v");
    Set(table_, longest, "f:q", 1, "v");
    Set(table_, last, "f:q", 1, "v");
  };
  const auto sizes = [&] {
    std::string text;
    RowReader reader = table_->ReadRows(RowRange::All());
    while (reader.Next()) absl::StrAppend(&text, reader.row().key().size(), " ");
    EXPECT_OK(reader.status());
    return text;
  };
  write();
  ASSERT_OK(table_->DropRowRange(RowRange::Single(longest)));
  EXPECT_EQ(sizes(), "1 1 1 65536 ");  // a x y, and the last one
  write();
  ASSERT_OK(table_->DropRowRange(RowRange::StartingAt(longest + "x")));
  EXPECT_EQ(sizes(), "1 1 65536 ");  // a x, and the longest of x
  write();
  ASSERT_OK(table_->DropRowRange(RowRange::StartingAt(last + "x")));
  EXPECT_EQ(sizes(), "1 1 65536 1 65536 ");
  ASSERT_OK(table_->DropRowRange(RowRange::Closed("b", last)));
  EXPECT_EQ(sizes(), "1 ");
}

TEST_P(DropRowsTest, ADatabaseThatIsReadOnlyOrClosedRefuses) {
  OpenTwoServers();
  Create();
  Write("a", "v");
  ASSERT_OK(database_->Close());
  EXPECT_STATUS(kFailedPrecondition, "closed", table_->DropRowRange(RowRange::All()));
  DatabaseOptions options = Options();
  options.read_only = true;
  OpenTwoServers(options);
  table_ = OpenTable("t");
  EXPECT_STATUS(kFailedPrecondition, "read-only", table_->DropRowRange(RowRange::All()));
  EXPECT_EQ(Keys(), "a");
}

TEST_P(DropRowsTest, ACallerNeedsPermissionForAllFamilies) {
  OpenTwoServers();
  ASSERT_OK(database_->SetAccessList("writers", {.readers = {"ann"}, .writers = {"ann"}}));
  TableSchema schema;
  schema.families["f"] = {};
  schema.families["g"] = {.access_list = "writers"};
  table_ = CreateTable("t", schema);
  Write("abc", "v");
  ASSERT_OK_AND_ASSIGN(Table * bob, database_->OpenTable("t", {.caller = "bob"}));
  EXPECT_STATUS(kPermissionDenied, "\"bob\"", bob->DropRowRange(RowRange::StartingAt("b")));
  EXPECT_EQ(Keys(), "a b c");
  EXPECT_EQ(Tablets(), 1u);
  ASSERT_OK_AND_ASSIGN(Table * ann, database_->OpenTable("t", {.caller = "ann"}));
  EXPECT_OK(ann->DropRowRange(RowRange::StartingAt("b")));
  EXPECT_EQ(Keys(), "a");
}

// A file that two tablets name stays until both have dropped it.
TEST_P(DropRowsTest, ASharedFileStaysForItsOtherTablet) {
  OpenTwoServers();
  Create();
  const std::vector<std::string> others = Files();
  Write("abcdef", "v");
  ASSERT_OK(database_->Flush("t"));
  std::vector<std::string> files = Files();
  std::erase_if(files, [&](const auto& file) {
    return std::find(others.begin(), others.end(), file) != others.end();
  });
  ASSERT_EQ(files.size(), 2u);
  ASSERT_OK(table_->DropRowRange(RowRange::RightOpen("c", "e")));
  EXPECT_EQ(Left(files), 2u);
  ASSERT_OK(database_->Close());
  OpenTwoServers();
  table_ = OpenTable("t");
  EXPECT_EQ(Keys(), "a b e f");
  ASSERT_OK(table_->DropRowRange(RowRange::EndingAt("b")));
  EXPECT_EQ(Keys(), "e f");
  EXPECT_EQ(Left(files), 2u);
  ASSERT_OK(table_->DropRowRange(RowRange::All()));
  EXPECT_EQ(Keys(), "");
  EXPECT_EQ(Left(files), 0u);
}

// Each row has one writer, which counts up. When a drop has returned, what was written before it
// began is gone; what was written after it had returned is there.
TEST_P(DropRowsTest, WritersInParallelThreadsLoseOnlyWhatIsDropped) {
  OpenTwoServers();
  Create({"4"});
  std::atomic<bool> stop{false};
  std::vector<std::atomic<int>> acknowledged(8);
  std::vector<int> certain(8);  // a write with this number would begin after the row's last drop
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 1; !stop; ++i) {
        for (int row = w; row < 8; row += 2) {
          EXPECT_OK(table_->Apply(
              RowMutation(Cat(row)).Set("f:q", Timestamp(i), Cat(i)).Set("g:q", Timestamp(i), "")));
          acknowledged[static_cast<size_t>(row)] = i;
        }
      }
    });
  }
  for (int round = 0; round < (kSlow ? 10 : 40); ++round) {
    if (round % 3 == 0) {
      EXPECT_OK(database_->Flush("t"));
    }
    std::vector<int> before(8), after(8);
    for (size_t row = 0; row < 8; ++row) before[row] = acknowledged[row];
    const int begin = round % 5, end = begin + 1 + round % 3;
    EXPECT_OK(table_->DropRowRange(RowRange::RightOpen(Cat(begin), Cat(end))));
    for (size_t row = 0; row < 8; ++row) after[row] = acknowledged[row];
    for (int row = 0; row < 8; ++row) {
      const bool is_dropped = row >= begin && row < end;
      const absl::StatusOr<Row> found = table_->ReadRow(Cat(row));
      ASSERT_OK(found);
      ASSERT_EQ(found->cells().size() % 2, 0u) << Show(found);
      // From new to old, without gaps: a drop takes a prefix of the history.
      const int versions = static_cast<int>(found->cells().size() / 2);
      const int newest = versions == 0 ? 0 : static_cast<int>(found->cells()[0].timestamp.micros());
      const int oldest = newest - versions + 1;
      const auto at = static_cast<size_t>(row);
      EXPECT_TRUE(versions == 0 || newest >= after[at]) << row;
      if (is_dropped) {
        certain[at] = after[at] + 2;  // the one between may have been under way
        EXPECT_TRUE(versions == 0 || oldest > before[at]) << row << " round " << round;
      } else if (after[at] > 0 && after[at] >= certain[at]) {
        EXPECT_TRUE(versions > 0) << row << " round " << round;
      }
    }
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_OK(table_->DropRowRange(RowRange::All()));
  EXPECT_EQ(Keys(), "");
}

// Half of a tablet that was split has the identity of the whole one, and so has a merged tablet.
TEST_P(DropRowsTest, ThreadsThatSplitAndMergeTabletsHideNoRow) {
  OpenTwoServers();
  Create();
  std::atomic<bool> stop{false};
  std::thread changes([&] {
    Random random(1);
    while (!stop) {
      const std::string row(1, "bcdef"[random.Below(5)]);
      const absl::Status status =
          random.OneIn(2) ? database_->SplitTablet("t", row) : database_->MergeTablets("t", row);
      EXPECT_TRUE(status.ok() || absl::IsAlreadyExists(status) || absl::IsNotFound(status))
          << status;
    }
  });
  for (int round = 0; round < (kSlow ? 100 : 400); ++round) {
    ASSERT_NO_FATAL_FAILURE(Write("abcdefg", "v"));
    const bool all = round % 2 == 0;
    ASSERT_OK(table_->DropRowRange(all ? RowRange::All() : RowRange::RightOpen("b", "f")));
    ASSERT_EQ(Keys(), all ? "" : "a f g") << round;
  }
  stop = true;
  changes.join();
}

// --- Faults ---

// The power is lost before each call of the file system that the drop makes.
TEST(DropRowsPowerLossTest, EachTabletIsWholeOrEmpty) {
  int whole = 0, empty = 0, mixed = 0;
  for (uint64_t call = 1; call <= 45; ++call) {
    InMemoryFileSystem memory;
    FaultyFileSystem faulty(&memory);
    DatabaseOptions options = TestOptions();
    options.memory_budget = MemoryBudget::kMinimum;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = 2;
    options.file_system = &faulty;
    ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> database, Database::Open("/db", options));
    TableSchema schema;
    schema.locality_groups["other"] = {};
    schema.families["f"] = {};
    schema.families["g"] = {.locality_group = "other"};
    ASSERT_OK(database->CreateTable("t", schema, {.split_rows = {"c", "e"}}));
    ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("t"));
    const auto write = [&](std::string_view value) {
      for (const char* row : {"a", "b", "c", "d", "e", "f"}) {
        ASSERT_OK(table->Apply(
            RowMutation(row).Set("f:q", Timestamp(1), value).Set("g:q", Timestamp(1), value),
            {.durability = Durability::kSync}));
      }
    };
    ASSERT_NO_FATAL_FAILURE(write("flushed"));
    ASSERT_OK(database->Flush("t"));
    ASSERT_NO_FATAL_FAILURE(write("logged"));
    ASSERT_OK(database->WaitUntilQuiet());
    faulty.CountCalls();
    faulty.FailCall(
        call, absl::UnavailableError("power"), FaultyFileSystem::Repeat::kFromThenOn,
        call % 2 == 0 ? FaultyFileSystem::Done::kHalf : FaultyFileSystem::Done::kNothing);
    const bool done = table->DropRowRange(RowRange::RightOpen("b", "f")).ok();
    for (uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(Cat("call ", call, ", seed ", seed));
      const auto found =
          memory.CrashClone(seed, seed == 0 ? Unsynced::kEverything : Unsynced::kRandomPart);
      options.file_system = found.get();
      ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> after, Database::Open("/db", options));
      ASSERT_OK_AND_ASSIGN(Table * reopened, after->OpenTable("t"));
      std::string keys;
      for (const Row& row : reopened->ReadRows(RowRange::All())) {
        EXPECT_EQ(Show(row), "f:q@1=logged g:q@1=logged");
        absl::StrAppend(&keys, ToAbsl(row.key()));
      }
      // The tablets follow one another.
      EXPECT_TRUE(keys == "abcdef" || keys == "acdef" || keys == "aef" || keys == "af") << keys;
      EXPECT_TRUE(!done || keys == "af") << keys;
      ++(keys == "abcdef" ? whole : keys == "af" ? empty : mixed);
      ASSERT_OK(reopened->DropRowRange(RowRange::RightOpen("b", "f")));
      EXPECT_EQ(ShowKeys(reopened->ReadRows(RowRange::All())), "a f");
      ASSERT_OK(after->Close());
    }
    database.reset();
  }
  EXPECT_GT(whole, 10);
  EXPECT_GT(empty, 10);
  EXPECT_GT(mixed, 10);
}

// A single call fails, and the database goes on.
TEST(DropRowsFaultTest, AfterAFailureTheCallIsRepeated) {
  int failures = 0;
  for (uint64_t call = 1; call <= 30; ++call) {
    SCOPED_TRACE(Cat("call ", call));
    InMemoryFileSystem memory;
    FaultyFileSystem faulty(&memory);
    DatabaseOptions options = TestOptions();
    options.memory_budget = MemoryBudget::kMinimum;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = 1;
    options.file_system = &faulty;
    ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> database, Database::Open("/db", options));
    TableSchema schema;
    schema.families["f"] = {};
    ASSERT_OK(database->CreateTable("t", schema, {.split_rows = {"c"}}));
    ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("t"));
    for (const char* row : {"a", "b", "c", "d"}) {
      ASSERT_OK(table->Apply(RowMutation(row).Set("f:q", "v")));
    }
    faulty.CountCalls();
    faulty.FailCall(call, absl::UnavailableError("fault"), FaultyFileSystem::Repeat::kOnce);
    const absl::Status dropped = table->DropRowRange(RowRange::StartingAt("b"));
    failures += dropped.ok() ? 0 : 1;
    faulty.ClearFaults();
    const std::string keys = ShowKeys(table->ReadRows(RowRange::All()));
    EXPECT_TRUE(keys == "a" || (!dropped.ok() && (keys == "a b c d" || keys == "a c d"))) << keys;
    // A flush that was under way may report the fault after a first Resume.
    const auto insist = [&](const std::function<absl::Status()>& change) {
      absl::Status status;
      for (int i = 0; i < 1000; ++i) {
        ASSERT_OK(database->Resume());
        status = change();
        if (status.ok()) return;
        absl::SleepFor(absl::Milliseconds(1));
      }
      FAIL() << status;
    };
    const auto write = [&](const char* row) {
      return insist([&, row] { return table->Apply(RowMutation(row).Set("f:q", "new")); });
    };
    ASSERT_NO_FATAL_FAILURE(write("c"));
    ASSERT_NO_FATAL_FAILURE(insist([&] { return table->DropRowRange(RowRange::StartingAt("b")); }));
    EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), "a");
    ASSERT_NO_FATAL_FAILURE(write("e"));
    database->Close().IgnoreError();  // that report may also come now; the log has the write
    database.reset();
    ASSERT_OK_AND_ASSIGN(database, Database::Open("/db", options));
    ASSERT_OK_AND_ASSIGN(table, database->OpenTable("t"));
    EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), "a e");
  }
  EXPECT_GT(failures, 0);
}

}  // namespace
}  // namespace bigtable
