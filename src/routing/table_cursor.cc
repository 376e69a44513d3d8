#include "routing/table_cursor.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"

#include "backend/option_limits.h"
#include "base/shortcuts.h"
#include "base/status.h"
#include "read/filter_node.h"
#include "read/filter_rows.h"
#include "read/row_ranges.h"
#include "routing/snapshot_impl.h"

namespace bigtable {

// --- The snapshot ---

absl::Status ReadSnapshot::Fix(const TableImpl& table, const Filter& filter,
                               const ReadOptions& options, absl::Span<const RowRange> ranges,
                               Rest rest) {
  ABSL_ASSERT(!fixed_ && "a snapshot is fixed once");
  if (table.database->locations.is_remote()) {
    remote_ = std::make_unique<RemoteSnapshot>();
    BT_RETURN_IF_ERROR(remote_->Fix(table, filter, options));
    fixed_ = true;
    return CheckFamilies(filter, layout());
  }
  // An empty set of ranges still reads some tablet, so that a deleted table is noticed.
  static const auto* const kAny = new RowRange(RowRange::RightOpen("", std::string_view("\0", 1)));
  if (ranges.empty()) ranges = absl::MakeConstSpan(kAny, 1);
  const CallLimits limits = LimitsOf(options);
  for (MoveWait wait;;) {
    BT_ASSIGN_OR_RETURN(table_, table.Locate(ranges, &wait, limits));
    only_ = {};
    const size_t index = table_->Find(ranges.front().begin());
    const ServedTablet& first = table_->tablets()[index];
    Pin<TabletVersion> version = first.tablet->Version();
    bool first_superseded = false;
    BT_RETURN_IF_ERROR(
        table.BeginRead(first, *version, filter, options, limits, &spec_, &first_superseded));
    if (first_superseded) {
      BT_RETURN_IF_ERROR(table.Relocate(ranges.front().begin(), &wait, limits));
      continue;
    }
    layout_ = version->shared_layout();
    const bool is_one = rest == Rest::kMore ? table_->tablets().size() == 1
                                            : table_->FindBefore(ranges.back().end()) == index;
    if (is_one && Shortcuts().Has(Shortcut::kOneTablet)) {
      only_ = std::move(version);
    } else if (options.snapshot != nullptr) {
      held_ = options.snapshot;
    } else {
      const std::shared_ptr<SnapshotList>& snapshots = table.database->parts.snapshots;
      held_ = std::make_shared<const SnapshotImpl>(snapshots, snapshots->Take());
      spec_.sequence = held_->sequence();  // PinVersion waits for it
      // From here on, compactions keep what expires after this time.
      if (spec_.now != absl::InfinitePast()) {
        spec_.now = absl::FromUnixMicros(SnapshotImpl::TimeOf(*held_));
      }
    }
    // A tablet that was split before the snapshot may not have all of its rows.
    if (!table_->FindMissing(ranges).has_value()) break;
  }
  fixed_ = true;
  return CheckFamilies(filter, layout());
}

// The snapshot is held, so the current tablets of these rows still return its data.
absl::Status ReadSnapshot::Extend(const TableImpl& table, absl::Span<const RowRange> ranges) {
  if (only_ || remote_ != nullptr) return absl::OkStatus();
  MoveWait wait;
  BT_ASSIGN_OR_RETURN(table_, table.Locate(ranges, &wait, spec_.limits));
  return absl::OkStatus();
}

void ReadSnapshot::Release() {
  only_ = {};
  held_ = nullptr;
  own_ = nullptr;
  if (remote_ != nullptr) remote_->Release();
}

absl::Status ReadSnapshot::PinVersion(const TableImpl& table, size_t i,
                                      Pin<TabletVersion>* version) const {
  const Tablet& tablet = *table_->tablets()[i].tablet;
  if (only_) {
    *version = only_.Clone();
  } else {
    BT_RETURN_IF_ERROR(table_->tablets()[i].path->AwaitVisible(spec_.sequence, spec_.limits));
    // In this order: a removed tablet is emptied.
    *version = tablet.Version();
    if (tablet.flags().removed()) return table.DeletedError();
  }
  if (own_ != nullptr) {
    if (Pin<TabletVersion> own = own_->Over(tablet, **version, tablet.rows())) {
      *version = std::move(own);
    }
  }
  return absl::OkStatus();
}

// --- The cursor ---

struct TableCursor::FilteredRows {
  // Shows the next cell of the row; false if that was the last.
  bool Show() {
    if (next >= row.cells().size()) return false;
    const Cell& from = row.cells()[next++];
    cell = {row.key(),      from.family,
            from.qualifier, from.timestamp.micros(),
            from.value,     from.labels.empty() ? std::string_view() : *from.labels.begin()};
    return true;
  }

