// Which memtables and files a read uses: those that it leaves out cannot have what it requests.
#include "read/read_sources.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/filter.h"
#include "bigtable/trace.h"

#include "compaction/merging_cursor.h"
#include "memtable/memtable_cursor.h"
#include "monitoring/thread_calls.h"
#include "read/filter_node.h"
#include "support/entry_text.h"
#include "support/scoped_shortcuts.h"
#include "support/test_sstables.h"
#include "tablet/tablet_version.h"

namespace bigtable {
namespace {

// A tablet of two locality groups, of which the first has the family "a" and the second "b".
class ReadSourcesTest : public testing::Test {
 protected:
  ReadSourcesTest() {
    layout_.groups.push_back({.id = 0, .name = "default", .options = {}});
    layout_.groups.push_back({.id = 1, .name = "other", .options = {}});
    layout_.families.push_back({.name = "a", .group_id = 0, .gc = {}});
    layout_.families.push_back({.name = "b", .group_id = 1, .gc = {}});
    for (GroupVersion& group : groups_) group.active = NewTestMemtable();
    settings_.is_traced = true;
    thread_calls.trace = &trace_;
  }
  ~ReadSourcesTest() override { thread_calls.trace = nullptr; }

  static void Write(const Ref<Memtable>& memtable, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      const TextEntry entry = *ParseEntry(line);
      memtable->Add(entry.key, entry.value);
    }
  }
  static Ref<Memtable> MemtableOf(const std::vector<std::string>& lines) {
    Ref<Memtable> memtable = NewTestMemtable();
    Write(memtable, lines);
    return memtable;
  }
  // A file for each list of entries.
  SortedRun Run(const std::vector<std::vector<std::string>>& files,
                FilterKind filter = FilterKind::kRow) {
    SortedRun run;
    for (const std::vector<std::string>& lines : files) {
      const Ref<Memtable> memtable = MemtableOf(lines);
      MemtableCursor cursor(memtable.get());
      run.files.push_back(tables_.Open(
          tables_.Write(&cursor, ++last_number_, {.filter = filter, .filter_bits = 20})));
    }
    run.FindSplitRows();
    return run;
  }
  static Filter Between(int64_t from, int64_t to) {
    return Filter::TimestampRange(Timestamp(from), Timestamp(to));
  }

  // The number of sources of a read of encoded keys, and of the entries that they have.
  size_t InKeys(const Filter& filter, std::string_view begin, std::string_view end) {
    trace_ = {};
    const TabletVersion version(std::make_shared<const TableLayout>(layout_), groups_,
                                MakeRef<ReadLimit>());
    const FilterProgram program(FilterNode::Of(filter));
    MergingCursor input;
    ReadSources sources(&version, settings_, &program, &input);
    sources.AddRange(begin, end);
    is_complete_ = sources.is_complete();
    const size_t children = input.children();
    entries_ = 0;
    for (input.SeekToFirst(); input.valid(); input.Next()) ++entries_;
    sources.Clear();
    EXPECT_TRUE(sources.empty());
    return children;
  }
  size_t InRange(const Filter& filter, const std::string& begin = "", const std::string& end = "") {
    return InKeys(filter, begin.empty() ? "" : RowPrefix(begin), end.empty() ? "" : RowPrefix(end));
  }
  // The same for a row. Files are planned first, and not used if they turn out not to have it.
  size_t InRow(const Filter& filter, std::string_view row) {
    trace_ = {};
    const TabletVersion version(std::make_shared<const TableLayout>(layout_), groups_,
                                MakeRef<ReadLimit>());
    const FilterProgram program(FilterNode::Of(filter));
    MergingCursor input;
    ReadSources sources(&version, settings_, &program, &input);
    const RowProbe probe(version, row, FilterNode::Of(filter) == nullptr);
    sources.AddRow(probe);
    is_planned_ = !sources.empty();
    sources.SeekPlanned(probe.prefix());
    const size_t children = input.children();
    entries_ = 0;
    input.Seek(probe.prefix());
    for (; input.valid() && input.key().starts_with(probe.prefix()); input.Next()) ++entries_;
    sources.Clear();
    return children;
  }
  bool IsFilteredOut(uint64_t number) const {
    for (const FileTrace& file : trace_.files) {
      if (file.number == number) return file.filtered_out;
    }
    return false;
  }

