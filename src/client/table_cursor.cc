#include "client/table_cursor.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "tablet/row_ranges.h"

namespace bigtable {

// --- The moment ---

absl::Status ReadMoment::Fix(const TableImpl& table, const Filter& filter,
                             const ReadOptions& options) {
  const auto moved = [](const ServedTablet& tablet) { return tablet.tablet->moved(); };
  MoveWait wait;
  do {
    BT_ASSIGN_OR_RETURN(table_, table.LocateAll(&wait, LimitsOf(options)));
    only_ = {};
    const std::vector<ServedTablet>& tablets = table_->tablets();
    // A deleted table is noticed here, too.
    Pin<TabletVersion> first = tablets.front().tablet->Version();
    bool first_moved = false;
    BT_RETURN_IF_ERROR(
        table.BeginRead(tablets.front(), *first, filter, options, &spec_, &first_moved));
    layout_ = first->shared_layout();
    if (tablets.size() == 1) {
      only_ = std::move(first);
    } else if (options.snapshot != nullptr) {
      held_ = options.snapshot;
    } else {
      const std::shared_ptr<SnapshotList>& snapshots = table.database->cluster->snapshots();
      held_ = std::make_shared<const SnapshotImpl>(snapshots, snapshots->Take());
      spec_.sequence = held_->sequence();
      for (TabletServer* server : table_->servers()) server->WaitForWrites();
    }
    // A tablet that was split before the moment may not have all of it.
  } while (std::any_of(table_->tablets().begin(), table_->tablets().end(), moved));
  fixed_ = true;
  return absl::OkStatus();
}

absl::Status ReadMoment::PinVersion(const TableImpl& table, size_t i,
                                    Pin<TabletVersion>* version) const {
  if (only_) {
    *version = only_.Clone();
    return absl::OkStatus();
  }
  // In this order: a removed tablet is emptied.
  const Tablet& tablet = *table_->tablets()[i].tablet;
  *version = tablet.Version();
  return tablet.removed() ? table.DeletedError() : absl::OkStatus();
}

// --- The cursor ---

TableCursor::TableCursor(const TableImpl* table, const ReadMoment* moment, const ReadSpec& spec,
                         std::vector<RowRange> ranges, StreamCalls* calls)
    : table_(table), moment_(moment), spec_(spec), ranges_(std::move(ranges)), calls_(calls) {}

bool TableCursor::NextPart() {
  while (status_.ok()) {
    if (in_part_ && !cells_->status().ok()) {
      status_ = cells_->status();
      break;
    }
    in_part_ = FindPart() && Open();
    if (!in_part_) return false;
    if (cells_->Next()) return true;
  }
  in_part_ = false;
  return false;
}

bool TableCursor::FindPart() {
  const std::vector<ServedTablet>& tablets = moment_->table().tablets();
  if (range_ != nullptr) {
    if (spec_.reverse) {
      if (tablet_ > 0 && range_->begin() < tablets[tablet_].tablet->rows().begin()) {
        --tablet_;
        return true;
      }
    } else if (tablet_ + 1 < tablets.size() &&
               (!range_->end().has_value() ||
                tablets[tablet_ + 1].tablet->rows().begin() < *range_->end())) {
      ++tablet_;
      return true;
    }
  }
  if (ranges_begun_ == ranges_.size()) return false;
  range_ = &ranges_[spec_.reverse ? ranges_.size() - 1 - ranges_begun_ : ranges_begun_];
  ++ranges_begun_;
  if (!spec_.reverse) {
    tablet_ = moment_->table().Find(range_->begin());
  } else if (!range_->end().has_value()) {
    tablet_ = tablets.size() - 1;
  } else {
    tablet_ = moment_->table().Find(*range_->end());
  }
  return true;
}

bool TableCursor::Open() {
  if (tablet_ != open_tablet_) {
    open_tablet_ = SIZE_MAX;
    cells_.reset();
    status_ = moment_->PinVersion(*table_, tablet_, &version_);
    if (status_.ok()) status_ = table_->CheckRead(version_->layout(), spec_.filter);
    if (!status_.ok()) return false;
    cells_.emplace(version_.get(), spec_);
    open_tablet_ = tablet_;
    calls_->EnterTablet(moment_->table().tablets()[tablet_].tablet->counters());
  }
  if (IsSingleRow(*range_) && !spec_.reverse) {
    cells_->ReadRow(RowProbe(*version_, range_->begin(), spec_.filter == nullptr));
  } else if (moment_->table().tablets().size() == 1) {
    cells_->ReadRange(*range_);
  } else {
    cells_->ReadRange(Intersection(*range_, moment_->table().tablets()[tablet_].tablet->rows()));
  }
  return true;
}

}  // namespace bigtable
