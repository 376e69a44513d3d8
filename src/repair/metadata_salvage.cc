#include "repair/metadata_salvage.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/strings.h"
#include "schema/table_layout.h"

namespace bigtable {
namespace {

constexpr std::string_view kEventFamily = "event";

uint32_t GroupOf(std::string_view family) {
  static const TableLayout* const layout = new TableLayout(MetadataLayout());
  const FamilyLayout* const found = layout->FindFamily(family);
  return found != nullptr ? found->group_id : 0;
}

struct MarkedTablet {
  SalvagedMetadata::Tablet tablet;
  TabletMark mark = TabletMark::kNone;
};

// As MetadataTable::IsTablet, of the rows of one table.
bool Exists(const std::vector<MarkedTablet>& rows, const MarkedTablet& row) {
  const auto some_other_begins = [&](const std::string& with) {
    return std::any_of(rows.begin(), rows.end(), [&](const MarkedTablet& other) {
      return &other != &row && other.tablet.state.rows.begin() == with &&
             (other.mark != TabletMark::kPending || Exists(rows, other));
    });
  };
  const RowRange& range = row.tablet.state.rows;
  switch (row.mark) {
    case TabletMark::kPending:
      return range.end().has_value() && some_other_begins(*range.end());
    case TabletMark::kMerging:
      return !some_other_begins(range.begin());
    case TabletMark::kNone:
      break;
  }
  return true;
}

}  // namespace

void SalvagedMetadata::Put(Row* row, std::string_view family, std::string_view qualifier,
                           EntryVersion version, EntryKind kind, std::string_view value) {
  if (family == kEventFamily) return;
  if (kind != EntryKind::kCell && !TraitsOf(kind).is_deletion) return;
  Cell& cell = row->columns[{std::string(family), std::string(qualifier)}];
  if (cell.version > version) return;
  cell = {version, kind != EntryKind::kCell, std::string(value)};
}

void SalvagedMetadata::AddEntry(std::string_view key, std::string_view value) {
  const size_t row_size = RowPrefixSize(key);
  std::string scratch;
  Row& row = rows_[std::string(Unescape(key.substr(0, row_size), &scratch))];
  const EntryKind kind = KindOf(key);
  const EntryVersion version = VersionOf(key);
  if (ScopeOf(kind) == EntryScope::kRow) {
    EntryVersion& deleted = row.deletions[GroupOfRowDeletion(key, row_size)];
    deleted = std::max(deleted, version);
    return;
  }
  const std::string_view family = FamilyOf(key, row_size);
  if (ScopeOf(kind) == EntryScope::kFamily) return;  // METADATA's clients delete no family
  const std::string_view qualifier =
      Unescape(EscapedQualifierOf(key, row_size, family.size()), &scratch);
  Put(&row, family, qualifier, version, kind, value);
}

void SalvagedMetadata::AddMutation(const EncodedMutation& mutation, SequenceNumber sequence) {
  Row& row = rows_[std::string(mutation.row)];
  OperationReader operations(mutation.operations);
  MutationOperation operation;
  for (uint32_t ordinal = 0; operations.Next(&operation); ++ordinal) {
    const EntryVersion version{sequence, ordinal};
    if (!operation.is_of_row()) {
      Put(&row, operation.family, operation.qualifier, version, operation.kind, operation.value);
      continue;
    }
    for (const GroupLayout& group : MetadataLayout().groups) {
      EntryVersion& deleted = row.deletions[group.id];
      deleted = std::max(deleted, version);
    }
  }
}

std::vector<SalvagedMetadata::Tablet> SalvagedMetadata::Tablets(
    std::vector<std::string>* problems) const {
  std::map<uint64_t, std::vector<MarkedTablet>> tables;
  for (const auto& [key, row] : rows_) {
    const absl::StatusOr<TabletId> id = TabletOfMetadataRow(key);
    if (!id.ok()) {
      problems->emplace_back(ToStd(id.status().message()));
      continue;
    }
    MarkedTablet one;
    one.tablet.id = *id;
    TabletState& state = one.tablet.state;
    if (id->end_row.has_value()) state.rows = RowRange::RightOpen("", *id->end_row);
    bool exists = false;
    for (const auto& [column, cell] : row.columns) {
      const auto deleted = row.deletions.find(GroupOf(column.first));
      if (cell.is_deleted || (deleted != row.deletions.end() && cell.version <= deleted->second)) {
        continue;
      }
      exists |= column.first != "location";
      const absl::Status decoded = DecodeCell(column.first, column.second, cell.value, &state);
      if (!decoded.ok()) problems->emplace_back(ToStd(decoded.message()));
      const TabletMark mark = MarkOfCell(column.first, column.second);
      if (mark != TabletMark::kNone) one.mark = mark;
    }
    if (exists) tables[id->table_id].push_back(std::move(one));
  }
  std::vector<Tablet> tablets;
  for (const auto& [_, rows] : tables) {
    for (const MarkedTablet& row : rows) {
      if (Exists(rows, row)) tablets.push_back(row.tablet);
    }
  }
  return tablets;
}

}  // namespace bigtable
