// Small flushes and merges of several tablets write common files (background/shared_output.h).
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "background/background_work.h"
#include "cluster/server_host.h"
#include "cluster/server_role.h"
#include "compaction/policies.h"
#include "support/database_peer.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"
#include "support/seeds.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

class SharedFilesTest : public TabletsFixture {
 protected:
  static constexpr int kTablets = 8;
  static constexpr int kEach = 10;
  static constexpr int kRows = kTablets * kEach;

  // A table of kTablets tablets with kEach rows each.
  Table* OpenTablets(const DatabaseOptions& options) {
    database_.reset();
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    EXPECT_OK(opened);
    if (!opened.ok()) return nullptr;
    database_ = *std::move(opened);
    return CreateSplitTable("t", kTablets, kEach);
  }
  Table* OpenTablets() { return OpenTablets(Options()); }

  // The SSTables of users that tablets name, and the shares of these in each, by number.
  struct Named {
    uint64_t size = 0;
    std::vector<uint64_t> shares;
  };
  std::map<uint64_t, Named> NamedFiles() {
    return NamedBy(DatabasePeer(database_.get()).HostsOf(ServerRole::kUser));
  }
  static std::map<uint64_t, Named> NamedBy(const std::vector<std::shared_ptr<ServerHost>>& hosts) {
    std::map<uint64_t, Named> files;
    for (const std::shared_ptr<ServerHost>& host : hosts) {
      for (const std::shared_ptr<Tablet>& tablet : host->server()->tablets().All()) {
        const TabletState state = tablet->State();
        for (const auto& [id, group] : state.groups) {
          for (const TabletFile& file : group.files) {
            Named& named = files[file.info.file_number];
            named.size = file.info.size;
            named.shares.push_back(file.share);
          }
        }
      }
    }
    return files;
  }
  static std::string NameOf(uint64_t number) { return absl::StrFormat("/%08d.sst", number); }
  // The names of all SSTables on the disk, METADATA's included.
  std::set<std::string> Files() {
    std::set<std::string> files;
    for (const std::string& path : file_system_->AllFiles()) {
      if (path.ends_with(".sst") && path.find("/copies/") == std::string::npos) {
        files.insert(path.substr(path.rfind('/')));
      }
    }
    return files;
  }
  // Once all is quiet, no tablet names a file that is not there, and none is there that no tablet
  // names.
  void ExpectFilesAreNamed() {
    ASSERT_OK(database_->WaitUntilQuiet());
    std::set<std::string> named;
    const DatabasePeer peer(database_.get());
    for (const ServerRole role : {ServerRole::kRoot, ServerRole::kMetadata, ServerRole::kUser}) {
      for (const auto& [number, file] : NamedBy(peer.HostsOf(role))) named.insert(NameOf(number));
    }
    EXPECT_EQ(Files(), named);
    ExpectCounted();
  }
  // As many tablets name each file as are counted.
  void ExpectCounted() {
    const DatabasePeer peer(database_.get());
    if (peer.Servers().empty()) return;
    for (const auto& [number, named] : NamedFiles()) {
      EXPECT_TRUE(Files().contains(NameOf(number))) << number;
      EXPECT_EQ(peer.Servers()[0]->environment()->shared_files->Names(number), named.shares.size())
          << number;
    }
  }
  DatabaseStatistics Statistics() { return database_->Statistics(); }
  static bool Await(const std::function<bool()>& happens) {
    const absl::Time end = absl::Now() + absl::Seconds(30);
    while (!happens() && absl::Now() < end) absl::SleepFor(absl::Milliseconds(1));
    return happens();
  }
};

