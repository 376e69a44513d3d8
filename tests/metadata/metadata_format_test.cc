// The encoding of a tablet's state in METADATA.
#include "metadata/metadata_format.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "base/coding.h"
#include "base/strings.h"
#include "schema/mutation_format.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {

static bool operator==(const GroupState& a, const GroupState& b) {
  return a.redo == b.redo && a.files == b.files;
}
static bool operator==(const TabletState& a, const TabletState& b) {
  return a.groups == b.groups && a.last_timestamp == b.last_timestamp;
}

namespace {

using namespace std::string_literals;

TabletFile File(uint64_t order, uint64_t number, Random& random) {
  TabletFile file{order, {}};
  file.info.file_number = number;
  file.info.size = random.Next() >> random.Below(64);
  file.info.identity = random.Next();
  file.info.smallest_key = random.Bytes(random.Below(20));
  file.info.largest_key = random.Bytes(random.Below(200));
  file.info.max_sequence = random.Below(kMaxSequence);
  file.info.min_timestamp = random.OneIn(2) ? 0 : file.info.min_timestamp;
  file.info.max_timestamp = random.OneIn(2) ? -1 : 1 << 20;
  file.info.entries = random.Below(1000);
  return file;
}
RedoPoint Redo(Random& random) {
  return {random.Below(kMaxSequence), Cat("server-", random.Below(100)),
          random.Below(kMaxSequence)};
}

TabletState RandomState(Random& random) {
  TabletState state;
  state.last_timestamp = static_cast<int64_t>(random.Next() >> 1);
  for (uint64_t n = random.Below(4); n > 0; --n) {
    GroupState& group = state.groups[static_cast<uint32_t>(random.Next())];
    group.redo = Redo(random);
    for (uint64_t k = random.Below(4); k > 0; --k) {
      group.files.push_back(File(random.Below(300), random.Next(), random));
    }
  }
  return state;
}

// METADATA's row for one tablet: a simple model of how a database applies the operations.
class MetadataCells {
 public:
  void Apply(std::string_view operations) {
    OperationReader reader(operations);
    MutationOperation operation;
    while (reader.Next(&operation)) {
      const std::pair column(std::string(operation.family), std::string(operation.qualifier));
      ASSERT_NE(MetadataLayout().FindFamily(column.first), nullptr) << column.first;
      if (operation.kind == EntryKind::kDeleteColumn) {
        cells_.erase(column);
      } else {
        ASSERT_EQ(operation.kind, EntryKind::kCell);
        ASSERT_TRUE(operation.has_timestamp);
        ASSERT_EQ(operation.timestamp, 0);
        cells_[column] = operation.value;
      }
    }
    ASSERT_TRUE(reader.ok());
  }
  TabletState Decode() const {
    TabletState state;
    for (const auto& [column, value] : cells_) {
      EXPECT_OK(DecodeCell(column.first, column.second, value, &state));
    }
    return state;
  }
  const std::map<std::pair<std::string, std::string>, std::string>& cells() const { return cells_; }

