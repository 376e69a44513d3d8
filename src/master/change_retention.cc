#include "master/change_retention.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/call_limits.h"
#include "base/strings.h"
#include "changes/change_state.h"
#include "changes/old_changes.h"
#include "cluster/server_host.h"
#include "cluster/server_set.h"
#include "tablet/tablet.h"

namespace bigtable {
namespace {

// The number through which changes are dropped, so that those that stay have at most `most` bytes.
SequenceNumber ThroughForSpace(const std::vector<HostedTablet>& tablets, uint64_t most) {
  std::map<uint64_t, std::pair<SequenceNumber, uint64_t>> files;  // by their numbers: last, size
  uint64_t bytes = 0;
  for (const HostedTablet& hosted : tablets) {
    const Ref<const GroupFiles> changes = hosted.tablet->Version()->change_files();
    if (!changes) continue;
    for (const GroupFiles::File& file : changes->files()) {
      const SSTableInfo& info = file.table->info();
      const bool is_new = files.try_emplace(info.file_number, info.max_sequence, info.size).second;
      if (is_new) bytes += info.size;
    }
  }
  if (bytes <= most) return 0;
  std::vector<std::pair<SequenceNumber, uint64_t>> oldest;
  oldest.reserve(files.size());
  for (const auto& [_, file] : files) oldest.push_back(file);
  std::sort(oldest.begin(), oldest.end());
  SequenceNumber through = 0;
  for (const auto& [last, size] : oldest) {
    if (bytes <= most) break;
    bytes -= size;
    through = last;
  }
  return through;
}

bool HasAny(const Tablet& tablet, const OldChanges& old) {
  const Ref<const GroupFiles> changes = tablet.Version()->change_files();
  if (!changes) return false;
  const bool has_file = std::any_of(
      changes->files().begin(), changes->files().end(), [&](const GroupFiles::File& file) {
        return old.Has(file.table->info().max_sequence, file.table->info().max_timestamp);
      });
  if (has_file) return true;
  const absl::StatusOr<ChangeState> state = ChangeState::Decode(changes->policy_state());
  if (!state.ok()) return false;
  const auto is_old = [&](const auto& change) { return old.Has(change.sequence, change.micros); };
  return std::any_of(state->drops.begin(), state->drops.end(), is_old) ||
         std::any_of(state->collections.begin(), state->collections.end(), is_old);
}

}  // namespace

void DropOldChanges(const MasterContext& context, const TableLayout& layout,
                    SequenceNumber slowest_reader) {
  if (context.read_only) return;
  const std::vector<HostedTablet> tablets = context.servers->TabletsOf(layout.table_id);
  if (tablets.empty()) return;
  OldChanges old = OldChanges::All();
  if (layout.changes_since != 0) {
    old = {.of_stream = layout.changes_since,
           .through = ThroughForSpace(tablets, layout.changes.max_bytes),
           .before = absl::ToUnixMicros(tablets.front().tablet->environment()->clock->Now() -
                                        layout.changes.retention),
           .read_through = slowest_reader};
  }
  for (const HostedTablet& hosted : tablets) {
    if (!HasAny(*hosted.tablet, old)) continue;
    if (context.IsStopping() || !context.active()) return;
    const CallLimits limits{.deadline = Deadline::In(absl::Seconds(1))};
    const absl::Status dropped =
        hosted.host->DropOldChanges(context.epoch(), hosted.tablet, old, limits);
    if (dropped.ok() || absl::IsNotFound(dropped) || absl::IsDeadlineExceeded(dropped)) continue;
    if (context.IsStopping() || !context.active()) return;
    context.info_log->Warning("old changes of table ", layout.name,
                              " are not dropped: ", ToStd(dropped.message()));
  }
}

}  // namespace bigtable
