// Mutations of many rows, applied together or not at all.
#ifndef BIGTABLE_WRITE_BATCH_H_
#define BIGTABLE_WRITE_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/export.h"
#include "bigtable/row_mutation.h"

namespace bigtable {

class Table;

// A list of row mutations, of one or several tables of a database. Database::Apply applies all of
// them or, after an error, none. They become visible at once: every read and every snapshot sees
// all of them or none. They are also recovered after a crash together or not at all, unless they
// were applied with Durability::kNone. Where the paper's single-row transactions are not enough
// (section 3), this is what to build indexes and transactions on.
//
// Mutations take effect in call order, also on the same row. Cells that are written at the server's
// time get a timestamp for each mutation. Not thread-safe; may be applied any number of times.
//
//   WriteBatch batch;
//   batch.Apply(accounts, RowMutation("alice").Set("balance:", "90"));
//   batch.Apply(accounts, RowMutation("bob").Set("balance:", "110"));
//   absl::Status s = database->Apply(batch);
class BIGTABLE_EXPORT WriteBatch {
 public:
  // Limits: InvalidArgument beyond them.
  static constexpr size_t kMaxMutations = size_t{1} << 20;
  // Of all mutations: byte_size(). A little less than 1 GiB.
  static constexpr uint64_t kMaxSize = (uint64_t{1} << 30) - (1 << 20);

  // Adds a copy of the mutation. `table` is not null and lives until the last use of the batch. An
  // invalid mutation is reported when the batch is applied, and then nothing is applied.
  WriteBatch& Apply(Table* table, const RowMutation& mutation);
  // Removes all mutations, and an error; keeps the memory for the next ones.
  void Clear();

  size_t mutation_count() const { return mutations_.size(); }
  // About how many bytes the mutations take in the commit logs.
  uint64_t byte_size() const { return bytes_.size() + mutations_.size() * kOverhead; }
  // InvalidArgument: the first invalid mutation, which Database::Apply reports.
  const absl::Status& status() const { return status_; }

 private:
  friend class BatchCall;
  friend class CallBuilder;
  friend class ConnectedDatabase;
  friend class EmbeddedDatabase;
  friend class ObservedWrite;
  friend class TransactionImpl;
  // Of a mutation in a log.
  static constexpr uint64_t kOverhead = 32;

  // Of the row and the operations of a mutation, which are in bytes_.
  struct Mutation {
    Table* table;
    size_t begin;
    size_t row_size;
    size_t end;
    bool takes_server_time;
    uint64_t observers;  // EncodedMutation::observers
  };

  // Why the mutation cannot be added to this batch.
  absl::Status CanApply(const RowMutation& mutation) const;
  // Adds a mutation that CanApply.
  void Add(Table* table, const RowMutation& mutation, uint64_t observers);
  // Removes all mutations from the i-th on.
  void Truncate(size_t i);

  std::string bytes_;
  std::vector<Mutation> mutations_;
  bool has_connected_ = false;  // some table is of a connected database
  absl::Status status_;
};

}  // namespace bigtable

#endif  // BIGTABLE_WRITE_BATCH_H_
