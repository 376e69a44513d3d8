// Which cells a major compaction passes to the family's filter, and what it gets.
#include "compaction/cell_filters.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "compaction/column_input.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

using Decision = CompactionFilter::Decision;

class RecordingFilter final : public CompactionFilter {
 public:
  Decision Filter(const CompactedCell& cell, std::string* replacement) const override {
    seen = absl::StrCat(std::string(cell.row), "/", std::string(cell.family), ":",
                        std::string(cell.qualifier), "@", cell.timestamp.micros(), " ",
                        std::string(cell.value));
    if (throws) throw std::runtime_error("no");
    *replacement = value;
    return decision;
  }

  Decision decision = Decision::kKeep;
  std::string value;
  bool throws = false;
  mutable std::string seen;
};

class CellFiltersTest : public testing::Test {
 protected:
  ColumnInput InputOf(bool major, std::vector<SequenceNumber> snapshots = {}) {
    return ColumnInput({.name = "f", .filter = &filter_}, major, {"r/f:q@2#5 cell value"},
                       std::move(snapshots));
  }
  RecordingFilter filter_;
};

TEST_F(CellFiltersTest, AppliesToWhatAMajorCompactionResolves) {
  ColumnInput in = InputOf(/*major=*/true);
  CellFilters filters(&in.column(), &in.input(), true);
  EXPECT_TRUE(filters.Applies(in.version()));
  EXPECT_EQ(filters.cells_unfiltered(), 0u);
  EXPECT_EQ(filters.Apply(), Decision::kKeep);
  EXPECT_EQ(filter_.seen, "r/f:q@2 value");
}

TEST_F(CellFiltersTest, ASnapshotDefersItAndTheCellIsCounted) {
  ColumnInput in = InputOf(true, /*snapshots=*/{4});
  CellFilters filters(&in.column(), &in.input(), true);
  EXPECT_FALSE(filters.Applies(in.version()));
  EXPECT_EQ(filters.cells_unfiltered(), 1u);
  EXPECT_TRUE(filters.Applies({4, 0}));
  in.retention().defers_filters = true;
  EXPECT_FALSE(filters.Applies({4, 0}));
  EXPECT_EQ(filters.cells_unfiltered(), 2u);
}

TEST_F(CellFiltersTest, DoesNotApplyOtherwise) {
  ColumnInput merging = InputOf(false);
  CellFilters of_merging(&merging.column(), &merging.input(), false);
  EXPECT_FALSE(of_merging.Applies({1, 0}));
  ColumnInput held = InputOf(true);
  held.retention().held = true;
  CellFilters of_held(&held.column(), &held.input(), true);
  EXPECT_FALSE(of_held.Applies({1, 0}));
  ColumnInput without({.name = "f"}, true, {"r/f:q@2#5 cell value"});
  CellFilters of_without(&without.column(), &without.input(), true);
  EXPECT_FALSE(of_without.Applies({1, 0}));
  EXPECT_EQ(
      of_merging.cells_unfiltered() + of_held.cells_unfiltered() + of_without.cells_unfiltered(),
      0u);
}

TEST_F(CellFiltersTest, ReplacesByAValueThatAWriteCouldHave) {
  ColumnInput in = InputOf(true);
  CellFilters filters(&in.column(), &in.input(), true);
  filter_.decision = Decision::kReplace;
  filter_.value = "new";
  EXPECT_EQ(filters.Apply(), Decision::kReplace);
  EXPECT_EQ(filters.value(), "new");
  EXPECT_TRUE(in.input().valid());
}

TEST_F(CellFiltersTest, WhatItThrowsEndsTheInput) {
  ColumnInput in = InputOf(true);
  CellFilters filters(&in.column(), &in.input(), true);
  filter_.throws = true;
  filters.Apply();
  EXPECT_FALSE(in.input().valid());
  EXPECT_NE(std::string(in.input().status().message()).find("the compaction filter of family"),
            std::string::npos);
}

}  // namespace
}  // namespace bigtable
