#include "metadata/metadata_table.h"

#include <string>

#include "base/status.h"
#include "base/strings.h"
#include "metadata/metadata_format.h"
#include "tablet/mutation_format.h"

namespace bigtable {

absl::Status MetadataTable::Commit(uint64_t table_id, const TabletChange& change) {
  const std::string row = MetadataRow(table_id);
  const std::string operations = EncodeChange(change);
  return service_->ApplyMutation({kMetadataTableId, row, operations});
}

absl::Status MetadataTable::AddTablet(uint64_t table_id) {
  // A tablet has a row from the start, so that one without a row is known to be lost.
  TabletChange change;
  change.last_timestamp = 1;
  return Commit(table_id, change);
}

absl::Status MetadataTable::RemoveTablet(uint64_t table_id) {
  const std::string row = MetadataRow(table_id);
  std::string operations;
  AppendOperation(&operations, {.kind = EntryKind::kDeleteRow});
  return service_->ApplyMutation({kMetadataTableId, row, operations});
}

absl::StatusOr<TabletState> MetadataTable::ReadTablet(uint64_t table_id) {
  TabletState state;
  bool found = false;
  BT_RETURN_IF_ERROR(
      service_->Read({kMetadataTableId, MetadataRows(table_id)}, [&](const ReadCell& cell) {
        found = true;
        return DecodeCell(cell.family, cell.qualifier, cell.value, &state);
      }));
  if (!found) return absl::DataLossError(Cat("METADATA has no row for table ", table_id));
  return state;
}

absl::StatusOr<std::vector<uint64_t>> MetadataTable::Tables() {
  std::vector<uint64_t> tables;
  BT_RETURN_IF_ERROR(service_->Read(
      {kMetadataTableId, RowRange::All()}, [&](const ReadCell& cell) -> absl::Status {
        BT_ASSIGN_OR_RETURN(const uint64_t table_id, TableOfMetadataRow(cell.row));
        if (tables.empty() || tables.back() != table_id) tables.push_back(table_id);
        return absl::OkStatus();
      }));
  return tables;
}

}  // namespace bigtable
