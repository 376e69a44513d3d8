// A small deterministic scheduler: one action after the other begins on a commit log, each on a
// thread of its own, while earlier ones are stalled in a call of the file system that was chosen
// before, or have failed in it. Then the stalled calls are released. At every step, a crash of the
// process and of the machine must leave what was acknowledged, and in the end the log must go on.
//
// Which actions may run beside each other is the contract in commit_log.h: one thread at a time is
// the appending thread. Another one takes over only while it is in a guarded call, and then it does
// nothing more (GroupCommit does the same).
//
// An action that is neither at its end nor in its stalled call after kStallTimeout counts as
// blocked by another one. On a machine that is so busy that it merely was not scheduled, the
// actions are in another order than was planned, which must be right, too.
#ifndef BIGTABLE_TESTS_COMMITLOG_LOG_CROSSING_H_
#define BIGTABLE_TESTS_COMMITLOG_LOG_CROSSING_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "commitlog/log_test_util.h"
#include "support/seeds.h"

namespace bigtable {

enum class LogAction {
  // Of the appending thread.
  kWrite,      // one record, synced
  kRotate,     // large records, each flushed, into new segments; then a sync
  kStartNext,  // StartNextSegment
  kStartNew,   // the log fails, everything is flushed elsewhere, and StartNewSegment
  kClose,      // the end record
  // Takes over, if that is due.
  kSwitch,  // SwitchFile, a record, synced
  // Of any thread.
  kSync,
  kUpkeep,      // releases records, and prepares the spare
  kErase,       // PrepareFreshSpare
  kRemoveFree,  // RemoveFreeSegments
  kAttest,
  kFail,
};

inline constexpr LogAction kLogActions[] = {
    LogAction::kWrite, LogAction::kRotate,     LogAction::kStartNext, LogAction::kStartNew,
    LogAction::kClose, LogAction::kSwitch,     LogAction::kSync,      LogAction::kUpkeep,
    LogAction::kErase, LogAction::kRemoveFree, LogAction::kAttest,    LogAction::kFail,
};

inline bool IsOfAppendingThread(LogAction action) { return action <= LogAction::kClose; }

inline std::string_view NameOf(LogAction action) {
  constexpr std::string_view kNames[] = {"write", "rotate",      "start next", "start new",
                                         "close", "switch",      "sync",       "upkeep",
                                         "erase", "remove free", "attest",     "fail"};
  return kNames[static_cast<size_t>(action)];
}

class LogCrossing {
 public:
  // What happens to the n-th call of an action.
  struct Fault {
    enum class Kind { kNone, kStall, kFail };
    Kind kind = Kind::kNone;
    uint64_t call = 0;
    FaultyFileSystem::Done done = FaultyFileSystem::Done::kNothing;  // by a call that fails
  };

  // With `sync_stalls`, a sync of the active segment, of another thread, is stalled from before the
  // first action until after the last one.
  LogCrossing(bool is_mapped, bool sync_stalls)
      : fs_(&disk_, {.hide_log_mappings = !is_mapped}), log_(NewLog(&fs_)) {
    // Segments 1 to 3 are released, and kept or removed. A spare is there. Some records are synced.
    for (int i = 0; i < 13; ++i) EXPECT_OK(Append(4000));
    EXPECT_OK(log_->Sync());
    log_->ReleaseThrough(appended_ - 2);
    EXPECT_OK(log_->PrepareSpare());
    EXPECT_OK(Append(100));
    EXPECT_OK(log_->Sync());
    synced_ = appended_.load();
    EXPECT_OK(Append(100));
    EXPECT_OK(Append(100));
    if (sync_stalls) {
      Begin([this] { return Sync(); }, {Fault::Kind::kStall, 1});
      EXPECT_TRUE(fs_.WaitUntilStalled(1));
      holds_first_ = true;
    }
  }
  ~LogCrossing() {
    fs_.ReleaseCalls();
    for (const auto& actor : actors_) {
      if (actor->thread.joinable()) actor->thread.join();
    }
  }

  // Begins the action, and returns once it has ended, is stalled, or is blocked. Whether it has
  // come to the call of the fault.
  bool Begin(LogAction action, const Fault& fault) {
    if (IsOfAppendingThread(action)) is_led_ = true;
    return Begin([this, action] { return Run(action); }, fault);
  }

