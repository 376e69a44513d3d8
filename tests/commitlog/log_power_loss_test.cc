// What replay finds after the machine or the process crashed at a random time.
#include <random>

#include "bigtable/testing/faulty_file_system.h"

#include "commitlog/log_test_util.h"

namespace bigtable {
namespace {

struct History {
  SequenceNumber appended = 0;
  SequenceNumber synced = 0;
  SequenceNumber released = 0;
};

// Expects a prefix of the appended records, without the released ones, that includes the records up
// to `at_least`.
void CheckFound(FileSystem* fs, const History& history, SequenceNumber at_least) {
  const Replayed read = ReplayAll(fs, {.must_reach = at_least});
  ASSERT_OK(read.status);
  SequenceNumber last = 0;
  if (!read.sequences.empty()) {
    last = read.sequences.back();
    ASSERT_EQ(read.sequences, Range(read.sequences.front(), last));
    ASSERT_LE(read.sequences.front(), history.released + 1);
    ASSERT_LE(last, history.appended);
    for (size_t i = 0; i < read.sequences.size(); ++i) {
      const std::string& payload = read.payloads[i];
      ASSERT_EQ(payload, Payload(read.sequences[i], payload.size()));
    }
  }
  ASSERT_GE(std::max(last, history.released), at_least);
}

// Appends, syncs, releases and does upkeep at random, and now and then simulates a power loss in a
// copy of the file system.
void LosePowerNowAndThen(uint32_t seed, bool mapped) {
  SCOPED_TRACE(Cat("seed ", seed, mapped ? " mapped" : " written"));
  std::mt19937 random(seed);
  InMemoryFileSystem memory;
  FaultyFileSystem fs(&memory, {.hide_log_mappings = !mapped});
  auto log = NewLog(&fs);
  History history;
  for (int step = 0; step < 300; ++step) {
    const uint32_t what = random() % 100;
    if (what < 70) {
      const size_t size = random() % 200 == 0 ? 40000 : random() % (what < 5 ? 9000 : 900);
      ++history.appended;
      ASSERT_OK(Add(log.get(), history.appended, Payload(history.appended, size)));
    } else if (what < 78) {
      ASSERT_OK(log->Sync());
      history.synced = history.appended;
    } else if (what < 84) {
      // Flushed records are durable elsewhere, even if the log is not.
      history.released = std::max(history.released, random() % (history.appended + 1));
      log->ReleaseThrough(history.released);
    } else if (what < 90) {
      ASSERT_OK(log->PrepareSpare());
    } else if (what < 98) {
      ASSERT_NO_FATAL_FAILURE(
          CheckFound(memory.CrashClone(random()).get(), history, history.synced));
    } else {
      ASSERT_NO_FATAL_FAILURE(CheckFound(memory.CrashClone(random(), Unsynced::kEverything).get(),
                                         history, history.appended));
    }
  }
}

TEST(LogPowerLossTest, APrefixWithAllSyncedRecordsIsFound) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    ASSERT_NO_FATAL_FAILURE(LosePowerNowAndThen(seed, seed % 2 == 0));
  }
}

// The times between two calls of the file system: each call in turn fails, and every later one too,
// as if power was lost; then power is really lost.
TEST(LogPowerLossTest, EveryFileSystemCallMayBeTheLast) {
  for (uint64_t call = 1;; ++call) {
    InMemoryFileSystem memory;
    FaultyFileSystem fs(&memory, {.hide_log_mappings = call % 2 == 0});
    fs.CountCalls();
    fs.FailCall(call, absl::UnavailableError("power"), FaultyFileSystem::Repeat::kFromThenOn,
                call % 3 == 0 ? FaultyFileSystem::Done::kHalf : FaultyFileSystem::Done::kNothing);
    History history;
    auto log = CommitLog::Create(&fs, "log", {.segment_size = kSmallSegment});
    bool created = log.ok();
    absl::Status status = log.status();
    while (status.ok() && history.appended < 40) {
      const SequenceNumber next = history.appended + 1;
      status = Add(log->get(), next, Payload(next, 3000));
      if (status.ok()) history.appended = next;
      if (status.ok() && next % 5 == 0) {
        status = (*log)->Sync();
        if (status.ok()) history.synced = next;
      }
      if (status.ok() && next % 7 == 0 && history.synced > 8) {
        history.released = history.synced - 8;
        (*log)->ReleaseThrough(history.released);
        status = (*log)->PrepareSpare();
      }
    }
    if (status.ok()) {
      EXPECT_GT(call, 40u);
      return;
    }
    ++history.appended;  // the record whose append failed may be found or not
    for (uint32_t seed = 0; seed < 8; ++seed) {
      auto clone =
          memory.CrashClone(seed, seed == 0 ? Unsynced::kEverything : Unsynced::kRandomPart);
      SCOPED_TRACE(Cat("call ", call, " seed ", seed));
      if (created) {
        ASSERT_NO_FATAL_FAILURE(
            CheckFound(clone.get(), history, seed == 0 ? history.appended - 1 : history.synced));
      } else {
        ASSERT_TRUE(ReplayAll(clone.get(), {.must_exist = false}).sequences.empty());
      }
    }
  }
}

}  // namespace
}  // namespace bigtable
