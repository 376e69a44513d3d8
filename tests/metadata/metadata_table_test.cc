// The tablets of a table in METADATA: all of them, in order, or an error.
#include "metadata/metadata_table.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/entry_key.h"
#include "metadata/metadata_format.h"
#include "schema/mutation_format.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A simple model of METADATA's server.
class MetadataInMemory final : public MetadataService {
 public:
  absl::Status Mutate(absl::Span<const EncodedMutation> mutations, Durability) override {
    if (mutations.size() > 1) batches.push_back(mutations.size());
    for (const EncodedMutation& mutation : mutations) {
      if (fails_alone.has_value() && (*fails_alone)-- == 0) {
        return absl::UnavailableError("no METADATA for a moment");
      }
      if (meanwhile) std::exchange(meanwhile, nullptr)();
      if (left.has_value() && (*left)-- == 0) {
        left = 0;  // until the test resumes it
        return absl::UnavailableError("no METADATA");
      }
      Apply(mutation);
    }
    return absl::OkStatus();
  }
  bool AreTogether(absl::Span<const EncodedMutation> mutations) override {
    return mutations.size() <= most_together;
  }
  absl::Status Read(const MetadataRead& read,
                    absl::FunctionRef<absl::Status(const ReadCell&)> sink) override {
    uint64_t count = 0;
    for (const auto& [row, cells] : rows) {
      if (!read.range.Contains(row)) continue;
      if (read.row_limit > 0 && count++ == read.row_limit) break;
      for (const auto& [column, value] : cells) {
        if (const absl::Status status = sink({row, column.first, column.second, 0, value});
            !status.ok()) {
          return status;
        }
      }
    }
    return absl::OkStatus();
  }

  void Apply(const EncodedMutation& mutation) {
    OperationReader reader(mutation.operations);
    MutationOperation operation;
    std::string key(mutation.row);
    while (reader.Next(&operation)) {
      const std::pair column(std::string(operation.family), std::string(operation.qualifier));
      if (operation.kind == EntryKind::kDeleteRow) rows.erase(key);
      if (operation.kind == EntryKind::kDeleteColumn && rows.contains(key)) {
        rows[key].erase(column);
      }
      if (operation.kind == EntryKind::kCell) rows[key][column] = operation.value;
    }
  }

  std::map<std::string, std::map<std::pair<std::string, std::string>, std::string>> rows;
  std::vector<size_t> batches;  // the number of rows of each
  size_t most_together = SIZE_MAX;
  std::function<void()> meanwhile;  // called once, in the next mutation
  std::optional<int> fails_alone;   // the one after so many fails, and none after it
  std::optional<int> left;          // mutations that are applied before one fails, and all after it
};

class MetadataTableTest : public testing::Test {
 protected:
  const std::vector<RowRange> kTablets = {RowRange::RightOpen("", "d"),
                                          RowRange::RightOpen("d", "p"), RowRange::StartingAt("p")};

  MetadataInMemory service_;
  MetadataTable metadata_{&service_};
};

TEST_F(MetadataTableTest, TheTabletsOfATableAreReadInOrder) {
  ASSERT_OK(metadata_.AddTable(7, {RowRange::All()}));
  ASSERT_OK(metadata_.AddTable(8, kTablets));
  ASSERT_OK(metadata_.AddTable(9, {RowRange::All()}));
  ASSERT_OK_AND_ASSIGN(const std::vector<TabletState> tablets, metadata_.ReadTable(8));
  ASSERT_EQ(tablets.size(), kTablets.size());
  for (size_t i = 0; i < tablets.size(); ++i) EXPECT_EQ(tablets[i].rows, kTablets[i]);
  ASSERT_OK_AND_ASSIGN(const std::vector<uint64_t> tables, metadata_.Tables());
  EXPECT_THAT(tables, ElementsAre(7, 8, 9));
}

