// What a compaction policy of a program can ask for, on a whole database: outputs with options of
// their own, pushes of several files, waits, reasons, and a state that stays.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/mutex.h"
#include "compaction/policies.h"
#include "support/database_peer.h"
#include "support/expect_status.h"
#include "support/policy_fixture.h"
#include "support/scoped_merge_part.h"

namespace bigtable {
namespace {

using Kind = CompactionPick::Kind;

class PolicyPicksTest : public PolicyFixture {};

// Merges everything as soon as there are two runs.
std::optional<CompactionPick> MergeAll(const GroupSummary& group, CompactionPick pick) {
  if (group.runs.size() < 2) return std::nullopt;
  pick.first = 0;
  pick.count = group.runs.size();
  return pick;
}

TEST_F(PolicyPicksTest, AnOutputHasTheOptionsOfItsPick) {
  const CompactionOutput output{.compression = Compression::kZstd,
                                .compression_level = 1,
                                .block_size = size_t{1} << 10,
                                .filter = FilterKind::kRow,
                                .filter_bits = 20};
  WriteRun("a", 0, 300);
  UsePicker([&](const GroupSummary& group) {
    return MergeAll(group, {.output = output, .reason = "two runs"});
  });
  WriteRun("a", 100, 300);
  UsePicker(nullptr);
  ASSERT_EQ(Runs().size(), 1u);
  const SortedRun run = Runs()[0];
  for (const Ref<SSTable>& file : run.files) {
    ASSERT_OK(file->EnsureOpen());
    EXPECT_EQ(file->properties().compression, Compression::kZstd);
    // 14 probes for 20 bits, 7 for the ten of the group.
    EXPECT_GT(file->properties().filter_probes, 10u);
    EXPECT_GE(file->properties().blocks, 20u);
  }
  EXPECT_EQ(reasons_.Take(1), std::vector<std::string>{"two runs"});
  EXPECT_EQ(Count(), 400u);
  // A flush has the group's own.
  WriteRun("b", 0, 10);
  const GroupSummary shown = Shown();
  ASSERT_EQ(shown.runs.size(), 1u);  // disjoint files are one run
  EXPECT_EQ(Runs()[0].files.back()->properties().compression, Compression::kNone);
}

TEST_F(PolicyPicksTest, AnOutputEndsItsFilesAtItsSize) {
  WriteRun("a", 0, 300);
  EXPECT_EQ(Runs()[0].files.size(), 1u);
  UsePicker([&](const GroupSummary& group) {
    return MergeAll(group, {.output = {.file_size = uint64_t{64} << 10}});
  });
  WriteRun("a", 0, 300);
  UsePicker(nullptr);
  ASSERT_EQ(Runs().size(), 1u);
  EXPECT_GE(Runs()[0].files.size(), 4u);
  EXPECT_LE(Runs()[0].files.size(), 5u);
  EXPECT_EQ(Count(), 300u);
}

TEST_F(PolicyPicksTest, AFlushHasTheOptionsOfItsPolicy) {
  UseFlushOutput({.compression = Compression::kZstd, .filter_bits = 20});
  WriteRun("a", 0, 100);
  SortedRun run = Runs()[0];
  EXPECT_EQ(run.files[0]->properties().compression, Compression::kZstd);
  EXPECT_GT(run.files[0]->properties().filter_probes, 10u);
  // One that is not valid: the flush goes on with those of the group.
  UseFlushOutput({.compression = Compression::kZstd, .filter_bits = 99});
  WriteRun("b", 0, 100);
  run = Runs()[0];
  ASSERT_EQ(run.files.size(), 2u);
  EXPECT_EQ(run.files[1]->properties().compression, Compression::kNone);
  EXPECT_NE(file_system_->Contents("/db/LOG").find(
                "compaction policy \"test\", for a flush of table \"t\": filter_bits"),
            std::string::npos)
      << file_system_->Contents("/db/LOG");
  UseFlushOutput({});
  EXPECT_EQ(Count(), 200u);
}

TEST_F(PolicyPicksTest, AMergeOfSomeFilesLeavesTheOthers) {
  WriteRun("a", 0, 10);
  WriteRun("b", 0, 10);  // the same run
  WriteRun("a", 0, 10, "w");
  WriteRun("b", 0, 10, "w");
  ASSERT_EQ(Runs().size(), 2u);
  UsePicker([](const GroupSummary& group) -> std::optional<CompactionPick> {
    if (group.runs[0].files.size() < 2) return std::nullopt;
    return CompactionPick{.count = 2, .files = {group.runs[0].files[0].number}};
  });
  ASSERT_OK(database_->WaitUntilQuiet());
  UsePicker(nullptr);
  const std::vector<SortedRun> runs = Runs();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].files.size(), 1u);
  EXPECT_EQ(runs[1].files.size(), 2u);
  EXPECT_EQ(runs[1].entries(), 20u);  // the older cells of a are gone
  EXPECT_EQ(Count(), 20u);
}

