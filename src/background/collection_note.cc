#include "background/collection_note.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "changes/change_file.h"
#include "changes/change_state.h"
#include "tablet/tablet_environment.h"

namespace bigtable {

std::vector<std::string> CollectedFamilies(const TableLayout& layout, uint32_t group_id) {
  std::vector<std::string> families;
  for (const FamilyLayout& family : layout.families) {
    const bool has_rule = !family.gc.steps().empty() || !family.past.empty();
    if (family.group_id == group_id && has_rule) families.push_back(family.name);
  }
  return families;
}

absl::StatusOr<TabletStep> CollectionNote::TakeStep(std::vector<std::string> families,
                                                    absl::Time collected_at) {
  const Ref<const GroupFiles> files = tablet_->Version()->change_files();
  BT_ASSIGN_OR_RETURN(ChangeState state,
                      ChangeState::Decode(files ? files->policy_state() : std::string_view()));
  // Of families that are gone there is nothing to know: that they went is in the stream.
  const Pin<TabletVersion> version = tablet_->Version();
  state.KeepFamilies(
      [&](const std::string& family) { return version->layout().FindFamily(family) != nullptr; });
  const TabletEnvironment& environment = *tablet_->environment();
  // The number before the time, as for mutations: what has a larger number than a reader has seen
  // is not older than the reader's look at the clock.
  const SequenceNumber sequence = environment.sequences->Take(1);
  const int64_t now = absl::ToUnixMicros(environment.clock->Now());
  state.AddCollection({.sequence = sequence,
                       .micros = std::max(now, tablet_->writer()->last_timestamp()),
                       .collected_at = absl::ToUnixMicros(collected_at),
                       .rows = tablet_->rows(),
                       .families = std::move(families)});
  TabletChange change{.group_id = kChangesGroupId};
  change.policy_state = state.Encode();
  return TabletStep{tablet_->id(), std::move(change)};
}

}  // namespace bigtable
