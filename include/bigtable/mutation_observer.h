// Observers: code of the program that runs before and after each mutation of a table, in the
// process and in the turn of the write, for example to keep an index up to date. A program
// registers its observers under names before it writes to a table that names them
// (TableSchema::observers):
//
//   // Keeps in table "cities" a row for each user of table "users", by city.
//   class CityIndex final : public bigtable::MutationObserver {
//    public:
//     absl::Status Before(const bigtable::ObservedMutation& mutation,
//                         bigtable::ObserverContext* context) override {
//       const auto city = bigtable::Filter::Chain(bigtable::Filter::Column("user", "city"),
//                                                 bigtable::Filter::Latest(1));
//       absl::StatusOr<bigtable::Row> before = context->ReadBefore(city);
//       absl::StatusOr<bigtable::Row> after = context->ReadAfter(city);
//       ...  // context->Apply(cities, ...): delete the old entry, set the new one
//     }
//   };
//
//   absl::Status s =
//       bigtable::RegisterMutationObserver("city_index", std::make_unique<CityIndex>());
//   schema.observers = {"city_index"};
//
// In the turn of the write: what Before has read is unchanged when the mutation takes effect, and
// what it adds takes effect at the same moment. A write to a table with observers is an optimistic
// transaction (bigtable/transaction.h). If anything that Before has read was written since, nothing
// is applied, and the observers are called again; so they may be called several times for one
// write, and the calls of the last try are those that count. No lock is held and no other write
// waits while Before runs. A write whose observers read nothing has nothing to compare, and is
// tried once.
//
// All ways to write call the observers: Table::Apply, ApplyBatch and the atomic operations on a
// row, Database::Apply, Transaction::Apply, Apply(Operation*, ...) and the functions of
// bigtable/c.h. Not observed are Table::DropRowRange, changes of families and tables, garbage
// collection, and what compaction filters remove.
#ifndef BIGTABLE_MUTATION_OBSERVER_H_
#define BIGTABLE_MUTATION_OBSERVER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/export.h"
#include "bigtable/filter.h"
#include "bigtable/row.h"
#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"
#include "bigtable/table.h"
#include "bigtable/timestamp.h"

namespace bigtable {

// The functions of RowMutation. The values are those of c.h.
enum class OperationKind : uint8_t {
  kSet = 0,
  kAddToCell = 1,
  kMergeToCell = 2,
  kDelete = 3,
  kDeleteCell = 4,
  kDeleteTimeRange = 5,
  kDeleteFamily = 6,
  kDeleteRow = 7,
};

// An operation of a mutation. A plain value; its views are those of the mutation.
struct ObservedOperation {
  OperationKind kind = OperationKind::kSet;
  std::string_view family = {};     // empty for kDeleteRow
  std::string_view qualifier = {};  // empty also for kDeleteFamily
  // None: the server's time, or a deletion of more than a cell. Of kDeleteTimeRange its begin.
  std::optional<Timestamp> timestamp = std::nullopt;
  Timestamp end = {};  // only of kDeleteTimeRange; Timestamp::Max() is no end
  std::string_view value = {};
};

// A valid mutation of a row of a table with observers, which the writer may write. Valid during the
// call of the observer.
class BIGTABLE_EXPORT ObservedMutation {
 public:
  ObservedMutation(const ObservedMutation&) = delete;
  ObservedMutation& operator=(const ObservedMutation&) = delete;

  // Opened for the program itself, even if the writer acts on behalf of a user.
  Table* table() const { return table_; }
  std::string_view row() const { return mutation_.row(); }
  const RowMutation& mutation() const { return mutation_; }
  // In call order.
  const std::vector<ObservedOperation>& operations() const { return operations_; }

 private:
  friend class ObservedApply;
  ObservedMutation(Table* table, const RowMutation& mutation);

  Table* const table_;
  const RowMutation mutation_;
  std::vector<ObservedOperation> operations_;
};

class ObserverContextImpl;

// What Before can do. Valid during the call, for its thread. Deadline and cancellation of its
// functions are those of the write.
class BIGTABLE_EXPORT ObserverContext {
 public:
  ObserverContext(const ObserverContext&) = delete;
  ObserverContext& operator=(const ObserverContext&) = delete;

