// A transaction: its snapshot, what it has read, and its writes. Behind bigtable::Transaction, and
// behind each write to a table with observers (transaction/observed_write.h).
#ifndef BIGTABLE_TRANSACTION_TRANSACTION_IMPL_H_
#define BIGTABLE_TRANSACTION_TRANSACTION_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/transaction.h"
#include "bigtable/write_batch.h"

#include "backend/row_source.h"
#include "base/call_limits.h"
#include "base/sequence.h"
#include "routing/own_writes.h"
#include "routing/table_impl.h"
#include "transaction/batch_call.h"
#include "transaction/commit_order.h"
#include "transaction/transaction_domain.h"

namespace bigtable {

// One thread at a time.
class TransactionImpl {
 public:
  // The limits are those of observers' reads. Without a snapshot, the first read takes one: a
  // transaction that only writes needs none.
  TransactionImpl(std::shared_ptr<TransactionDomain> domain,
                  std::shared_ptr<const Snapshot> snapshot, const CallLimits& limits);

  TransactionDomain* domain() const { return domain_.get(); }
  DatabaseImpl* database() const { return domain_->database.get(); }
  const CallLimits& limits() const { return limits_; }
  // What a commit writes.
  const WriteBatch& batch() const { return batch_; }

  absl::StatusOr<Row> ReadRow(const TableImpl& table, std::string_view row, const Filter& filter,
                              const ReadOptions& options);
  std::unique_ptr<RowSource> ReadRows(TableImpl* table, const RowSet& rows, const Filter& filter,
                                      const ReadOptions& options);
  // ReadRow, with these mutations of the row after the transaction's own.
  absl::StatusOr<Row> ReadRowWith(const TableImpl& table, std::string_view row,
                                  const std::vector<const RowMutation*>& mutations,
                                  const Filter& filter, const ReadOptions& options);
  // Calls the observers of the table, and adds the mutation and what they add. After an error
  // nothing was added.
  absl::Status Apply(Table* table, const RowMutation& mutation);
  // Adds a mutation that observers with this number have seen (TableLayout::observers_id).
  absl::Status Add(Table* table, const RowMutation& mutation, uint64_t observers);
  // Observers are called for a mutation once it is committed.
  void AddCall(CommitOrder::Call call) { calls_.push_back(std::move(call)); }
  // Adds a read from before the transaction, at the read sequence `since`. It is compared alone
  // with this number, which is that of the row's server. On other servers it may be so old that
  // they do not know what was written since, and no repetition of the read would make it newer.
  void AddEarlierRead(const TableImpl& table, std::string_view row, SequenceNumber since);

  // The commit pays no quotas of rates: the write that it is a part of has paid.
  void SetPaid() { is_paid_ = true; }

  // Ends the transaction. ConflictError: something that was read may have been written since, or a
  // table has other observers than those that were called. The limits of the options do not count.
  absl::Status Commit(const WriteOptions& options, const CallLimits& limits);
  void End();

 private:
  absl::Status Check(const TableImpl& table) const;
  // Checks a read, and takes the snapshot if there is none.
  absl::Status BeginRead(const TableImpl& table, const ReadOptions& options);
  // The last sequence number that was assigned.
  absl::StatusOr<SequenceNumber> LastSequence() const;
  absl::Status CommitBatch(const WriteOptions& options, const CallLimits& limits,
                           SequenceNumber* committed);
  absl::StatusOr<Row> ReadOverlaid(const TableImpl& table, std::string_view row,
                                   const Filter& filter, const ReadOptions& options);
  // At the snapshot.
  void RecordRead(const TableImpl& table, RowRange rows);
  // The own writes, for a change: a stream that reads has its own.
  OwnWrites* ChangeOwn();
  void MakeOwn();

  const std::shared_ptr<TransactionDomain> domain_;
  const CallLimits limits_;
  bool has_ended_ = false;
  bool is_paid_ = false;
  std::shared_ptr<const Snapshot> snapshot_;
  Clock* clock_ = nullptr;          // of own_
  std::shared_ptr<OwnWrites> own_;  // null without a snapshot: what is in batch_
  WriteBatch batch_;
  std::vector<TransactionRead> reads_;
  std::vector<CommitOrder::Call> calls_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSACTION_TRANSACTION_IMPL_H_
