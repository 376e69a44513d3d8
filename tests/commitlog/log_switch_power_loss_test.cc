// What replay finds after the machine or the process crashed at a random time, in a log whose syncs
// stall now and then.
#include <random>
#include <vector>

#include "absl/time/clock.h"

#include "commitlog/log_test_util.h"

namespace bigtable {
namespace {

class StallingHistory {
 public:
  StallingHistory(uint32_t seed, bool mapped)
      : random_(seed), fs_(&memory_, {.hide_log_mappings = !mapped}), log_(NewLog(&fs_)) {}

  void Step() {
    const uint32_t what = random_() % 100;
    if (what < 60) {
      ++appended_;
      const size_t size = random_() % 200 == 0 ? 40000 : random_() % (what < 5 ? 9000 : 900);
      ASSERT_OK(Add(log_.get(), appended_, Payload(appended_, size)));
    } else if (what < 70) {
      // Also while another sync stalls: it does not need the slow file.
      ASSERT_OK(log_->Sync());
      synced_ = appended_;
    } else if (what < 75) {
      released_ = std::max(released_, random_() % (appended_ + 1));
      log_->ReleaseThrough(released_);
    } else if (what < 80) {
      ASSERT_OK(log_->PrepareSpare());
    } else if (what < 86) {
      ASSERT_NO_FATAL_FAILURE(StallAndSwitch());
    } else if (what < 90) {
      ASSERT_NO_FATAL_FAILURE(Release());
    } else if (what < 97) {
      ASSERT_NO_FATAL_FAILURE(ExpectAfterPowerLoss());
    } else {
      ASSERT_NO_FATAL_FAILURE(ExpectAfterCrash());
    }
  }
  // The stalled call returns, perhaps with an error, which must have no effect.
  void Release() {
    if (stalled_ == nullptr) return;
    if (random_() % 2 == 0) {
      fs_.FailCalls({.kinds = {FileCall::kLogSync}, .path_contains = SegmentName(slow_)},
                    absl::UnavailableError("injected"));
    }
    fs_.ReleaseCalls();
    ASSERT_OK(stalled_->Wait());
    synced_ = std::max(synced_, appended_at_stall_);
    stalled_ = nullptr;
    fs_.ClearFaults();
  }
  uint64_t switches() const { return log_->statistics().switches; }

 private:
  void StallAndSwitch() {
    if (stalled_ != nullptr || log_->synced_offset() == log_->end_offset()) return;
    ASSERT_OK(log_->PrepareSpare());
    slow_ = log_->end_offset() >> kSegmentShift;
    for (const uint64_t number : SegmentNumbers(&fs_)) {
      if (number <= slow_) {
        fs_.StallCalls({.kinds = {FileCall::kLogSync}, .path_contains = SegmentName(number)});
      }
    }
    appended_at_stall_ = appended_;
    stalled_ = std::make_unique<StallingSync>(log_.get(), &fs_);
    ASSERT_NO_FATAL_FAILURE(ExpectAfterPowerLoss());
    if (log_->StallTimeout(absl::Seconds(9)) > absl::ZeroDuration()) {  // too much is at risk
      stalled_ = nullptr;
      synced_ = appended_;
      return;
    }
    ASSERT_OK(log_->SwitchFile());
    ASSERT_EQ(log_->end_offset() >> kSegmentShift, slow_ + 1);
    ASSERT_NO_FATAL_FAILURE(ExpectAfterPowerLoss());
    ASSERT_NO_FATAL_FAILURE(ExpectAfterCrash());
  }

  void ExpectAfterPowerLoss() { Expect(memory_.CrashClone(random_()).get(), synced_); }
  void ExpectAfterCrash() {
    Expect(memory_.CrashClone(random_(), Unsynced::kEverything).get(), appended_);
  }
  // Expects a prefix of the appended records, without the released ones.
  void Expect(FileSystem* fs, SequenceNumber at_least) {
    const Replayed read = ReplayAll(fs, {.must_reach = at_least});
    ASSERT_OK(read.status);
    if (read.sequences.empty()) return;
    const SequenceNumber last = read.sequences.back();
    ASSERT_EQ(read.sequences, Range(read.sequences.front(), last));
    ASSERT_LE(read.sequences.front(), released_ + 1);
    ASSERT_LE(last, appended_);
    for (size_t i = 0; i < read.sequences.size(); ++i) {
      ASSERT_EQ(read.payloads[i], Payload(read.sequences[i], read.payloads[i].size()));
    }
  }

