// The listener hears everything once, in the order in which it happened, one event at a time, on a
// thread from which the database can be called.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "base/mutex.h"
#include "base/strings.h"
#include "cache/budget_access.h"
#include "monitoring/listener_queue.h"
#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

// Keeps what it hears; those of METADATA only on request.
class CapturingListener final : public EventListener {
 public:
  void OnDatabaseOpened(const DatabaseEvent& e) override { Add(Cat("opened ", e.path)); }
  void OnDatabaseClosed(const DatabaseEvent& e) override {
    Add(Cat("closed ", e.path, " ", e.status.ToString()));
  }
  void OnTableCreated(const TableEvent& e) override { Add(Cat("created ", e.table)); }
  void OnTableChanged(const TableEvent& e) override { Add(Cat("changed ", e.table)); }
  void OnTableDeleted(const TableEvent& e) override { Add(Cat("deleted ", e.table)); }
  void OnTabletSplit(const TabletEvent& e) override { AddTablet("split", e); }
  void OnTabletsMerged(const TabletEvent& e) override { AddTablet("merged", e); }
  void OnTabletMoved(const TabletEvent& e) override { AddTablet("moved", e); }
  void OnServerLost(const ServerEvent& e) override { Add(Cat("lost ", e.server)); }
  void OnServerReplaced(const ServerEvent& e) override { Add(Cat("replaced ", e.server)); }
  void OnMemtableRotated(const MemtableRotatedEvent& e) override {
    if (!IsOfUser(e.location)) return;
    EXPECT_GT(e.bytes, 0u);
    Add(Cat("rotated ", Show(e.location), " ", static_cast<int>(e.reason)));
  }
  void OnMinorCompactionBegan(const MinorCompactionEvent& e) override {
    if (!IsOfUser(e.location)) return;
    EXPECT_TRUE(e.outputs.empty());
    Add(Cat("minor began ", Show(e.location), " of ", e.memtables));
  }
  void OnMinorCompactionEnded(const MinorCompactionEvent& e) override {
    if (!IsOfUser(e.location)) return;
    EXPECT_GE(e.duration, absl::ZeroDuration());
    uint64_t bytes = 0;
    for (const EventFile& file : e.outputs) bytes += file.bytes;
    EXPECT_EQ(bytes, e.bytes_written);
    Add(Cat("minor ended ", Show(e.location), " ", e.outputs.size(), " files ",
            e.status.ToString()));
    MutexLock lock(&mutex_);
    written_.insert(written_.end(), e.outputs.begin(), e.outputs.end());
  }
  void OnCompactionBegan(const CompactionEvent& e) override {
    if (!IsOfUser(e.location)) return;
    Add(Cat("compaction began ", Show(e.location), " reason ", static_cast<int>(e.reason), " of ",
            e.inputs.size(), e.is_major ? " major" : ""));
    MutexLock lock(&mutex_);
    inputs_ = e.inputs;
  }
  void OnCompactionEnded(const CompactionEvent& e) override {
    if (!IsOfUser(e.location)) return;
    Add(Cat("compaction ended ", Show(e.location), " ", e.outputs.size(), " files ",
            e.bytes_read > 0 ? "read " : "", e.status.ToString()));
  }
  void OnLogSegmentCreated(const LogSegmentEvent& e) override { AddSegment("created", e); }
  void OnLogSegmentEnded(const LogSegmentEvent& e) override { AddSegment("ended", e); }
  void OnStallChanged(const StallEvent& e) override {
    EXPECT_FALSE(e.server.empty());
    Add(Cat("stall ", static_cast<int>(e.before), " to ", static_cast<int>(e.now),
            e.delay > absl::ZeroDuration() ? " delayed" : ""));
  }
  void OnBackgroundError(const BackgroundErrorEvent& e) override {
    Add(Cat("error ", static_cast<int>(e.stops), " ", absl::StatusCodeToString(e.status.code())));
    if (on_error) on_error();
  }
  void OnResumed(const DatabaseEvent&) override { Add("resumed"); }