  // The row of the mutation as it is without it, and as it will be with it and with what observers
  // called before this one have added to the row. Both contain earlier mutations of the same batch
  // or transaction. In the second, cells at the server's time have about the time of the call.
  [[nodiscard]] absl::StatusOr<Row> ReadBefore(const Filter& filter = {});
  [[nodiscard]] absl::StatusOr<Row> ReadAfter(const Filter& filter = {});
  // Any row, and rows as a stream, without the mutation and with what is before it in the batch or
  // transaction. As with Transaction, each row and all ranges of a stream count as read.
  [[nodiscard]] absl::StatusOr<Row> ReadRow(Table* table, std::string_view row,
                                            const Filter& filter = {});
  [[nodiscard]] RowReader ReadRows(Table* table, const RowSet& rows, const Filter& filter = {});

  // Database::OpenTable, for the program itself. Of an open table: some hundred nanoseconds,
  // whatever the number of tables.
  [[nodiscard]] absl::StatusOr<Table*> OpenTable(std::string_view name);

  // Adds a mutation of any row and table of the database, which is applied if and only if the
  // observed mutation is, after it, in call order. A mutation of the observed row itself is not
  // observed again. Those of other rows are, if their table has observers: they may add mutations
  // too, up to 8 deep; beyond that the write is FailedPrecondition, and the message names the
  // tables and observers. InvalidArgument: the mutation, or the limits of a WriteBatch.
  [[nodiscard]] absl::Status Apply(Table* table, const RowMutation& mutation);

 private:
  friend class ObserverContextImpl;
  explicit ObserverContext(ObserverContextImpl* impl) : impl_(impl) {}
  ObserverContextImpl* const impl_;
};

// Thread-safe: called by all threads that write. What Before throws refuses the write with Unknown;
// what After throws is only logged, because the write is committed.
class BIGTABLE_EXPORT MutationObserver {
 public:
  virtual ~MutationObserver() = default;

  // Called before the mutation is applied. An error refuses the write, which returns it: nothing is
  // applied, of a batch or transaction neither. It has no effects but through the context, or such
  // that may happen several times, and for a write that is not applied in the end.
  virtual absl::Status Before(const ObservedMutation& /*mutation*/, ObserverContext* /*context*/) {
    return absl::OkStatus();
  }

  // Called once the mutation is committed and visible, before the write returns; if the write's
  // deadline or a cancellation ends its wait for commits before it, the write returns OK, and this
  // is called after them. `sequence` is the number of its commit: exactly the snapshots with
  // Snapshot::sequence() >= `sequence` see it.
  //
  // Order: all calls for a database are made one after another, in the order of the commits, and
  // within a commit in the order of its mutations. They are made on the thread of some write, not
  // always their own. Writes of these tables wait for the calls of commits before them: return
  // soon. It may read; a write to a table with observers would wait for itself, and is refused with
  // FailedPrecondition.
  //
  // Not called if the write returns an error, also if the next opening may find the mutation
  // (Unavailable). Not repeated if the process ends between commit and call: what must never miss a
  // mutation belongs in Before.
  virtual void After(const ObservedMutation& /*mutation*/, uint64_t /*sequence*/) {}
  // False: After is not called, and writes need not wait for one another's calls. A constant.
  virtual bool ObservesCommits() const { return true; }
};

// Registers an observer for all databases of the process, until it ends. InvalidArgument unless the
// name has 1 to 64 printable ASCII characters without space and colon, or if the observer is null;
// AlreadyExists if the name is taken. Thread-safe.
BIGTABLE_EXPORT absl::Status RegisterMutationObserver(std::string_view name,
                                                      std::unique_ptr<MutationObserver> observer);

// The names of all registered observers, sorted. Thread-safe.
BIGTABLE_EXPORT std::vector<std::string> MutationObserverNames();

}  // namespace bigtable

#endif  // BIGTABLE_MUTATION_OBSERVER_H_
