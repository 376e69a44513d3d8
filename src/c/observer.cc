// Observers whose functions are the program's, and what they are called with.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/mutation_observer.h"

#include "c/arguments.h"
#include "c/handles.h"
#include "c/mutation.h"
#include "c/program_context.h"

using bigtable::FilterOf;
using bigtable::FromC;
using bigtable::Return;
using bigtable::ReturnNone;
using bigtable::ToError;
using bigtable::View;

namespace bigtable {
namespace {

class ProgramObserver final : public MutationObserver {
 public:
  ProgramObserver(bigtable_before_function before, bigtable_after_function after,
                  ProgramContext context)
      : before_(before), after_(after), context_(std::move(context)) {}

  absl::Status Before(const ObservedMutation& mutation, ObserverContext* write) override {
    if (before_ == nullptr) return absl::OkStatus();
    return TakeError(before_(context_.get(), ToC(&mutation), ToC(write)));
  }
  void After(const ObservedMutation& mutation, uint64_t sequence) override {
    after_(context_.get(), ToC(&mutation), sequence);
  }
  bool ObservesCommits() const override { return after_ != nullptr; }

 private:
  const bigtable_before_function before_;
  const bigtable_after_function after_;
  const ProgramContext context_;
};

// NULL: there are not so many operations.
const ObservedOperation* OperationAt(const bigtable_observed_mutation* mutation, size_t index) {
  const std::vector<ObservedOperation>& operations = FromC(mutation)->operations();
  return index < operations.size() ? &operations[index] : nullptr;
}

}  // namespace
}  // namespace bigtable

bigtable_error* bigtable_mutation_observer_register(const char* name, size_t name_size,
                                                    bigtable_before_function before,
                                                    bigtable_after_function after, void* context,
                                                    bigtable_destroy_function destroy) {
  bigtable::ProgramContext owned(context, destroy);
  BT_C_CHECK_NOT_NULL({"name", name, name_size});
  if (after == nullptr) {
    BT_C_CHECK_NOT_NULL({"before", bigtable::AddressOf(before)});
  }
  return ToError(bigtable::RegisterMutationObserver(
      View(name, name_size),
      std::make_unique<bigtable::ProgramObserver>(before, after, std::move(owned))));
}

bigtable_error* bigtable_mutation_observer_list_names(bigtable_string_list** names) {
  BT_C_CHECK_NOT_NULL({"names", names});
  return bigtable::ReturnList(bigtable::MutationObserverNames(), names);
}

bigtable_table* bigtable_observed_mutation_table(const bigtable_observed_mutation* mutation) {
  return bigtable::ToC(FromC(mutation)->table());
}
const char* bigtable_observed_mutation_row(const bigtable_observed_mutation* mutation,
                                           size_t* size) {
  return Return(FromC(mutation)->row(), size);
}
bigtable_mutation* bigtable_observed_mutation_get_copy(const bigtable_observed_mutation* mutation) {
  return new bigtable_mutation{FromC(mutation)->mutation(), absl::OkStatus()};
}