  std::vector<std::string> Take() {
    MutexLock lock(&mutex_);
    return std::exchange(events_, {});
  }
  // False if nothing of this beginning comes.
  bool WaitFor(std::string_view beginning) {
    for (int i = 0; i < 2000; ++i) {
      {
        MutexLock lock(&mutex_);
        for (const std::string& event : events_) {
          if (event.starts_with(beginning)) return true;
        }
      }
      absl::SleepFor(absl::Milliseconds(5));
    }
    return false;
  }
  std::vector<EventFile> written() {
    MutexLock lock(&mutex_);
    return written_;
  }
  std::vector<EventFile> inputs() {
    MutexLock lock(&mutex_);
    return inputs_;
  }
  // By server, those of METADATA left out.
  std::map<std::string, std::vector<std::string>> TakeSegments() {
    MutexLock lock(&mutex_);
    return std::exchange(segments_, {});
  }

  std::function<void()> on_error;

 private:
  static bool IsOfUser(const EventLocation& place) { return place.table != "METADATA"; }
  static std::string Show(const EventLocation& place) {
    return Cat(place.table, place.end_row.has_value() ? Cat("<", *place.end_row) : "", "/",
               place.locality_group);
  }
  void AddTablet(std::string_view what, const TabletEvent& e) {
    EXPECT_GT(e.time, absl::UnixEpoch());
    EXPECT_FALSE(e.server.empty());
    EXPECT_EQ(e.previous_server.empty(), what != "moved");
    EXPECT_NE(e.server, e.previous_server);
    Add(Cat(what, " ", e.table, " ", e.row));
  }
  void AddSegment(std::string_view what, const LogSegmentEvent& e) {
    EXPECT_FALSE(e.server.empty());
    if (!e.server.starts_with("server-")) return;
    MutexLock lock(&mutex_);
    segments_[e.server].push_back(Cat(what, " ", e.number));
  }
  void Add(std::string event) {
    MutexLock lock(&mutex_);
    events_.push_back(std::move(event));
  }

  Mutex mutex_;
  std::vector<std::string> events_ ABSL_GUARDED_BY(mutex_);
  std::vector<EventFile> written_ ABSL_GUARDED_BY(mutex_);
  std::vector<EventFile> inputs_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::vector<std::string>> segments_ ABSL_GUARDED_BY(mutex_);
};

using Events = std::vector<std::string>;

class EventListenerTest : public DatabaseFixture {
 protected:
  void TearDown() override { database_.reset(); }  // before the listener
  DatabaseOptions ListeningOptions() {
    DatabaseOptions options = Options();
    options.event_listener = &listener_;
    return options;
  }

  CapturingListener listener_;
};

