// Sorting, reading and removing when the file system returns errors, or power is lost.
#include "bigtable/testing/faulty_file_system.h"

#include "recovery/sorted_log_test_util.h"
#include "support/read_mode.h"

namespace bigtable {
namespace {

using testing::IsEmpty;
using Done = FaultyFileSystem::Done;
using Repeat = FaultyFileSystem::Repeat;

const SortLogOptions kOptions{.piece_size = 3000, .threads = 2};
const SortLogOptions kOtherOptions{.piece_size = 1700, .threads = 1};

// Expects a sorted log with exactly these records, or none. After a power loss there may also be
// one that is detected as incomplete.
void ExpectAllOrNothing(FileSystem* fs, const std::vector<TestRecord>& records, bool power_lost,
                        bool* all = nullptr) {
  auto log = SortedLog::Open(fs, "sorted", {.read_mode = TestReadMode()});
  if (all != nullptr) *all = log.ok();
  if (log.ok()) {
    ASSERT_NO_FATAL_FAILURE(ExpectRecords(**log, records));
  } else {
    ASSERT_TRUE(absl::IsNotFound(log.status()) || (power_lost && absl::IsDataLoss(log.status())))
        << log.status();
  }
}

// Sorts, over whatever exists, and checks the result.
void ExpectSortWorks(FileSystem* fs, const std::vector<TestRecord>& records,
                     const SortLogOptions& options = kOptions) {
  ASSERT_OK(SortTestLog(fs, options).status());
  auto log = SortedLog::Open(fs, "sorted", {.read_mode = TestReadMode()});
  ASSERT_OK(log.status());
  ASSERT_NO_FATAL_FAILURE(ExpectRecords(**log, records));
  // Nothing else is left of earlier sorts.
  ASSERT_EQ(SortedFiles(fs).size(), (*log)->pieces() + 1);
}

struct World {
  explicit World(const std::vector<TestRecord>& records) { WriteLog(&memory, records); }

  InMemoryFileSystem memory;
  FaultyFileSystem fs{&memory, {.hide_file_mappings = true}};
};

class SortedLogFailureTest : public testing::TestWithParam<std::tuple<Repeat, Done>> {
 protected:
  // Calls `run` with a world in which the n-th call fails, for every n, until none has failed.
  template <typename Prepare, typename Run>
  void ForEachCall(Prepare prepare, Run run) {
    for (uint64_t call = 1;; ++call) {
      SCOPED_TRACE(Cat("call ", call));
      World world(records_);
      prepare(&world);
      world.fs.CountCalls();
      world.fs.FailCall(call, absl::UnavailableError("injected"), std::get<0>(GetParam()),
                        std::get<1>(GetParam()));
      run(&world);
      if (HasFatalFailure()) return;
      if (world.fs.faults() == 0) {
        EXPECT_GT(call, 3u);
        return;
      }
    }
  }