  const ScopedShortcutsOn shortcuts_;
  TestSSTables tables_;
  uint64_t last_number_ = 0;
  TableLayout layout_;
  std::vector<GroupVersion> groups_{2};
  ReadSettings settings_;
  RequestTrace trace_;
  // Of the last read.
  bool is_complete_ = false;
  bool is_planned_ = false;
  int entries_ = 0;
};

const Filter kOfA = Filter::Family("a");
const Filter kOfB = Filter::Family("b");

// --- Ranges ---

TEST_F(ReadSourcesTest, ARangeReadsAllMemtablesButAnEmptyActiveOne) {
  EXPECT_EQ(InRange(Filter()), 0u);
  Write(groups_[0].active, {"r/a:q@1#1 cell v"});
  EXPECT_EQ(InRange(Filter()), 1u);
  groups_[0].immutable = {MemtableOf({"r/a:q@1#1 cell v"}), MemtableOf({"r/a:q@1#1 cell v"})};
  Write(groups_[1].active, {"r/b:q@1#1 cell v"});
  EXPECT_EQ(InRange(Filter()), 4u);
  EXPECT_TRUE(is_complete_);
  EXPECT_EQ(trace_.memtables, 4u);
  EXPECT_EQ(trace_.excluded_groups, 0u);
}

TEST_F(ReadSourcesTest, GroupsOfWhichNoFamilyCanPassAreNotRead) {
  Write(groups_[0].active, {"r/a:q@1#1 cell v"});
  EXPECT_EQ(InRange(kOfA), 1u);
  EXPECT_FALSE(is_complete_);
  EXPECT_EQ(trace_.excluded_groups, 0u);  // the other one is empty
  EXPECT_EQ(InRange(kOfB), 0u);
  EXPECT_FALSE(is_complete_);
  EXPECT_EQ(trace_.excluded_groups, 1u);
  EXPECT_EQ(trace_.memtables, 0u);
  EXPECT_EQ(InRange(Filter::FamilyRegex("a|b")), 1u);
  EXPECT_TRUE(is_complete_);
  EXPECT_EQ(InRange(Filter::FamilyRegex("c")), 0u);

  groups_[0].active = NewTestMemtable();
  groups_[0].immutable = {MemtableOf({"r/a:q@1#1 cell v"})};
  EXPECT_EQ(InRange(kOfB), 0u);
  EXPECT_EQ(trace_.excluded_groups, 1u);
  groups_[0].immutable.clear();
  groups_[0].runs = {Run({{"r/a:q@1#1 cell v"}})};
  EXPECT_EQ(InRange(kOfB), 0u);
  EXPECT_EQ(trace_.excluded_groups, 1u);
}

// Its families were dropped.
TEST_F(ReadSourcesTest, AGroupWithoutFamiliesIsNotRead) {
  Write(groups_[1].active, {"r/b:q@1#1 cell v"});
  EXPECT_EQ(InRange(Filter()), 1u);
  layout_.families.pop_back();
  EXPECT_EQ(InRange(Filter()), 0u);
  EXPECT_TRUE(is_complete_);
  layout_.groups.pop_back();
  groups_.pop_back();
  Write(groups_[0].active, {"r/a:q@1#1 cell v"});
  EXPECT_EQ(InRange(Filter()), 1u);
  EXPECT_EQ(InRange(Filter::FamilyRegex("b")), 0u);
}

TEST_F(ReadSourcesTest, RunsOutsideOfTheRangeAreNotRead) {
  groups_[0].runs = {Run({{"d/a:q@1#1 cell v", "f/a:q@1#1 cell v"}})};
  EXPECT_EQ(InRange(Filter()), 1u);
  EXPECT_EQ(InRange(Filter(), "", "d"), 0u);
  EXPECT_EQ(InRange(Filter(), "", "da"), 1u);
  EXPECT_EQ(InRange(Filter(), "d", "e"), 1u);
  EXPECT_EQ(InRange(Filter(), "f", "g"), 1u);
  EXPECT_EQ(InRange(Filter(), "f"), 1u);
  EXPECT_EQ(InRange(Filter(), "fa"), 0u);
  EXPECT_TRUE(is_complete_);
  const SortedRun& run = groups_[0].runs[0];
  EXPECT_EQ(InKeys(Filter(), run.largest_key(), ""), 1u);
  EXPECT_EQ(InKeys(Filter(), "", run.smallest_key()), 0u);
}

TEST_F(ReadSourcesTest, FilesWithoutATimestampThatPassesAreNotRead) {
  groups_[0].runs = {Run({{"d/a:q@10#1 cell v", "d/a:q@20#1 cell v"}})};
  const auto read = [&](int64_t from, int64_t to) { return InRange(Between(from, to)); };
  EXPECT_EQ(read(30, 40), 0u);
  EXPECT_FALSE(is_complete_);
  EXPECT_EQ(trace_.excluded_files, 1u);
  EXPECT_EQ(read(20, 21), 1u);
  EXPECT_TRUE(is_complete_);
  EXPECT_EQ(trace_.excluded_files, 0u);
  EXPECT_EQ(read(21, 30), 0u);
  EXPECT_EQ(read(1, 10), 0u);
  EXPECT_EQ(read(1, 11), 1u);
  // Where versions are counted, other cells count too.
  layout_.families[1].gc = GcRule::MaxVersions(1);
  EXPECT_EQ(read(30, 40), 1u);
  EXPECT_TRUE(is_complete_);
  EXPECT_EQ(trace_.excluded_files, 0u);
}

TEST_F(ReadSourcesTest, OfARunOnlyTheFilesWithATimestampThatPassesAreRead) {
  groups_[0].runs = {Run({{"d/a:q@10#1 cell v"}, {"e/a:q@20#1 cell v"}, {"f/a:q@20#1 cell v"}})};
  EXPECT_EQ(InRange(Filter()), 1u);
  EXPECT_EQ(entries_, 3);
  EXPECT_TRUE(is_complete_);
  EXPECT_EQ(InRange(Between(10, 21)), 1u);
  EXPECT_EQ(entries_, 3);
  EXPECT_TRUE(is_complete_);
  EXPECT_EQ(InRange(Between(20, 21)), 1u);
  EXPECT_EQ(entries_, 2);
  EXPECT_FALSE(is_complete_);
  EXPECT_EQ(InRange(Between(30, 31)), 0u);
  EXPECT_FALSE(is_complete_);
  EXPECT_EQ(InRange(Filter::FamilyRegex("a|b")), 1u);
  EXPECT_EQ(entries_, 3);
  EXPECT_TRUE(is_complete_);
}

// --- Rows ---

TEST_F(ReadSourcesTest, ARowReadsTheMemtablesThatHaveIt) {
  Write(groups_[0].active, {"b/a:q@1#1 cell v", "d/a:q@1#1 cell v"});
  groups_[0].immutable = {MemtableOf({"d/a:q@1#1 cell v"}), NewTestMemtable()};
  EXPECT_EQ(InRow(Filter(), "b"), 1u);
  EXPECT_EQ(InRow(Filter(), "d"), 2u);
  EXPECT_EQ(entries_, 2);
  EXPECT_EQ(InRow(Filter(), "c"), 0u);
  EXPECT_EQ(InRow(Filter(), "e"), 0u);
  EXPECT_EQ(InRow(kOfB, "d"), 0u);
}

TEST_F(ReadSourcesTest, FilesWhoseFilterExcludesTheRowAreNotRead) {
  groups_[0].runs = {Run({{"b/a:q@1#1 cell v", "d/a:q@1#1 cell v"}})};
  EXPECT_EQ(InRow(Filter(), "b"), 1u);
  EXPECT_FALSE(IsFilteredOut(1));
  EXPECT_EQ(InRow(Filter(), "c"), 0u);
  EXPECT_FALSE(is_planned_);
  EXPECT_TRUE(IsFilteredOut(1));
  groups_[0].runs = {Run({{"b/a:q@1#1 cell v", "d/a:q@1#1 cell v"}}, FilterKind::kNone)};
  EXPECT_EQ(InRow(Filter(), "b"), 1u);
  EXPECT_EQ(InRow(Filter(), "c"), 0u);
  EXPECT_TRUE(is_planned_);
  EXPECT_FALSE(IsFilteredOut(2));
}

TEST_F(ReadSourcesTest, FilesWhoseFilterExcludesTheOneColumnAreNotRead) {
  groups_[0].runs = {Run({{"b/a:q@1#1 cell v"}}, FilterKind::kRowAndColumn)};
  EXPECT_EQ(InRow(Filter::Column("a", "q"), "b"), 1u);
  EXPECT_FALSE(IsFilteredOut(1));
  EXPECT_EQ(InRow(Filter::Column("a", "x"), "b"), 0u);
  EXPECT_FALSE(is_planned_);
  EXPECT_TRUE(IsFilteredOut(1));
  EXPECT_EQ(InRow(kOfA, "b"), 1u);
}

TEST_F(ReadSourcesTest, OfARowFilesWithoutATimestampThatPassesAreNotRead) {
  groups_[0].runs = {Run({{"b/a:q@10#1 cell v"}})};
  EXPECT_EQ(InRow(Between(10, 11), "b"), 1u);
  EXPECT_EQ(InRow(Between(11, 12), "b"), 0u);
  EXPECT_FALSE(is_planned_);
  EXPECT_EQ(trace_.excluded_files, 1u);
}

TEST_F(ReadSourcesTest, ARowMayContinueInAnotherFile) {
  groups_[0].runs = {
      Run({{"b/a:q@1#1 cell v", "c/a:p@1#1 cell v"}, {"c/a:q@1#1 cell v", "d/a:q@1#1 cell v"}})};
  EXPECT_EQ(InRow(Filter(), "c"), 1u);
  EXPECT_EQ(entries_, 2);
  EXPECT_EQ(InRow(Filter(), "b"), 1u);
  EXPECT_EQ(entries_, 1);
  EXPECT_EQ(InRow(Filter(), "d"), 1u);
  EXPECT_EQ(entries_, 1);
  EXPECT_EQ(InRow(Filter(), "e"), 0u);
  EXPECT_FALSE(is_planned_);
}

// With a filter, the probe has not looked which file of a run may have the row.
TEST_F(ReadSourcesTest, ARowBehindTheLastFileOfARunIsInNoneOfThem) {
  groups_[0].runs = {Run({{"b/a:q@1#1 cell v"}, {"d/a:q@1#1 cell v"}})};
  for (const Filter& filter : {Filter(), kOfA, Filter::Column("a", "q"), Between(1, 2)}) {
    EXPECT_EQ(InRow(filter, "b"), 1u);
    EXPECT_EQ(InRow(filter, "d"), 1u);
    EXPECT_EQ(InRow(filter, "c"), 0u);
    EXPECT_EQ(InRow(filter, "e"), 0u);
    EXPECT_FALSE(is_planned_);
  }
}

// The numbers of runs go through all groups.
TEST_F(ReadSourcesTest, EachGroupHasRunsOfItsOwn) {
  groups_[0].runs = {Run({{"b/a:q@1#1 cell v"}, {"c/a:q@1#1 cell v"}, {"d/a:q@1#1 cell v"}}),
                     Run({{"b/a:q@1#1 cell v"}, {"d/a:q@1#1 cell v"}})};
  groups_[1].runs = {Run({{"a/b:q@1#1 cell v"}, {"d/b:q@1#1 cell v"}})};
  EXPECT_EQ(InRow(Filter(), "d"), 3u);
  EXPECT_EQ(entries_, 3);
  EXPECT_EQ(InRow(Filter(), "c"), 1u);
  EXPECT_EQ(InRow(Filter(), "a"), 1u);
  EXPECT_EQ(InRow(kOfB, "d"), 1u);
  EXPECT_EQ(trace_.excluded_groups, 1u);
  EXPECT_EQ(InRow(kOfA, "d"), 2u);
}

}  // namespace
}  // namespace bigtable