TEST_F(EventListenerTest, HearsOfTablesFlushesAndCompactionsInTheirOrder) {
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

TEST_F(EventListenerTest, HearsWhatAnOpeningWritesOut) {
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

TEST_F(EventListenerTest, AFullMemtableIsRotatedForThatReason) {
  DatabaseOptions options = ListeningOptions();
  options.memtable_size = 64 << 10;
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  for (int i = 0; i < 100; ++i) {
    Set(table, absl::StrCat("row", i), "f:q", 1, std::string(1000, 'v'));
  }
  EXPECT_TRUE(listener_.WaitFor("rotated t/default 1"));
}

TEST_F(EventListenerTest, AListenerMayResumeTheDatabaseWhenItHearsOfAnError) {
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

TEST_F(EventListenerTest, EventsOfATabletNameItsEnd) {
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

// Of the events those that begin with one of these.
Events Only(const Events& events, const std::vector<std::string_view>& beginnings) {
  Events chosen;
  for (const std::string& event : events) {
    if (std::any_of(beginnings.begin(), beginnings.end(),
                    [&](std::string_view b) { return event.starts_with(b); })) {
      chosen.push_back(event);
    }
  }
  return chosen;
}

TEST_F(EventListenerTest, HearsOfTabletsThatAreSplitMovedAndMerged) {
  DatabaseOptions options = ListeningOptions();
  options.tablet_servers = 2;
  Open(options);
  Set(CreateTable("t", {"f"}), "a", "f:q", 1, "v");
  ASSERT_OK(database_->SplitTablet("t", "m"));
  EXPECT_FALSE(database_->SplitTablet("t", "m").ok());
  ASSERT_OK_AND_ASSIGN(const std::vector<TabletInfo> tablets, database_->ListTablets("t"));
  ASSERT_OK(database_->MoveTablet("t", "m", 1 - tablets[1].server));
  ASSERT_OK(database_->MoveTablet("t", "m", 1 - tablets[1].server));  // it is there
  ASSERT_OK(database_->MergeTablets("t", "m"));                       // moves the left one, too
  ASSERT_OK(database_->Close());
  EXPECT_EQ(Only(listener_.Take(), {"split", "moved", "merged"}),
            (Events{"split t m", "moved t m", "moved t ", "merged t m"}));
}

TEST_F(EventListenerTest, HearsOfServersThatAreLostAndReplaced) {
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
  // An opening takes over from servers of earlier processes, whom nobody has lost.
  Kill();
  listener_.Take();
  Open(ListeningOptions());
  database_.reset();
  EXPECT_EQ(Only(listener_.Take(), {"lost", "replaced"}), Events());
}

TEST_F(EventListenerTest, SegmentsOfALogAreCreatedAndSealedInTheirOrder) {
  DatabaseOptions options = ListeningOptions();
  options.log_segment_size = 64 << 10;
  options.tablet_servers = 2;
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  for (int i = 0; i < 200; ++i) {
    Set(table, absl::StrCat("row", i), "f:q", 1, std::string(1000, 'v'));
  }
  Set(table, "large", "f:q", 1, std::string(200'000, 'v'));
  ASSERT_OK(database_->Close());
  // The other server has no tablet, and so no log.
  const auto segments = listener_.TakeSegments();
  ASSERT_EQ(segments.size(), 1u);
  const std::vector<std::string>& events = segments.begin()->second;
  ASSERT_GE(events.size(), 8u);
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i], absl::StrCat(i % 2 == 0 ? "created " : "ended ", i / 2 + 1));
  }
  EXPECT_TRUE(events.back().starts_with("ended"));
}

TEST_F(EventListenerTest, ASegmentThatIsGivenUpAfterAnErrorIsNotSealed) {
  FaultyFileSystem faulty(file_system_.get());
  DatabaseOptions options = ListeningOptions();
  options.file_system = &faulty;
  absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
  ASSERT_OK(opened);
  database_ = *std::move(opened);
  Table* const table = CreateTable("t", {"f"});
  Set(table, "r", "f:q", 1, "v");
  faulty.FailCalls({{FileCall::kLogSync}, {}}, absl::UnavailableError("cut"));
  EXPECT_FALSE(
      table->Apply(RowMutation("r").Set("f:q", "v"), {.durability = Durability::kSync}).ok());
  faulty.ClearFaults();
  ASSERT_OK(database_->Resume());
  Set(table, "r", "f:q", 1, "v");
  ASSERT_OK(database_->Close());
  const auto segments = listener_.TakeSegments();
  ASSERT_EQ(segments.size(), 1u);
  EXPECT_EQ(segments.begin()->second,
            (std::vector<std::string>{"created 1", "created 2", "ended 2"}));
  database_.reset();  // before its file system
}

TEST_F(EventListenerTest, ASegmentThatIsLeftBecauseACallStallsIsNotSealed) {
  FaultyFileSystem faulty(file_system_.get());
  DatabaseOptions options = ListeningOptions();
  options.file_system = &faulty;
  absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
  ASSERT_OK(opened);
  database_ = *std::move(opened);
  Table* const table = CreateTable("t", {"f"});
  Set(table, "r", "f:q", 1, "v");
  ASSERT_OK(database_->WaitUntilQuiet());
  faulty.StallOneFile({.kinds = {FileCall::kLogSync}, .path_contains = "/log/server-"});
  std::thread writer([&] {
    EXPECT_OK(table->Apply(RowMutation("r").Set("f:q", "v"), {.durability = Durability::kSync}));
  });
  ASSERT_TRUE(faulty.WaitUntilStalled(1));
  Set(table, "r", "f:q", 1, "v");
  faulty.ReleaseCalls();
  writer.join();
  const DatabaseStatistics statistics = database_->Statistics();
  EXPECT_EQ(statistics.log_switches, 1u);
  EXPECT_GE(statistics.log_stalls, 1u);
  for (const auto& [name, server] : statistics.servers) {
    if (!name.starts_with("user-")) continue;
    EXPECT_EQ(server.log_switches, 1u);
    EXPECT_EQ(server.log_stalls, statistics.log_stalls);
  }
  ASSERT_OK(database_->Close());
  const auto segments = listener_.TakeSegments();
  ASSERT_EQ(segments.size(), 1u);
  EXPECT_EQ(segments.begin()->second,
            (std::vector<std::string>{"created 1", "created 2", "ended 2"}));
  database_.reset();  // before its file system
}

// --- Stalls ---

TEST_F(EventListenerTest, TheEndOfAStallIsToldThoughNobodyWrites) {
  DatabaseOptions options = ListeningOptions();
  options.shared_memory_budget = std::make_shared<MemoryBudget>(32 << 20);
  MemoryBudget* const budget = options.shared_memory_budget.get();
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  const int64_t much = (32 << 20) / 16 * 9;
  BudgetAccess::Charge(*budget, MemoryBudget::Use::kMemtables, much);
  Set(table, "r", "f:q", 1, "v");
  int stalled_servers = 0;
  for (const auto& [name, server] : database_->Statistics().servers) {
    if (server.stall_reason != StallReason::kMemory) continue;
    ++stalled_servers;
    EXPECT_FALSE(server.tablets.empty());
    EXPECT_GT(server.write_delay, absl::ZeroDuration());
  }
  EXPECT_EQ(stalled_servers, 1);
  BudgetAccess::Charge(*budget, MemoryBudget::Use::kMemtables, -much);
  EXPECT_TRUE(listener_.WaitFor("stall 0 to 1 delayed"));
  EXPECT_TRUE(listener_.WaitFor("stall 1 to 0"));
}

class StallEventTest : public ServerFixture {
 protected:
  void SetMemory(uint64_t bytes) {
    BudgetAccess::Charge(*budget_, MemoryBudget::Use::kMemtables,
                         static_cast<int64_t>(bytes) -
                             static_cast<int64_t>(budget_->used(MemoryBudget::Use::kMemtables)));
  }

  CapturingListener listener_;
};

TEST_F(StallEventTest, AStallIsToldWhenItBeginsAndWhenItEnds) {
  {
    ListenerQueue events(&listener_);
    WriteController controller(budget_.get(), server_.get(), &background_, &events);
    // Nobody writes to a server without a log.
    SetMemory(kLimit / 16 * 9);
    controller.NoteReason();
    SetMemory(0);
    ASSERT_OK(server_->StartLog("server-1", "/log"));
    controller.NoteReason();
    WriteController::Admission admission;
    EXPECT_OK(controller.Admit(1, {}, &admission));
    SetMemory(kLimit / 16 * 9);
    EXPECT_OK(controller.Admit(1, {}, &admission));
    EXPECT_OK(controller.Admit(1, {}, &admission));
    SetMemory(0);
    controller.NoteReason();
    controller.NoteReason();
  }
  EXPECT_EQ(listener_.Take(), (Events{"stall 0 to 1 delayed", "stall 1 to 0"}));
}

// --- The queue ---

class CountingListener final : public EventListener {
 public:
  void OnTableCreated(const TableEvent& event) override {
    EXPECT_FALSE(busy_.exchange(true)) << "two at once";
    const auto dash = event.table.find('-');
    const int thread = std::stoi(event.table.substr(0, dash));
    const int number = std::stoi(event.table.substr(dash + 1));
    EXPECT_EQ(next_[static_cast<size_t>(thread)]++, number);
    busy_.store(false);
  }
  const std::vector<int>& next() const { return next_; }

 private:
  std::atomic<bool> busy_{false};
  std::vector<int> next_ = std::vector<int>(8);
};

TEST(ListenerQueueTest, ConcurrentPushesAreAllDeliveredInTheOrderOfEachThread) {
  constexpr int kEach = 1000;
  CountingListener listener;
  {
    ListenerQueue events(&listener);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          events.Push(&EventListener::OnTableCreated, {absl::Now(), absl::StrCat(t, "-", i)});
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(listener.next(), std::vector<int>(8, kEach));
}

}  // namespace
}  // namespace bigtable