 private:
  std::map<std::pair<std::string, std::string>, std::string> cells_;
};

// Files are returned in the order of their columns' names, not of their numbers.
TabletState Sorted(TabletState state) {
  for (auto& [id, group] : state.groups) {
    std::sort(group.files.begin(), group.files.end(), [](const TabletFile& a, const TabletFile& b) {
      return a.info.file_number < b.info.file_number;
    });
  }
  // A group without contents has no cells either.
  std::erase_if(state.groups, [](const auto& group) { return group.second == GroupState(); });
  return state;
}

TEST(MetadataFormatTest, ChangesMadeByCellsAreThoseMadeByApplyChangeRandom) {
  ForEachSeed(20, [](uint64_t seed) {
    Random random(seed);
    MetadataCells cells;
    TabletState state;
    uint64_t number = 0;
    for (int step = 0; step < 60; ++step) {
      TabletChange change;
      change.group_id = static_cast<uint32_t>(random.Below(3)) * 1000;
      for (const TabletFile& file : state.groups[change.group_id].files) {
        if (random.OneIn(3)) {
          change.removed.push_back(file.info.file_number);
        } else if (random.OneIn(3)) {
          change.added.push_back({random.Below(300), file.info, file.share});  // another order
        }
      }
      for (uint64_t n = random.Below(3); n > 0; --n) {
        change.added.push_back(File(random.Below(300), ++number, random));
        if (random.OneIn(2)) change.added.back().share = random.Next() >> random.Below(64);
      }
      if (random.OneIn(2)) change.redo = Redo(random);
      // A tablet's last timestamp never decreases.
      if (random.OneIn(2)) change.last_timestamp = state.last_timestamp + 1;
      ASSERT_NO_FATAL_FAILURE(cells.Apply(EncodeChange(change)));
      ApplyChange(change, &state);
      ASSERT_TRUE(Sorted(cells.Decode()) == Sorted(state)) << step;
      Tally("cases");
    }
  });
}

TEST(MetadataFormatTest, EveryTruncatedCellIsDataLossThatNamesItsColumn) {
  Random random(1);
  TabletChange change;
  change.group_id = 7;
  change.added = {File(3, 12, random)};
  change.redo = RedoPoint{1 << 20, "server-1", 1 << 21};
  change.last_timestamp = 1 << 20;
  MetadataCells row;
  ASSERT_NO_FATAL_FAILURE(row.Apply(EncodeChange(change)));
  ASSERT_EQ(row.cells().size(), 3u);
  for (const auto& [column, value] : row.cells()) {
    for (size_t n = 0; n < value.size(); ++n) {
      TabletState state;
      const auto status = DecodeCell(column.first, column.second, value.substr(0, n), &state);
      EXPECT_TRUE(IsStatus(absl::StatusCode::kDataLoss, status, "")) << column.first << " " << n;
    }
    std::string later = value;
    later[0] = 2;
    TabletState state;
    EXPECT_STATUS(kFailedPrecondition, Cat(column.first, ":", column.second),
                  DecodeCell(column.first, column.second, later, &state));
  }
}

TEST(MetadataFormatTest, AMalformedColumnIsDataLoss) {
  Random random(1);
  TabletChange change;
  change.added = {File(3, 12, random)};
  MetadataCells row;
  ASSERT_NO_FATAL_FAILURE(row.Apply(EncodeChange(change)));
  const std::string& value = row.cells().begin()->second;
  TabletState state;
  for (const std::string qualifier : {"", "0", "0/", "/12", "x/12", "0/12x", "0/12/", "0/13"}) {
    EXPECT_STATUS(kDataLoss, "file:" + qualifier, DecodeCell("file", qualifier, value, &state));
  }
  for (const std::string qualifier : {"", "x", "0x"}) {
    EXPECT_STATUS(kDataLoss, "redo:" + qualifier, DecodeCell("redo", qualifier, "\x01", &state));
  }
  EXPECT_OK(DecodeCell("file", "0/12", value, &state));
}

TEST(MetadataFormatTest, AStateIsDecodedAsItWasEncodedRandom) {
  ForEachSeed(20, [](uint64_t seed) {
    Random random(seed);
    for (int i = 0; i < 50; ++i) {
      const TabletState state = RandomState(random);
      ASSERT_OK_AND_ASSIGN(const RootState back, DecodeRoot(EncodeRoot({"root-7", state})));
      ASSERT_TRUE(back.tablet == state);
      EXPECT_EQ(back.server, "root-7");
      Tally("cases");
    }
  });
}

TEST(MetadataFormatTest, EveryTruncatedOrExtendedStateIsDataLoss) {
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    const std::string bytes = EncodeRoot({"root-7", RandomState(random)});
    for (size_t n = 0; n < bytes.size(); ++n) {
      EXPECT_TRUE(
          IsStatus(absl::StatusCode::kDataLoss, DecodeRoot(bytes.substr(0, n)).status(), ""))
          << n << " of " << bytes.size();
    }
    EXPECT_STATUS(kDataLoss, "", DecodeRoot(bytes + '\0'));
  }
}

TEST(MetadataFormatTest, AStateOfAnotherVersionIsFailedPrecondition) {
  std::string bytes = EncodeRoot({});
  bytes[0] = 3;
  EXPECT_STATUS(kFailedPrecondition, "version 3", DecodeRoot(bytes));
}

TEST(MetadataFormatTest, RowsOfATableAreAdjacentInTheOrderOfTables) {
  for (const uint64_t id : {uint64_t{1}, uint64_t{255}, uint64_t{256}, kMaxSequence}) {
    std::string last;
    const std::vector<TabletId> tablets = {
        {id, "\0"s}, {id, "a"}, {id, "a\0"s}, {id, "\xff\xff"}, {id}};
    for (const TabletId& tablet : tablets) {
      const std::string row = MetadataRow(tablet);
      EXPECT_LT(last, row);
      last = row;
      ASSERT_OK_AND_ASSIGN(const TabletId back, TabletOfMetadataRow(row));
      EXPECT_EQ(back, tablet);
      EXPECT_LT(row, MetadataRow({id + 1, "\0"s}));
      EXPECT_TRUE(MetadataRows(id).Contains(row));
      EXPECT_FALSE(MetadataRows(id + 1).Contains(row));
      EXPECT_FALSE(MetadataRows(id - 1).Contains(row));
    }
    EXPECT_TRUE(std::is_sorted(tablets.begin(), tablets.end()));
    EXPECT_STATUS(kDataLoss, "row", TabletOfMetadataRow(last.substr(0, 8)));
    EXPECT_STATUS(kDataLoss, "row", TabletOfMetadataRow(last + "a"));
    EXPECT_STATUS(kDataLoss, "row", TabletOfMetadataRow(last.substr(0, 8) + '\1'));
    EXPECT_STATUS(kDataLoss, "row", TabletOfMetadataRow(last.substr(0, 8) + "\2a"));
  }
}

