// METADATA for the servers of this process: its two tables, and the client that finds the servers
// of its tablets.
#ifndef BIGTABLE_CLUSTER_LOCAL_METADATA_H_
#define BIGTABLE_CLUSTER_LOCAL_METADATA_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/clock.h"
#include "bigtable/file_system.h"

#include "cluster/closing_state.h"
#include "cluster/server_set.h"
#include "metadata/metadata_client.h"
#include "metadata/metadata_table.h"
#include "metadata/root_tablet.h"
#include "tablet/snapshot_list.h"

namespace bigtable {

// Thread-safe.
class LocalMetadata final : public MetadataServers {
 public:
  struct Parts {
    const ServerSet* servers = nullptr;
    const RootTablet* root = nullptr;
    SnapshotList* snapshots = nullptr;
    Clock* clock = nullptr;
    const FileLock* directory_lock = nullptr;  // null: the database is read-only
    const ClosingState* closing = nullptr;
  };

  // All outlive this.
  explicit LocalMetadata(const Parts& parts)
      : parts_(parts),
        client_(this, parts.snapshots),
        table_(&client_, parts.clock),
        root_rows_(&client_, parts.clock) {}
  LocalMetadata(const LocalMetadata&) = delete;
  LocalMetadata& operator=(const LocalMetadata&) = delete;

  // METADATA's rows for users' tablets, and its rows for its own tablets. They are two tables
  // because a split or a merge blocks other changes of its table, and may itself wait for the
  // server of the rows that it changes.
  MetadataTable* table() { return &table_; }
  MetadataTable* root_rows() { return &root_rows_; }
  MetadataLookups lookups() const { return client_.lookups(); }
  // Call it when the way to reach servers has changed.
  void ForgetLocations() { client_.ForgetAll(); }
  // The error that stops METADATA's writes; OK if there is none.
  absl::Status error() const;

  // MetadataServers.
  std::string RootServer() override { return parts_.root->server(); }
  DataService* FindService(std::string_view server) override;
  bool HasEnded(std::string_view server) override;
  absl::Duration RetryTimeout() override;
  absl::Status CheckDirectory() override;
  bool HaveFailed() override { return !error().ok(); }

 private:
  const Parts parts_;
  MetadataClient client_;
  MetadataTable table_;
  MetadataTable root_rows_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_LOCAL_METADATA_H_
