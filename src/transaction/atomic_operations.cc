#include "transaction/atomic_operations.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/time/time.h"

#include "backend/write_checks.h"
#include "base/catch_thrown.h"
#include "base/status.h"
#include "monitoring/call_timer.h"
#include "rows/row_rules.h"
#include "schema/mutation_check.h"
#include "schema/mutation_format.h"
#include "schema/table_layout.h"
#include "transaction/row_operation.h"
#include "transaction/row_stripes.h"

namespace bigtable {
namespace {

// Calls `attempt` inside the gate, while this thread has the row's stripe, until it is true. Not
// while it has the stripe if the table has observers: they may call any of these operations.
template <typename Attempt>
absl::Status TryInTurn(const TableImpl& table, std::string_view row, RowOperation* operation,
                       const Attempt& attempt) {
  RowStripes::Hold hold(&operation->domain()->row_stripes, table.route->table_id(), row);
  if (!operation->is_observed()) {
    BT_RETURN_IF_ERROR(hold.Take(operation->limits()));
  }
  while (true) {
    bool is_done;
    {
      const CallGate::Pass pass(&table.database->gate);
      if (!pass) return table.database->ClosedError();
      operation->BeginTry();
      BT_ASSIGN_OR_RETURN(is_done, attempt());
    }
    if (is_done) {
      BT_ASSIGN_OR_RETURN(is_done, operation->Finish());
    }
    if (is_done) return absl::OkStatus();
    BT_RETURN_IF_ERROR(operation->Pause());
  }
}

// --- CheckAndMutateRow ---

absl::StatusOr<bool> CheckAndMutate(const TableImpl& table, std::string_view row,
                                    const Filter& predicate, const RowMutation& if_matched,
                                    const RowMutation& if_not, RowOperation* operation) {
  BT_RETURN_IF_ERROR(operation->Begin());
  BT_RETURN_IF_ERROR(RowMutation(row).status());
  BT_RETURN_IF_ERROR(CheckMutationOf(row, if_matched));
  BT_RETURN_IF_ERROR(CheckMutationOf(row, if_not));
  BT_RETURN_IF_ERROR(CheckEitherMutates(if_matched, if_not));
  // One cell is enough. A predicate at the limits of filters has no room for one more part.
  Filter first = Filter::Chain(predicate, Filter::CellsRowLimit(1));
  if (!first.status().ok()) first = predicate;
  bool has_matched = false;
  BT_RETURN_IF_ERROR(TryInTurn(table, row, operation, [&]() -> absl::StatusOr<bool> {
    BT_ASSIGN_OR_RETURN(const Row found, operation->Read(first));
    has_matched = !found.empty();
    const RowMutation& chosen = has_matched ? if_matched : if_not;
    if (chosen.operation_count() == 0) return true;
    return operation->Write(chosen);
  }));
  return has_matched;
}

// --- ReadModifyWriteRow ---

// The error of the schema, if it refuses the rules. A value that cannot be incremented may be in an
// aggregate family, which takes no rule at all.
absl::Status CheckFamiliesOf(const TableImpl& table, const ReadModifyWrite& rules,
                             const CallLimits& limits) {
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<const TableLayout> layout,
                      table.database->schemas->Read(table.name(), limits));
  const RowMutation writes = RowRules::Writes(rules);
  EncodedMutation mutation = EncodedMutation::Of(writes);
  mutation.observers = layout->observers_id;
  return CheckMutation(*layout, mutation);
}

absl::StatusOr<Row> ModifyRow(const TableImpl& table, const ReadModifyWrite& rules,
                              RowOperation* operation) {
  BT_RETURN_IF_ERROR(operation->Begin());
  BT_RETURN_IF_ERROR(CheckRules(rules));
  RowRules cells(&rules);
  const auto attempt = [&]() -> absl::StatusOr<bool> {
    const absl::Time time = table.database->parts.clock->Now();
    const int64_t now = std::max<int64_t>(absl::ToUnixMicros(time), 0);
    const absl::Status applied =
        cells.Apply(now, [&](const Filter& filter) { return operation->Read(filter); });
    if (absl::IsFailedPrecondition(applied))
      BT_RETURN_IF_ERROR(CheckFamiliesOf(table, rules, operation->limits()));
    BT_RETURN_IF_ERROR(applied);
    return operation->Write(cells.Mutation());
  };
  BT_RETURN_IF_ERROR(TryInTurn(table, rules.row(), operation, attempt));
  return cells.TakeRow();
}

// --- MutateRowAtomically ---

bool HaveSameCells(const Row& a, const Row& b) {
  return std::equal(a.cells().begin(), a.cells().end(), b.cells().begin(), b.cells().end(),
                    [](const Cell& x, const Cell& y) {
                      return x.family == y.family && x.qualifier == y.qualifier &&
                             x.timestamp == y.timestamp && x.value == y.value &&
                             std::equal(x.labels.begin(), x.labels.end(), y.labels.begin(),
                                        y.labels.end());
                    });
}

absl::Status MutateAtomically(const TableImpl& table, std::string_view row, const Filter& filter,
                              absl::FunctionRef<absl::StatusOr<RowMutation>(const Row&)> function,
                              RowOperation* operation) {
  BT_RETURN_IF_ERROR(operation->Begin());
  BT_RETURN_IF_ERROR(RowMutation(row).status());
  std::optional<Row> seen;  // by the function
  std::optional<RowMutation> mutation;
  while (true) {
    bool is_done = false;
    bool is_new = true;  // the function has not seen these cells
    {
      const CallGate::Pass pass(&table.database->gate);
      if (!pass) return table.database->ClosedError();
      operation->BeginTry();
      BT_ASSIGN_OR_RETURN(Row found, operation->Read(filter));
      // The result of the function still holds if it saw the same cells: the write was of another
      // row of the same hash, or of cells that do not pass the filter. So a function that takes
      // long succeeds beside any number of such writes.
      is_new = !seen.has_value() || !HaveSameCells(*seen, found);
      if (is_new) {
        seen = std::move(found);
      } else {
        BT_ASSIGN_OR_RETURN(is_done, operation->Write(*mutation));
      }
    }
    if (is_new) {
      absl::StatusOr<RowMutation> made = absl::UnknownError("not called");
      BT_RETURN_IF_ERROR(
          CatchThrown("the function of MutateRowAtomically", [&] { made = function(*seen); }));
      BT_ASSIGN_OR_RETURN(mutation, std::move(made));
      BT_RETURN_IF_ERROR(CheckMutationOf(row, *mutation));
      if (mutation->operation_count() == 0) return absl::OkStatus();
      const CallGate::Pass pass(&table.database->gate);
      if (!pass) return table.database->ClosedError();
      BT_ASSIGN_OR_RETURN(is_done, operation->Write(*mutation));
    }
    if (is_done) {
      BT_ASSIGN_OR_RETURN(is_done, operation->Finish());
    }
    if (is_done) return absl::OkStatus();
    BT_RETURN_IF_ERROR(operation->Pause());
  }
}

// Runs `function` with a RowOperation, measured unless the table has observers: these may make
// calls, which do not nest.
template <typename Function>
auto RunMeasured(const std::shared_ptr<TransactionDomain>& domain, const TableImpl* table,
                 Call call, std::string_view row, const WriteOptions& options,
                 const Function& function) {
  if (!table->route->is_observed()) [[likely]] {
    CallTimer timer(&table->monitor, call, [&](RequestTrace* trace) { trace->row = row; });
    RowOperation operation(domain, table, row, options, false, timer.sample());
    auto result = function(&operation);
    if (!result.ok()) timer.Failed(result.status());
    if (!IsNotObserved(result.status())) return result;
    table->route->SetObserved(true);
  } else {
    table->monitor.counters.Count(call);
  }
  RowOperation operation(domain, table, row, options, true, nullptr);
  auto result = function(&operation);
  if (!result.ok()) table->monitor.counters.CountError(call);
  return result;
}

}  // namespace

