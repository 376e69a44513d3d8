// What the transactions and the atomic operations of an embedded database share, besides its state
// (routing/database_impl.h).
#ifndef BIGTABLE_TRANSACTION_TRANSACTION_DOMAIN_H_
#define BIGTABLE_TRANSACTION_TRANSACTION_DOMAIN_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/snapshot.h"

#include "backend/database_backend.h"
#include "base/call_limits.h"
#include "routing/database_impl.h"
#include "transaction/commit_order.h"
#include "transaction/row_stripes.h"

namespace bigtable {

// Thread-safe. Transactions share it, so it outlives the Database object.
class TransactionDomain {
 public:
  // `tables` opens tables for observers.
  TransactionDomain(std::shared_ptr<DatabaseImpl> d, DatabaseBackend* t)
      : database(std::move(d)), tables(t) {}
  TransactionDomain(const TransactionDomain&) = delete;
  TransactionDomain& operator=(const TransactionDomain&) = delete;

  // Database::BeginTransaction: the snapshot of a transaction, at a sequence number that no
  // mutation has. Inside the gate.
  absl::StatusOr<std::shared_ptr<const Snapshot>> TakeOwnSnapshot(const CallLimits& limits) const;
  // Inside the gate: reads that begin after this can be compared with the writes that follow them
  // (TabletServer::TrackWrites). A server whose writes stall is left out: commits that have read
  // there conflict, and are tried again. Errors of the limits.
  absl::Status TrackWrites(const CallLimits& limits) const;

  const std::shared_ptr<DatabaseImpl> database;
  DatabaseBackend* const tables;  // only for calls of its tables, which end before it
  RowStripes row_stripes;
  CommitOrder commit_order;  // of writes that are observed
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSACTION_TRANSACTION_DOMAIN_H_
