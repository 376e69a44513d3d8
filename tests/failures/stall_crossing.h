// One action after the other begins on a database of one tablet server, each on a thread of its
// own, while calls of the file system that were chosen before are stalled, or have failed. Then
// they are released. Whatever the power loss or the death of the process leaves at each of these
// times, an opening finds all that was acknowledged, and batches whole. In the end, the database
// goes on.
//
// An action that is neither at its end nor in a stalled call after kStallTimeout waits for another
// one. The schedule is what was planned unless the machine is so busy that a thread was not
// scheduled for that long; then it is another one, which must be right, too.
//
// Besides actions there are calls: every public call that takes a deadline (limited_calls.h). Each
// begins beside the actions, with a deadline or a cancellation, and has to end soon after that,
// unless its own thread is in a stalled call of the file system.
#ifndef BIGTABLE_TESTS_CLIENT_STALL_CROSSING_H_
#define BIGTABLE_TESTS_CLIENT_STALL_CROSSING_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/mutex.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "failures/limited_calls.h"
#include "support/expect_status.h"
#include "support/read_mode.h"
#include "support/seeds.h"
#include "support/test_observers.h"

namespace bigtable {

enum class CrossedAction {
  kSyncedWrite,  // takes over from a leader whose sync or write of the log stalls
  kBufferedWrite,
  kLargeWrite,  // more than a segment of the log
  kBatch,       // of two tables, synced
  kRead,
  kFlush,
  kCompact,
  kErase,  // a compaction of a table without rows, so that the logs are erased at once
  kCreateTable,
  kResume,
  kClose,
};
inline constexpr std::string_view kCrossedNames[] = {
    "a synced write", "a buffered write", "a large write", "a batch", "a read", "a flush",
    "a compaction",   "an erasure",       "a new table",   "resume",  "close"};
inline constexpr size_t kCrossedActions = std::size(kCrossedNames);

// Calls that stall or fail.
struct CrossedFault {
  enum class Kind { kNone, kStall, kFail };
  Kind kind = Kind::kNone;
  // Only those of the action's own thread; otherwise of all threads from then on.
  bool of_own_thread = true;
  std::vector<FileCall> calls = {};
  std::string_view path_contains = {};
  uint64_t first = 1;
};

class StallCrossing {
 public:
  // `template_disk` has the database of MakeDisk.
  StallCrossing(const InMemoryFileSystem& template_disk, bool is_mapped, int servers = 1)
      : disk_(template_disk.CrashClone(1, Unsynced::kEverything)),
        faulty_(disk_.get(), {.hide_log_mappings = !is_mapped}) {
    const SteadyTime begin = SteadyTime::Now();
    database_ = Open(&faulty_, servers);
    opening_ = SteadyTime::Now() - begin;
    if (database_ == nullptr) return;
    t_ = Table(database_.get(), "t");
    u_ = Table(database_.get(), "u");
    observed_ = Table(database_.get(), "observed");
    EXPECT_OK(
        Table(database_.get(), "victim")->Apply(RowMutation("row").Set("f:q", Timestamp(1), "v")));
    // What is synced, and what is not.
    Run(CrossedAction::kBatch);
    Run(CrossedAction::kBufferedWrite);
  }
  ~StallCrossing() {
    faulty_.ReleaseCalls();
    for (const auto& actor : actors_) {
      if (actor->thread.joinable()) actor->thread.join();
    }
    for (const auto& call : calls_) {
      if (call->thread.joinable()) call->thread.join();
    }
    faulty_.ClearFaults();
  }
  // A disk with a database with the tables "t", "u" and "empty", and those of LimitedCalls.
  static std::unique_ptr<InMemoryFileSystem> MakeDisk() {
    auto disk = std::make_unique<InMemoryFileSystem>();
    const std::unique_ptr<Database> database = Open(disk.get());
    HookObserver::Get(0);  // registers it
    for (const std::string_view name : {"t", "u", "empty", "victim", "observed"}) {
      TableSchema schema;
      schema.families["f"] = {};
      schema.families["g"] = {};
      schema.split.tablet_size = 0;
      if (name == "observed") schema.observers = {HookObserver::NameOf(0)};
      CreateTableOptions options;
      if (name == "t") options.split_rows = {"m"};
      EXPECT_OK(database->CreateTable(name, schema, options));
      if (name == "empty") continue;
      EXPECT_OK(
          Table(database.get(), name)->Apply(RowMutation("first").Set("f:q", Timestamp(1), "v")));
    }
    EXPECT_OK(database->Close());
    return disk;
  }