// Later steps would succeed, and leave what was not done.
TEST_F(MetadataTableTest, AStepThatFailsAloneEndsItsChange) {
  ASSERT_OK(metadata_.AddTable(8, kTablets));
  ASSERT_OK_AND_ASSIGN(const std::vector<TabletState> tablets, metadata_.ReadTable(8));
  TabletState merged = tablets[1];
  merged.rows = RowRange::RightOpen("", "p");
  const std::vector<std::function<absl::Status(MetadataTable*)>> changes = {
      [&](MetadataTable* metadata) { return metadata->AddTable(9, kTablets); },
      [&](MetadataTable* metadata) {
        return metadata->SplitTablet(8, tablets[1], "m", "server-1", {});
      },
      [&](MetadataTable* metadata) {
        return metadata->MergeTablets({8, "d"}, {8, "p"}, merged, {});
      },
      [&](MetadataTable* metadata) {
        return metadata->SetLocation({8, "d"}, "server-1");
      },
      [&](MetadataTable* metadata) { return metadata->RemoveTable(8); },
  };
  const int steps[] = {3, 2, 2, 1, 3};  // whose errors are those of the change
  const auto before = service_.rows;
  for (size_t i = 0; i < changes.size(); ++i) {
    for (int step = 0; step < steps[i]; ++step) {
      SCOPED_TRACE(absl::StrCat("change ", i, ", step ", step));
      MetadataTable metadata(&service_);
      service_.rows = before;
      service_.fails_alone = step;
      EXPECT_STATUS(kUnavailable, "for a moment", changes[i](&metadata));
      EXPECT_EQ(*service_.fails_alone, -1);  // no step was made after it
      if (step == 0) {
        EXPECT_EQ(service_.rows, before);
      }
      service_.fails_alone.reset();
    }
  }
}

// The step that tidies up is made before the next change, which needs it.
TEST_F(MetadataTableTest, AChangeThatCannotSettleTheOneBeforeIsNotMade) {
  ASSERT_OK(metadata_.AddTable(8, kTablets));
  ASSERT_OK_AND_ASSIGN(const std::vector<TabletState> tablets, metadata_.ReadTable(8));
  service_.fails_alone = 2;
  ASSERT_OK(metadata_.SplitTablet(8, tablets[1], "m", "server-1", {}));
  EXPECT_EQ(*service_.fails_alone, -1);
  const auto before = service_.rows;
  TabletState merged = tablets[0];
  merged.rows = RowRange::RightOpen("", "m");
  for (int change = 0; change < 2; ++change) {
    service_.fails_alone = 0;
    EXPECT_STATUS(kUnavailable, "for a moment",
                  change == 0 ? metadata_.SplitTablet(8, tablets[0], "b", "server-1", {})
                              : metadata_.MergeTablets({8, "d"}, {8, "m"}, merged, {}));
    EXPECT_EQ(service_.rows, before);
  }
  service_.fails_alone.reset();
  ASSERT_OK(metadata_.SplitTablet(8, tablets[0], "b", "server-1", {}));
  ASSERT_OK_AND_ASSIGN(const std::vector<TabletState> after, metadata_.ReadTable(8));
  EXPECT_EQ(after.size(), 5u);
}

TEST_F(MetadataTableTest, AChangeWaitsForAnotherUntilItsDeadline) {
  ASSERT_OK(metadata_.AddTable(8, kTablets));
  ASSERT_OK_AND_ASSIGN(const std::vector<TabletState> tablets, metadata_.ReadTable(8));
  const auto soon = [] { return CallLimits{.deadline = Deadline::In(absl::Milliseconds(5))}; };
  TabletState merged = tablets[0];
  merged.rows = RowRange::RightOpen("", "p");
  service_.meanwhile = [&] {
    EXPECT_STATUS(kDeadlineExceeded, "",
                  metadata_.SplitTablet(8, tablets[0], "b", "server-1", soon()));
    EXPECT_STATUS(kDeadlineExceeded, "",
                  metadata_.MergeTablets({8, "d"}, {8, "p"}, merged, soon()));
  };
  ASSERT_OK(metadata_.SplitTablet(8, tablets[1], "m", "server-1", soon()));
  EXPECT_EQ(service_.meanwhile, nullptr);
}

TEST_F(MetadataTableTest, AMissingTabletIsDataLoss) {
  for (const RowRange& missing : kTablets) {
    ASSERT_OK(metadata_.AddTable(8, kTablets));
    service_.rows.erase(MetadataRow({8, missing.end()}));
    EXPECT_STATUS(kDataLoss, "table 8", metadata_.ReadTable(8));
  }
  EXPECT_STATUS(kDataLoss, "table 9", metadata_.ReadTable(9));
}