  const std::vector<TestRecord> records_ = RandomRecords(1, 120, 200);
};
INSTANTIATE_TEST_SUITE_P(Ways, SortedLogFailureTest,
                         testing::Combine(testing::Values(Repeat::kOnce, Repeat::kFromThenOn),
                                          testing::Values(Done::kNothing, Done::kHalf, Done::kAll)),
                         [](const auto& param_info) {
                           const Repeat repeat = std::get<0>(param_info.param);
                           const Done done = std::get<1>(param_info.param);
                           return Cat(repeat == Repeat::kOnce ? "Once" : "FromThenOn",
                                      done == Done::kNothing ? "Nothing"
                                      : done == Done::kHalf  ? "Half"
                                                             : "All");
                         });

TEST_P(SortedLogFailureTest, AnyCallOfASortMayFail) {
  ForEachCall([](World*) {},
              [&](World* world) {
                const absl::Status status = SortTestLog(&world->fs, kOptions).status();
                const bool failed = world->fs.faults() > 0;
                world->fs.ClearFaults();
                ASSERT_EQ(status.ok(), !failed) << status;
                bool all;
                ASSERT_NO_FATAL_FAILURE(ExpectAllOrNothing(&world->fs, records_, false, &all));
                ASSERT_TRUE(all || failed);
                if (failed && std::get<0>(GetParam()) == Repeat::kOnce) {
                  ASSERT_THAT(SortedFiles(&world->fs), IsEmpty());  // its output was removed
                }
                ASSERT_NO_FATAL_FAILURE(ExpectSortWorks(&world->fs, records_, kOtherOptions));
              });
}

TEST_P(SortedLogFailureTest, AnyCallOfASortOverAnEarlierOneMayFail) {
  ForEachCall([](World* world) { ASSERT_OK(SortTestLog(&world->fs, kOtherOptions).status()); },
              [&](World* world) {
                const absl::Status status = SortTestLog(&world->fs, kOptions).status();
                const bool failed = world->fs.faults() > 0;
                world->fs.ClearFaults();
                ASSERT_EQ(status.ok(), !failed) << status;
                ASSERT_NO_FATAL_FAILURE(ExpectAllOrNothing(&world->fs, records_, false));
                ASSERT_NO_FATAL_FAILURE(ExpectSortWorks(&world->fs, records_));
              });
}

TEST_P(SortedLogFailureTest, AnyCallOfReadingMayFailAndNoWrongRecordIsDelivered) {
  ForEachCall([](World* world) { ASSERT_OK(SortTestLog(&world->fs, kOptions).status()); },
              [&](World* world) {
                auto log = SortedLog::Open(&world->fs, "sorted", {.read_mode = TestReadMode()});
                absl::Status status = log.status();
                if (log.ok()) {
                  const SortedRange range{.table_id = 1};
                  const ReadRecords read = ReadRange(**log, range);
                  status = read.status;
                  std::vector<TestRecord> expected = Expected(records_, EndsOf(**log), range);
                  ASSERT_LE(read.records.size(), expected.size());
                  if (!status.ok()) expected.resize(read.records.size());
                  ASSERT_EQ(read.records, expected);
                }
                ASSERT_EQ(status.code(), world->fs.faults() > 0 ? absl::StatusCode::kUnavailable
                                                                : absl::StatusCode::kOk);
              });
}

TEST_P(SortedLogFailureTest, AnyCallOfARemovalMayFailAndAnotherRemovalContinues) {
  ForEachCall([](World* world) { ASSERT_OK(SortTestLog(&world->fs, kOptions).status()); },
              [&](World* world) {
                const absl::Status status = RemoveSortedLog(&world->fs, "sorted");
                ASSERT_EQ(status.ok(), world->fs.faults() == 0);
                world->fs.ClearFaults();
                ASSERT_NO_FATAL_FAILURE(ExpectAllOrNothing(&world->fs, records_, false));
                ASSERT_OK(RemoveSortedLog(&world->fs, "sorted"));
                ASSERT_THAT(SortedFiles(&world->fs), IsEmpty());
              });
}

// --- Power loss ---

// Runs `run` with a power loss: call number `call` fails, and all later ones.
template <typename Run>
void LosePowerInEveryCall(const std::vector<TestRecord>& records, bool over_an_earlier_one,
                          Run run) {
  for (uint64_t call = 1;; ++call) {
    World world(records);
    if (over_an_earlier_one) {
      ASSERT_OK(SortTestLog(&world.fs, kOtherOptions).status());
      if (call % 2 == 0) {  // it may be durable or not
        for (const std::string& path : world.memory.AllFiles()) {
          world.memory.SetContents(path, world.memory.Contents(path));
        }
        ASSERT_OK(world.fs.SyncDirectory("sorted"));
      }
    }
    world.fs.CountCalls();
    world.fs.FailCall(call, absl::UnavailableError("power"), Repeat::kFromThenOn,
                      call % 3 == 0 ? Done::kHalf : Done::kNothing);
    run(&world.fs);
    const bool over = world.fs.faults() == 0;
    for (uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(Cat("call ", call, " seed ", seed));
      auto clone =
          world.memory.CrashClone(seed, seed == 0 ? Unsynced::kEverything : Unsynced::kRandomPart);
      ASSERT_NO_FATAL_FAILURE(ExpectAllOrNothing(clone.get(), records, true));
      ASSERT_NO_FATAL_FAILURE(ExpectSortWorks(clone.get(), records));
    }
    if (over) {
      EXPECT_GT(call, 3u);
      return;
    }
  }
}

class SortedLogPowerLossTest : public testing::Test {
 protected:
  const std::vector<TestRecord> records_ = RandomRecords(2, 60, 200);
};

TEST_F(SortedLogPowerLossTest, AnyCallOfASortMayBeTheLast) {
  LosePowerInEveryCall(records_, /*over_an_earlier_one=*/false,
                       [](FileSystem* fs) { (void)SortTestLog(fs, kOptions); });
}

TEST_F(SortedLogPowerLossTest, AnyCallOfASortOverAnEarlierOneMayBeTheLast) {
  LosePowerInEveryCall(records_, /*over_an_earlier_one=*/true,
                       [](FileSystem* fs) { (void)SortTestLog(fs, kOptions); });
}

TEST_F(SortedLogPowerLossTest, AnyCallOfARemovalMayBeTheLast) {
  LosePowerInEveryCall(records_, /*over_an_earlier_one=*/true,
                       [](FileSystem* fs) { (void)RemoveSortedLog(fs, "sorted"); });
}

TEST_F(SortedLogPowerLossTest, ARemovedSortedLogDoesNotComeBack) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    InMemoryFileSystem fs;
    ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, records_));
    ASSERT_OK(SortTestLog(&fs, kOptions).status());
    if (seed % 2 == 0) {
      ASSERT_OK(fs.SyncDirectory("sorted"));
    }
    ASSERT_OK(RemoveSortedLog(&fs, "sorted"));
    auto clone = fs.CrashClone(seed);
    ASSERT_TRUE(absl::IsNotFound(
        SortedLog::Open(clone.get(), "sorted", {.read_mode = TestReadMode()}).status()));
  }
}