TEST_F(SharedFilesTest, AFlushOfSmallTabletsWritesOneFile) {
  const ScopedShortcutsOn all;
  Table* table = OpenTablets();
  ASSERT_NO_FATAL_FAILURE(Fill(table, 0, kRows));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, kRows));
  const std::map<uint64_t, Named> named = NamedFiles();
  ASSERT_EQ(named.size(), 1u);
  const auto& [size, shares] = named.begin()->second;
  EXPECT_EQ(shares.size(), size_t{kTablets});
  uint64_t sum = 0;
  for (const uint64_t share : shares) {
    EXPECT_NEAR(static_cast<double>(share), static_cast<double>(size) / kTablets, 1 + size / 50.0);
    sum += share;
  }
  EXPECT_LE(sum, size);
  EXPECT_GE(sum + kTablets, size);
  EXPECT_EQ(Statistics().tables["t"]["default"].files, 1u);
  EXPECT_EQ(Statistics().tables["t"]["default"].file_bytes, size);
  EXPECT_LE(Statistics().minor_compaction_bytes_written, size);
  EXPECT_GE(Statistics().minor_compaction_bytes_written + kTablets, size);
  for (const TabletInfo& tablet : Tablets("t")) EXPECT_LT(tablet.disk_bytes, size / 4);

  // The shares are kept.
  ASSERT_OK(database_->Close());
  database_.reset();
  ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, Options()));
  table = OpenTable("t");
  EXPECT_EQ(NamedFiles().begin()->second.shares, shares);
  for (const TabletInfo& tablet : Tablets("t")) EXPECT_LT(tablet.disk_bytes, size / 4);
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, kRows));
  ASSERT_NO_FATAL_FAILURE(ExpectFilesAreNamed());
}

TEST_F(SharedFilesTest, OneByOneWithoutTheShortcut) {
  const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kSharedFiles));
  Table* const table = OpenTablets();
  ASSERT_NO_FATAL_FAILURE(Fill(table, 0, kRows));
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(NamedFiles().size(), size_t{kTablets});
  for (const auto& [number, named] : NamedFiles()) {
    EXPECT_EQ(named.shares, std::vector<uint64_t>{0});
  }
}

TEST_F(SharedFilesTest, LargeMemtablesHaveFilesOfTheirOwn) {
  const ScopedShortcutsOn all;
  DatabaseOptions options = Options();
  options.target_file_size = 1 << 20;
  Table* const table = OpenTablets(options);
  ASSERT_NO_FATAL_FAILURE(Fill(table, 0, kRows));
  Set(table, RowOf(0), "f:large", 1, std::string(100'000, 'x'));
  ASSERT_OK(database_->Flush("t"));
  std::vector<size_t> names;
  for (const auto& [number, named] : NamedFiles()) names.push_back(named.shares.size());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<size_t>{1, kTablets - 1}));
}

TEST_F(SharedFilesTest, MergesOfSmallTabletsWriteOneFile) {
  const ScopedShortcutsOn all;
  Table* table = OpenTablets();
  database_->PauseCompactions();
  for (int round = 0; round < SizeTieredPolicy::kDefaultWidth; ++round) {
    for (int i = 0; i < kRows; ++i) Set(table, RowOf(i), "f:q", 1, absl::StrCat(round, "-", i));
    ASSERT_OK(database_->Flush("t"));
  }
  EXPECT_EQ(NamedFiles().size(), size_t{SizeTieredPolicy::kDefaultWidth});
  database_->ContinueCompactions();
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Statistics().merging_compactions, uint64_t{kTablets});
  ASSERT_EQ(NamedFiles().size(), 1u);
  const Named named = NamedFiles().begin()->second;
  EXPECT_EQ(named.shares.size(), size_t{kTablets});
  EXPECT_LE(Statistics().merging_compaction_bytes_written, named.size);
  ASSERT_NO_FATAL_FAILURE(ExpectFilesAreNamed());
  const std::string last = absl::StrCat(SizeTieredPolicy::kDefaultWidth - 1, "-");
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, kRows, last));
  ASSERT_OK(database_->Close());
  database_.reset();
  ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, Options()));
  table = OpenTable("t");
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, kRows, last));
}

// Of a common file, most tablets have compacted their shares. What is left is written again.
TEST_F(SharedFilesTest, ASparseFileIsFreed) {
  const ScopedShortcutsOn all;
  Table* const table = OpenTablets();
  ASSERT_NO_FATAL_FAILURE(Fill(table, 0, kRows));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_EQ(NamedFiles().size(), 1u);
  const uint64_t shared = NamedFiles().begin()->first;
  DatabasePeer peer(database_.get());
  BackgroundWork* const background = peer.background();
  int compacted = 0;
  for (TabletServer* const server : peer.Servers()) {
    for (const std::shared_ptr<Tablet>& tablet : server->tablets().All()) {
      if (compacted++ == kTablets / 2 - 1) break;
      ASSERT_OK(background->CompactTablet(server, tablet, {}));
    }
  }
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_TRUE(NamedFiles().contains(shared)) << "most of it is needed";
  for (int i = kTablets - 2; i < kTablets; ++i) {
    ASSERT_OK(
        background->CompactTablet(peer.Servers()[0], peer.Servers()[0]->tablets().All()[i], {}));
  }
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_FALSE(NamedFiles().contains(shared));
  EXPECT_EQ(NamedFiles().size(), size_t{kTablets / 2 + 2}) << "the last three in one file";
  ASSERT_NO_FATAL_FAILURE(ExpectFilesAreNamed());
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, kRows));
}

