#include "retention/deletion_tracker.h"

namespace bigtable {

void DeletionTracker::Add(EntryKind kind, EntryVersion version, uint32_t group_id) {
  switch (ScopeOf(kind)) {
    case EntryScope::kRow: {
      has_row_deletions_ = true;
      auto of_group = std::find_if(rows_.begin(), rows_.end(), [&](const RowDeletions& deletions) {
        return deletions.group_id == group_id;
      });
      if (of_group == rows_.end()) of_group = rows_.insert(of_group, {group_id, {}});
      of_group->list.Add(version);
      if (group_id != group_id_) return;
      family_hidden_before_ = std::max(family_hidden_before_, version);
      break;
    }
    case EntryScope::kFamily:
      family_.Add(version);
      family_hidden_before_ = std::max(family_hidden_before_, version);
      break;
    case EntryScope::kColumn:
      column_.Add(version);
      break;
    case EntryScope::kTimestamp:
      return;  // cursors handle deletions of a timestamp themselves
  }
  hidden_before_ = std::max(hidden_before_, version);
}

const DeletionTracker::List* DeletionTracker::OfRow() const {
  if (!has_row_deletions_) return nullptr;
  for (const RowDeletions& deletions : rows_) {
    if (deletions.group_id == group_id_) return &deletions.list;
  }
  return nullptr;
}

EntryVersion DeletionTracker::NewestOfRow() const {
  const List* const row = OfRow();
  return row != nullptr ? row->newest() : EntryVersion();
}

EntryVersion DeletionTracker::FindFirstAfter(EntryVersion version) const {
  EntryVersion first = std::min(family_.FirstAfter(version), column_.FirstAfter(version));
  if (const List* const row = OfRow()) first = std::min(first, row->FirstAfter(version));
  return first;
}

EntryVersion DeletionTracker::List::FirstAfter(EntryVersion version) const {
  if (newest_ <= version) return kNever;
  const auto end = std::partition_point(older_.begin(), older_.end(),
                                        [&](EntryVersion d) { return d > version; });
  return end == older_.begin() ? newest_ : *(end - 1);
}

}  // namespace bigtable
