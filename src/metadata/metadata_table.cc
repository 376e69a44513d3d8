#include "metadata/metadata_table.h"

#include <string>

#include "base/status.h"
#include "base/strings.h"
#include "metadata/metadata_format.h"
#include "tablet/mutation_format.h"

namespace bigtable {

absl::Status MetadataTable::Commit(const TabletId& tablet, const TabletChange& change) {
  const std::string row = MetadataRow(tablet);
  const std::string operations = EncodeChange(change);
  return service_->ApplyMutation({kMetadataTableId, row, operations});
}

absl::Status MetadataTable::AddTable(uint64_t table_id, const std::vector<RowRange>& tablets) {
  for (const RowRange& rows : tablets) {
    const std::string row = MetadataRow({table_id, rows.end()});
    const std::string operations = EncodeNewTablet(rows);
    BT_RETURN_IF_ERROR(service_->ApplyMutation({kMetadataTableId, row, operations}));
  }
  return absl::OkStatus();
}

absl::Status MetadataTable::RemoveTable(uint64_t table_id) {
  std::vector<std::string> rows;
  BT_RETURN_IF_ERROR(
      service_->Read({kMetadataTableId, MetadataRows(table_id)}, [&](const ReadCell& cell) {
        if (rows.empty() || rows.back() != cell.row) rows.emplace_back(cell.row);
        return absl::OkStatus();
      }));
  std::string operations;
  AppendOperation(&operations, {.kind = EntryKind::kDeleteRow});
  for (const std::string& row : rows) {
    BT_RETURN_IF_ERROR(service_->ApplyMutation({kMetadataTableId, row, operations}));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TabletState>> MetadataTable::ReadTable(uint64_t table_id) {
  std::vector<TabletState> tablets;
  std::string row;
  BT_RETURN_IF_ERROR(service_->Read(
      {kMetadataTableId, MetadataRows(table_id)}, [&](const ReadCell& cell) -> absl::Status {
        if (tablets.empty() || cell.row != row) {
          row = cell.row;
          BT_ASSIGN_OR_RETURN(const TabletId id, TabletOfMetadataRow(row));
          tablets.emplace_back();
          if (id.end_row.has_value()) tablets.back().rows = RowRange::RightOpen("", *id.end_row);
        }
        return DecodeCell(cell.family, cell.qualifier, cell.value, &tablets.back());
      }));
  if (tablets.empty()) return absl::DataLossError(Cat("METADATA has no row for table ", table_id));
  std::string next;  // where the next tablet has to begin
  for (const TabletState& tablet : tablets) {
    if (tablet.rows.begin() != next) {
      return absl::DataLossError(Cat("METADATA, table ", table_id, ": a tablet begins with ",
                                     Quoted(tablet.rows.begin()),
                                     ", the one before it ends before ", Quoted(next)));
    }
    next = tablet.rows.end().value_or("");
  }
  if (tablets.back().rows.end().has_value()) {
    return absl::DataLossError(
        Cat("METADATA has no tablet for the rows of table ", table_id, " from ", Quoted(next)));
  }
  return tablets;
}

absl::StatusOr<std::vector<uint64_t>> MetadataTable::Tables() {
  std::vector<uint64_t> tables;
  BT_RETURN_IF_ERROR(service_->Read(
      {kMetadataTableId, RowRange::All()}, [&](const ReadCell& cell) -> absl::Status {
        BT_ASSIGN_OR_RETURN(const TabletId tablet, TabletOfMetadataRow(cell.row));
        if (tables.empty() || tables.back() != tablet.table_id) tables.push_back(tablet.table_id);
        return absl::OkStatus();
      }));
  return tables;
}

}  // namespace bigtable
