// SalvagedMetadata: the tablets that rows of METADATA describe, whatever the order of their
// entries.
#include "repair/metadata_salvage.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/row_range.h"

#include "base/sequence.h"
#include "metadata/metadata_format.h"
#include "schema/mutation_format.h"
#include "tablet/tablet_state.h"

namespace bigtable {
namespace {

struct Written {
  std::string row;
  std::string operations;
  SequenceNumber sequence;
};

// "[..m) [m..)": the rows of the tablets.
std::string TabletsOf(const std::vector<Written>& mutations) {
  SalvagedMetadata metadata;
  for (const Written& one : mutations) {
    metadata.AddMutation({.row = one.row, .operations = one.operations}, one.sequence);
  }
  std::vector<std::string> problems;
  std::string text;
  for (const SalvagedMetadata::Tablet& tablet : metadata.Tablets(&problems)) {
    const RowRange& rows = tablet.state.rows;
    text += "[" + rows.begin() + ".." + rows.end().value_or("") + ")";
  }
  EXPECT_TRUE(problems.empty());
  return text;
}

TEST(SalvagedMetadataTest, AHalfOfASplitCountsOnceTheOtherHalfBeginsBehindIt) {
  TabletState left;
  left.rows = RowRange::RightOpen("", "m");
  std::vector<Written> mutations = {
      {MetadataRow({5}), EncodeNewTablet(RowRange()), 1},
      {MetadataRow({5, "m"}), EncodePendingTablet(left), 2},
  };
  EXPECT_EQ(TabletsOf(mutations), "[..)");
  mutations.push_back({MetadataRow({5}), EncodeBeginRow("m"), 3});
  EXPECT_EQ(TabletsOf(mutations), "[..m)[m..)");
  // In any order, and more than once.
  const std::vector<Written> again(mutations.begin(), mutations.end() - 1);
  mutations.insert(mutations.end(), again.begin(), again.end());
  std::reverse(mutations.begin(), mutations.end());
  EXPECT_EQ(TabletsOf(mutations), "[..m)[m..)");
}

TEST(SalvagedMetadataTest, ThePartOfAMergeCountsUntilTheOtherPartHasItsRows) {
  std::vector<Written> mutations = {
      {MetadataRow({5, "m"}), EncodeNewTablet(RowRange::RightOpen("", "m")), 1},
      {MetadataRow({5}), EncodeNewTablet(RowRange::StartingAt("m")), 2},
      {MetadataRow({5, "m"}), EncodeMerging(), 3},
  };
  EXPECT_EQ(TabletsOf(mutations), "[..m)[m..)");
  mutations.push_back({MetadataRow({5}), EncodeBeginRow(""), 4});
  EXPECT_EQ(TabletsOf(mutations), "[..)");
}

}  // namespace
}  // namespace bigtable