// For example another log in the same directory: remains of the earlier sort must not be mixed with
// the later one.
TEST_F(SortedLogPowerLossTest, PiecesOfAnEarlierSortAreNeverUsedForALaterOne) {
  const std::vector<TestRecord> others = RandomRecords(3, 60, 200);
  int whole = 0;
  int none = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(Cat("seed ", seed));
    InMemoryFileSystem fs;
    ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, others));
    ASSERT_OK(SortTestLog(&fs, kOptions).status());
    for (const std::string& path : fs.AllFiles()) {
      if (path.starts_with("/log/")) {
        ASSERT_OK(fs.RemoveFile(path));
      }
    }
    ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, records_));
    ASSERT_OK(SortTestLog(&fs, kOptions).status());
    auto clone = fs.CrashClone(seed);
    auto log = SortedLog::Open(clone.get(), "sorted", {.read_mode = TestReadMode()});
    if (log.ok()) {
      ++whole;
      const auto& expected =
          (*log)->last_sequence() == records_.back().sequence ? records_ : others;
      ASSERT_NO_FATAL_FAILURE(ExpectRecords(**log, expected));
    } else {
      ++none;
      ASSERT_TRUE(absl::IsNotFound(log.status()) || absl::IsDataLoss(log.status()));
    }
  }
  EXPECT_GT(none, 0);
  EXPECT_LT(whole, 300);
}

// If Open returns OK without verifying, bytes of blocks may be missing: that is documented.
TEST_F(SortedLogPowerLossTest, LostBlocksAreDetectedWhenTheyAreRead) {
  int lost = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    InMemoryFileSystem fs;
    ASSERT_NO_FATAL_FAILURE(WriteLog(&fs, records_));
    ASSERT_OK(SortTestLog(&fs, {.piece_size = 1 << 20, .threads = 1}).status());
    ASSERT_OK(fs.SyncDirectory("sorted"));
    auto clone = fs.CrashClone(seed);
    auto log =
        SortedLog::Open(clone.get(), "sorted", {.read_mode = TestReadMode(), .verify = false});
    if (!log.ok()) continue;
    const ReadRecords read = ReadEverything(**log);
    if (read.status.ok()) {
      ASSERT_NO_FATAL_FAILURE(ExpectRecords(**log, records_));
    } else {
      ++lost;
      ASSERT_TRUE(absl::IsDataLoss(read.status));
      ASSERT_FALSE(SortedLog::Open(clone.get(), "sorted", {.read_mode = TestReadMode()}).ok());
    }
  }
  EXPECT_GT(lost, 0);
}

}  // namespace
}  // namespace bigtable