TEST_F(MetadataTableTest, AGapBetweenTabletsIsDataLoss) {
  ASSERT_OK(metadata_.AddTable(8, {RowRange::RightOpen("", "d"), RowRange::StartingAt("e")}));
  EXPECT_STATUS(kDataLoss, "\"e\"", metadata_.ReadTable(8));
}

TEST_F(MetadataTableTest, ARowInAGapIsInNoTablet) {
  ASSERT_OK(metadata_.AddTable(8, {RowRange::RightOpen("", "d"), RowRange::StartingAt("e")}));
  EXPECT_STATUS(kNotFound, "no tablet of table 8 with row \"d\"",
                metadata_.FindTablets(8, "d", 10, true).status());
  ASSERT_OK_AND_ASSIGN(const std::vector<TabletLocation> tablets,
                       metadata_.FindTablets(8, "e", 10, true));
  ASSERT_EQ(tablets.size(), 1u);
  EXPECT_EQ(tablets[0].rows, RowRange::StartingAt("e"));
}

TEST_F(MetadataTableTest, AChangeAffectsOnlyItsTablet) {
  ASSERT_OK(metadata_.AddTable(8, kTablets));
  TabletChange change;
  change.redo = RedoPoint{5, "server-1", 4};
  ASSERT_OK(metadata_.Commit({8, "p"}, change));
  ASSERT_OK_AND_ASSIGN(const std::vector<TabletState> tablets, metadata_.ReadTable(8));
  EXPECT_TRUE(tablets[0].groups.empty());
  EXPECT_EQ(tablets[1].groups.at(0).redo, *change.redo);
  EXPECT_TRUE(tablets[2].groups.empty());
}

TEST_F(MetadataTableTest, StepsOfSeveralTabletsAreOneBatch) {
  ASSERT_OK(metadata_.AddTable(8, kTablets));
  const auto step = [](std::optional<std::string> end, uint32_t group) {
    TabletStep made{{8, std::move(end)}, {.group_id = group}};
    made.change.redo = RedoPoint{5 + group, "server-1", 4};
    return made;
  };
  const std::vector<TabletStep> steps = {step("d", 0), step("d", 1), step(std::nullopt, 0)};
  EXPECT_TRUE(metadata_.TakesTogether(steps));
  ASSERT_OK(metadata_.Commit(steps));
  EXPECT_THAT(service_.batches, ElementsAre(2u));
  ASSERT_OK_AND_ASSIGN(const std::vector<TabletState> tablets, metadata_.ReadTable(8));
  EXPECT_EQ(tablets[0].groups.at(0).redo.sequence, 5u);
  EXPECT_EQ(tablets[0].groups.at(1).redo.sequence, 6u);
  EXPECT_TRUE(tablets[1].groups.empty());
  EXPECT_EQ(tablets[2].groups.at(0).redo.sequence, 5u);
  // For one tablet, a mutation of its row is enough.
  ASSERT_OK(metadata_.Commit(absl::MakeConstSpan(steps).first(2)));
  EXPECT_EQ(service_.batches.size(), 1u);
}

TEST_F(MetadataTableTest, StepsThatAreTooLargeAreNotCommittedTogether) {
  std::vector<TabletStep> steps;
  for (uint64_t i = 0; i < 10; ++i) {
    TabletStep& step = steps.emplace_back();
    step.tablet = {8, absl::StrCat("end", i)};
    step.change.added.push_back({.order = 1, .info = {.file_number = i}});
    step.change.added.front().info.largest_key = std::string(80000, 'k');
  }
  EXPECT_FALSE(metadata_.TakesTogether(steps));
  EXPECT_TRUE(metadata_.TakesTogether(absl::MakeConstSpan(steps).first(5)));
  // A single step may have any size.
  steps.front().change.added.front().info.largest_key = std::string(1 << 20, 'k');
  EXPECT_TRUE(metadata_.TakesTogether(absl::MakeConstSpan(steps).first(1)));
}

