#include "tablet/tablet_state.h"

#include <algorithm>

#include "absl/base/macros.h"

#include "base/status.h"
#include "changes/change_file.h"
#include "changes/change_state.h"
#include "sstable/key_range.h"

namespace bigtable {

void ApplyChange(const TabletChange& change, TabletState* state) {
  GroupState& group = state->groups[change.group_id];
  std::erase_if(group.files, [&](const TabletFile& file) {
    return std::find(change.removed.begin(), change.removed.end(), file.info.file_number) !=
               change.removed.end() ||
           std::any_of(change.added.begin(), change.added.end(), [&](const TabletFile& f) {
             return f.info.file_number == file.info.file_number;
           });
  });
  group.files.insert(group.files.end(), change.added.begin(), change.added.end());
  if (change.redo.has_value()) group.redo = *change.redo;
  if (change.policy_state.has_value()) group.policy_state = *change.policy_state;
  state->last_timestamp = std::max(state->last_timestamp, change.last_timestamp);
}

SequenceNumber LargestSequence(const TabletState& state) {
  SequenceNumber largest = 0;
  for (const auto& [id, group] : state.groups) {
    largest = std::max({largest, group.redo.sequence, group.redo.log_synced});
    for (const TabletFile& file : group.files) {
      largest = std::max({largest, file.info.max_sequence, file.order});
    }
  }
  return largest;
}

void TabletState::AddFiles(std::set<uint64_t>* numbers) const {
  for (const auto& [id, group] : groups) {
    for (const TabletFile& file : group.files) numbers->insert(file.info.file_number);
  }
}

absl::StatusOr<TabletState> MergedState(const TabletState& left, const TabletState& right,
                                        std::vector<uint64_t>* shared) {
  ABSL_ASSERT(left.rows.end() == right.rows.begin() && "the halves are adjacent");
  TabletState merged = right;
  const std::string& begin = left.rows.begin();
  merged.rows = right.rows.end().has_value() ? RowRange::RightOpen(begin, *right.rows.end())
                                             : RowRange::StartingAt(begin);
  merged.last_timestamp = std::max(left.last_timestamp, right.last_timestamp);
  for (const auto& [id, group] : left.groups) {
    GroupState& into = merged.groups[id];
    for (const TabletFile& file : group.files) {
      const auto same = std::find_if(into.files.begin(), into.files.end(), [&](const auto& f) {
        return f.order == file.order && f.info == file.info;
      });
      if (same == into.files.end()) {
        into.files.push_back(file);
        continue;
      }
      shared->push_back(file.info.file_number);
      // After a split, both halves have the share of the whole.
      same->share = std::min(same->share + file.share, file.info.size);
    }
    if (id == kChangesGroupId) {
      BT_ASSIGN_OR_RETURN(ChangeState of_left, ChangeState::Decode(group.policy_state));
      BT_ASSIGN_OR_RETURN(ChangeState of_right, ChangeState::Decode(into.policy_state));
      of_left.ClipCollections(left.rows);
      of_right.ClipCollections(right.rows);
      into.policy_state = ChangeState::Merged(of_left, of_right).Encode();
    }
    // Neither log is needed up to the later redo point.
    if (group.redo.sequence > into.redo.sequence) into.redo = group.redo;
  }
  return merged;
}

bool MayHaveRowsOf(const SSTableInfo& info, const RowRange& rows) {
  return KeyRange(rows).Overlaps(info);
}

bool MayHaveRowsOf(uint32_t group_id, const SSTableInfo& info, const RowRange& rows) {
  return group_id == kChangesGroupId || MayHaveRowsOf(info, rows);
}

TabletState HalfOf(const TabletState& tablet, const RowRange& rows) {
  TabletState half = tablet;
  half.rows = rows;
  for (auto& entry : half.groups) {
    const uint32_t id = entry.first;
    GroupState& group = entry.second;
    std::erase_if(group.files,
                  [&](const TabletFile& file) { return !MayHaveRowsOf(id, file.info, rows); });
  }
  return half;
}

}  // namespace bigtable