absl::StatusOr<bool> AtomicOperations::CheckAndMutateRow(std::string_view row,
                                                         const Filter& predicate,
                                                         const RowMutation& if_matched,
                                                         const RowMutation& if_not,
                                                         const WriteOptions& options) const {
  return RunMeasured(
      domain_, table_, Call::kCheckAndMutateRow, row, options, [&](RowOperation* operation) {
        return CheckAndMutate(*table_, row, predicate, if_matched, if_not, operation);
      });
}

absl::StatusOr<Row> AtomicOperations::ReadModifyWriteRow(const ReadModifyWrite& rules,
                                                         const WriteOptions& options) const {
  return RunMeasured(domain_, table_, Call::kReadModifyWriteRow, rules.row(), options,
                     [&](RowOperation* operation) { return ModifyRow(*table_, rules, operation); });
}

// Not measured: the function may make calls, which do not nest.
absl::Status AtomicOperations::MutateRowAtomically(
    std::string_view row, const Filter& filter,
    absl::FunctionRef<absl::StatusOr<RowMutation>(const Row&)> function,
    const WriteOptions& options) const {
  CallCounters& counters = table_->monitor.counters;
  counters.Count(Call::kMutateRowAtomically);
  const auto run = [&](bool is_observed) {
    RowOperation operation(domain_, table_, row, options, is_observed, nullptr);
    return MutateAtomically(*table_, row, filter, function, &operation);
  };
  absl::Status status = run(table_->route->is_observed());
  if (IsNotObserved(status)) [[unlikely]] {
    table_->route->SetObserved(true);
    status = run(true);
  }
  if (!status.ok()) counters.CountError(Call::kMutateRowAtomically);
  return status;
}

}  // namespace bigtable
