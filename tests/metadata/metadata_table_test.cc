// The tablets of a table in METADATA: all of them, in order, or an error.
#include "metadata/metadata_table.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "metadata/metadata_format.h"
#include "support/expect_status.h"
#include "tablet/mutation_format.h"

namespace bigtable {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// METADATA's server in its simplest form.
class MetadataInMemory final : public TabletService {
 public:
  absl::Status ApplyMutation(const ApplyRequest& request) override {
    OperationReader reader(request.operations);
    MutationOperation operation;
    std::string key(request.row);
    while (reader.Next(&operation)) {
      const std::pair column(std::string(operation.family), std::string(operation.qualifier));
      if (operation.kind == EntryKind::kDeleteRow) rows.erase(key);
      if (operation.kind == EntryKind::kDeleteColumn) rows[key].erase(column);
      if (operation.kind == EntryKind::kCell) rows[key][column] = operation.value;
    }
    return absl::OkStatus();
  }
  absl::Status Read(const ReadRequest& request,
                    absl::FunctionRef<absl::Status(const ReadCell&)> sink) override {
    for (const auto& [row, cells] : rows) {
      if (!request.range.Contains(row)) continue;
      for (const auto& [column, value] : cells) {
        if (const absl::Status status = sink({row, column.first, column.second, 0, value});
            !status.ok()) {
          return status;
        }
      }
    }
    return absl::OkStatus();
  }

  std::map<std::string, std::map<std::pair<std::string, std::string>, std::string>> rows;
};

class MetadataTableTest : public testing::Test {
 protected:
  const std::vector<RowRange> kTablets = {RowRange::RightOpen("", "d"),
                                          RowRange::RightOpen("d", "p"), RowRange::StartingAt("p")};

  MetadataInMemory service_;
  MetadataTable metadata_{&service_};
};

TEST_F(MetadataTableTest, TheTabletsOfATableComeBackInOrder) {
  ASSERT_OK(metadata_.AddTable(7, {RowRange::All()}));
  ASSERT_OK(metadata_.AddTable(8, kTablets));
  ASSERT_OK(metadata_.AddTable(9, {RowRange::All()}));
  ASSERT_OK_AND_ASSIGN(const std::vector<TabletState> tablets, metadata_.ReadTable(8));
  ASSERT_EQ(tablets.size(), kTablets.size());
  for (size_t i = 0; i < tablets.size(); ++i) EXPECT_EQ(tablets[i].rows, kTablets[i]);
  ASSERT_OK_AND_ASSIGN(const std::vector<uint64_t> tables, metadata_.Tables());
  EXPECT_THAT(tables, ElementsAre(7, 8, 9));
}

TEST_F(MetadataTableTest, ATableThatMissesATabletIsDataLoss) {
  for (const RowRange& missing : kTablets) {
    ASSERT_OK(metadata_.AddTable(8, kTablets));
    service_.rows.erase(MetadataRow({8, missing.end()}));
    EXPECT_STATUS(kDataLoss, "table 8", metadata_.ReadTable(8));
  }
  EXPECT_STATUS(kDataLoss, "table 9", metadata_.ReadTable(9));
}

TEST_F(MetadataTableTest, ATabletThatBeginsElsewhereIsDataLoss) {
  ASSERT_OK(metadata_.AddTable(8, {RowRange::RightOpen("", "d"), RowRange::StartingAt("e")}));
  EXPECT_STATUS(kDataLoss, "\"e\"", metadata_.ReadTable(8));
}

TEST_F(MetadataTableTest, AChangeIsOfItsTabletAlone) {
  ASSERT_OK(metadata_.AddTable(8, kTablets));
  TabletChange change;
  change.redo = RedoPoint{5, "server-1", 4};
  ASSERT_OK(metadata_.Commit({8, "p"}, change));
  ASSERT_OK_AND_ASSIGN(const std::vector<TabletState> tablets, metadata_.ReadTable(8));
  EXPECT_TRUE(tablets[0].groups.empty());
  EXPECT_EQ(tablets[1].groups.at(0).redo, *change.redo);
  EXPECT_TRUE(tablets[2].groups.empty());
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

}  // namespace
}  // namespace bigtable
