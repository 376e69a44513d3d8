#include "tablet/overlay.h"

#include <utility>
#include <vector>

#include "memtable/memtable.h"
#include "tablet/tablet_writer.h"

namespace bigtable {

Pin<TabletVersion> Overlay(const Tablet& tablet, const TabletVersion& version,
                           std::span<const RowOperations> rows, SequenceNumber sequence,
                           int64_t now) {
  std::vector<GroupVersion> own(version.groups().size());
  for (GroupVersion& group : own) group.active = MakeRef<Memtable>(tablet.environment()->budget);
  server_writer.Assume("the memtables are new, and nobody writes to them later");
  TabletWriter writer(tablet.environment(), tablet.counters());
  writer.Use(version.shared_layout(), own);
  // Replay, which does not count as writes.
  for (const RowOperations& row : rows) writer.Replay(row.row, row.operations, sequence, now, 0);
  std::vector<GroupVersion> groups = version.groups();
  for (size_t group = 0; group < groups.size(); ++group) {
    std::vector<Ref<Memtable>>& immutable = groups[group].immutable;
    immutable.insert(immutable.begin(), std::move(own[group].active));
  }
  const Published<TabletVersion> overlaid(
      new TabletVersion(version.shared_layout(), std::move(groups), version.shared_read_limit()));
  return overlaid.Get();
}

}  // namespace bigtable
