#include "tablet/tablet_state.h"

#include <algorithm>

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
  state->last_timestamp = std::max(state->last_timestamp, change.last_timestamp);
}

}  // namespace bigtable