TEST_F(MetadataTableTest, ARemovedTableLeavesTheOthers) {
  ASSERT_OK(metadata_.AddTable(7, kTablets));
  ASSERT_OK(metadata_.AddTable(8, kTablets));
  ASSERT_OK(metadata_.RemoveTable(8));
  EXPECT_STATUS(kDataLoss, "table 8", metadata_.ReadTable(8));
  EXPECT_OK(metadata_.ReadTable(7));
  ASSERT_OK(metadata_.RemoveTable(7));
  EXPECT_THAT(service_.rows, IsEmpty());
}

// --- Splits and merges, complete and interrupted ---

class MetadataChangesTest : public MetadataTableTest {
 protected:
  static constexpr uint64_t kTable = 8;

  static TabletFile File(uint64_t number, std::string_view first_row, std::string_view last_row) {
    return {number,
            {.file_number = number,
             .smallest_key = RowPrefix(first_row),
             .largest_key = RowPrefix(last_row) + "x"}};
  }
  // "[,d) [d,)": the tablets that a reader of METADATA finds.
  static std::string Show(const absl::StatusOr<std::vector<TabletState>>& tablets) {
    if (!tablets.ok()) return tablets.status().ToString();
    std::string text;
    for (const TabletState& tablet : *tablets) {
      absl::StrAppend(&text, text.empty() ? "" : " ", "[", tablet.rows.begin(), ",",
                      tablet.rows.end().value_or(""), ")");
    }
    return text;
  }
  std::string Read() { return Show(metadata_.ReadTable(kTable)); }
  // The tablet with this first row.
  TabletState State(std::string_view begin) {
    const absl::StatusOr<std::vector<TabletState>> tablets = metadata_.ReadTable(kTable);
    EXPECT_OK(tablets);
    for (const TabletState& tablet : *tablets) {
      if (tablet.rows.begin() == begin) return tablet;
    }
    ADD_FAILURE() << "no tablet begins with " << begin;
    return {};
  }
  absl::Status Split(std::string_view begin, std::string_view row) {
    return metadata_.SplitTablet(kTable, State(begin), row);
  }
  // Merges the tablets with these first rows.
  absl::Status Merge(std::string_view left_begin, std::string_view right_begin) {
    const TabletState left = State(left_begin);
    const TabletState right = State(right_begin);
    std::vector<uint64_t> shared;
    return metadata_.MergeTablets({kTable, left.rows.end()}, {kTable, right.rows.end()},
                                  *MergedState(left, right, &shared));
  }
  void PutRow(const RowRange& rows, std::string_view mark = "") {
    const std::string key = MetadataRow({kTable, rows.end()});
    const std::string operations = EncodeNewTablet(rows);
    service_.Apply({key, operations});
    if (!mark.empty()) service_.rows[key][{"info", std::string(mark)}] = "\x01";
  }
  // The tablets before METADATA is settled. Afterwards they are the same, without marks and rows
  // that are not tablets.
  std::string ReadAndSettle() {
    const std::string before = Read();
    EXPECT_OK(metadata_.SettleTable(kTable));
    EXPECT_EQ(Read(), before);
    size_t tablets = 0;
    for (const auto& [key, cells] : service_.rows) {
      EXPECT_FALSE(cells.contains({"info", "pending"}));
      EXPECT_FALSE(cells.contains({"info", "merging"}));
      ++tablets;
    }
    const auto read = metadata_.ReadTable(kTable);
    EXPECT_EQ(tablets, read.ok() ? read->size() : 0);
    return before;
  }
};