TEST_F(SharedFilesTest, ChangesOfTabletsLeaveTheirFilesNamed) {
  const ScopedShortcutsOn all;
  Table* const table = OpenTablets(WithServers(2));
  ASSERT_NO_FATAL_FAILURE(Fill(table, 0, kRows));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->SplitTablet("t", RowOf(15)));
  ASSERT_OK(database_->MoveTablet("t", RowOf(15), 1));
  ASSERT_OK(database_->MoveTablet("t", RowOf(10), 0));
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, kRows));
  ASSERT_NO_FATAL_FAILURE(ExpectFilesAreNamed());
  // The neighbour has the dropped rows in the common file, and must not bring them back.
  ASSERT_OK(table->DropRowRange(RowRange::RightOpen(RowOf(20), RowOf(30))));
  ASSERT_OK(database_->MergeTablets("t", RowOf(20), {}));
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::RightOpen(RowOf(18), RowOf(32)))),
            absl::StrCat(RowOf(18), " ", RowOf(19), " ", RowOf(30), " ", RowOf(31)));
  ASSERT_NO_FATAL_FAILURE(Fill(table, 20, 30));
  ASSERT_OK(database_->Compact("t"));
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, kRows));
  ASSERT_NO_FATAL_FAILURE(ExpectFilesAreNamed());
  ASSERT_NO_FATAL_FAILURE(Fill(table, 0, kRows, "again"));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->DeleteTable("t"));
  EXPECT_EQ(NamedFiles().size(), 0u);
  ASSERT_NO_FATAL_FAILURE(ExpectFilesAreNamed());
}

// Neighbours name the file with the same order, so they are merged without writing it again.
TEST_F(SharedFilesTest, TabletsAreMergedWithTheirCommonFile) {
  const ScopedShortcutsOn all;
  Table* const table = OpenTablets();
  ASSERT_NO_FATAL_FAILURE(Fill(table, 0, kRows));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->MergeTablets("t", RowOf(kEach)));
  EXPECT_EQ(Statistics().merging_compactions, 0u);
  ASSERT_EQ(NamedFiles().size(), 1u);
  const std::vector<uint64_t> shares = NamedFiles().begin()->second.shares;
  ASSERT_EQ(shares.size(), size_t{kTablets - 1});
  EXPECT_GT(shares[0], shares[1] * 3 / 2);
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, kRows));
  ASSERT_NO_FATAL_FAILURE(ExpectFilesAreNamed());
}

// The disk fails from some call on, and the machine dies: what was acknowledged at kSync is found,
// and nothing else but files that are named is left.
TEST_F(SharedFilesTest, PowerIsLostAtEachCall) {
  const ScopedShortcutsOn all;
  bool is_done = false;
  for (uint64_t call = 1; !is_done; call += 3) {
    ASSERT_LT(call, 3000u);
    SCOPED_TRACE(absl::StrCat("call ", call));
    database_.reset();
    file_system_ = std::make_unique<InMemoryFileSystem>();
    FaultyFileSystem faulty(file_system_.get());
    DatabaseOptions options = Options();
    options.file_system = &faulty;
    Table* const table = OpenTablets(options);
    ASSERT_NE(table, nullptr);
    for (int i = 0; i < kRows; ++i) {
      ASSERT_OK(table->Apply(RowMutation(RowOf(i)).Set("f:q", Timestamp(1), absl::StrCat("v", i)),
                             {.durability = Durability::kSync}));
    }
    faulty.CountCalls();
    faulty.FailCall(call, absl::UnavailableError("death"), FaultyFileSystem::Repeat::kFromThenOn);
    absl::Status status;
    for (int round = 0; round < SizeTieredPolicy::kDefaultWidth && status.ok(); ++round) {
      for (int i = 0; i < kRows && status.ok(); i += 2) {
        status = table->Apply(RowMutation(RowOf(i)).Set("f:q", Timestamp(1), absl::StrCat("v", i)));
      }
      if (status.ok()) status = database_->Flush("t");
    }
    if (status.ok()) status = database_->WaitUntilQuiet();
    is_done = status.ok();
    std::unique_ptr<InMemoryFileSystem> disk =
        file_system_->CrashClone(call, Unsynced::kRandomPart);
    faulty.ClearFaults();
    database_.reset();
    file_system_ = std::move(disk);
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, Options()));
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kRows));
    ASSERT_NO_FATAL_FAILURE(ExpectFilesAreNamed());
    database_.reset();  // before `faulty`
  }
}