  Row row;
  size_t next = 0;  // in row.cells()
  ReadCell cell;
  bool in_part = false;  // as in_part_, which stays false: Next() comes to NextPart()
};

TableCursor::TableCursor(const TableImpl* table, const ReadSnapshot* snapshot, const Filter& filter,
                         const ReadOptions& options, std::vector<RowRange> ranges,
                         StreamCalls* calls)
    : table_(table), snapshot_(snapshot), ranges_(std::move(ranges)), calls_(calls) {
  if (ClipToFilter(FilterNode::Of(filter), &ranges_)) calls->MarkRowsNarrowed();
  if (snapshot->remote() != nullptr) {
    remote_ = std::make_unique<RemoteCursor>(table, snapshot->remote(), filter, options, ranges_);
    elsewhere_ = &remote_->cell();
    return;
  }
  spec_ = snapshot->spec();
  spec_.filter = FilterNode::Of(filter);
  spec_.settings.is_traced = calls->is_traced();
  spec_.most_rows = static_cast<uint64_t>(std::max<int64_t>(options.row_limit, 0));
  status_ = evaluator_.emplace(spec_).Begin(table->database->parts.budget);
  if (!evaluator_->needs_row()) return;
  filtered_ = std::make_unique<FilteredRows>();
  elsewhere_ = &filtered_->cell;
}

TableCursor::~TableCursor() = default;

void TableCursor::Release() {
  elsewhere_ = nullptr;
  remote_ = nullptr;
  filtered_ = nullptr;
  in_part_ = false;
  cells_.reset();
  version_ = {};
  evaluator_.reset();
}

bool TableCursor::NextInRowElsewhere() {
  return remote_ != nullptr ? remote_->NextInRow() : filtered_->Show();
}

void TableCursor::SkipRowElsewhere() {
  if (remote_ != nullptr) {
    remote_->SkipRow();
  } else {
    filtered_->next = filtered_->row.cells().size();
  }
}

bool TableCursor::IsNewRowElsewhere() const {
  return remote_ != nullptr ? remote_->is_new_row() : filtered_->next == 1;
}

bool TableCursor::BreakOff(const Row& row) {
  calls_->DropParts(row.cells().size());
  broke_off_ = true;
  return false;
}

bool TableCursor::ReadRowUpTo(size_t most, Row* row) {
  ABSL_ASSERT(most > 0 && "a row has a cell");
  if (elsewhere_ != nullptr) return ReadRowElsewhere(row, most);
  if (!Next()) return false;
  RowBuilder builder(row, *cells_, version_, /*reuse=*/false);
  calls_->CountPart();
  while (--most > 0 && NextInRow()) {
    builder.Add(*cells_);
    calls_->CountPart();
  }
  builder.Finish();
  return status_.ok() || BreakOff(*row);
}

bool TableCursor::ReadRowElsewhere(Row* row, size_t most) {
  if (remote_ != nullptr ? !remote_->NextRow(row) : !CollectRow(row, most)) {
    if (remote_ != nullptr) broke_off_ = remote_->broke_off();
    return false;
  }
  RowBuilder::Truncate(row, most);
  for (size_t n = row->cells().size(); n > 0; --n) calls_->CountPart();
  return true;
}

bool TableCursor::CollectRow(Row* row, size_t most) {
  if (!status_.ok()) return false;  // perhaps there was no memory for the filter
  bool* const in_part = &filtered_->in_part;
  while ((*in_part && cells_->Next()) || NextInParts(in_part)) {
    *row = Row();
    RowBuilder builder(row, cells_->row(), version_.Clone());
    MergedRow source(&*cells_, MergedRow::From::kThisCell);
    status_ = evaluator_->ReadRow(&source, most, &builder);
    builder.Finish();
    if (!status_.ok()) {
      broke_off_ = true;
      return false;
    }
    if (!row->empty()) return true;
  }
  return false;
}

bool TableCursor::NextPart() {
  if (remote_ != nullptr) return remote_->Next();
  if (filtered_ == nullptr) return NextInParts(&in_part_);
  if (filtered_->Show()) return true;
  filtered_->next = 0;
  return CollectRow(&filtered_->row) && filtered_->Show();
}

bool TableCursor::NextInParts(bool* in_part) {
  while (status_.ok()) {
    if (*in_part && !cells_->status().ok()) {
      status_ = cells_->status();
      break;
    }
    // Present rows check the limits at their cells. A million absent rows would never check them.
    status_ = spec_.limits.Check("the read");
    *in_part = status_.ok() && FindPart() && Open();
    if (!*in_part) return false;
    if (cells_->Next()) {
      ++parts_found_;
      return true;
    }
  }
  *in_part = false;
  return false;
}

bool TableCursor::FindPart() {
  const ServedTable& table = snapshot_->table();
  if (range_ != nullptr) {
    if (spec_.reverse) {
      if (tablet_ > 0 && range_->begin() < table.BeginOf(tablet_)) {
        --tablet_;
        return true;
      }
    } else if (tablet_ + 1 < table.tablets().size() &&
               (!range_->end().has_value() || table.BeginOf(tablet_ + 1) < *range_->end())) {
      ++tablet_;
      return true;
    }
  }
  if (ranges_begun_ == ranges_.size()) return false;
  range_ = &ranges_[spec_.reverse ? ranges_.size() - 1 - ranges_begun_ : ranges_begun_];
  ++ranges_begun_;
  tablet_ = spec_.reverse ? table.FindBefore(range_->end()) : table.Find(range_->begin());
  return true;
}

void TableCursor::RequestRows() {
  if (spec_.reverse || ranges_begun_ == ranges_.size() || !shortcuts_.Has(Shortcut::kRequests)) {
    return;
  }
  if (!requests_.has_value()) requests_.emplace(spec_.filter, &spec_.limits, nullptr);
  const RowRange& rows = snapshot_->table().tablets()[tablet_].tablet->rows();
  const size_t current = ranges_begun_ - 1;
  size_t most = RowRequests::kAhead;
  if (spec_.most_rows > 0) {
    const uint64_t left = spec_.most_rows - std::min(spec_.most_rows, parts_found_);
    most = std::clamp<uint64_t>(left, 1, most);  // a filter may have excluded a row that was found
  }
  // Some at a time: each time costs as much as a request.
  constexpr size_t kFewest = 16;
  const size_t end = std::min(ranges_.size(), current + most);
  requested_ = std::max(requested_, current);
  const auto is_next = [&](const RowRange& range) {
    return IsSingleRow(range) && rows.Contains(range.begin());
  };
  if (requested_ >= end || requested_ > current + most - std::min(most, kFewest) ||
      !is_next(ranges_[requested_])) {
    return;
  }
  const RowRequests::OfTablet requests(*requests_, *version_);
  for (; requested_ < end && is_next(ranges_[requested_]); ++requested_) {
    requests.Request(ranges_[requested_].begin());
  }
}

bool TableCursor::Open() {
  if (tablet_ != open_tablet_) {
    open_tablet_ = SIZE_MAX;
    cells_.reset();
    status_ = snapshot_->PinVersion(*table_, tablet_, &version_);
    if (status_.ok()) {
      status_ = snapshot_->table().tablets()[tablet_].path->CheckRead(
          version_->layout(), spec_.filter, table_->caller, spec_.limits);
    }
    if (!status_.ok()) return false;
    cells_.emplace(version_.get(), spec_);
    open_tablet_ = tablet_;
    calls_->EnterTablet(snapshot_->table().tablets()[tablet_].tablet->counters());
  }
  if (IsSingleRow(*range_) && shortcuts_.Has(Shortcut::kSingleRow)) {
    RequestRows();
    cells_->ReadRow(RowProbe(*version_, range_->begin(), spec_.filter == nullptr));
  } else if (snapshot_->table().tablets().size() == 1 && shortcuts_.Has(Shortcut::kOneTablet)) {
    cells_->ReadRange(*range_);
  } else {
    cells_->ReadRange(Intersection(*range_, snapshot_->table().tablets()[tablet_].tablet->rows()));
  }
  return true;
}

}  // namespace bigtable