TEST(MetadataFormatTest, ATabletsRowsAreDecodedAsTheyWereEncoded) {
  for (const RowRange& rows : {RowRange::All(), RowRange::StartingAt("m"),
                               RowRange::RightOpen("", "m"), RowRange::RightOpen("\0"s, "m")}) {
    MetadataCells cells;
    ASSERT_NO_FATAL_FAILURE(cells.Apply(EncodeNewTablet(rows)));
    ASSERT_FALSE(cells.cells().empty());
    TabletState state;
    if (rows.end().has_value()) state.rows = RowRange::RightOpen("", *rows.end());
    for (const auto& [column, value] : cells.cells()) {
      ASSERT_OK(DecodeCell(column.first, column.second, value, &state));
    }
    EXPECT_EQ(state.rows, rows);
  }
}

TEST(MetadataFormatTest, WhatDoesNotChangeIsNotWritten) {
  EXPECT_EQ(EncodeChange({}), "");
  EXPECT_EQ(EncodeLocation(""), "");
  EXPECT_NE(EncodeChange({.last_timestamp = 1}), "");
  MetadataCells cells;
  ASSERT_NO_FATAL_FAILURE(cells.Apply(EncodeNewTablet(RowRange::All())));
  EXPECT_EQ(cells.cells().size(), 1u);  // but a new tablet has a row
}

TEST(MetadataFormatTest, MarksServersAndEventsAreInTheirFamilies) {
  EXPECT_EQ(MarkOfCell("info", "pending"), TabletMark::kPending);
  EXPECT_EQ(MarkOfCell("info", "merging"), TabletMark::kMerging);
  EXPECT_EQ(MarkOfCell("info", "begin_row"), TabletMark::kNone);
  EXPECT_EQ(MarkOfCell("file", "pending"), TabletMark::kNone);
  MetadataCells cells;
  ASSERT_NO_FATAL_FAILURE(cells.Apply(EncodeMerging() + EncodeLocation("server-7")));
  EXPECT_EQ(cells.cells().size(), 2u);
  const std::string& location = cells.cells().at({"location", "server"});
  EXPECT_EQ(ServerOfCell("location", location), "server-7");
  EXPECT_EQ(ServerOfCell("info", location), std::nullopt);
  EXPECT_EQ(ServerOfCell("location", location.substr(0, location.size() - 1)), std::nullopt);
  EXPECT_EQ(ServerOfCell("location", "\2" + location.substr(1)), std::nullopt);
  ASSERT_NO_FATAL_FAILURE(cells.Apply(EncodeNoMark()));
  EXPECT_EQ(cells.cells().size(), 1u);
  const std::pair<TabletEventKind, std::string> events[] = {
      {TabletEventKind::kLoaded, "loaded"},
      {TabletEventKind::kSplit, "split"},
      {TabletEventKind::kMerged, "merged"},
      {TabletEventKind::kCompacted, "compacted"}};
  for (const auto& [kind, name] : events) {
    const std::string bytes = EncodeEvent(kind, absl::FromUnixMicros(77), "detail");
    OperationReader reader(bytes);
    MutationOperation operation;
    ASSERT_TRUE(reader.Next(&operation));
    EXPECT_EQ(operation.family, "event");
    EXPECT_EQ(operation.qualifier, name);
    EXPECT_EQ(operation.timestamp, 77);
    EXPECT_EQ(operation.value, "\1\6detail");
  }
  EXPECT_EQ(MetadataLayout().FindFamily("event")->gc.max_versions(), 8);
  EXPECT_EQ(MetadataLayout().FindFamily("file")->gc.max_versions(), std::nullopt);
}

// Lookups do not wait for a disk.
TEST(MetadataFormatTest, LocationsAreInMemory) {
  const TableLayout layout = MetadataLayout();
  const FamilyLayout* const family = layout.FindFamily("location");
  ASSERT_NE(family, nullptr);
  EXPECT_TRUE(layout.groups[layout.GroupIndex(family->group_id)].options.in_memory);
  EXPECT_FALSE(layout.groups[0].options.in_memory);
}

TEST(MetadataFormatTest, ATabletThatEndsBeforeItBeginsIsDataLoss) {
  MetadataCells cells;
  ASSERT_NO_FATAL_FAILURE(cells.Apply(EncodeNewTablet(RowRange::StartingAt("m"))));
  for (const std::string end : {"a", "m"}) {
    TabletState state;
    state.rows = RowRange::RightOpen("", end);
    EXPECT_STATUS(kDataLoss, "info:begin_row",
                  DecodeCell("info", "begin_row", cells.cells().at({"info", "begin_row"}), &state));
  }
}

}  // namespace
}  // namespace bigtable