// The directory cannot be synced: nothing is left, and the next flush writes all of it.
TEST_F(SharedFilesTest, AFlushThatFailsIsMadeAgain) {
  const ScopedShortcutsOn all;
  FaultyFileSystem faulty(file_system_.get());
  DatabaseOptions options = Options();
  options.file_system = &faulty;
  Table* const table = OpenTablets(options);
  ASSERT_NO_FATAL_FAILURE(Fill(table, 0, kRows));
  faulty.FailCalls({.kinds = {FileCall::kSyncDirectory}, .path_contains = "/sst"},
                   absl::UnavailableError("sync fault"));
  EXPECT_STATUS(kUnavailable, "sync fault", database_->Flush("t"));
  EXPECT_EQ(NamedFiles().size(), 0u);
  faulty.ClearFaults();
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(NamedFiles().size(), 1u);
  ASSERT_NO_FATAL_FAILURE(ExpectFilesAreNamed());
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, kRows));
  database_.reset();
}

// The new file of a merge of several tablets cannot be opened. The first of them has nothing in it,
// as all of its rows are deleted. What it has read must stay.
TEST_F(SharedFilesTest, AMergeThatFailsLeavesTheInputsOfAllTablets) {
  const ScopedShortcutsOn all;
  FaultyFileSystem faulty(file_system_.get());
  DatabaseOptions options = Options();
  options.file_system = &faulty;
  Table* const table = OpenTablets(options);
  database_->PauseCompactions();
  for (int round = 0; round < SizeTieredPolicy::kDefaultWidth; ++round) {
    ASSERT_NO_FATAL_FAILURE(Fill(table, 0, kRows));
    for (int i = 0; i < kEach; ++i) ASSERT_OK(table->Apply(RowMutation(RowOf(i)).DeleteRow()));
    ASSERT_OK(database_->Flush("t"));
  }
  faulty.FailCalls({.kinds = {FileCall::kNewRandomAccessFile}, .path_contains = ".sst"},
                   absl::UnavailableError("open fault"));
  database_->ContinueCompactions();
  ASSERT_TRUE(Await([&] { return !Statistics().failing_work.empty(); }));
  database_->PauseCompactions();
  database_->CancelCompactions();
  ExpectCounted();
  faulty.ClearFaults();
  database_->ContinueCompactions();
  ASSERT_OK(database_->Resume());  // ends the pause before the next try
  ASSERT_NO_FATAL_FAILURE(ExpectFilesAreNamed());
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::RightOpen("", RowOf(kEach + 1)))), RowOf(kEach));
  database_.reset();
}

// While Compact rewrites all files of a table, what it erases must not be written into a file of a
// tablet that it has finished.
TEST_F(SharedFilesTest, WhileATableIsCompactedItsMergesWriteFilesOfTheirOwn) {
  const ScopedShortcutsOn all;
  class Outputs final : public EventListener {
   public:
    void OnCompactionEnded(const CompactionEvent& event) override {
      for (const EventFile& file : event.outputs) ++counts[file.number];
    }
    std::map<uint64_t, int> counts;  // after the database is closed
  } outputs;
  FaultyFileSystem faulty(file_system_.get());
  DatabaseOptions options = Options();
  options.file_system = &faulty;
  options.event_listener = &outputs;
  options.compaction_threads = 2;
  Table* const table = OpenTablets(options);
  database_->PauseCompactions();
  for (int round = 0; round < SizeTieredPolicy::kDefaultWidth; ++round) {
    ASSERT_NO_FATAL_FAILURE(Fill(table, 0, kRows));
    ASSERT_OK(database_->Flush("t"));
  }
  faulty.StallCalls({.kinds = {FileCall::kNewWritableFile}, .path_contains = "/sst/"});
  absl::Status compacted;
  std::thread compacting([&] { compacted = database_->Compact("t"); });
  ASSERT_TRUE(faulty.WaitUntilStalled(1));
  database_->ContinueCompactions();
  EXPECT_TRUE(faulty.WaitUntilStalled(2)) << "a merge by the policy";
  faulty.ReleaseCalls();
  compacting.join();
  EXPECT_OK(compacted);
  ASSERT_NO_FATAL_FAILURE(ExpectFilled(table, 0, kRows));
  ASSERT_NO_FATAL_FAILURE(ExpectFilesAreNamed());
  database_.reset();
  EXPECT_GE(outputs.counts.size(), size_t{kTablets});
  for (const auto& [number, count] : outputs.counts) EXPECT_EQ(count, 1) << number;
}