  // Begins the action. Returns once it has ended, one more call is stalled, or it waits. Whether a
  // call has come to the fault.
  bool Begin(CrossedAction action, const CrossedFault& fault) {
    actors_.push_back(std::make_unique<Actor>());
    Actor& actor = *actors_.back();
    actor.thread = std::thread([this, &actor, action] {
      while (!actor.may_begin) std::this_thread::yield();
      Run(action);
      actor.has_ended = true;
    });
    FileCallFilter filter{
        .kinds = fault.calls, .path_contains = std::string(fault.path_contains), .thread = {}};
    if (fault.of_own_thread) filter.thread = actor.thread.get_id();
    const uint64_t faults = faulty_.faults();
    const int stalled = faulty_.stalled();
    if (fault.kind == CrossedFault::Kind::kStall) {
      faulty_.StallCalls(std::move(filter), fault.first);
    } else if (fault.kind == CrossedFault::Kind::kFail) {
      faulty_.CountCalls(std::move(filter));
      faulty_.FailCall(fault.first, absl::UnavailableError("injected"));
    }
    actor.may_begin = true;
    Await(actor, stalled + 1);
    return faulty_.stalled() > stalled || faulty_.faults() > faults;
  }
  // Power is lost now, or the process dies, depending on the seed. Opens the database that is left.
  void ExpectNothingLost(uint64_t seed) {
    const bool power_loss = seed % 2 == 0;
    const std::vector<Written> acknowledged = Acknowledged(power_loss);  // before the crash
    const std::unique_ptr<InMemoryFileSystem> left =
        disk_->CrashClone(seed, power_loss ? Unsynced::kRandomPart : Unsynced::kEverything);
    const std::unique_ptr<Database> database = Open(left.get());
    if (database == nullptr) return;
    for (const Written& written : acknowledged) {
      EXPECT_TRUE(Has(database.get(), "t", written.row)) << written.row;
      if (!written.is_batch) continue;
      EXPECT_TRUE(Has(database.get(), "u", written.row)) << written.row;
    }
    for (const std::string& row : Batches()) {
      EXPECT_EQ(Has(database.get(), "t", row), Has(database.get(), "u", row)) << row;
    }
    EXPECT_OK(database->Close());
  }
  // The last action ends although calls are stalled, unless it is in one of them.
  void ExpectToEnd() {
    const Actor& actor = *actors_.back();
    if (faulty_.IsStalled(actor.thread.get_id())) return;
    EXPECT_TRUE(EndsBy(actor, SteadyTime::Now() + absl::Seconds(20)) ||
                faulty_.IsStalled(actor.thread.get_id()));
  }

