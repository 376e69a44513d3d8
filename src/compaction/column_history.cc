#include "compaction/column_history.h"

#include <algorithm>

namespace bigtable {

void ColumnHistory::AddColumn(EntryCursor* entries, std::string_view column_prefix,
                              const Bounds& bounds) {
  const size_t key_size = column_prefix.size() + kTrailerSize;
  for (entries->Seek(column_prefix); entries->valid(); entries->Next()) {
    const std::string_view key = entries->key();
    if (key.size() != key_size || !key.starts_with(column_prefix)) return;
    const EntryVersion version = VersionOf(key);
    if (version.sequence <= bounds.written_after || version.sequence > bounds.written_by) continue;
    if (const EntryKind kind = KindOf(key); !HasTimestamp(kind)) {
      AddWideDeletion(version);
    } else if (const int64_t timestamp = TimestampOf(key); timestamp >= bounds.min_timestamp) {
      Add(timestamp, version, kind);
    }
  }
}

void ColumnHistory::AddWideDeletions(const std::vector<EntryVersion>& deletions,
                                     const Bounds& bounds) {
  for (const EntryVersion& version : deletions) {
    if (version.sequence > bounds.written_after && version.sequence <= bounds.written_by) {
      AddWideDeletion(version);
    }
  }
}

const std::vector<ColumnHistory::Life>& ColumnHistory::Play(int64_t max_versions) {
  max_versions_ = max_versions;
  living_.clear();
  lives_.clear();
  std::sort(events_.begin(), events_.end(),
            [](const Event& a, const Event& b) { return a.version < b.version; });
  for (const Event& event : events_) {
    switch (event.kind) {
      case EntryKind::kCell:
      case EntryKind::kShadow:
        Write(event.timestamp, event.version);
        break;
      case EntryKind::kGhost:
        Ghost(event.timestamp, event.version);
        break;
      case EntryKind::kDeleteCell:
        DeleteCell(event.timestamp, event.version);
        break;
      default:
        DeleteAll(event.version);
        break;
    }
  }
  for (const Living& cell : living_) End(cell, kAlive);
  // The last life of each timestamp, newest timestamp first.
  std::stable_sort(lives_.begin(), lives_.end(), [](const Life& a, const Life& b) {
    return a.timestamp != b.timestamp ? a.timestamp > b.timestamp : a.birth > b.birth;
  });
  lives_.erase(std::unique(lives_.begin(), lives_.end(),
                           [](const Life& a, const Life& b) { return a.timestamp == b.timestamp; }),
               lives_.end());
  return lives_;
}

void ColumnHistory::Write(int64_t timestamp, EntryVersion version) {
  DeleteCell(timestamp, version);  // an overwritten cell ends here, and begins anew
  Living cell{timestamp, version, {}};
  for (const Living& other : living_) {
    if (other.timestamp > timestamp) cell.newer.push_back(other.timestamp);
  }
  if (static_cast<int64_t>(cell.newer.size()) >= max_versions_) {
    End(cell, version);  // gone as it came
    return;
  }
  CountAgainstOlder(timestamp, version);
  living_.push_back(std::move(cell));
}

void ColumnHistory::Ghost(int64_t timestamp, EntryVersion death) {
  DeleteCell(timestamp, death);
  lives_.push_back({timestamp, death, death});
  CountAgainstOlder(timestamp, death);
}

void ColumnHistory::DeleteCell(int64_t timestamp, EntryVersion version) {
  const auto cell = std::find_if(living_.begin(), living_.end(), [&](const Living& living) {
    return living.timestamp == timestamp;
  });
  if (cell == living_.end()) return;
  End(*cell, version);
  living_.erase(cell);
}

void ColumnHistory::DeleteAll(EntryVersion version) {
  for (const Living& cell : living_) End(cell, version);
  living_.clear();
}

void ColumnHistory::CountAgainstOlder(int64_t timestamp, EntryVersion now) {
  std::erase_if(living_, [&](Living& cell) {
    if (cell.timestamp >= timestamp) return false;
    if (std::find(cell.newer.begin(), cell.newer.end(), timestamp) != cell.newer.end()) {
      return false;
    }
    cell.newer.push_back(timestamp);
    if (static_cast<int64_t>(cell.newer.size()) < max_versions_) return false;
    End(cell, now);
    return true;
  });
}

void ColumnHistory::End(const Living& cell, EntryVersion death) {
  lives_.push_back({cell.timestamp, cell.birth, death});
}

}  // namespace bigtable