// Rows that are appended: the common file is of one run with a large one, which is left alone.
TEST_F(SharedFilesTest, OnlyTheShareOfASparseFileIsWrittenAgain) {
  const ScopedShortcutsOn all;
  DatabaseOptions options = Options();
  options.target_file_size = 1 << 20;
  Table* const table = OpenTablets(options);
  Set(table, RowOf(0), "f:large", 1, std::string(100'000, 'x'));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_EQ(NamedFiles().size(), 1u);
  const uint64_t large = NamedFiles().begin()->first;
  ASSERT_NO_FATAL_FAILURE(Fill(table, 1, kRows));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_EQ(NamedFiles().size(), 2u);
  const uint64_t shared = NamedFiles().rbegin()->first;
  const DatabasePeer peer(database_.get());
  ASSERT_EQ(peer.Servers()[0]->tablets().All()[0]->Version()->groups()[0].runs.size(), 1u);
  for (int i = 1; i < kTablets; ++i) {
    ASSERT_OK(peer.background()->CompactTablet(peer.Servers()[0],
                                               peer.Servers()[0]->tablets().All()[i], {}));
  }
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_FALSE(NamedFiles().contains(shared));
  EXPECT_TRUE(NamedFiles().contains(large));
  ASSERT_NO_FATAL_FAILURE(ExpectFilesAreNamed());
}

// One tablet's input is damaged: the others are merged without it.
TEST_F(SharedFilesTest, ADamagedInputHoldsUpNoOtherTablet) {
  const ScopedShortcutsOn all;
  Table* table = OpenTablets();
  database_->PauseCompactions();
  // A file of one tablet alone, which is damaged.
  for (int i = 0; i < kEach; ++i) Set(table, RowOf(i), "f:q", 1, "first");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_EQ(NamedFiles().size(), 1u);
  const uint64_t damaged = NamedFiles().begin()->first;
  for (int round = 1; round < SizeTieredPolicy::kDefaultWidth; ++round) {
    ASSERT_NO_FATAL_FAILURE(Fill(table, 0, kRows));
    ASSERT_OK(database_->Flush("t"));
  }
  for (int i = kEach; i < kRows; ++i) Set(table, RowOf(i), "f:q", 1, absl::StrCat("v", i));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->Close());
  database_.reset();
  for (const std::string& path : file_system_->AllFiles()) {
    if (!path.ends_with(NameOf(damaged))) continue;
    std::string bytes = file_system_->Contents(path);
    bytes[20] = static_cast<char>(bytes[20] ^ 1);
    file_system_->SetContents(path, bytes);
  }
  ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, Options()));
  table = OpenTable("t");
  ASSERT_TRUE(Await([&] { return Statistics().merging_compactions == kTablets - 1; }));
  EXPECT_TRUE(Statistics().failing_work.empty());
  ASSERT_OK(database_->WaitUntilQuiet());
  const std::vector<QuarantinedFile> quarantined = Statistics().quarantined_files;
  ASSERT_EQ(quarantined.size(), 1u);
  EXPECT_EQ(quarantined[0].number, damaged);
  size_t most_shares = 0;
  for (const auto& [number, named] : NamedFiles()) {
    most_shares = std::max(most_shares, named.shares.size());
  }
  EXPECT_GE(most_shares, size_t{kTablets - 1}) << "they were merged together";
  RowReader reader = table->ReadRows(RowRange::StartingAt(RowOf(kEach)));
  int rows = 0;
  for (const Row& row : reader) {
    EXPECT_EQ(Show(row), absl::StrCat("f:q@1=v", kEach + rows));
    ++rows;
  }
  EXPECT_OK(reader.status());
  EXPECT_EQ(rows, kRows - kEach);
}