// What is not of the rows is in files of its own, in its own run.
TEST_F(PolicyPicksTest, AMergeOfSomeRowsCutsFilesThatReachAcrossThem) {
  WriteRun("a", 0, 10);
  WriteRun("a", 0, 10, "w");
  UsePicker([](const GroupSummary& group) -> std::optional<CompactionPick> {
    if (group.runs[0].files.size() > 1) return std::nullopt;
    EXPECT_EQ(RowOfKey(group.runs[0].files[0].smallest_key), "a0000");
    return CompactionPick{
        .count = 2, .rows = RowRange::RightOpen("a0003", "a0007"), .reason = "rows"};
  });
  ASSERT_OK(database_->WaitUntilQuiet());
  UsePicker(nullptr);
  const auto entries = [&] {
    std::vector<std::vector<uint64_t>> of_runs;
    for (const SortedRun& run : Runs()) {
      std::vector<uint64_t>& of_run = of_runs.emplace_back();
      for (const Ref<SSTable>& file : run.files) of_run.push_back(file->info().entries);
    }
    return of_runs;
  };
  const std::vector<std::vector<uint64_t>> expected = {{3, 3}, {3, 4, 3}};
  EXPECT_EQ(entries(), expected);
  EXPECT_EQ(reasons_.Take(1), std::vector<std::string>{"rows"});
  const auto values = [&] {
    std::string all;
    for (RowReader reader = table_->ReadRows(RowRange()); reader.Next();) {
      all += reader.row().cells()[0].value[0];
    }
    return all;
  };
  EXPECT_EQ(values(), "wwwwwwwwww");
  ReopenIt();
  EXPECT_EQ(entries(), expected);
  EXPECT_EQ(values(), "wwwwwwwwww");
}

TEST_F(PolicyPicksTest, SeveralThreadsWriteOneRun) {
  const ScopedMergePart parts(1 << 10);
  WriteRun("a", 0, 300);
  UsePicker([](const GroupSummary& group) {
    return MergeAll(group, {.reason = "threads", .threads = 3});
  });
  WriteRun("a", 100, 300, "w");
  UsePicker(nullptr);
  ASSERT_EQ(Runs().size(), 1u);
  EXPECT_EQ(Runs()[0].files.size(), 3u);
  EXPECT_EQ(Runs()[0].entries(), 400u);
  EXPECT_EQ(reasons_.Take(1), std::vector<std::string>{"threads"});
  ReopenIt();
  EXPECT_EQ(Count(), 400u);
}