  // Releases the stalled calls, in this order or the reverse, and waits for the ends of all
  // actions.
  void Finish(bool reverse) {
    const size_t first = holds_first_ ? 1 : 0;
    for (size_t i = first; i < actors_.size(); ++i) {
      Actor& actor = *actors_[reverse ? actors_.size() - 1 - (i - first) : i];
      fs_.ReleaseCalls(actor.thread.get_id());
      // One that is blocked waits for another one.
      if (actor.is_stalled) AwaitProgress(actor);
    }
    fs_.ReleaseCalls();
    for (const auto& actor : actors_) actor->thread.join();
    fs_.ClearFaults();
    ExpectNothingLost();
  }

  // The log goes on: once more after each error that the contract allows.
  void ExpectToGoOn() {
    if (is_closed_) return;
    if (log_->failed()) {
      log_->ReleaseThrough(log_->last_sequence());
      ASSERT_OK(log_->StartNewSegment());
      appended_ = log_->last_sequence();
    }
    ASSERT_OK(log_->PrepareSpare());
    for (const size_t size : {100, 9000, 9000, 20000, 100}) ASSERT_OK(Append(size));
    ASSERT_OK(Sync());
    ExpectAfterCrash(disk_.CrashClone(++crashes_).get(), synced_);
    ASSERT_OK(log_->Close());
    const Replayed read = ReplayAll(&disk_, {.must_reach = appended_});
    ASSERT_OK(read.status);
    EXPECT_TRUE(read.end.clean);
  }

  // Checks what crashes now would leave.
  void ExpectNothingLost() {
    // Read before the crash.
    const SequenceNumber synced = synced_;
    const SequenceNumber flushed = flushed_;
    ExpectAfterCrash(disk_.CrashClone(++crashes_).get(), synced);
    ExpectAfterCrash(disk_.CrashClone(1, Unsynced::kEverything).get(), flushed);
  }

 private:
  static constexpr absl::Duration kStallTimeout = absl::Milliseconds(kSlow ? 50 : 4);

  struct Actor {
    std::atomic<bool> may_begin{false};
    std::atomic<bool> has_ended{false};
    bool is_stalled = false;  // once it has begun; used by the test's thread
    std::thread thread;
  };
  // As in GroupCommit: the appending thread is in a call in which another thread may take over.
  enum class Lead { kFree, kGuarded, kTaken };

  bool Begin(std::function<absl::Status()> run, const Fault& fault) {
    actors_.push_back(std::make_unique<Actor>());
    Actor& actor = *actors_.back();
    actor.thread = std::thread([&actor, run = std::move(run)] {
      while (!actor.may_begin) absl::SleepFor(absl::Microseconds(20));
      run().IgnoreError();
      actor.has_ended = true;
    });
    FileCallFilter filter{.kinds = {}, .path_contains = "", .thread = actor.thread.get_id()};
    const uint64_t faults = fs_.faults();
    const int stalled = fs_.stalled();
    if (fault.kind == Fault::Kind::kStall) {
      fs_.StallCalls(std::move(filter), fault.call);
    } else if (fault.kind == Fault::Kind::kFail) {
      fs_.CountCalls(std::move(filter));
      fs_.FailCall(fault.call, absl::UnavailableError("injected"), FaultyFileSystem::Repeat::kOnce,
                   fault.done);
    }
    actor.may_begin = true;
    AwaitProgress(actor);
    actor.is_stalled = fs_.stalled() > stalled;
    return actor.is_stalled || fs_.faults() > faults;
  }
  // Until it has ended, one more call than before is stalled, or it is blocked.
  void AwaitProgress(const Actor& actor) const {
    const int stalled = fs_.stalled();
    const SteadyTime end = SteadyTime::Now() + kStallTimeout;
    while (!actor.has_ended && fs_.stalled() <= stalled && SteadyTime::Now() < end) {
      absl::SleepFor(absl::Microseconds(20));
    }
  }

  // --- The actions ---

