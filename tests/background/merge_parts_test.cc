// A merge in several parts: the same entries as in one, and nothing is left of it after an error.
#include "background/merge_parts.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "base/entry_key.h"
#include "base/steady_time.h"
#include "compaction/paid_input.h"
#include "compaction/rate_limiter.h"
#include "compaction/sorted_run.h"
#include "memtable/memtable_cursor.h"
#include "support/entry_text.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/scoped_merge_part.h"
#include "support/test_sstables.h"

namespace bigtable {
namespace {

class MergePartsTest : public testing::Test {
 protected:
  MergePartsTest() {
    job_.file_system = &faulty_;
    job_.new_file_number = [this] { return ++last_number_; };
    job_.path_of = TestSSTables::PathOf;
    job_.retention.families = {{.name = "f", .versions = {}}};
    job_.target_file_size = 16 << 10;
  }

  // A run of one file with cells of random rows out of `rows`.
  SortedRun RandomRun(int entries, int rows) {
    const Ref<Memtable> memtable = NewTestMemtable();
    for (int i = 0; i < entries; ++i) {
      std::string key =
          RowPrefix(absl::StrCat(100'000 + random_.Below(static_cast<uint64_t>(rows))));
      AppendColumn(&key, "f", absl::StrCat(random_.Below(3)));
      AppendTrailer(&key, random_.Between(1, 3), {++sequence_, 0}, EntryKind::kCell);
      memtable->Add(key, std::string(random_.Below(200), 'v'));
    }
    MemtableCursor cursor(memtable.get());
    const LocalityGroup group{.block_size = 1 << 10};
    return SortedRun({tables_.Open(tables_.Write(&cursor, ++last_number_, group))});
  }

  absl::StatusOr<std::vector<SSTableInfo>> Run(int threads, const KeyRange& keys = AllKeys()) {
    return RunMergeParts(job_, runs_, keys, threads, &outcome_);
  }
  static KeyRange AllKeys() { return KeyRange(RowRange::All()); }
  // All entries of the files, which must be one sorted run.
  std::vector<std::string> Entries(const std::vector<SSTableInfo>& files) {
    SortedRun run;
    for (const SSTableInfo& info : files) {
      if (!run.files.empty()) {
        EXPECT_LT(run.largest_key(), info.smallest_key);
      }
      run.files.push_back(tables_.Open(info));
    }
    std::vector<std::string> entries;
    RunCursor cursor(&run, {});
    for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
      entries.push_back(absl::StrCat(ToAbsl(cursor.key()), "=", ToAbsl(cursor.value())));
    }
    EXPECT_OK(cursor.status());
    return entries;
  }
  size_t FilesThere() { return tables_.file_system()->AllFiles().size(); }

  ScopedMergePart parts_{1};
  TestSSTables tables_;
  FaultyFileSystem faulty_{tables_.file_system()};
  Random random_{1};
  uint64_t sequence_ = 0;
  uint64_t last_number_ = 0;
  CompactionJob job_;
  std::vector<SortedRun> runs_;
  CompactionOutcome outcome_;
};

TEST_F(MergePartsTest, WriteTheSameEntriesInAnyNumber) {
  std::atomic<uint64_t> numbers{100};
  job_.new_file_number = [&] { return ++numbers; };
  for (const int rows : {1, 2, 5, 1000}) {
    runs_ = {RandomRun(300, rows), RandomRun(300, rows), RandomRun(300, rows)};
    const absl::StatusOr<std::vector<SSTableInfo>> whole = Run(1);
    ASSERT_OK(whole);
    const std::vector<std::string> entries = Entries(*whole);
    for (const int threads : {2, 3, 7, 64}) {
      const absl::StatusOr<std::vector<SSTableInfo>> files = Run(threads);
      ASSERT_OK(files);
      EXPECT_EQ(Entries(*files), entries) << rows << " rows, " << threads << " threads";
      if (rows == 1000) {
        EXPECT_GE(files->size(), std::min<size_t>(static_cast<size_t>(threads), 20));
      }
    }
  }
}

TEST_F(MergePartsTest, AreOfTheTabletsRowsAlone) {
  runs_ = {RandomRun(1000, 1000)};
  const KeyRange keys(RowRange::RightOpen("100200", "100300"));
  ASSERT_OK_AND_ASSIGN(const std::vector<SSTableInfo> whole, Run(1, keys));
  ASSERT_OK_AND_ASSIGN(const std::vector<SSTableInfo> files, Run(4, keys));
  EXPECT_GE(files.size(), 3u);
  EXPECT_EQ(Entries(files), Entries(whole));
}

TEST_F(MergePartsTest, CutsAreRowsThatDivideTheBytes) {
  runs_ = {RandomRun(1000, 1000), RandomRun(1000, 1000)};
  const std::vector<std::string> cuts = CutsOf(runs_, AllKeys(), 4);
  ASSERT_EQ(cuts.size(), 3u);
  for (size_t i = 0; i < cuts.size(); ++i) {
    EXPECT_EQ(RowPrefixSize(cuts[i]), cuts[i].size());
    const std::string expected = RowPrefix(absl::StrCat(100'000 + 250 * (i + 1)));
    EXPECT_NEAR(static_cast<double>(runs_[0].files[0]->BytesBefore(cuts[i])),
                static_cast<double>(runs_[0].files[0]->BytesBefore(expected)),
                static_cast<double>(runs_[0].bytes()) / 10);
  }
  // One row is never cut, and neither is what is too little.
  const std::vector<SortedRun> one_row = {RandomRun(1000, 1)};
  EXPECT_TRUE(CutsOf(one_row, AllKeys(), 4).empty());
  const ScopedMergePart large(runs_[0].bytes() * 9 / 10);
  EXPECT_EQ(CutsOf(runs_, AllKeys(), 4).size(), 1u);
  least_merge_part = 1 << 30;
  EXPECT_TRUE(CutsOf(runs_, AllKeys(), 4).empty());
}

TEST_F(MergePartsTest, NothingIsLeftAfterAnErrorOfOneOfThem) {
  std::atomic<uint64_t> numbers{100};
  job_.new_file_number = [&] { return ++numbers; };
  runs_ = {RandomRun(2000, 1000), RandomRun(2000, 1000)};
  const size_t files = FilesThere();
  for (uint64_t call = 1; call < 60; call += 3) {
    faulty_.CountCalls({.kinds = {FileCall::kAppend}});
    faulty_.FailCall(call, absl::ResourceExhaustedError("no space"));
    const absl::StatusOr<std::vector<SSTableInfo>> written = Run(4);
    if (faulty_.calls() < call) break;
    EXPECT_STATUS(kResourceExhausted, "no space", written) << call;
    EXPECT_EQ(FilesThere(), files) << call;
  }
  faulty_.ClearFaults();
  EXPECT_OK(Run(4));
}

// The others would take minutes at this rate.
TEST_F(MergePartsTest, OneThatFailsStopsTheOthers) {
  std::atomic<uint64_t> numbers{100};
  job_.new_file_number = [&] { return ++numbers; };
  RateLimiter limiter(1000);
  job_.rate_limiter = &limiter;
  runs_ = {RandomRun(4000, 1000)};
  ASSERT_GT(runs_[0].bytes() / 3, 2 * PaidInput::kPayEvery);
  faulty_.CountCalls({.kinds = {FileCall::kNewWritableFile}});
  faulty_.FailCall(1, absl::ResourceExhaustedError("no space"));
  const SteadyTime begin = SteadyTime::Now();
  EXPECT_STATUS(kResourceExhausted, "no space", Run(3));
  EXPECT_LT(SteadyTime::Now() - begin, absl::Seconds(30));
}

TEST_F(MergePartsTest, TheUnreadableFileIsNamed) {
  std::atomic<uint64_t> numbers{100};
  job_.new_file_number = [&] { return ++numbers; };
  runs_ = {RandomRun(2000, 1000), RandomRun(2000, 1000)};
  const uint64_t damaged = runs_[1].files[0]->info().file_number;
  // A block of the third part.
  std::string bytes = tables_.file_system()->Contents(TestSSTables::PathOf(damaged));
  const uint64_t at = runs_[1].files[0]->BytesBefore(RowPrefix("100700"));
  bytes[at + 20] = static_cast<char>(bytes[at + 20] ^ 1);
  tables_.file_system()->SetContents(TestSSTables::PathOf(damaged), bytes);
  runs_[1] = SortedRun({tables_.Open(runs_[1].files[0]->info())});
  const size_t files = FilesThere();
  EXPECT_EQ(Run(4).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(outcome_.unreadable_file, damaged);
  EXPECT_EQ(FilesThere(), files);
}

TEST_F(MergePartsTest, ACancelledOneEndsThemAll) {
  std::atomic<uint64_t> numbers{100};
  job_.new_file_number = [&] { return ++numbers; };
  runs_ = {RandomRun(2000, 1000)};
  const std::atomic<bool> cancelled = true;
  job_.cancelled = &cancelled;
  const size_t files = FilesThere();
  EXPECT_EQ(Run(4).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(FilesThere(), files);
}

}  // namespace
}  // namespace bigtable
