// The root tablet's state is the one before a commit or the one after, whatever fails.
#include "metadata/root_tablet.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "metadata/metadata_format.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

// Each change replaces the file of the one before it.
TabletChange Step(uint64_t n) {
  TabletChange change;
  change.added = {{n, {}}};
  change.added[0].info.file_number = n;
  change.added[0].info.largest_key = std::string(600, 'k');
  if (n > 1) change.removed = {n - 1};
  change.redo = RedoPoint{n * 10, "metadata-1", n * 10};
  change.last_timestamp = static_cast<int64_t>(n);
  return change;
}

// The step that the state has reached; 0 at the beginning. Fails if it is between two steps.
void ReadStep(FileSystem* file_system, uint64_t* step) {
  SmallFiles files(file_system, "/ls");
  RootTablet root(&files);
  ASSERT_TRUE(root.Exists());
  ASSERT_OK(root.Load());
  const TabletState found = root.state();
  *step = static_cast<uint64_t>(found.last_timestamp);
  TabletState expected;
  for (uint64_t n = 1; n <= *step; ++n) ApplyChange(Step(n), &expected);
  ASSERT_EQ(EncodeRoot({"", found}), EncodeRoot({"", expected}));
}

TEST(RootTabletTest, BeginsEmptyAndIsLoadedAsItWasCommitted) {
  InMemoryFileSystem memory;
  SmallFiles files(&memory, "/ls");
  RootTablet root(&files);
  EXPECT_FALSE(root.Exists());
  EXPECT_STATUS(kNotFound, "root", root.Load());
  uint64_t step = 1;
  ASSERT_OK(root.Create());
  ASSERT_NO_FATAL_FAILURE(ReadStep(&memory, &step));
  EXPECT_EQ(step, 0u);
  for (uint64_t n = 1; n <= 3; ++n) ASSERT_OK(root.Commit({kMetadataTableId}, Step(n)));
  EXPECT_EQ(root.state().last_timestamp, 3);
  ASSERT_NO_FATAL_FAILURE(ReadStep(&memory, &step));
  EXPECT_EQ(step, 3u);
}

// A failed commit may be found after a crash.
TEST(RootTabletTest, TheFilesOfAFailedCommitAreNamedUntilOneSucceeds) {
  InMemoryFileSystem memory;
  FaultyFileSystem faulty(&memory);
  SmallFiles files(&faulty, "/ls");
  RootTablet root(&files);
  ASSERT_OK(root.Create());
  ASSERT_OK(root.Commit({kMetadataTableId}, Step(1)));
  faulty.FailCalls({}, absl::UnavailableError("disk"));
  EXPECT_FALSE(root.Commit({kMetadataTableId}, Step(2)).ok());
  std::set<uint64_t> named;
  root.AddFiles(&named);
  EXPECT_EQ(named, (std::set<uint64_t>{1, 2}));
  faulty.ClearFaults();
  ASSERT_OK(root.Commit({kMetadataTableId}, Step(3)));
  named.clear();
  root.AddFiles(&named);
  EXPECT_EQ(named, (std::set<uint64_t>{1, 3}));  // 2, which step 3 replaces, never existed
}

TEST(RootTabletTest, AMalformedFileIsDataLoss) {
  InMemoryFileSystem memory;
  SmallFiles files(&memory, "/ls");
  RootTablet root(&files);
  ASSERT_OK(files.Write("root", "\x02\x01"));
  EXPECT_STATUS(kDataLoss, "root tablet", root.Load());
  ASSERT_OK(files.Write("root", "\x01"));
  EXPECT_STATUS(kFailedPrecondition, "version 1", root.Load());
}

TEST(RootTabletTest, AFailedCommitDoesNotChangeTheStateInMemory) {
  InMemoryFileSystem memory;
  FaultyFileSystem faulty(&memory);
  SmallFiles files(&faulty, "/ls");
  RootTablet root(&files);
  ASSERT_OK(root.Create());
  ASSERT_OK(root.Commit({kMetadataTableId}, Step(1)));
  faulty.FailCalls({{FileCall::kSync}, ""}, absl::UnavailableError("disk"));
  EXPECT_STATUS(kUnavailable, "disk", root.Commit({kMetadataTableId}, Step(2)));
  EXPECT_EQ(root.state().last_timestamp, 1);
  faulty.ClearFaults();
  EXPECT_OK(root.Commit({kMetadataTableId}, Step(2)));
  uint64_t step = 0;
  ASSERT_NO_FATAL_FAILURE(ReadStep(&memory, &step));
  EXPECT_EQ(step, 2u);
}

TEST(RootTabletTest, AfterAPowerLossTheStateIsTheOneBeforeOrTheOneAfter) {
  for (uint64_t call = 1, last = 100; call <= last; ++call) {
    InMemoryFileSystem memory;
    FaultyFileSystem faulty(&memory);
    SmallFiles files(&faulty, "/ls");
    RootTablet root(&files);
    ASSERT_OK(root.Create());
    ASSERT_OK(root.Commit({kMetadataTableId}, Step(1)));
    faulty.CountCalls();
    faulty.FailCall(
        call, absl::UnavailableError("power"), FaultyFileSystem::Repeat::kFromThenOn,
        call % 2 == 0 ? FaultyFileSystem::Done::kHalf : FaultyFileSystem::Done::kNothing);
    const bool committed = root.Commit({kMetadataTableId}, Step(2)).ok();
    if (committed) last = call;
    for (uint64_t seed = 0; seed < 30; ++seed) {
      SCOPED_TRACE(Cat("call ", call, ", seed ", seed));
      const auto found =
          memory.CrashClone(seed, seed == 0 ? Unsynced::kEverything : Unsynced::kRandomPart);
      uint64_t step = 0;
      ASSERT_NO_FATAL_FAILURE(ReadStep(found.get(), &step));
      ASSERT_GE(step, committed ? 2u : 1u);
      ASSERT_LE(step, 2u);
    }
    ASSERT_LT(call, 50u);
  }
}

}  // namespace
}  // namespace bigtable
