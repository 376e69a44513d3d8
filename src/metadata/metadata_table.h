// The tablets' rows in METADATA, read and written through the service of the server that has it.
#ifndef BIGTABLE_METADATA_METADATA_TABLE_H_
#define BIGTABLE_METADATA_METADATA_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rpc/tablet_service.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// Thread-safe. Writes are durable when they return OK.
class MetadataTable final : public TabletStore {
 public:
  // `service` outlives this.
  explicit MetadataTable(TabletService* service) : service_(service) {}

  absl::Status Commit(const TabletId& tablet, const TabletChange& change) override;

  // Rows for the tablets of a new table, one after the other: only when this returns OK the table
  // has all of them.
  absl::Status AddTable(uint64_t table_id, const std::vector<RowRange>& tablets);
  // Removes the rows of all tablets of a table, one after the other.
  absl::Status RemoveTable(uint64_t table_id);
  // The tablets of a table in key order. DataLoss unless they have every row between them.
  absl::StatusOr<std::vector<TabletState>> ReadTable(uint64_t table_id);
  // The tables that have rows.
  absl::StatusOr<std::vector<uint64_t>> Tables();

 private:
  TabletService* const service_;
};

}  // namespace bigtable

#endif  // BIGTABLE_METADATA_METADATA_TABLE_H_