  absl::Status Run(LogAction action) {
    switch (action) {
      case LogAction::kWrite:
        BT_RETURN_IF_ERROR(AppendGuarded(100));
        return SyncGuarded();
      case LogAction::kRotate:
        for (int i = 0; i < 4; ++i) BT_RETURN_IF_ERROR(AppendGuarded(7000));
        return SyncGuarded();
      case LogAction::kStartNext:
        return log_->StartNextSegment();
      case LogAction::kStartNew:
        log_->Fail(absl::UnavailableError("failed"));
        log_->ReleaseThrough(log_->last_sequence());
        BT_RETURN_IF_ERROR(log_->StartNewSegment());
        appended_ = log_->last_sequence();
        return Append(100);
      case LogAction::kClose:
        is_closed_ = true;
        return log_->Close();
      case LogAction::kSwitch:
        return Switch();
      case LogAction::kSync:
        return Sync();
      case LogAction::kUpkeep:
        log_->ReleaseThrough(flushed_ - 1);
        return log_->PrepareSpare();
      case LogAction::kErase:
        return log_->PrepareFreshSpare().status();
      case LogAction::kRemoveFree:
        return log_->RemoveFreeSegments();
      case LogAction::kAttest:
        return log_->Attest();
      case LogAction::kFail:
        log_->Fail(absl::UnavailableError("failed"));
        return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  absl::Status AppendOnly(size_t size) {
    const SequenceNumber sequence = appended_ + 1;
    const std::string payload = Payload(sequence, size);
    const std::string_view part = payload;
    BT_RETURN_IF_ERROR(log_->Append(RecordType::kMutation, sequence, {&part, 1}, nullptr));
    appended_ = sequence;
    return absl::OkStatus();
  }
  absl::Status Append(size_t size) {
    BT_RETURN_IF_ERROR(AppendOnly(size));
    BT_RETURN_IF_ERROR(log_->Flush());
    flushed_ = appended_.load();
    return absl::OkStatus();
  }
  absl::Status Sync() {
    const SequenceNumber flushed = flushed_;
    BT_RETURN_IF_ERROR(log_->Sync());
    NoteSynced(flushed);
    return absl::OkStatus();
  }
  void NoteSynced(SequenceNumber sequence) {
    SequenceNumber before = synced_;
    while (before < sequence && !synced_.compare_exchange_weak(before, sequence)) {
    }
  }
  absl::Status AppendGuarded(size_t size) {
    BT_RETURN_IF_ERROR(AppendOnly(size));
    const SequenceNumber last = appended_;
    const bool flush = log_->NeedsFlush();
    BT_RETURN_IF_ERROR(Guarded([&] { return flush ? log_->Flush() : absl::OkStatus(); }));
    flushed_ = last;
    return absl::OkStatus();
  }
  absl::Status SyncGuarded() {
    return Guarded([this] { return Sync(); });
  }
  // Aborted: another thread has taken over.
  absl::Status Guarded(const std::function<absl::Status()>& call) {
    lead_ = Lead::kGuarded;
    const absl::Status status = call();
    Lead lead = Lead::kGuarded;
    if (!lead_.compare_exchange_strong(lead, Lead::kFree)) {
      return absl::AbortedError("another thread has taken over");
    }
    return status;
  }
  absl::Status Switch() {
    // Without a leader, it leads itself.
    Lead lead = is_led_ ? Lead::kGuarded : Lead::kFree;
    if (log_->StallTimeout(absl::Hours(1)) > absl::ZeroDuration()) return absl::OkStatus();
    if (!lead_.compare_exchange_strong(lead, Lead::kTaken)) return absl::OkStatus();
    BT_RETURN_IF_ERROR(log_->SwitchFile());
    flushed_ = appended_.load();
    BT_RETURN_IF_ERROR(Append(100));
    return Sync();
  }

  // --- What a crash leaves ---

  void ExpectAfterCrash(InMemoryFileSystem* disk, SequenceNumber least) {
    const Replayed read = ReplayAll(disk, {.must_reach = least});
    ASSERT_OK(read.status);
    for (size_t i = 0; i < read.sequences.size(); ++i) {
      const SequenceNumber sequence = read.sequences[i];
      ASSERT_EQ(sequence, read.sequences[0] + i);
      ASSERT_EQ(read.payloads[i], Payload(sequence, read.payloads[i].size()));
    }
    if (read.sequences.empty()) return;
    // What is missing at the beginning was released.
    ASSERT_LE(read.sequences[0], flushed_ + 1);
    ASSERT_GE(read.end.last_sequence, least);
  }

  InMemoryFileSystem disk_;
  FaultyFileSystem fs_;
  std::unique_ptr<CommitLog> log_;
  std::atomic<SequenceNumber> appended_{0};
  std::atomic<SequenceNumber> flushed_{0};
  std::atomic<SequenceNumber> synced_{0};
  std::atomic<Lead> lead_{Lead::kFree};
  std::atomic<bool> is_led_{false};  // an action of the appending thread has begun
  std::atomic<bool> is_closed_{false};
  bool holds_first_ = false;
  uint64_t crashes_ = 0;
  std::vector<std::unique_ptr<Actor>> actors_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_COMMITLOG_LOG_CROSSING_H_
