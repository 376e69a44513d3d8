// Optimistic transactions over rows and tables of a database.
#ifndef BIGTABLE_TRANSACTION_H_
#define BIGTABLE_TRANSACTION_H_

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/export.h"
#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"
#include "bigtable/table.h"

namespace bigtable {

class TransactionImpl;

// Reads at one snapshot, the transaction's own writes included, and writes that become visible
// together when it commits. Transactions are serializable: the result of those that have committed
// is that of running them one after another, in the order of their commits. Plain writes take part
// like transactions that read nothing; a plain read sees all of a committed transaction or nothing.
//
// Optimistic: nothing is locked, and no write waits for a transaction. Commit compares what was
// read with what was written since the transaction began. If a row of it may have been written, it
// returns Aborted, and the transaction is run again from its beginning:
// Database::RunTransaction does that. A row counts as written if any of its columns was, and
// sometimes without having been: rows are compared by a hash, and a range of rows counts as written
// if an SSTable that was written since overlaps it, or if the tablet has moved to another server.
//
// While it lives, a transaction holds a snapshot, which compactions preserve: keep it short. From
// Database::BeginTransaction. Must not outlive its tables. Not thread-safe.
//
//   absl::StatusOr<Transaction> transaction = database->BeginTransaction();
//   absl::StatusOr<Row> alice = transaction->ReadRow(accounts, "alice");
//   ...
//   transaction->Apply(accounts, RowMutation("alice").Set("balance:", "90"));
//   transaction->Apply(accounts, RowMutation("bob").Set("balance:", "110"));
//   absl::Status s = transaction->Commit();
class BIGTABLE_EXPORT Transaction {
 public:
  // A moved-from transaction may only be destroyed or assigned to.
  Transaction(Transaction&&) noexcept;
  Transaction& operator=(Transaction&&) noexcept;
  // Rolls back what was not committed.
  ~Transaction();

  // Table::ReadRow and ReadFilteredRows at the transaction's snapshot, with its own writes so far.
  // Cells that these write at the server's time have the present time until the commit, which sets
  // it. Errors are those of the functions of Table, and InvalidArgument for a snapshot in the
  // options. FailedPrecondition: the transaction has ended.
  //
  // The commit compares each row that was read, whether it had cells or not. A stream counts as
  // having read all its ranges, wherever it was stopped. A stream may be read until the transaction
  // is destroyed; it does not see later writes.
  [[nodiscard]] absl::StatusOr<Row> ReadRow(Table* table, std::string_view row,
                                            const Filter& filter = Filter::PassAll(),
                                            const ReadOptions& options = {});
  RowReader ReadRows(Table* table, const RowSet& rows, const Filter& filter = Filter::PassAll(),
                     const ReadOptions& options = {});

  // Adds a mutation. It is checked against the schema when the transaction commits, or, if the
  // table has observers, now: they are called, and what they add is added too. InvalidArgument: the
  // mutation, or the limits of a WriteBatch. An error of an observer is returned. After an error
  // nothing was added.
  [[nodiscard]] absl::Status Apply(Table* table, const RowMutation& mutation);

  // Ends the transaction. After OK, its writes are visible, and as durable as the options require.
  // Aborted: what it has read may have been written since; nothing was applied. Otherwise the
  // errors of Database::Apply. A transaction without writes needs no comparison.
  //
  // Cost: a turn among the writes of each server that it has read from or writes to. For each range
  // that it has read, a look at the entries of the range in memtables that were written since.
  [[nodiscard]] absl::Status Commit(const WriteOptions& options = {});
  // Ends the transaction without applying anything.
  void Rollback();

 private:
  friend class EmbeddedDatabase;
  explicit Transaction(std::unique_ptr<TransactionImpl> impl);
  std::unique_ptr<TransactionImpl> impl_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSACTION_H_
