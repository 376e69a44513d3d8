#include "routing/own_writes.h"

#include <vector>

#include "absl/time/time.h"

#include "schema/mutation_check.h"
#include "tablet/overlay.h"

namespace bigtable {

Pin<TabletVersion> OwnWrites::Over(const Tablet& tablet, const TabletVersion& version,
                                   const RowRange& rows) const {
  std::vector<RowOperations> operations;
  for (auto it = rows_.lower_bound({tablet.table_id(), rows.begin()}); it != rows_.end(); ++it) {
    const auto& [table_id, row] = it->first;
    if (table_id != tablet.table_id() || !rows.Contains(row)) break;
    const EncodedMutation mutation{
        .row = row, .operations = it->second, .observers = version.layout().observers_id};
    if (CheckMutation(version.layout(), mutation).ok()) operations.push_back({row, it->second});
  }
  if (operations.empty()) return {};
  return Overlay(tablet, version, operations, sequence_, absl::ToUnixMicros(clock_->Now()));
}

}  // namespace bigtable