// Writes and all that tablets are changed by, with the shortcut on and off, against a map.
TEST_F(SharedFilesTest, TabletsChangeRandom) {
  ForEachSeed(20, [&](uint64_t seed) {
    Random random(seed);
    database_.reset();
    file_system_ = std::make_unique<InMemoryFileSystem>();
    DatabaseOptions options = WithServers(2);
    options.target_file_size = random.OneIn(2) ? 1 << 20 : 64 << 20;
    Table* table = OpenTablets(options);
    ASSERT_NE(table, nullptr);
    std::map<std::string, std::string> model;
    const auto row = [&] { return RowOf(static_cast<int>(random.Below(kRows))); };
    std::optional<ScopedShortcuts> shortcuts;
    for (int step = 0; step < 150; ++step) {
      switch (random.Below(14)) {
        case 0:
          shortcuts.reset();
          shortcuts.emplace(random.OneIn(4) ? ScopedShortcuts::Bit(Shortcut::kSharedFiles) : 0);
          break;
        case 1: {
          const absl::Status split = database_->SplitTablet("t", row());
          EXPECT_TRUE(split.ok() || absl::IsAlreadyExists(split)) << split;
          break;
        }
        case 2: {
          const absl::Status merged = database_->MergeTablets("t", row(), {});
          EXPECT_TRUE(merged.ok() || absl::IsFailedPrecondition(merged) ||
                      absl::IsNotFound(merged) || absl::IsInvalidArgument(merged))
              << merged;
          break;
        }
        case 3:
          EXPECT_OK(database_->MoveTablet("t", row(), static_cast<int>(random.Below(2))));
          break;
        case 4: {
          std::string begin = row(), end = row();
          if (begin > end) std::swap(begin, end);
          if (begin == end || !random.OneIn(3)) break;
          EXPECT_OK(table->DropRowRange(RowRange::RightOpen(begin, end)));
          model.erase(model.lower_bound(begin), model.lower_bound(end));
          break;
        }
        case 5:
          EXPECT_OK(random.OneIn(4) ? database_->Compact("t") : database_->WaitUntilQuiet());
          break;
        case 6: {
          if (!random.OneIn(4)) break;
          EXPECT_OK(database_->Close());
          database_.reset();
          ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
          table = OpenTable("t");
          break;
        }
        case 7:
        case 8:
        case 9:
          EXPECT_OK(database_->Flush("t"));
          break;
        default:
          for (uint64_t i = random.Between(1, 40); i > 0; --i) {
            const std::string key = row();
            if (random.OneIn(4)) {
              EXPECT_OK(table->Apply(RowMutation(key).DeleteRow()));
              model.erase(key);
            } else {
              const std::string value = absl::StrCat(step, std::string(random.Below(200), 'v'));
              EXPECT_OK(table->Apply(RowMutation(key).Set("f:q", Timestamp(1), value)));
              model[key] = value;
            }
          }
      }
      if (!random.OneIn(5)) continue;
      auto expected = model.begin();
      RowReader reader = table->ReadRows(RowRange::All());
      for (const Row& found : reader) {
        ASSERT_NE(expected, model.end()) << found.key();
        ASSERT_EQ(found.key(), expected->first);
        ASSERT_EQ(Show(found), absl::StrCat("f:q@1=", expected->second));
        ++expected;
      }
      ASSERT_OK(reader.status());
      ASSERT_EQ(expected, model.end());
    }
    shortcuts.reset();
    ASSERT_OK(database_->WaitUntilQuiet());
    ASSERT_NO_FATAL_FAILURE(ExpectFilesAreNamed());
    // Dead shares are less than half of what is there.
    for (const auto& [number, named] : NamedFiles()) {
      uint64_t sum = 0;
      for (const uint64_t share : named.shares) sum += share == 0 ? named.size : share;
      EXPECT_GE(sum, named.size / 2) << number;
    }
  });
}

}  // namespace
}  // namespace bigtable