  // Begins a call, which has so much time: by its deadline, or until it is cancelled by
  // AwaitCalls().
  enum class Limit { kDeadline, kCancellation };
  void BeginCall(const LimitedCall& call, Limit limit, absl::Duration time) {
    calls_.push_back(std::make_unique<Called>());
    Called& called = *calls_.back();
    called.call = &call;
    called.end = SteadyTime::Now() + time;
    CallOptions options;
    if (limit == Limit::kDeadline) {
      options.deadline = absl::Now() + time;
    } else {
      options.cancellation = &called.cancellation;
    }
    const LimitedCallTables tables{database_.get(), t_, u_, observed_, Cat(++next_)};
    called.thread = std::thread([&called, tables, options] {
      called.status = called.call->run(tables, options);
      called.has_ended = true;
    });
  }
  // Waits for the ends of the calls, for as long as they may last. Those that have not ended, and
  // are not in a stalled call themselves.
  std::vector<const LimitedCall*> AwaitCalls() {
    for (const auto& called : calls_) {
      if (!EndsBy(*called, called->end)) called->cancellation.Cancel();
    }
    std::vector<const LimitedCall*> late;
    for (const auto& called : calls_) {
      const SteadyTime end = called->end + Margin();
      while (!faulty_.IsStalled(called->thread.get_id()) && SteadyTime::Now() < end) {
        if (EndsBy(*called, std::min(end, SteadyTime::Now() + absl::Milliseconds(10)))) break;
      }
      if (called->has_ended || faulty_.IsStalled(called->thread.get_id())) continue;
      late.push_back(called->call);
    }
    return late;
  }
  // How long a call may last beyond its limit. It looks at its limits every 20 ms or more often
  // (CallLimits::MostSleep) as long as it waits, and between parts of its work that are smaller
  // than those of an opening. All calls run at the same time, on a machine that is as busy as it
  // was when the database was opened.
  absl::Duration Margin() const {
    return absl::Milliseconds(500) + static_cast<int64_t>(LimitedCalls::All().size()) * opening_;
  }
  // For the actions that begin from here on.
  void SetDeadline(absl::Duration deadline) { deadline_ = deadline; }
  // Releases the calls of the thread of the n-th action, and waits until it has ended, is stalled
  // again, or waits.
  void Release(size_t n) {
    faulty_.ReleaseCalls(actors_[n]->thread.get_id());
    Await(*actors_[n], 0);
  }
  // Releases all calls, and waits for the ends of all actions, which have bounds now.
  void Finish() {
    faulty_.ReleaseCalls();
    for (const auto& actor : actors_) actor->thread.join();
    for (const auto& call : calls_) call->thread.join();
    faulty_.ClearFaults();
  }
  void ExpectToGoOn() {
    if (is_closed_) return;
    EXPECT_OK(database_->Resume());
    const size_t before = Acknowledged(true).size();
    Run(CrossedAction::kSyncedWrite);
    Run(CrossedAction::kBatch);
    EXPECT_EQ(Acknowledged(true).size(), before + 2);
    EXPECT_OK(database_->Close());
  }

 private:
  // Longer than a writer waits before it takes over from one that stalls.
  static constexpr absl::Duration kStallTimeout = absl::Milliseconds(kSlow ? 200 : 45);
  struct Actor {
    std::atomic<bool> may_begin{false};
    std::atomic<bool> has_ended{false};
    std::thread thread;
  };
  struct Called {
    const LimitedCall* call = nullptr;
    Cancellation cancellation;
    SteadyTime end;
    absl::Status status;
    std::atomic<bool> has_ended{false};
    std::thread thread;
  };
  struct Written {
    std::string row;
    bool is_batch = false;
    bool is_synced = false;
  };

  // Until the action has ended, so many calls are stalled (if not 0), or it waits.
  void Await(const Actor& actor, int stalled) const {
    const SteadyTime end = SteadyTime::Now() + kStallTimeout;
    while (!actor.has_ended && (stalled == 0 || faulty_.stalled() < stalled) &&
           SteadyTime::Now() < end) {
      absl::SleepFor(absl::Microseconds(50));
    }
  }

  // `work`: an actor or a call.
  template <typename Work>
  static bool EndsBy(const Work& work, SteadyTime end) {
    while (!work.has_ended && SteadyTime::Now() < end) absl::SleepFor(absl::Microseconds(50));
    return work.has_ended;
  }