TEST_F(MetadataChangesTest, AChildHasTheFilesThatOverlapItsKeyRange) {
  ASSERT_OK(metadata_.AddTable(kTable, kTablets));
  TabletChange change;
  change.added = {File(1, "d", "f"), File(2, "f", "m"), File(3, "m", "o"), File(4, "d", "o")};
  change.redo = RedoPoint{50, "server-1", 40};
  change.last_timestamp = 7;
  ASSERT_OK(metadata_.Commit({kTable, "p"}, change));
  TabletState state = State("d");
  state.last_timestamp = 9;  // later timestamps were assigned since
  ASSERT_OK(metadata_.SplitTablet(kTable, state, "m"));
  EXPECT_EQ(ReadAndSettle(), "[,d) [d,m) [m,p) [p,)");
  const auto numbers = [](const TabletState& tablet) {
    std::vector<uint64_t> files;
    for (const TabletFile& file : tablet.groups.at(0).files) files.push_back(file.info.file_number);
    return files;
  };
  for (const auto& [begin, files] : {std::pair("d", std::vector<uint64_t>{1, 2, 4}),
                                     std::pair("m", std::vector<uint64_t>{2, 3, 4})}) {
    const TabletState half = State(begin);
    EXPECT_EQ(numbers(half), files) << begin;
    EXPECT_EQ(half.groups.at(0).redo, *change.redo) << begin;
    EXPECT_EQ(half.last_timestamp, 9) << begin;
  }
  // A merged tablet has the files of both, each once.
  ASSERT_OK(Merge("d", "m"));
  EXPECT_EQ(ReadAndSettle(), "[,d) [d,p) [p,)");
  EXPECT_EQ(numbers(State("d")), (std::vector<uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(State("d").groups.at(0).redo, *change.redo);
  EXPECT_EQ(State("d").last_timestamp, 9);
}

// Otherwise the file of one half would be deleted while the row of the other one names it.
TEST_F(MetadataChangesTest, AChildHasTheFilesOfEachGroupThatOverlapItsKeyRange) {
  ASSERT_OK(metadata_.AddTable(kTable, kTablets));
  for (const uint32_t group : {0, 3, 7}) {
    const uint64_t number = 10 * group;
    TabletChange change;
    change.group_id = group;
    change.added = {File(number + 1, "d", "f"), File(number + 2, "f", "m"),
                    File(number + 3, "m", "o")};
    ASSERT_OK(metadata_.Commit({kTable, "p"}, change));
  }
  ASSERT_OK(metadata_.SplitTablet(kTable, State("d"), "m"));
  const auto files = [&](std::string_view begin) {
    std::set<uint64_t> numbers;
    State(begin).AddFiles(&numbers);
    return numbers;
  };
  EXPECT_THAT(files("d"), ElementsAre(1, 2, 31, 32, 71, 72));
  EXPECT_THAT(files("m"), ElementsAre(2, 3, 32, 33, 72, 73));
}

TEST_F(MetadataChangesTest, AnInterruptedSplitIsCompleteOrUndone) {
  for (int steps = 0; steps < 4; ++steps) {
    SCOPED_TRACE(steps);
    service_.rows.clear();
    ASSERT_OK(metadata_.AddTable(kTable, kTablets));
    service_.left = steps;
    EXPECT_EQ(Split("d", "m").ok(), steps >= 2);
    service_.left.reset();
    EXPECT_EQ(ReadAndSettle(), steps >= 2 ? "[,d) [d,m) [m,p) [p,)" : "[,d) [d,p) [p,)");
  }
}

TEST_F(MetadataChangesTest, AnInterruptedMergeIsCompleteOrUndone) {
  for (int steps = 0; steps < 4; ++steps) {
    SCOPED_TRACE(steps);
    service_.rows.clear();
    ASSERT_OK(metadata_.AddTable(kTable, kTablets));
    service_.left = steps;
    EXPECT_EQ(Merge("", "d").ok(), steps >= 2);
    service_.left.reset();
    EXPECT_EQ(ReadAndSettle(), steps >= 2 ? "[,p) [p,)" : "[,d) [d,p) [p,)");
  }
}

TEST_F(MetadataChangesTest, TheLastTabletIsSplitAndMergedLikeAnyOther) {
  ASSERT_OK(metadata_.AddTable(kTable, {RowRange::All()}));
  ASSERT_OK(Split("", "m"));
  EXPECT_EQ(ReadAndSettle(), "[,m) [m,)");
  ASSERT_OK(Merge("", "m"));
  EXPECT_EQ(ReadAndSettle(), "[,)");
}

// Rows that a crash can leave.
TEST_F(MetadataChangesTest, ARemnantOfASplitInsideAMergedTabletIsNotATablet) {
  PutRow(RowRange::RightOpen("", "d"));
  PutRow(RowRange::RightOpen("d", "m"), "pending");  // of a split that did not happen
  PutRow(RowRange::RightOpen("d", "p"), "merging");
  PutRow(RowRange::StartingAt("p"));
  EXPECT_EQ(Read(), "[,d) [d,p) [p,)");  // the merge did not happen yet
  PutRow(RowRange::StartingAt("d"));     // now it did
  EXPECT_EQ(ReadAndSettle(), "[,d) [d,)");
}

TEST_F(MetadataChangesTest, ARemnantDoesNotMakeTheRemnantBeforeItATablet) {
  PutRow(RowRange::RightOpen("", "d"), "pending");
  PutRow(RowRange::RightOpen("d", "m"), "pending");
  PutRow(RowRange::StartingAt(""));
  EXPECT_EQ(ReadAndSettle(), "[,)");
}

TEST_F(MetadataChangesTest, APendingChildThatATabletFollowsIsATablet) {
  PutRow(RowRange::RightOpen("", "d"), "pending");
  PutRow(RowRange::RightOpen("d", "m"), "pending");
  PutRow(RowRange::StartingAt("m"));
  EXPECT_EQ(ReadAndSettle(), "[,d) [d,m) [m,)");
}

// No program of ours leaves these. A row that ended before it began could make a chain of pending
// rows a circle.
TEST_F(MetadataChangesTest, ImpossibleRowsAreDataLoss) {
  PutRow(RowRange::RightOpen("m", "d"), "pending");
  PutRow(RowRange::StartingAt(""));
  EXPECT_STATUS(kDataLoss, "ends before it begins", metadata_.ReadTable(kTable).status());
  service_.rows.clear();
  PutRow(RowRange::StartingAt("d"), "pending");
  EXPECT_STATUS(kDataLoss, "the last tablet is marked", metadata_.ReadTable(kTable).status());
  EXPECT_STATUS(kDataLoss, "the last tablet is marked", metadata_.SettleTable(kTable));
}

TEST_F(MetadataChangesTest, TheMergedTabletReplacesItsLeftPart) {
  PutRow(RowRange::RightOpen("", "d"), "merging");
  PutRow(RowRange::RightOpen("d", "m"));
  PutRow(RowRange::StartingAt("m"));
  EXPECT_EQ(Read(), "[,d) [d,m) [m,)");
  service_.rows.erase(MetadataRow({kTable, "m"}));
  PutRow(RowRange::RightOpen("", "m"));
  EXPECT_EQ(ReadAndSettle(), "[,m) [m,)");
}

// Remnants of a failed step could not be interpreted after the next change, so they are settled
// first.
TEST_F(MetadataChangesTest, RemnantsOfFailedChangesDoNotAffectLaterOnesRandom) {
  ForEachSeed(200, [this](uint64_t seed) {
    Tally("cases");
    Random random(seed);
    service_.rows.clear();
    service_.left.reset();
    ASSERT_OK(metadata_.AddTable(kTable, {RowRange::All()}));
    std::vector<std::string> begins = {""};
    std::string history;
    const auto shown = [&] {
      std::string text;
      for (size_t i = 0; i < begins.size(); ++i) {
        absl::StrAppend(&text, i == 0 ? "" : " ", "[", begins[i], ",",
                        i + 1 < begins.size() ? begins[i + 1] : "", ")");
      }
      return text;
    };
    for (int change = 0; change < 30; ++change) {
      const int steps = random.OneIn(2) ? 3 : static_cast<int>(random.Below(3));
      service_.left = steps;
      std::vector<std::string> after = begins;
      absl::Status status;
      const std::string row(1, static_cast<char>('a' + random.Below(6)));
      const auto found = std::lower_bound(after.begin(), after.end(), row);
      absl::StrAppend(&history, " ", row, "/", steps);
      if (found != after.end() && *found == row) {
        status = Merge(*(found - 1), row);
        after.erase(found);
      } else {
        status = Split(*(found - 1), row);
        after.insert(found, row);
      }
      if (status.ok()) begins = after;
      // The server resumes, and continues or ends.
      service_.left.reset();
      ASSERT_EQ(Read(), shown()) << "after" << history;
      if (random.OneIn(8)) {
        ASSERT_EQ(ReadAndSettle(), shown()) << "after" << history;
      }
    }
    ASSERT_OK(metadata_.RemoveTable(kTable));
  });
}

}  // namespace
}  // namespace bigtable
