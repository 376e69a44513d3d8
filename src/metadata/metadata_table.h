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

  absl::Status Commit(uint64_t table_id, const TabletChange& change) override;

  // A row for the tablet of a new table.
  absl::Status AddTablet(uint64_t table_id);
  absl::Status RemoveTablet(uint64_t table_id);
  // The state of a table's tablet. DataLoss if it has no row.
  absl::StatusOr<TabletState> ReadTablet(uint64_t table_id);
  // The tables that have rows.
  absl::StatusOr<std::vector<uint64_t>> Tables();

 private:
  TabletService* const service_;
};

}  // namespace bigtable

#endif  // BIGTABLE_METADATA_METADATA_TABLE_H_
