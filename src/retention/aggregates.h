// How the contributions to the cells of a family are merged: the engine's operators
// (bigtable::ValueType), and those that the program registers (bigtable/aggregate.h). Thread-safe.
#ifndef BIGTABLE_RETENTION_AGGREGATES_H_
#define BIGTABLE_RETENTION_AGGREGATES_H_

#include <atomic>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

#include "bigtable/aggregate.h"
#include "bigtable/schema.h"

#include "base/entry_kind.h"

namespace bigtable {

// The last valid value in a schema; schema_checks.h checks it.
inline constexpr ValueType kLastValueType = ValueType::kDoubleMax;

// What an aggregate family holds. There is one object for each value type, and for each name of an
// operator, whether or not it is registered already; none is ever deleted.
class Aggregate {
 public:
  explicit Aggregate(std::string what) : what_(std::move(what)) {}
  Aggregate(const Aggregate&) = delete;
  Aggregate& operator=(const Aggregate&) = delete;

  // Null for the value type kBytes without an operator.
  static const Aggregate* Of(ValueType type, std::string_view value_operator);

  // Null as long as no operator with the name is registered.
  const AggregateOperator* operator_or_null() const {
    return operator_.load(std::memory_order_acquire);
  }
  // In messages: "int64 sums (kInt64Sum)", or the name of the operator.
  const std::string& what() const { return what_; }
  // FailedPrecondition: the operator is not registered.
  absl::Status MissingError(std::string_view family) const;

 private:
  friend class AggregateRegistry;

  const std::string what_;
  std::atomic<const AggregateOperator*> operator_{nullptr};
};

// The operator is the program's, so it is called only by these functions, which return what it
// throws as an error.
//
// Whether it takes the input of an AddToCell (`kind`), or the state of a MergeToCell.
absl::Status CheckContribution(const AggregateOperator& op, EntryKind kind, std::string_view value);
// Makes `*state`, of a contribution of the kind `kind`, a state of the operator.
absl::Status MakeState(const AggregateOperator& op, EntryKind kind, std::string* state);
// Merges a contribution that was written before those of `*state`.
absl::Status MergeOlder(const AggregateOperator& op, EntryKind kind, std::string_view older,
                        std::string* state);
// The same for a state.
absl::Status MergeOlderState(const AggregateOperator& op, std::string_view older,
                             std::string* state);

// Whether RegisterAggregateOperator takes a name of this form.
bool IsOperatorName(std::string_view name);
// For tests: as if the operator had never been registered. It is not deleted.
void ForgetOperator(std::string_view name);

}  // namespace bigtable

#endif  // BIGTABLE_RETENTION_AGGREGATES_H_
