// The picks of the policies for given runs: testdata/size_tiered.txt, leveled.txt and fifo.txt.
// Runs are named from new (0) to old.
//
//   size-tiered [width=] RUN...   10 is a run of ten bytes, 10/4 one of which four are estimated to
//                                 overwrite something older, 3x10 three of ten bytes
//   leveled [fanout=] flush=      a line a run: 10, which is one file 0:10:a-z, or its files:
//                                 NUMBER:BYTES:FIRST-LAST...
//   fifo [expired_before=]        a line a run: NUMBER@TIMESTAMP..., its files with the largest
//                                 timestamp in each, or NUMBER@none; "!" after it means that the
//                                 file deletes more than single cells

#include <deque>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "compaction/policies.h"
#include "support/text_driven.h"

namespace bigtable {
namespace {

std::string PickText(CompactionPolicy&& policy, const GroupSummary& group) {
  const std::optional<CompactionPick> pick = policy.Pick(group);
  if (!pick.has_value()) return "nothing\n";
  switch (pick->kind) {
    case CompactionPick::Kind::kMerge:
      return absl::StrCat("merge runs ", pick->first, " to ", pick->first + pick->count - 1, " of ",
                          group.runs.size(), "\n");
    case CompactionPick::Kind::kPush:
      return absl::StrCat("push files ", absl::StrJoin(pick->files, " "), " of run ", pick->first,
                          " into run ", pick->first + pick->count - 1, "\n");
    case CompactionPick::Kind::kDrop:
      return absl::StrCat("drop files ", absl::StrJoin(pick->files, " "), "\n");
    case CompactionPick::Kind::kWait:
      return absl::StrCat("wait ", absl::FormatDuration(pick->delay), "\n");
  }
  return "unknown kind\n";
}

uint64_t NumberFrom(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }
// The text after the first `mark`; empty if there is none.
std::string After(const std::string& text, char mark) {
  const size_t at = text.find(mark);
  return at == std::string::npos ? "" : text.substr(at + 1);
}

std::string PickSizeTiered(const TextCommand& command) {
  if (command.name != "size-tiered") return "unknown command";
  SizeTieredPolicy policy(
      static_cast<int>(command.Number("width", SizeTieredPolicy::kDefaultWidth)));
  GroupSummary group;
  for (const std::string& word : command.words()) {
    if (word.starts_with("width=")) continue;
    const std::string size = word.find('x') == std::string::npos ? word : After(word, 'x');
    const uint64_t count = word == size ? 1 : NumberFrom(word);
    group.runs.insert(
        group.runs.end(), count,
        RunSummary{.bytes = NumberFrom(size), .garbage_bytes = NumberFrom(After(size, '/'))});
  }
  return PickText(std::move(policy), group);
}

std::string PickLeveled(const TextCommand& command) {
  if (command.name != "leveled") return "unknown command";
  LeveledPolicy policy(static_cast<int>(command.Number("fanout", LeveledPolicy::kDefaultFanout)));
  GroupSummary group;
  group.flush_size = static_cast<uint64_t>(command.Number("flush"));
  std::deque<std::string> keys;  // memory of the summary's views
  for (const std::string& line : command.input) {
    RunSummary& run = group.runs.emplace_back();
    for (const std::string& word : SplitWords(line)) {
      if (word.find(':') == std::string::npos) {
        run.bytes = NumberFrom(word);
        run.files = {{.number = 0, .bytes = run.bytes, .smallest_key = "a", .largest_key = "z"}};
        continue;
      }
      FileSummary file{.number = NumberFrom(word), .bytes = NumberFrom(After(word, ':'))};
      const std::string range = After(After(word, ':'), ':');
      file.smallest_key = keys.emplace_back(range.substr(0, range.find('-')));
      file.largest_key = keys.emplace_back(After(range, '-'));
      run.bytes += file.bytes;
      run.files.push_back(file);
    }
  }
  SetOverlaps(&group);
  return PickText(std::move(policy), group);
}

std::string PickFifo(const TextCommand& command) {
  if (command.name != "fifo") return "unknown command";
  GroupSummary group;
  group.expired_before = command.Number("expired_before", std::numeric_limits<int64_t>::min());
  for (const std::string& line : command.input) {
    RunSummary& run = group.runs.emplace_back();
    for (const std::string& word : SplitWords(line)) {
      const std::string timestamp = After(word, '@');
      run.files.push_back({.number = NumberFrom(word),
                           .max_timestamp = timestamp.starts_with("none")
                                                ? -1
                                                : static_cast<int64_t>(NumberFrom(timestamp)),
                           .has_wide_deletions = word.ends_with('!')});
    }
  }
  return PickText(FifoPolicy(), group);
}

TEST(PolicyTest, SizeTieredMergesRunsOfSimilarSize) {
  RunTextFile(BIGTABLE_TESTDATA "/size_tiered.txt", PickSizeTiered);
}

TEST(PolicyTest, LeveledMergesFreshRunsAndPushesFilesDown) {
  RunTextFile(BIGTABLE_TESTDATA "/leveled.txt", PickLeveled);
}

TEST(PolicyTest, FifoDropsExpiredFiles) { RunTextFile(BIGTABLE_TESTDATA "/fifo.txt", PickFifo); }

TEST(PolicyTest, NoneMergesNothing) {
  GroupSummary group;
  group.flush_size = 1;
  group.expired_before = std::numeric_limits<int64_t>::max();
  group.runs.assign(1000, {.bytes = 1, .garbage_bytes = 1, .files = {{.number = 1}}});
  EXPECT_EQ(NoCompactionPolicy().Pick(group), std::nullopt);
}

TEST(PolicyTest, WritersWaitOnlyForPoliciesThatBoundRuns) {
  const auto bounds_runs = [](CompactionStyle style) {
    LocalityGroup group;
    group.compaction = style;
    return MakePolicy(group)->BoundsRuns();
  };
  EXPECT_TRUE(bounds_runs(CompactionStyle::kSizeTiered));
  EXPECT_TRUE(bounds_runs(CompactionStyle::kLeveled));
  EXPECT_FALSE(bounds_runs(CompactionStyle::kFifo));
  EXPECT_FALSE(bounds_runs(CompactionStyle::kNone));
}

TEST(PolicyTest, TheGroupsFactorIsUsedAndZeroIsTheDefault) {
  LocalityGroup group;
  GroupSummary summary;
  summary.flush_size = 1;

  // Merges as many runs as its width.
  summary.runs.assign(4, {.bytes = 10});
  EXPECT_EQ(MakePolicy(group)->Pick(summary), std::nullopt);
  group.compaction_factor = 3;
  EXPECT_EQ(MakePolicy(group)->Pick(summary), (CompactionPick{.first = 0, .count = 4}));

  // Pushes a level that is larger than its part of the next level.
  group.compaction = CompactionStyle::kLeveled;
  summary.runs = {{.bytes = 20, .files = {{.number = 1, .bytes = 20}}}, {.bytes = 100}};
  EXPECT_EQ(MakePolicy(group)->Pick(summary), std::nullopt);
  group.compaction_factor = 0;
  EXPECT_EQ(
      MakePolicy(group)->Pick(summary),
      (CompactionPick{.kind = CompactionPick::Kind::kPush, .first = 0, .count = 2, .files = {1}}));
}

}  // namespace
}  // namespace bigtable
