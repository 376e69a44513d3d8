// METADATA's server reached by messages (rpc/data_service.h), which may be lost, damaged, late, or
// delivered more than once: each mutation is carried out once, and a read is of one moment.
#ifndef BIGTABLE_METADATA_REMOTE_METADATA_H_
#define BIGTABLE_METADATA_REMOTE_METADATA_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "rpc/data_service.h"
#include "rpc/request_slots.h"
#include "rpc/tablet_service.h"
#include "tablet/snapshot_list.h"

namespace bigtable {

// Thread-safe. A message that is lost is sent again until there is an answer: METADATA's server is
// there as long as the database is open. Unavailable: it has lost its lock.
class RemoteMetadata final : public TabletService {
 public:
  // `service` and `snapshots` outlive this; `server` is the server's name.
  RemoteMetadata(DataService* service, std::string server, SnapshotList* snapshots)
      : service_(service), server_(std::move(server)), snapshots_(snapshots) {}
  RemoteMetadata(const RemoteMetadata&) = delete;
  RemoteMetadata& operator=(const RemoteMetadata&) = delete;

  absl::Status ApplyMutation(const ApplyRequest& request) override;
  absl::Status ApplyBatch(const ApplyBatchRequest& request) override;
  absl::Status Read(const ReadRequest& request,
                    absl::FunctionRef<absl::Status(const ReadCell&)> sink) override;

 private:
  absl::Status Mutate(MutateRequest request);

  DataService* const service_;
  const std::string server_;
  SnapshotList* const snapshots_;
  RequestSlots slots_;
};

}  // namespace bigtable

#endif  // BIGTABLE_METADATA_REMOTE_METADATA_H_
