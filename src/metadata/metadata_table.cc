#include "metadata/metadata_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "metadata/metadata_format.h"
#include "tablet/halves.h"
#include "tablet/mutation_format.h"

namespace bigtable {

std::vector<MetadataTable::RowChange> MetadataTable::EncodeSteps(
    absl::Span<const TabletStep> steps) {
  std::vector<RowChange> changes;
  for (const TabletStep& step : steps) {
    std::string row = MetadataRow(step.tablet);
    if (changes.empty() || changes.back().row != row) changes.push_back({std::move(row), {}});
    changes.back().operations += EncodeChange(step.change);
  }
  return changes;
}

bool MetadataTable::TakesTogether(absl::Span<const TabletStep> steps) const {
  // A record as large as a segment of METADATA's log would get one of its own.
  constexpr size_t kMostBytes = 128 << 10;
  const std::vector<RowChange> changes = EncodeSteps(steps);
  size_t bytes = 0;
  for (const RowChange& change : changes) bytes += change.row.size() + change.operations.size();
  return changes.size() <= 1 || bytes <= kMostBytes;
}

absl::Status MetadataTable::Commit(absl::Span<const TabletStep> steps) {
  const std::vector<RowChange> changes = EncodeSteps(steps);
  if (changes.size() == 1) {
    return service_->ApplyMutation(
        {kMetadataTableId, changes.front().row, changes.front().operations});
  }
  std::vector<RowOperations> rows;
  for (const RowChange& change : changes) rows.push_back({change.row, change.operations});
  return service_->ApplyBatch({kMetadataTableId, rows});
}

absl::Status MetadataTable::AddTable(uint64_t table_id, const std::vector<RowRange>& tablets) {
  for (const RowRange& rows : tablets) {
    const std::string row = MetadataRow({table_id, rows.end()});
    const std::string operations = EncodeNewTablet(rows);
    BT_RETURN_IF_ERROR(service_->ApplyMutation({kMetadataTableId, row, operations}));
  }
  return absl::OkStatus();
}

absl::Status MetadataTable::SplitTablet(uint64_t table_id, const TabletState& state,
                                        std::string_view row) {
  BT_RETURN_IF_ERROR(BeginSteps(table_id));
  const TabletState left = HalfOf(state, RowRange::RightOpen(state.rows.begin(), row));
  const std::string left_row = MetadataRow({table_id, left.rows.end()});
  const std::string pending = EncodePendingTablet(left);
  BT_RETURN_IF_ERROR(service_->ApplyMutation({kMetadataTableId, left_row, pending}));
  const std::string right_row = MetadataRow({table_id, state.rows.end()});
  const RowRange right_rows = state.rows.end().has_value()
                                  ? RowRange::RightOpen(row, *state.rows.end())
                                  : RowRange::StartingAt(row);
  std::string becomes_right = EncodeBeginRow(row);
  for (const auto& [id, group] : state.groups) {
    TabletChange change;
    change.group_id = id;
    for (const TabletFile& file : group.files) {
      if (MayHaveRowsOf(file.info, right_rows)) continue;
      change.removed.push_back(file.info.file_number);
    }
    becomes_right += EncodeChange(change);
  }
  TabletChange change;
  change.last_timestamp = state.last_timestamp;
  becomes_right += EncodeChange(change);
  BT_RETURN_IF_ERROR(service_->ApplyMutation({kMetadataTableId, right_row, becomes_right}));
  // Whoever reads the row knows without it.
  const std::string no_mark = EncodeNoMark();
  EndSteps(table_id, service_->ApplyMutation({kMetadataTableId, left_row, no_mark}));
  return absl::OkStatus();
}

absl::Status MetadataTable::MergeTablets(const TabletId& left, const TabletId& right,
                                         const TabletState& merged) {
  BT_RETURN_IF_ERROR(BeginSteps(left.table_id));
  const std::string left_row = MetadataRow(left);
  const std::string merging = EncodeMerging();
  BT_RETURN_IF_ERROR(service_->ApplyMutation({kMetadataTableId, left_row, merging}));
  const std::string right_row = MetadataRow(right);
  const std::string operations = EncodeBeginRow(merged.rows.begin()) + EncodeContents(merged);
  BT_RETURN_IF_ERROR(service_->ApplyMutation({kMetadataTableId, right_row, operations}));
  // Whoever reads the row knows that it is gone.
  std::string removed;
  AppendOperation(&removed, {.kind = EntryKind::kDeleteRow});
  EndSteps(left.table_id, service_->ApplyMutation({kMetadataTableId, left_row, removed}));
  return absl::OkStatus();
}

absl::Status MetadataTable::BeginSteps(uint64_t table_id) {
  {
    MutexLock lock(&mutex_);
    if (unsettled_.insert(table_id).second) return absl::OkStatus();
  }
  return SettleTable(table_id);
}

void MetadataTable::EndSteps(uint64_t table_id, const absl::Status& last_step) {
  if (!last_step.ok()) return;
  MutexLock lock(&mutex_);
  unsettled_.erase(table_id);
}

absl::StatusOr<std::vector<MetadataTable::Row>> MetadataTable::ReadRows(uint64_t table_id) {
  std::vector<Row> rows;
  BT_RETURN_IF_ERROR(service_->Read(
      {kMetadataTableId, MetadataRows(table_id)}, [&](const ReadCell& cell) -> absl::Status {
        if (rows.empty() || cell.row != rows.back().key) {
          BT_ASSIGN_OR_RETURN(const TabletId id, TabletOfMetadataRow(cell.row));
          Row& row = rows.emplace_back();
          row.key = cell.row;
          if (id.end_row.has_value()) row.state.rows = RowRange::RightOpen("", *id.end_row);
        }
        if (const TabletMark mark = MarkOfCell(cell.family, cell.qualifier);
            mark != TabletMark::kNone) {
          rows.back().mark = mark;
        }
        return DecodeCell(cell.family, cell.qualifier, cell.value, &rows.back().state);
      }));
  return rows;
}

bool MetadataTable::IsTablet(const std::vector<Row>& rows, const Row& row) {
  // A half that is none, because its split was cut short, begins somewhere, too. Whether it is one
  // depends on rows behind it only.
  const auto some_other_begins = [&](const std::string& with) {
    return std::any_of(rows.begin(), rows.end(), [&](const Row& other) {
      return &other != &row && other.state.rows.begin() == with &&
             (other.mark != TabletMark::kPending || IsTablet(rows, other));
    });
  };
  switch (row.mark) {
    case TabletMark::kPending:
      return some_other_begins(*row.state.rows.end());
    case TabletMark::kMerging:
      return !some_other_begins(row.state.rows.begin());
    case TabletMark::kNone:
      break;
  }
  return true;
}

absl::Status MetadataTable::RemoveTable(uint64_t table_id) {
  BT_ASSIGN_OR_RETURN(const std::vector<Row> rows, ReadRows(table_id));
  std::string operations;
  AppendOperation(&operations, {.kind = EntryKind::kDeleteRow});
  for (const Row& row : rows) {
    BT_RETURN_IF_ERROR(service_->ApplyMutation({kMetadataTableId, row.key, operations}));
  }
  return absl::OkStatus();
}

absl::Status MetadataTable::SettleTable(uint64_t table_id) {
  BT_ASSIGN_OR_RETURN(const std::vector<Row> rows, ReadRows(table_id));
  for (const Row& row : rows) {
    if (row.mark == TabletMark::kNone) continue;
    std::string operations = EncodeNoMark();
    if (!IsTablet(rows, row)) {
      operations.clear();
      AppendOperation(&operations, {.kind = EntryKind::kDeleteRow});
    }
    BT_RETURN_IF_ERROR(service_->ApplyMutation({kMetadataTableId, row.key, operations}));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TabletState>> MetadataTable::ReadTable(uint64_t table_id) {
  BT_ASSIGN_OR_RETURN(const std::vector<Row> rows, ReadRows(table_id));
  std::vector<TabletState> tablets;
  for (const Row& row : rows) {
    if (IsTablet(rows, row)) tablets.push_back(row.state);
  }
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