  std::mt19937 random_;
  InMemoryFileSystem memory_;
  FaultyFileSystem fs_;
  std::unique_ptr<CommitLog> log_;
  std::unique_ptr<StallingSync> stalled_;
  uint64_t slow_ = 0;  // the segment that was active when the stall began
  SequenceNumber appended_at_stall_ = 0;
  SequenceNumber appended_ = 0;
  SequenceNumber synced_ = 0;
  SequenceNumber released_ = 0;
};

TEST(LogSwitchPowerLossTest, APrefixWithAllSyncedRecordsIsFoundDespiteStalls) {
  uint64_t switches = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(Cat("seed ", seed));
    StallingHistory history(seed, seed % 2 == 0);
    for (int step = 0; step < 300; ++step) ASSERT_NO_FATAL_FAILURE(history.Step()) << step;
    ASSERT_NO_FATAL_FAILURE(history.Release());
    switches += history.switches();
  }
  EXPECT_GT(switches, 100u);
}

// From the switch on, each call of the file system fails in turn, and every later one too, as if
// power was lost; then power is really lost.
TEST(LogSwitchPowerLossTest, EveryFileSystemCallOfASwitchMayBeTheLast) {
  for (const bool mapped : {false, true}) {
    for (uint64_t call = 1;; ++call) {
      SCOPED_TRACE(Cat("call ", call, mapped ? " mapped" : " written"));
      InMemoryFileSystem memory;
      FaultyFileSystem fs(&memory, {.hide_log_mappings = !mapped});
      auto log = NewLog(&fs);
      for (SequenceNumber s = 1; s <= 6; ++s) {
        ASSERT_OK(Add(log.get(), s, Payload(s, 700)));
        if (s == 3) {
          ASSERT_OK(log->Sync());
        }
      }
      ASSERT_OK(log->PrepareSpare());
      fs.StallCalls({.kinds = {FileCall::kLogSync}, .path_contains = SegmentName(1)});
      StallingSync sync(log.get(), &fs);
      fs.CountCalls();
      fs.FailCall(call, absl::UnavailableError("power"), FaultyFileSystem::Repeat::kFromThenOn,
                  call % 3 == 0 ? FaultyFileSystem::Done::kHalf : FaultyFileSystem::Done::kNothing);
      std::thread release([&] {
        absl::SleepFor(absl::Milliseconds(5));
        fs.ReleaseCalls();  // if the switch waits for it
      });
      SequenceNumber appended = 6;
      SequenceNumber synced = 3;
      absl::Status status = log->SwitchFile();
      if (status.ok()) status = log->Sync();
      if (status.ok()) synced = appended;
      while (status.ok() && appended < 12) {
        ++appended;
        status = Add(log.get(), appended, Payload(appended, 700));
        if (status.ok() && appended % 3 == 0) {
          status = log->Sync();
          if (status.ok()) synced = appended;
        }
      }
      release.join();
      const bool over = fs.faults() == 0;
      for (uint64_t seed = 0; seed < 8; ++seed) {
        auto clone =
            memory.CrashClone(seed, seed == 0 ? Unsynced::kEverything : Unsynced::kRandomPart);
        const Replayed read = ReplayAll(clone.get(), {.must_reach = synced});
        ASSERT_OK(read.status);
        ASSERT_EQ(read.sequences, Range(1, read.end.last_sequence));
        if (seed == 0) {
          ASSERT_GE(read.end.last_sequence, std::max<SequenceNumber>(6, appended - 1));
        }
        ASSERT_LE(read.end.last_sequence, appended);
      }
      if (over) break;
    }
  }
}

}  // namespace
}  // namespace bigtable
