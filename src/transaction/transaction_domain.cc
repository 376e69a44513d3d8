#include "transaction/transaction_domain.h"

#include <algorithm>

#include "absl/time/time.h"

#include "base/status.h"
#include "routing/snapshot_impl.h"

namespace bigtable {

absl::StatusOr<std::shared_ptr<const Snapshot>> TransactionDomain::TakeOwnSnapshot(
    const CallLimits& limits) const {
  BT_RETURN_IF_ERROR(database->CheckWritable(limits));
  if (database->locations.is_remote()) {
    return absl::UnimplementedError("a transaction cannot use tablets that messages reach");
  }
  // Before the snapshot: the commit compares its number with what the servers note from here on.
  BT_RETURN_IF_ERROR(TrackWrites(limits));
  const std::shared_ptr<SnapshotList>& snapshots = database->parts.snapshots;
  auto snapshot = std::make_shared<const SnapshotImpl>(
      snapshots, snapshots->TakeOwn(database->parts.sequences));
  return std::shared_ptr<const Snapshot>(std::move(snapshot));
}

absl::Status TransactionDomain::TrackWrites(const CallLimits& limits) const {
  constexpr absl::Duration kLongestTurn = absl::Milliseconds(50);
  for (const auto& host : database->cluster->servers()->Users()) {
    if (host->server()->tracks_writes()) continue;
    CallLimits of_turn = limits;
    of_turn.deadline = std::min(limits.deadline, Deadline::In(kLongestTurn));
    host->server()->TrackWrites(of_turn).IgnoreError();
  }
  return limits.Check();
}

}  // namespace bigtable
