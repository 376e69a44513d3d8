// The mutations of a transaction that has not committed, for its own reads.
#ifndef BIGTABLE_ROUTING_OWN_WRITES_H_
#define BIGTABLE_ROUTING_OWN_WRITES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "bigtable/clock.h"
#include "bigtable/row_range.h"

#include "base/published.h"
#include "base/sequence.h"
#include "schema/mutation_format.h"
#include "tablet/tablet.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// Not thread-safe. A stream that reads it has a copy (std::shared_ptr) that does not change.
class OwnWrites {
 public:
  // `sequence`: of the transaction's snapshot, which no mutation has. `clock` outlives this.
  OwnWrites(SequenceNumber sequence, Clock* clock) : sequence_(sequence), clock_(clock) {}

  void Add(uint64_t table_id, const EncodedMutation& mutation) {
    rows_[{table_id, std::string(mutation.row)}] += mutation.operations;
  }
  // The size of a row's operations, and the removal of those that were added since it was taken.
  size_t SizeOf(uint64_t table_id, std::string_view row) const {
    const auto found = rows_.find({table_id, std::string(row)});
    return found == rows_.end() ? 0 : found->second.size();
  }
  void Truncate(uint64_t table_id, std::string_view row, size_t size) {
    const auto found = rows_.find({table_id, std::string(row)});
    if (found == rows_.end()) return;
    found->second.resize(size);
    if (size == 0) rows_.erase(found);
  }
  bool empty() const { return rows_.empty(); }
  bool Has(uint64_t table_id, std::string_view row) const {
    return rows_.contains(std::pair(table_id, std::string(row)));
  }
  // The version with the mutations of these rows on top. Null if there are none. Rows whose
  // mutations do not fit the version's schema are left out: the commit returns their error.
  Pin<TabletVersion> Over(const Tablet& tablet, const TabletVersion& version,
                          const RowRange& rows) const;

 private:
  const SequenceNumber sequence_;
  Clock* const clock_;
  // The operations of each row, one after another, by table id and row.
  std::map<std::pair<uint64_t, std::string>, std::string> rows_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_OWN_WRITES_H_