  static std::unique_ptr<Database> Open(FileSystem* file_system, int servers = 1) {
    DatabaseOptions options = TestOptions();
    options.memory_budget = 16 << 20;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = servers;
    options.file_system = file_system;
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open("/db", options);
    EXPECT_OK(opened);
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  static bigtable::Table* Table(Database* database, std::string_view name) {
    const absl::StatusOr<bigtable::Table*> table = database->OpenTable(name);
    EXPECT_OK(table);
    return table.ok() ? *table : nullptr;
  }
  static bool Has(Database* database, std::string_view table, std::string_view row) {
    const absl::StatusOr<Row> read = Table(database, table)->ReadRow(row);
    EXPECT_OK(read);
    return read.ok() && !read->cells().empty();
  }

  void Run(CrossedAction action) {
    const absl::Time deadline = absl::Now() + deadline_;
    switch (action) {
      case CrossedAction::kSyncedWrite:
        return Write(10, Durability::kSync, deadline);
      case CrossedAction::kBufferedWrite:
        return Write(10, Durability::kBuffered, deadline);
      case CrossedAction::kLargeWrite:
        return Write(100'000, Durability::kBuffered, deadline);
      case CrossedAction::kBatch:
        return WriteTwo(deadline);
      case CrossedAction::kRead:
        return Read(deadline);
      case CrossedAction::kFlush:
        return database_->Flush("t", {.deadline = deadline}).IgnoreError();
      case CrossedAction::kCompact:
        return database_->Compact("t", {.deadline = deadline}).IgnoreError();
      case CrossedAction::kErase:
        return database_->Compact("empty", {.deadline = deadline}).IgnoreError();
      case CrossedAction::kCreateTable: {
        TableSchema schema;
        schema.families["f"] = {};
        return database_->CreateTable(Cat("made", ++next_), schema, {.deadline = deadline})
            .IgnoreError();
      }
      case CrossedAction::kResume:
        return database_->Resume({.deadline = deadline}).IgnoreError();
      case CrossedAction::kClose:
        is_closed_ = true;
        return database_->Close().IgnoreError();
    }
  }
  void Write(size_t size, Durability durability, absl::Time deadline) {
    const std::string row = Cat("row", ++next_);
    const absl::Status status =
        t_->Apply(RowMutation(row).Set("f:q", Timestamp(1), std::string(size, 'v')),
                  {.durability = durability, .deadline = deadline});
    if (status.ok()) Note({row, false, durability == Durability::kSync});
  }
  void WriteTwo(absl::Time deadline) {
    const std::string row = Cat("batch", ++next_);
    {
      MutexLock lock(&mutex_);
      batches_.push_back(row);
    }
    WriteBatch batch;
    for (const std::string_view name : {"t", "u"}) {
      const absl::StatusOr<bigtable::Table*> table = database_->OpenTable(name);
      if (!table.ok()) return;
      batch.Apply(*table, RowMutation(row).Set("f:q", Timestamp(1), "v"));
    }
    const absl::Status status =
        database_->Apply(batch, {.durability = Durability::kSync, .deadline = deadline});
    if (status.ok()) Note({row, true, true});
  }
  void Read(absl::Time deadline) {
    ReadOptions options;
    options.deadline = deadline;
    t_->ReadRow("first", Filter::PassAll(), options).status().IgnoreError();
  }

  void Note(Written written) {
    MutexLock lock(&mutex_);
    acknowledged_.push_back(std::move(written));
  }
  std::vector<Written> Acknowledged(bool only_synced) {
    MutexLock lock(&mutex_);
    std::vector<Written> all = acknowledged_;
    std::erase_if(all, [&](const Written& w) { return only_synced && !w.is_synced; });
    return all;
  }
  std::vector<std::string> Batches() {
    MutexLock lock(&mutex_);
    return batches_;
  }

  const std::unique_ptr<InMemoryFileSystem> disk_;
  FaultyFileSystem faulty_;
  std::unique_ptr<Database> database_;
  bigtable::Table* t_ = nullptr;
  bigtable::Table* u_ = nullptr;
  bigtable::Table* observed_ = nullptr;
  // A call that has a deadline hears it where the documentation says so.
  absl::Duration deadline_ = absl::Milliseconds(100);
  std::atomic<int> next_{0};
  std::atomic<bool> is_closed_{false};
  absl::Duration opening_;  // how long it took
  std::vector<std::unique_ptr<Actor>> actors_;
  std::vector<std::unique_ptr<Called>> calls_;

  Mutex mutex_;
  std::vector<Written> acknowledged_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> batches_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_STALL_CROSSING_H_