TEST_F(PolicyPicksTest, TheTimeOfTheOldestDeletionIsKeptByMergesAndRecovery) {
  const absl::Time begin = absl::FromUnixMicros(1'000'000);
  const auto at = [&](int64_t micros) {
    clock_.Set(1'000'000 + micros);
    return begin + absl::Microseconds(micros);
  };
  const auto time_of = [](const GroupSummary& group, size_t run) {
    return group.runs[run].files[0].oldest_deletion;
  };
  at(0);
  Set(table_, "b", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(time_of(Shown(), 0), absl::InfiniteFuture());
  const absl::Time first = at(10);
  ASSERT_OK(table_->Apply(RowMutation("b").DeleteRow()));
  at(20);
  ASSERT_OK(table_->Apply(RowMutation("b").Delete("f:q")));
  ASSERT_OK(database_->Flush("t"));
  at(30);
  EXPECT_EQ(time_of(Shown(), 0), first);
  EXPECT_EQ(time_of(Shown(), 1), absl::InfiniteFuture());
  const absl::Time second = at(100);
  ASSERT_OK(table_->Apply(RowMutation("b").DeleteCell("f:q", Timestamp(1))));
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(time_of(Shown(), 0), second);

  // Above the oldest run deletions stay, with the time of the oldest.
  UsePicker([](const GroupSummary& group) -> std::optional<CompactionPick> {
    if (group.runs.size() < 3) return std::nullopt;
    return CompactionPick{.first = 0, .count = 2};
  });
  ASSERT_OK(database_->WaitUntilQuiet());
  UsePicker(nullptr);
  GroupSummary shown = Shown();
  ASSERT_EQ(shown.runs.size(), 2u);
  EXPECT_EQ(time_of(shown, 0), first);
  ReopenIt();
  EXPECT_EQ(time_of(Shown(), 0), first);

  // A deletion that is only in the log is found again with its time, or an earlier one.
  const absl::Time third = at(200);
  ASSERT_OK(table_->Apply(RowMutation("b").DeleteRow()));
  Kill();
  at(300);
  OpenIt();
  table_ = OpenTable("t");
  ASSERT_OK(database_->Flush("t"));
  shown = Shown();
  ASSERT_EQ(shown.runs.size(), 3u);
  EXPECT_LE(time_of(shown, 0), third);
  EXPECT_EQ(time_of(shown, 1), first);

  // In the oldest run nothing is left to hide.
  UsePicker([](const GroupSummary& group) { return MergeAll(group, {}); });
  Set(table_, "b", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  UsePicker(nullptr);
  EXPECT_EQ(time_of(Shown(), 0), absl::InfiniteFuture());
}

TEST_F(PolicyPicksTest, AnOutputOutOfBoundsIsRefused) {
  const std::vector<std::pair<CompactionOutput, std::string_view>> bad = {
      {{.filter_bits = 0}, "filter_bits of the output"},
      {{.filter_bits = 33}, "filter_bits of the output"},
      {{.block_size = size_t{100}}, "block_size of the output"},
      {{.compression_level = 20}, "compression_level of the output"},
      {{.compression = static_cast<Compression>(77)}, "compression of the output"},
      {{.file_size = uint64_t{65'535}}, "file_size of the output must be 65536"},
      {{.file_size = (uint64_t{1} << 40) + 1}, "file_size of the output"},
  };
  for (const auto& [output, error] : bad) {
    UsePicker(nullptr);
    WriteRun("a", 0, 1);
    WriteRun("a", 0, 1);
    UsePicker([&, output = output](const GroupSummary& group) {
      return MergeAll(group, {.output = output});
    });
    EXPECT_STATUS(kFailedPrecondition, error, database_->WaitUntilQuiet());
    UsePicker(nullptr);
    ASSERT_OK(database_->Resume());
  }
}

// The file between the two that are pushed stays, and no output reaches across it.
TEST_F(PolicyPicksTest, SeveralFilesArePushedAroundAFileBetweenThem) {
  WriteRun("a", 0, 60);
  WriteRun("m", 0, 60);
  WriteRun("z", 0, 60);
  ASSERT_EQ(Runs().size(), 1u);
  // Two files of one run, above the first and the last, but not above the one between.
  Set(table_, "a0010", "f:q", 2, "new");
  ASSERT_OK(database_->Flush("t"));
  Set(table_, "z0010", "f:q", 2, "new");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  ASSERT_EQ(Runs().size(), 2u);
  ASSERT_EQ(Runs()[0].files.size(), 2u);
  std::vector<uint64_t> between;
  const std::vector<SortedRun> before = Runs();
  for (const Ref<SSTable>& file : before[1].files) {
    if (file->info().smallest_key[0] == 'm') between.push_back(file->info().file_number);
  }
  ASSERT_FALSE(between.empty());

  UsePicker([](const GroupSummary& group) -> std::optional<CompactionPick> {
    if (group.runs.size() < 2) return std::nullopt;
    CompactionPick push{.kind = Kind::kPush, .first = 0, .count = 2, .reason = "both"};
    for (const FileSummary& file : group.runs[0].files) push.files.push_back(file.number);
    return push;
  });
  ASSERT_OK(database_->WaitUntilQuiet());
  UsePicker(nullptr);
  ASSERT_EQ(Runs().size(), 1u);
  std::vector<uint64_t> left;
  const std::vector<SortedRun> after = Runs();
  for (const Ref<SSTable>& file : after[0].files) {
    const std::string_view smallest = file->info().smallest_key;
    EXPECT_EQ(smallest[0], file->info().largest_key[0]) << "a file across the one between";
    if (smallest[0] == 'm') left.push_back(file->info().file_number);
  }
  EXPECT_EQ(left, between);
  EXPECT_EQ(reasons_.Take(1), std::vector<std::string>{"both"});
  EXPECT_EQ(Count(), 180u);
  EXPECT_EQ(Show(table_->ReadRow("a0010")), "f:q@2=new");
  EXPECT_EQ(Show(table_->ReadRow("z0010")), "f:q@2=new");
}

TEST_F(PolicyPicksTest, AStateStaysWithTheCompactionThatLeftIt) {
  WriteRun("a", 0, 10);
  EXPECT_EQ(Shown().state, "");
  UsePicker([](const GroupSummary& group) {
    return MergeAll(group, {.state = absl::StrCat(group.state, "x")});
  });
  WriteRun("a", 0, 10);
  WriteRun("a", 0, 10);
  UsePicker(nullptr);
  EXPECT_EQ(StateOf(*TheTablet()), "xx");
  EXPECT_EQ(Shown().state, "xx");
  // A compaction without a state, and a flush, keep it.
  UsePicker([](const GroupSummary& group) { return MergeAll(group, {}); });
  WriteRun("a", 0, 10);
  UsePicker(nullptr);
  EXPECT_EQ(Shown().state, "xx");
  ReopenIt();
  EXPECT_EQ(Shown().state, "xx");
  Kill();
  OpenIt();
  table_ = OpenTable("t");
  EXPECT_EQ(Shown().state, "xx");

  ASSERT_OK(database_->SplitTablet("t", "a0005"));
  const auto tablets = DatabasePeer(database_.get()).Servers()[0]->tablets().All();
  ASSERT_EQ(tablets.size(), 2u);
  for (const auto& tablet : tablets) EXPECT_EQ(StateOf(*tablet), "xx");
  ReopenIt();
  for (const auto& tablet : DatabasePeer(database_.get()).Servers()[0]->tablets().All()) {
    EXPECT_EQ(StateOf(*tablet), "xx");
  }
  ASSERT_OK(database_->MergeTablets("t", "a0005"));
  EXPECT_EQ(StateOf(*TheTablet()), "xx");
  UsePicker([](const GroupSummary& group) { return MergeAll(group, {.state = ""}); });
  WriteRun("a", 0, 10);
  UsePicker(nullptr);
  EXPECT_EQ(StateOf(*TheTablet()), "");
  ReopenIt();
  EXPECT_EQ(StateOf(*TheTablet()), "");
}

TEST_F(PolicyPicksTest, AWaitIsNoWorkAndEndsWithoutAChange) {
  static constexpr absl::Duration kDelay = absl::Milliseconds(50);
  WriteRun("a", 0, 10);
  WriteRun("a", 0, 10);
  // By the machine's clock, since threads sleep by it. From the first call on, and not from here: a
  // busy machine may take longer than the delay to come to it.
  std::optional<absl::Time> due;
  UsePicker([&due](const GroupSummary& group) -> std::optional<CompactionPick> {
    if (group.runs.size() < 2) return std::nullopt;
    if (!due.has_value()) due = absl::Now() + kDelay;
    const absl::Duration left = *due - absl::Now();
    if (left > absl::ZeroDuration()) return CompactionPick{.kind = Kind::kWait, .delay = left};
    return MergeAll(group, {.reason = "late"});
  });
  // Asks the policy, which from here on is asked because of its wait alone.
  ASSERT_OK(database_->WaitUntilQuiet());
  // Not the ten seconds after which every policy is asked.
  for (int i = 0; i < 400 && Runs().size() > 1; ++i) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_EQ(Runs().size(), 1u);
  ASSERT_OK(database_->WaitUntilQuiet());
  UsePicker(nullptr);
  EXPECT_TRUE(due.has_value() && absl::Now() >= *due);
  EXPECT_EQ(reasons_.Take(1), std::vector<std::string>{"late"});
}

// A policy that wants to be asked all the time is asked a hundred times a second.
TEST_F(PolicyPicksTest, AWaitIsNotShorterThanItsLeast) {
  WriteRun("a", 0, 10);
  int calls = 0;
  UsePicker([&calls](const GroupSummary&) {
    ++calls;
    return CompactionPick{.kind = Kind::kWait, .delay = absl::Nanoseconds(1)};
  });
  const absl::Time begin = absl::Now();
  ASSERT_OK(database_->WaitUntilQuiet());
  absl::SleepFor(absl::Milliseconds(200));
  UsePicker(nullptr);
  const auto most = (absl::Now() - begin) / CompactionPick::kLeastDelay;
  EXPECT_GE(calls, 1);
  EXPECT_LE(calls, most + 4);
}

TEST_F(PolicyPicksTest, OneObjectIsAskedUntilTheOptionsChange) {
  const auto take_asked = [&] {
    MutexLock lock(&shared_.mutex);
    return std::exchange(shared_.asked, {});
  };
  for (int i = 0; i < 3; ++i) WriteRun("a", 0, 3);
  const std::set<int> first = take_asked();
  EXPECT_EQ(first.size(), 1u);
  ASSERT_OK(
      database_->SetLocalityGroup("t", "g", {.compaction_factor = 7, .compaction_policy = "test"}));
  take_asked();
  for (int i = 0; i < 3; ++i) WriteRun("a", 0, 3);
  const std::set<int> second = take_asked();
  EXPECT_EQ(second.size(), 1u);
  EXPECT_NE(first, second);
}

}  // namespace
}  // namespace bigtable
