// The files of a pick: testdata/compaction_inputs.txt. And the estimate of the part of a file that
// is also in older runs.
//
//   choose merge|push|drop [first=] [count=] [files=1,2] [rewrite_all]
//              lines: run=RUN file=NUMBER ENTRY..., runs from new (0) to old, where an entry is
//              ROW, ROW:QUALIFIER or ROW:QUALIFIER=KIND

#include "compaction/compaction_inputs.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "memtable/memtable_cursor.h"
#include "support/entry_text.h"
#include "support/scoped_shortcuts.h"
#include "support/test_sstables.h"
#include "support/text_driven.h"

namespace bigtable {
namespace {

TextEntry EntryOf(const std::string& word) {
  const std::string row = word.substr(0, word.find_first_of(":="));
  const std::string kind = word.find('=') == word.npos ? "cell" : word.substr(word.find('=') + 1);
  const std::string column = word.substr(row.size(), word.find('=') - row.size());
  if (kind == "delete-row") return *ParseEntry(row + "(group 0)#1 delete-row");
  const std::string key = Cat(row, "/f", column.empty() ? ":q" : column);
  if (kind == "delete-column") return *ParseEntry(key + "#1 delete-column");
  return *ParseEntry(Cat(key, "@1#1 ", kind));
}

std::string Numbers(const std::vector<Ref<SSTable>>& files) {
  std::string out;
  for (const Ref<SSTable>& file : files) absl::StrAppend(&out, " ", file->info().file_number);
  return out;
}

std::string Choose(const TextCommand& command) {
  if (command.name != "choose") return "unknown command";
  TestSSTables tables;
  std::vector<SortedRun> runs;
  for (const std::string& line : command.input) {
    const TextArguments a(SplitWords(line));
    const Ref<Memtable> memtable = NewTestMemtable();
    for (const std::string& word : a.words()) {
      if (word.starts_with("run=") || word.starts_with("file=")) continue;
      const TextEntry entry = EntryOf(word);
      memtable->Add(entry.key, entry.value);
    }
    MemtableCursor cursor(memtable.get());
    runs.resize(static_cast<size_t>(a.Number("run")) + 1);
    runs.back().files.push_back(
        tables.Open(tables.Write(&cursor, static_cast<uint64_t>(a.Number("file")))));
  }

  CompactionPick pick{.first = static_cast<size_t>(command.Number("first")),
                      .count = static_cast<size_t>(command.Number("count")),
                      .files = command.Numbers("files")};
  if (command.HasValue("rows")) {
    const std::string rows = command.Value("rows");
    const size_t dash = rows.find('-');
    pick.rows = RowRange::RightOpen(rows.substr(0, dash), rows.substr(dash + 1));
  }
  if (command.Has("push")) pick.kind = CompactionPick::Kind::kPush;
  if (command.Has("drop")) pick.kind = CompactionPick::Kind::kDrop;
  if (pick.kind == CompactionPick::Kind::kMerge && !command.Has("merge")) return "unknown kind";
  CompactionInputs inputs = ChooseInputs(runs, pick);
  if (!command.Has("rewrite_all")) TakeMoved(&inputs);

  std::string out;
  for (const SortedRun& run : inputs.merged)
    absl::StrAppend(&out, "merge", Numbers(run.files), "\n");
  if (!inputs.moved.empty()) absl::StrAppend(&out, "move", Numbers(inputs.moved), "\n");
  if (!inputs.between.empty()) absl::StrAppend(&out, "between", Numbers(inputs.between), "\n");
  if (!inputs.dropped.empty()) absl::StrAppend(&out, "drop", Numbers(inputs.dropped), "\n");
  if (out.empty()) return "nothing\n";
  if (!inputs.target.empty()) {
    absl::StrAppend(&out, "into the run of", Numbers(inputs.target),
                    inputs.is_major ? ", major" : "", "\n");
  }
  return out;
}

TEST(CompactionInputsTest, RowsStayTogetherAndLoneFilesMove) {
  const ScopedShortcutsOn shortcuts;
  RunTextFile(BIGTABLE_TESTDATA "/compaction_inputs.txt", Choose);
}

class EstimateTest : public testing::Test {
 protected:
  // A run of one file that has the rows first, first + step, ... before `end`, each in its own
  // block.
  SortedRun Rows(int first, int end, int step, FilterKind filter = FilterKind::kRow) {
    const Ref<Memtable> memtable = NewTestMemtable();
    for (int row = first; row < end; row += step) {
      const TextEntry entry = *ParseEntry(absl::StrCat(1000 + row, "/f:q@1#1 cell v"));
      memtable->Add(entry.key, std::string(2000, 'v'));
    }
    MemtableCursor cursor(memtable.get());
    const LocalityGroup group{.block_size = 1 << 10, .filter = filter, .filter_bits = 20};
    return SortedRun({tables_.Open(tables_.Write(&cursor, ++last_number_, group))});
  }

  TestSSTables tables_;
  uint64_t last_number_ = 0;
};

TEST_F(EstimateTest, IsThePartOfTheRowsThatOlderRunsHave) {
  const SortedRun run = Rows(0, 500, 1);
  const auto estimate = [&](const SortedRun& older) {
    return EstimateOverwriting(*run.files[0], {run, older}, 1).value();
  };
  EXPECT_EQ(estimate(Rows(0, 500, 1)), 1);
  EXPECT_NEAR(estimate(Rows(0, 500, 2)), 0.5, 0.1);
  EXPECT_NEAR(estimate(Rows(0, 125, 1)), 0.25, 0.05);
  EXPECT_NEAR(estimate(Rows(375, 900, 1)), 0.25, 0.05);
  EXPECT_EQ(estimate(Rows(500, 900, 1)), 0);
}

TEST_F(EstimateTest, CountsARowOnceAndOnlyInOlderRuns) {
  const std::vector<SortedRun> runs = {Rows(0, 100, 1), Rows(0, 50, 1), Rows(0, 50, 1),
                                       Rows(100, 200, 1)};
  EXPECT_NEAR(EstimateOverwriting(*runs[0].files[0], runs, 1).value(), 0.5, 0.05);
  EXPECT_EQ(EstimateOverwriting(*runs[1].files[0], runs, 2), 1);
  EXPECT_EQ(EstimateOverwriting(*runs[2].files[0], runs, 3), 0);
  EXPECT_EQ(EstimateOverwriting(*runs[3].files[0], runs, 4), 0);
}

TEST_F(EstimateTest, FindsRowsInAnyFileOfARunButNotBetweenThem) {
  SortedRun older = Rows(0, 25, 1);
  older.files.push_back(Rows(50, 75, 1).files[0]);
  const SortedRun run = Rows(0, 100, 1);
  EXPECT_NEAR(EstimateOverwriting(*run.files[0], {run, older}, 1).value(), 0.5, 0.05);
}

TEST_F(EstimateTest, WithoutFiltersARowMayBeInAnyRunThatOverlaps) {
  const SortedRun run = Rows(0, 100, 1);
  const SortedRun older = Rows(0, 51, 50, FilterKind::kNone);  // two rows
  EXPECT_NEAR(EstimateOverwriting(*run.files[0], {run, older}, 1).value(), 0.5, 0.05);
}

}  // namespace
}  // namespace bigtable