size_t bigtable_observed_mutation_count(const bigtable_observed_mutation* mutation) {
  return FromC(mutation)->operations().size();
}
int bigtable_observed_mutation_kind(const bigtable_observed_mutation* mutation, size_t index) {
  const bigtable::ObservedOperation* const operation = bigtable::OperationAt(mutation, index);
  return operation == nullptr ? -1 : static_cast<int>(operation->kind);
}
const char* bigtable_observed_mutation_family(const bigtable_observed_mutation* mutation,
                                              size_t index, size_t* size) {
  const bigtable::ObservedOperation* const operation = bigtable::OperationAt(mutation, index);
  return operation == nullptr ? ReturnNone(size) : Return(operation->family, size);
}
const char* bigtable_observed_mutation_qualifier(const bigtable_observed_mutation* mutation,
                                                 size_t index, size_t* size) {
  const bigtable::ObservedOperation* const operation = bigtable::OperationAt(mutation, index);
  return operation == nullptr ? ReturnNone(size) : Return(operation->qualifier, size);
}
const char* bigtable_observed_mutation_value(const bigtable_observed_mutation* mutation,
                                             size_t index, size_t* size) {
  const bigtable::ObservedOperation* const operation = bigtable::OperationAt(mutation, index);
  return operation == nullptr ? ReturnNone(size) : Return(operation->value, size);
}
int64_t bigtable_observed_mutation_timestamp(const bigtable_observed_mutation* mutation,
                                             size_t index) {
  const bigtable::ObservedOperation* const operation = bigtable::OperationAt(mutation, index);
  if (operation == nullptr || !operation->timestamp.has_value()) return -1;
  return operation->timestamp->micros();
}
int64_t bigtable_observed_mutation_end(const bigtable_observed_mutation* mutation, size_t index) {
  const bigtable::ObservedOperation* const operation = bigtable::OperationAt(mutation, index);
  if (operation == nullptr || operation->kind != bigtable::OperationKind::kDeleteTimeRange) {
    return -1;
  }
  return operation->end.micros();
}

bigtable_error* bigtable_observer_context_read_before(bigtable_observer_context* write,
                                                      const bigtable_filter* filter,
                                                      bigtable_row** result) {
  BT_C_CHECK_NOT_NULL({"result", result});
  *result = nullptr;
  BT_C_CHECK_NOT_NULL({"write", write});
  return bigtable::ReturnRow(FromC(write)->ReadBefore(FilterOf(filter)), result);
}

bigtable_error* bigtable_observer_context_read_after(bigtable_observer_context* write,
                                                     const bigtable_filter* filter,
                                                     bigtable_row** result) {
  BT_C_CHECK_NOT_NULL({"result", result});
  *result = nullptr;
  BT_C_CHECK_NOT_NULL({"write", write});
  return bigtable::ReturnRow(FromC(write)->ReadAfter(FilterOf(filter)), result);
}

bigtable_error* bigtable_observer_context_read_row(bigtable_observer_context* write,
                                                   bigtable_table* table, const char* row,
                                                   size_t row_size, const bigtable_filter* filter,
                                                   bigtable_row** result) {
  BT_C_CHECK_NOT_NULL({"result", result});
  *result = nullptr;
  BT_C_CHECK_NOT_NULL({"write", write}, {"table", table}, {"row", row, row_size});
  return bigtable::ReturnRow(
      FromC(write)->ReadRow(FromC(table), View(row, row_size), FilterOf(filter)), result);
}

bigtable_error* bigtable_observer_context_read_rows(bigtable_observer_context* write,
                                                    bigtable_table* table,
                                                    const bigtable_row_set* set,
                                                    const bigtable_filter* filter,
                                                    bigtable_rows** rows) {
  BT_C_CHECK_NOT_NULL({"rows", rows});
  *rows = nullptr;
  BT_C_CHECK_NOT_NULL({"write", write}, {"table", table});
  return bigtable::ReturnRows(
      FromC(write)->ReadRows(FromC(table), bigtable::RowsOf(set), FilterOf(filter)), rows);
}

bigtable_error* bigtable_observer_context_open_table(bigtable_observer_context* write,
                                                     const char* name, size_t name_size,
                                                     bigtable_table** table) {
  BT_C_CHECK_NOT_NULL({"table", table});
  *table = nullptr;
  BT_C_CHECK_NOT_NULL({"write", write}, {"name", name, name_size});
  const absl::StatusOr<bigtable::Table*> opened = FromC(write)->OpenTable(View(name, name_size));
  if (opened.ok()) *table = bigtable::ToC(*opened);
  return ToError(opened.status());
}

bigtable_error* bigtable_observer_context_apply(bigtable_observer_context* write,
                                                bigtable_table* table,
                                                const bigtable_mutation* mutation) {
  BT_C_CHECK_NOT_NULL({"write", write}, {"table", table});
  if (absl::Status status = bigtable::CheckMutation(mutation); !status.ok()) return ToError(status);
  return ToError(FromC(write)->Apply(FromC(table), mutation->mutation));
}
