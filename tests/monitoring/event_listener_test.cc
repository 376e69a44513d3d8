// Events of the database, its tables, tablets, servers, flushes, compactions and errors: each is
// delivered once, in the order of the operations, by a thread that may call the database.
#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "base/strings.h"
#include "monitoring/capturing_listener.h"
#include "support/database_peer.h"

namespace bigtable {
namespace {

using EventListenerTest = ListeningDatabaseFixture;

TEST_F(EventListenerTest, EventsOfTablesFlushesAndCompactionsComeInTheirOrder) {
  Open(ListeningOptions());
  TableSchema schema;
  schema.locality_groups["g"] = {.compaction = CompactionStyle::kNone};
  schema.families["f"] = {.locality_group = "g"};
  Table* const table = CreateTable("t", schema);
  Set(table, "r", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  Set(table, "r", "f:q", 2, "v");
  ASSERT_OK(database_->Compact("t"));
  ASSERT_OK(database_->AddFamily("t", "other", {}));
  Set(table, "r", "f:q", 3, "v");
  EXPECT_FALSE(database_->AddFamily("t", "other", {}).ok());
  ASSERT_OK(database_->Close());
  EXPECT_EQ(listener_.Take(), (Events{
                                  "opened /db",
                                  "created t",
                                  "rotated t/g 0",
                                  "minor began t/g of 1",
                                  "minor ended t/g 1 files OK",
                                  "rotated t/g 0",
                                  "minor began t/g of 1",
                                  "minor ended t/g 1 files OK",
                                  "compaction began t/g reason 3 of 2 major",
                                  "compaction ended t/g 1 files read OK",
                                  "changed t",
                                  "rotated t/g 0",
                                  "minor began t/g of 1",
                                  "minor ended t/g 1 files OK",
                                  "closed /db OK",
                              }));
  std::vector<EventFile> flushed = listener_.written();
  std::vector<EventFile> merged = listener_.inputs();
  ASSERT_EQ(flushed.size(), 3u);
  flushed.pop_back();
  const auto by_number = [](const EventFile& a, const EventFile& b) { return a.number < b.number; };
  std::sort(merged.begin(), merged.end(), by_number);
  EXPECT_EQ(merged, flushed);

  Open(ListeningOptions());
  ASSERT_OK(database_->DeleteTable("t"));
  database_.reset();
  EXPECT_EQ(listener_.Take(), (Events{"opened /db", "deleted t", "closed /db OK"}));
}

TEST_F(EventListenerTest, AnOpeningReportsItsFlushes) {
  Open(ListeningOptions());
  Set(CreateTable("t", {"f"}), "r", "f:q", 1, "v");
  Kill();
  listener_.Take();
  Open(ListeningOptions());
  database_.reset();
  EXPECT_EQ(listener_.Take(),
            (Events{"rotated t/default 0", "minor began t/default of 1",
                    "minor ended t/default 1 files OK", "opened /db", "closed /db OK"}));
}

TEST_F(EventListenerTest, TheRotationOfAFullMemtableHasThatReason) {
  DatabaseOptions options = ListeningOptions();
  options.memtable_size = 64 << 10;
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  for (int i = 0; i < 100; ++i) {
    Set(table, absl::StrCat("row", i), "f:q", 1, std::string(1000, 'v'));
  }
  EXPECT_TRUE(listener_.WaitFor("rotated t/default 1"));
}

TEST_F(EventListenerTest, AListenerMayResumeTheDatabaseOnAnError) {
  FaultyFileSystem faulty(file_system_.get());
  DatabaseOptions options = ListeningOptions();
  options.file_system = &faulty;
  absl::Status resumed;
  std::atomic<bool> refused{false};
  listener_.on_error = [&] {
    while (!refused.load()) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_FALSE(database_->Statistics().background_error.ok());
    faulty.ClearFaults();
    resumed = database_->Resume();
  };
  ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
  Table* const table = CreateTable("t", {"f"});
  faulty.FailCalls({{FileCall::kLogSync}, "/log/server-"}, absl::ResourceExhaustedError("full"));
  const absl::Status status = table->Apply(RowMutation("row").Set("f:q", std::string(1000, 'v')),
                                           {.durability = Durability::kSync});
  EXPECT_STATUS(kResourceExhausted, "", status);
  refused.store(true);
  EXPECT_TRUE(listener_.WaitFor("resumed"));
  EXPECT_TRUE(listener_.WaitFor("error 0 RESOURCE_EXHAUSTED"));
  Set(table, "after", "f:q", 1, "v");
  ASSERT_OK(database_->Close());
  EXPECT_OK(resumed);
  database_.reset();  // before the file system
}

TEST_F(EventListenerTest, EventsOfATabletContainItsEndRow) {
  Open(ListeningOptions());
  TableSchema schema;
  schema.families["f"] = {};
  ASSERT_OK(database_->CreateTable("t", schema, {.split_rows = {"m"}}));
  Table* const table = OpenTable("t");
  Set(table, "a", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  Set(table, "z", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->Close());
  EXPECT_EQ(
      listener_.Take(),
      (Events{"opened /db", "created t", "rotated t<m/default 0", "minor began t<m/default of 1",
              "minor ended t<m/default 1 files OK", "rotated t/default 0",
              "minor began t/default of 1", "minor ended t/default 1 files OK", "closed /db OK"}));
}

TEST_F(EventListenerTest, EventsOfTabletsThatAreSplitMovedAndMerged) {
  DatabaseOptions options = ListeningOptions();
  options.tablet_servers = 2;
  Open(options);
  Set(CreateTable("t", {"f"}), "a", "f:q", 1, "v");
  ASSERT_OK(database_->SplitTablet("t", "m"));
  EXPECT_FALSE(database_->SplitTablet("t", "m").ok());
  ASSERT_OK_AND_ASSIGN(const std::vector<TabletInfo> tablets, database_->ListTablets("t"));
  ASSERT_OK(database_->MoveTablet("t", "m", 1 - tablets[1].server));
  ASSERT_OK(database_->MoveTablet("t", "m", 1 - tablets[1].server));  // a no-op
  ASSERT_OK(database_->MergeTablets("t", "m"));                       // also moves the left tablet
  ASSERT_OK(database_->Close());
  EXPECT_EQ(Only(listener_.Take(), {"split", "moved", "merged"}),
            (Events{"split t m", "moved t m", "moved t ", "merged t m"}));
}

TEST_F(EventListenerTest, EventsOfServersThatAreLostAndReplaced) {
  DatabaseOptions options = ListeningOptions();
  options.tablet_servers = 2;
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  Set(table, "a", "f:q", 1, "v");
  DatabasePeer peer(database_.get());
  TabletServer* const server = peer.Servers().front();
  const std::string name = server->name();
  peer.Kill(server);
  EXPECT_TRUE(listener_.WaitFor(Cat("replaced ", name)));
  EXPECT_EQ(Show(table->ReadRow("a")), "f:q@1=v");
  EXPECT_EQ(Only(listener_.Take(), {"lost", "replaced"}),
            (Events{"lost " + name, "replaced " + name}));
  // An opening takes over from the servers of earlier processes without such events.
  Kill();
  listener_.Take();
  Open(ListeningOptions());
  database_.reset();
  EXPECT_EQ(Only(listener_.Take(), {"lost", "replaced"}), Events());
}

}  // namespace
}  // namespace bigtable
