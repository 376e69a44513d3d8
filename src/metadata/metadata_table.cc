#include "metadata/metadata_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/base/macros.h"

#include "base/status.h"
#include "base/strings.h"
#include "metadata/metadata_format.h"
#include "schema/mutation_format.h"
#include "tablet/tablet_state.h"

namespace bigtable {
namespace {

// Rows with marks may not be tablets, and rows after them decide. Marks are rare: this many rows
// are read beyond those requested.
constexpr size_t kMarks = 4;

}  // namespace

std::vector<MetadataTable::RowChange> MetadataTable::EncodeSteps(
    absl::Span<const TabletStep> steps) const {
  std::vector<RowChange> changes;
  for (const TabletStep& step : steps) {
    std::string row = MetadataRow(step.tablet);
    if (changes.empty() || changes.back().row != row) changes.push_back({std::move(row), {}});
    changes.back().operations += EncodeChange(step.change);
    if (!step.change.added.empty() || !step.change.removed.empty()) {
      changes.back().operations +=
          Event(TabletEventKind::kCompacted, Cat("group ", step.change.group_id));
    }
  }
  return changes;
}

bool MetadataTable::TakesTogether(absl::Span<const TabletStep> steps) const {
  // Of two thousand tablets that a flush writes a common file for. A record that is larger than a
  // segment of METADATA's log gets one of its own; more commits would need a sync of the user's
  // log.
  constexpr size_t kMostBytes = 512 << 10;
  const std::vector<RowChange> changes = EncodeSteps(steps);
  size_t bytes = 0;
  for (const RowChange& change : changes) bytes += change.row.size() + change.operations.size();
  return changes.size() <= 1 || (bytes <= kMostBytes && service_->AreTogether(Views(changes)));
}

absl::Status MetadataTable::Commit(absl::Span<const TabletStep> steps) {
  const std::vector<RowChange> changes = EncodeSteps(steps);
  return service_->Mutate(Views(changes), Durability::kSync);
}

std::vector<EncodedMutation> MetadataTable::Views(absl::Span<const RowChange> changes) {
  std::vector<EncodedMutation> views;
  for (const RowChange& change : changes) views.push_back({change.row, change.operations});
  return views;
}

absl::Status MetadataTable::Mutate(std::string_view row, std::string_view operations,
                                   Durability durability) {
  const EncodedMutation mutation{row, operations};
  return service_->Mutate(absl::MakeConstSpan(&mutation, 1), durability);
}

std::string MetadataTable::Event(TabletEventKind kind, std::string_view detail) const {
  return clock_ == nullptr ? "" : EncodeEvent(kind, clock_->Now(), detail);
}

absl::Status MetadataTable::SetLocation(const TabletId& id, std::string_view server) {
  const std::string row = MetadataRow(id);
  const std::string operations = EncodeLocation(server) + Event(TabletEventKind::kLoaded, server);
  return Mutate(row, operations, Durability::kBuffered);
}

absl::Status MetadataTable::AddTable(uint64_t table_id, const std::vector<RowRange>& tablets) {
  std::vector<TabletState> empty(tablets.size());
  for (size_t i = 0; i < tablets.size(); ++i) empty[i].rows = tablets[i];
  return AddTable(table_id, empty);
}

absl::Status MetadataTable::AddTable(uint64_t table_id, const std::vector<TabletState>& tablets) {
  for (const TabletState& state : tablets) {
    const std::string row = MetadataRow({table_id, state.rows.end()});
    const std::string operations = EncodeNewTablet(state.rows) + EncodeContents(state);
    BT_RETURN_IF_ERROR(Mutate(row, operations));
  }
  return absl::OkStatus();
}

absl::Status MetadataTable::SplitTablet(uint64_t table_id, const TabletState& state,
                                        std::string_view row, std::string_view server,
                                        const CallLimits& limits) {
  ABSL_ASSERT(row > state.rows.begin() && state.rows.Contains(row) && "each half has rows");
  const LimitedMutexLock lock(&steps_mutex_, &limits, "the call");
  BT_RETURN_IF_ERROR(lock.status());
  BT_RETURN_IF_ERROR(BeginSteps(table_id));
  const TabletState left = HalfOf(state, RowRange::RightOpen(state.rows.begin(), row));
  const std::string left_row = MetadataRow({table_id, left.rows.end()});
  const std::string event = Event(TabletEventKind::kSplit, row);
  const std::string pending = EncodePendingTablet(left) + EncodeLocation(server) + event;
  BT_RETURN_IF_ERROR(Mutate(left_row, pending));
  const std::string right_row = MetadataRow({table_id, state.rows.end()});
  const RowRange right_rows = state.rows.end().has_value()
                                  ? RowRange::RightOpen(row, *state.rows.end())
                                  : RowRange::StartingAt(row);
  std::string becomes_right = EncodeBeginRow(row) + event;
  for (const auto& [id, group] : state.groups) {
    TabletChange change;
    change.group_id = id;
    for (const TabletFile& file : group.files) {
      if (MayHaveRowsOf(id, file.info, right_rows)) continue;
      change.removed.push_back(file.info.file_number);
    }
    becomes_right += EncodeChange(change);
  }
  TabletChange change;
  change.last_timestamp = state.last_timestamp;
  becomes_right += EncodeChange(change);
  BT_RETURN_IF_ERROR(Mutate(right_row, becomes_right));
  // Readers of the row do not need this step.
  const std::string no_mark = EncodeNoMark();
  EndSteps(table_id, Mutate(left_row, no_mark));
  return absl::OkStatus();
}

absl::Status MetadataTable::MergeTablets(const TabletId& left, const TabletId& right,
                                         const TabletState& merged, const CallLimits& limits) {
  ABSL_ASSERT(left.table_id == right.table_id && left < right &&
              merged.rows.end() == right.end_row && "the right one becomes the merged one");
  const LimitedMutexLock lock(&steps_mutex_, &limits, "the call");
  BT_RETURN_IF_ERROR(lock.status());
  BT_RETURN_IF_ERROR(BeginSteps(left.table_id));
  const std::string left_row = MetadataRow(left);
  const std::string merging = EncodeMerging();
  BT_RETURN_IF_ERROR(Mutate(left_row, merging));
  const std::string right_row = MetadataRow(right);
  const std::string operations = EncodeBeginRow(merged.rows.begin()) + EncodeContents(merged) +
                                 Event(TabletEventKind::kMerged, left.end_row.value_or(""));
  BT_RETURN_IF_ERROR(Mutate(right_row, operations));
  // Readers of the row know without this step that it is not a tablet.
  std::string removed;
  AppendOperation(&removed, MutationOperation::DeleteRow());
  EndSteps(left.table_id, Mutate(left_row, removed));
  return absl::OkStatus();
}

absl::Status MetadataTable::BeginSteps(uint64_t table_id) {
  if (unsettled_.insert(table_id).second) return absl::OkStatus();
  return Settle(table_id);
}

void MetadataTable::EndSteps(uint64_t table_id, const absl::Status& last_step) {
  if (last_step.ok()) unsettled_.erase(table_id);
}

absl::StatusOr<std::vector<MetadataTable::Row>> MetadataTable::ReadRows(const MetadataRead& read) {
  std::vector<Row> rows;
  BT_RETURN_IF_ERROR(service_->Read(read, [&](const ReadCell& cell) -> absl::Status {
    if (rows.empty() || cell.row != rows.back().key) {
      BT_ASSIGN_OR_RETURN(TabletId id, TabletOfMetadataRow(cell.row));
      Row& row = rows.emplace_back();
      row.key = cell.row;
      if (id.end_row.has_value()) row.state.rows = RowRange::RightOpen("", *id.end_row);
      row.id = std::move(id);
    }
    Row& row = rows.back();
    if (const TabletMark mark = MarkOfCell(cell.family, cell.qualifier);
        mark != TabletMark::kNone) {
      row.mark = mark;
    }
    if (const auto server = ServerOfCell(cell.family, cell.value)) row.server = *server;
    return DecodeCell(cell.family, cell.qualifier, cell.value, &row.state);
  }));
  return rows;
}

absl::StatusOr<std::vector<MetadataTable::Row>> MetadataTable::ReadMarkedRows(
    const MetadataRead& read) {
  BT_ASSIGN_OR_RETURN(std::vector<Row> rows, ReadRows(read));
  for (const Row& row : rows) {
    if (row.mark == TabletMark::kPending && !row.state.rows.end().has_value()) {
      return absl::DataLossError(Cat("METADATA, table ", row.id.table_id,
                                     ": the last tablet is marked as pending, which only the left "
                                     "part of a split is"));
    }
  }
  return rows;
}

bool MetadataTable::IsTablet(const std::vector<Row>& rows, const Row& row) {
  // A pending row of an interrupted split has a first row, too. Whether it is a tablet depends only
  // on rows after it.
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
  BT_ASSIGN_OR_RETURN(const std::vector<Row> rows, ReadRows({.range = MetadataRows(table_id)}));
  std::string operations;
  AppendOperation(&operations, MutationOperation::DeleteRow());
  for (const Row& row : rows) {
    BT_RETURN_IF_ERROR(Mutate(row.key, operations));
  }
  return absl::OkStatus();
}

absl::Status MetadataTable::SettleTable(uint64_t table_id) {
  const LimitedMutexLock lock(&steps_mutex_);
  return Settle(table_id);
}

absl::Status MetadataTable::Settle(uint64_t table_id) {
  BT_ASSIGN_OR_RETURN(const std::vector<Row> rows,
                      ReadMarkedRows({.range = MetadataRows(table_id)}));
  for (const Row& row : rows) {
    if (row.mark == TabletMark::kNone) continue;
    std::string operations = EncodeNoMark();
    if (!IsTablet(rows, row)) {
      operations.clear();
      AppendOperation(&operations, MutationOperation::DeleteRow());
    }
    BT_RETURN_IF_ERROR(Mutate(row.key, operations));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TabletState>> MetadataTable::ReadTable(uint64_t table_id) {
  BT_ASSIGN_OR_RETURN(const std::vector<Row> rows,
                      ReadMarkedRows({.range = MetadataRows(table_id)}));
  std::vector<TabletState> tablets;
  for (const Row& row : rows) {
    if (IsTablet(rows, row)) tablets.push_back(row.state);
  }
  if (tablets.empty()) return absl::DataLossError(Cat("METADATA has no row for table ", table_id));
  // The first row of the next tablet. METADATA's first rows are in its root tablet.
  std::string next = table_id == kMetadataTableId ? *RootRows().end() : "";
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

absl::StatusOr<TabletState> MetadataTable::ReadTablet(const TabletId& id, std::string* server) {
  BT_ASSIGN_OR_RETURN(std::vector<Row> rows,
                      ReadMarkedRows({.range = RowRange::RightOpen(
                                          MetadataRow(id), *MetadataRows(id.table_id).end()),
                                      .row_limit = 1 + kMarks}));
  if (!rows.empty() && rows.front().id == id && IsTablet(rows, rows.front())) {
    *server = std::move(rows.front().server);
    return std::move(rows.front().state);
  }
  return absl::NotFoundError(Cat("METADATA has no tablet of table ", id.table_id,
                                 " that ends before ", Quoted(id.end_row.value_or(""))));
}

absl::StatusOr<std::vector<TabletLocation>> MetadataTable::FindTablets(uint64_t table_id,
                                                                       std::string_view row,
                                                                       size_t most, bool waits,
                                                                       const CallLimits& limits) {
  const RowRange all = MetadataRows(table_id);
  // The tablet ends after the row, so its key is at least the next larger one.
  const std::string first = MetadataRow({table_id, std::string(row)}) + '\0';
  BT_ASSIGN_OR_RETURN(const std::vector<Row> rows,
                      ReadMarkedRows({.range = RowRange::RightOpen(first, *all.end()),
                                      .row_limit = most + kMarks,
                                      .waits = waits,
                                      .limits = limits}));
  std::vector<TabletLocation> tablets;
  for (const Row& candidate : rows) {
    if (tablets.size() == most) break;
    if (!IsTablet(rows, candidate)) continue;
    if (tablets.empty() && !candidate.state.rows.Contains(row)) break;
    tablets.push_back({candidate.id, candidate.state.rows, candidate.server});
  }
  if (!tablets.empty()) return tablets;
  return absl::NotFoundError(
      Cat("METADATA has no tablet of table ", table_id, " with row ", Quoted(row)));
}

absl::Status MetadataTable::AddFiles(std::set<uint64_t>* numbers, const CallLimits& limits) {
  // Files of METADATA's own tablets are named nowhere else, so the two reads may have different
  // read sequences.
  for (const RowRange& range : {RootRows(), RowRange::StartingAt(*RootRows().end())}) {
    BT_ASSIGN_OR_RETURN(const std::vector<Row> rows, ReadRows({.range = range, .limits = limits}));
    for (const Row& row : rows) row.state.AddFiles(numbers);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> MetadataTable::HasTable(uint64_t table_id) {
  BT_ASSIGN_OR_RETURN(const std::vector<Row> rows,
                      ReadRows({.range = MetadataRows(table_id), .row_limit = 1}));
  return !rows.empty();
}

absl::StatusOr<std::vector<uint64_t>> MetadataTable::Tables() {
  std::vector<uint64_t> tables;
  BT_RETURN_IF_ERROR(service_->Read({.range = RowRange::StartingAt(*RootRows().end())},
                                    [&](const ReadCell& cell) -> absl::Status {
                                      BT_ASSIGN_OR_RETURN(const TabletId tablet,
                                                          TabletOfMetadataRow(cell.row));
                                      if (tables.empty() || tables.back() != tablet.table_id)
                                        tables.push_back(tablet.table_id);
                                      return absl::OkStatus();
                                    }));
  return tables;
}

}  // namespace bigtable
