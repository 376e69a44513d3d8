// What the opaque types of bigtable/c.h are. Each is a C++ object, in a struct where it needs a
// field more or is not an object by itself. A table, a row, a transaction and what functions of the
// program are called with are the C++ objects themselves, under another name: a table belongs to
// its database, a row may be a part of a stream, and a transaction may belong to
// Database::RunTransaction.
#ifndef BIGTABLE_C_HANDLES_H_
#define BIGTABLE_C_HANDLES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/access_list.h"
#include "bigtable/c.h"
#include "bigtable/change_stream.h"
#include "bigtable/compaction_filter.h"
#include "bigtable/database.h"
#include "bigtable/filter.h"
#include "bigtable/follower.h"
#include "bigtable/mutation_observer.h"
#include "bigtable/options.h"
#include "bigtable/quota.h"
#include "bigtable/row.h"
#include "bigtable/row_key_sample.h"
#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"
#include "bigtable/schema.h"
#include "bigtable/snapshot.h"
#include "bigtable/table.h"
#include "bigtable/transaction.h"
#include "bigtable/write_batch.h"

// `status` is what the engine gets if a function of the program returns the error.
struct bigtable_error {
  absl::Status status;
  int code;
  std::string message;
  std::optional<absl::Duration> retry_after = std::nullopt;
};

struct bigtable_string {
  std::string text;
};

struct bigtable_string_list {
  std::vector<std::string> strings;
};

struct bigtable_options {
  bigtable::DatabaseOptions options;
};

struct bigtable_memory_budget {
  std::shared_ptr<bigtable::MemoryBudget> budget;
};

struct bigtable_cancellation {
  bigtable::Cancellation cancellation;
};

// `options` is without a deadline, which follows from the timeout when a call begins.
struct bigtable_call_options {
  bigtable::CallOptions options;
  std::optional<int64_t> timeout_micros;
};

struct bigtable_write_options {
  bigtable::WriteOptions options;
  std::optional<int64_t> timeout_micros;
};

struct bigtable_read_options {
  bigtable::ReadOptions options;
  std::optional<int64_t> timeout_micros;
};

struct bigtable_change_options {
  bigtable::ReadChangesOptions options;
  std::optional<int64_t> timeout_micros;
};

struct bigtable_gc_rule {
  bigtable::GcRule rule;
};

struct bigtable_locality_group {
  bigtable::LocalityGroup group;
};

struct bigtable_schema {
  bigtable::TableSchema schema;
  std::vector<std::string> split_rows;
};

struct bigtable_family_changes {
  std::vector<bigtable::FamilyChange> changes;
};

struct bigtable_database {
  std::unique_ptr<bigtable::Database> database;
};

struct bigtable_follower_options {
  bigtable::FollowerOptions options;
};

// `database` is that of the follower, which owns it until it is promoted.
struct bigtable_follower {
  explicit bigtable_follower(std::unique_ptr<bigtable::Follower> opened)
      : follower(std::move(opened)),
        database{std::unique_ptr<bigtable::Database>(follower->database())} {}
  ~bigtable_follower() { (void)database.database.release(); }
  bigtable_follower(const bigtable_follower&) = delete;
  bigtable_follower& operator=(const bigtable_follower&) = delete;

  std::unique_ptr<bigtable::Follower> follower;
  bigtable_database database;
};

struct bigtable_access_list {
  bigtable::AccessList list;
};

struct bigtable_quota {
  bigtable::Quota quota;
};

struct bigtable_snapshot {
  std::shared_ptr<const bigtable::Snapshot> snapshot;
};

struct bigtable_mutation {
  bigtable::RowMutation mutation;
  absl::Status refused;   // the first null pointer that was passed; no operation is applied
  bool in_batch = false;  // `mutation` was moved to a batch that is being applied
};

struct bigtable_write_batch {
  bigtable::WriteBatch batch;
  absl::Status refused;  // the first null pointer that was passed; no mutation is applied
};

struct bigtable_filter {
  bigtable::Filter filter;
};

struct bigtable_row_set {
  bigtable::RowSet rows;
};

struct bigtable_row_key_samples {
  std::vector<bigtable::RowKeySample> samples;
};

struct bigtable_rows {
  bigtable::RowReader reader;
  // What bigtable_rows_next_packed has returned last.
  std::vector<bigtable_packed_cell> packed_cells = {};
  std::string packed_text = {};
};

// `change` is the stream's; its operations are decoded once.
struct bigtable_change {
  const bigtable::TableChange* change = nullptr;
  std::vector<bigtable::ObservedOperation> operations = {};
};

struct bigtable_changes {
  bigtable::ChangeStream stream;
  bigtable_change present = {};
};

namespace bigtable {

inline bigtable_table* ToC(Table* table) { return reinterpret_cast<bigtable_table*>(table); }
inline Table* FromC(bigtable_table* table) { return reinterpret_cast<Table*>(table); }
inline const Table* FromC(const bigtable_table* table) {
  return reinterpret_cast<const Table*>(table);
}

inline bigtable_row* ToC(Row* row) { return reinterpret_cast<bigtable_row*>(row); }
inline const bigtable_row* ToC(const Row* row) {
  return reinterpret_cast<const bigtable_row*>(row);
}
inline Row* FromC(bigtable_row* row) { return reinterpret_cast<Row*>(row); }
inline const Row* FromC(const bigtable_row* row) { return reinterpret_cast<const Row*>(row); }

inline bigtable_transaction* ToC(Transaction* transaction) {
  return reinterpret_cast<bigtable_transaction*>(transaction);
}
inline Transaction* FromC(bigtable_transaction* transaction) {
  return reinterpret_cast<Transaction*>(transaction);
}

inline const bigtable_observed_mutation* ToC(const ObservedMutation* mutation) {
  return reinterpret_cast<const bigtable_observed_mutation*>(mutation);
}
inline const ObservedMutation* FromC(const bigtable_observed_mutation* mutation) {
  return reinterpret_cast<const ObservedMutation*>(mutation);
}

inline bigtable_observer_context* ToC(ObserverContext* context) {
  return reinterpret_cast<bigtable_observer_context*>(context);
}
inline ObserverContext* FromC(bigtable_observer_context* context) {
  return reinterpret_cast<ObserverContext*>(context);
}

inline const bigtable_compacted_cell* ToC(const CompactedCell* cell) {
  return reinterpret_cast<const bigtable_compacted_cell*>(cell);
}
inline const CompactedCell* FromC(const bigtable_compacted_cell* cell) {
  return reinterpret_cast<const CompactedCell*>(cell);
}

}  // namespace bigtable

#endif  // BIGTABLE_C_HANDLES_H_
