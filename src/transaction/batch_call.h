// The call that applies a batch, perhaps of a transaction: finds the tablets of its rows, and
// passes the mutations to the tablet's server, if they are of one tablet, or to the BatchWriter. If
// a tablet is superseded meanwhile, nothing was applied, and the call finds all tablets again.
#ifndef BIGTABLE_TRANSACTION_BATCH_CALL_H_
#define BIGTABLE_TRANSACTION_BATCH_CALL_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/options.h"
#include "bigtable/row_range.h"
#include "bigtable/write_batch.h"

#include "base/call_limits.h"
#include "base/sequence.h"
#include "commit/batch_writer.h"
#include "monitoring/call_timer.h"
#include "routing/database_impl.h"
#include "routing/served_table.h"
#include "routing/table_impl.h"
#include "schema/mutation_format.h"
#include "serving/data_path.h"

namespace bigtable {

// Rows that a transaction has read, and at which sequence number.
struct TransactionRead {
  const TableImpl* table;
  RowRange rows;
  SequenceNumber since;
};

// One thread at a time. Inside the gate, with a pass that is not long (TableRoute::Get).
class BatchCall {
 public:
  // Database::Apply without observers, outside the gate; with the reads of a transaction: see
  // SetReads. `*committed`: the last sequence number of the batch, if it is applied. `is_paid`: see
  // SetPaid.
  static absl::Status Apply(DatabaseImpl* database, const WriteBatch& batch,
                            const WriteOptions& options, const CallLimits& limits,
                            CallSample* sample, const std::vector<TransactionRead>* reads = nullptr,
                            SequenceNumber* committed = nullptr, bool is_paid = false);

  // All outlive this. `sample` is null unless the call is measured.
  BatchCall(DatabaseImpl* database, const WriteBatch& batch, Durability durability,
            const CallLimits& limits, CallSample* sample);
  BatchCall(const BatchCall&) = delete;
  BatchCall& operator=(const BatchCall&) = delete;

  using Read = TransactionRead;
  // If one of these rows may have been written since it was read, nothing is applied, and the
  // status is ConflictError (rpc/row_conflict.h).
  void SetReads(const std::vector<Read>& reads) { reads_ = &reads; }

  // The quotas of rates have been paid for.
  void SetPaid() { is_paid_ = true; }

  // Where Run stores the last sequence number of the batch once it is applied; may be null.
  void SetCommitted(SequenceNumber* committed) { committed_ = committed; }

  // The batch has no error, and at least one mutation. InvalidArgument: a table is of another
  // database.
  absl::Status Run();

 private:
  struct TabletShare;
  // A mutation of the batch, and where its row is according to the present route.
  struct Target {
    const TableImpl* table;
    EncodedMutation mutation;
    const ServedTablet* served = nullptr;
    TabletShare* share = nullptr;
  };
  // The mutations of one tablet by one caller.
  struct TabletShare {
    const DataPath* path = nullptr;
    std::vector<EncodedMutation> mutations = {};
    std::vector<absl::Status> statuses = {};
    WriteRequest write = {};  // of these
    DataPath::Admitted admitted = {};
  };

  // A row that must be looked up again.
  struct Missing {
    const TableImpl* table;
    std::string row;
  };
  // Sets where each row is. The first one whose tablet is not known, if there is one.
  std::optional<Missing> Locate();
  std::optional<Missing> LocateReads();
  // One try.
  absl::Status Try(std::optional<Missing>* superseded);
  absl::Status ApplyToOne(bool* superseded) const;
  absl::Status ApplyToAll(std::optional<Missing>* superseded);
  std::vector<std::unique_ptr<TabletShare>> MakeTabletShares();
  // Of mutations of the tablet of this target, by its caller.
  WriteRequest MakeWrite(const Target& target, absl::Span<const EncodedMutation> mutations,
                         absl::Span<absl::Status> statuses) const;

  DatabaseImpl* const database_;
  const Durability durability_;
  const CallLimits& limits_;
  CallSample* const sample_;
  std::vector<Target> targets_;
  const std::vector<Read>* reads_ = nullptr;  // null: none
  bool is_paid_ = false;
  SequenceNumber* committed_ = nullptr;
  // The tablets of the reads, according to the present route, and the table of each.
  std::vector<BatchRead> located_;
  std::vector<const TableImpl*> located_tables_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSACTION_BATCH_CALL_H_
