#include "c/mutation.h"

#include "absl/status/status.h"

#include "bigtable/timestamp.h"

#include "base/status.h"
#include "c/arguments.h"
#include "c/handles.h"

using bigtable::RowMutation;
using bigtable::Timestamp;
using bigtable::View;

namespace bigtable {
namespace {

// Whether no argument is NULL. Otherwise the mutation is refused.
bool Accepts(bigtable_mutation* mutation, std::initializer_list<Argument> arguments) {
  absl::Status status = CheckNotNull(arguments);
  if (status.ok()) [[likely]]
    return true;
  if (mutation->refused.ok()) mutation->refused = std::move(status);
  return false;
}

}  // namespace

absl::Status CheckMutation(const bigtable_mutation* mutation) {
  BT_RETURN_IF_ERROR(CheckNotNull({{"mutation", mutation}}));
  return mutation->refused;
}

}  // namespace bigtable

bigtable_mutation* bigtable_mutation_new(const char* row, size_t row_size) {
  absl::Status status = bigtable::CheckNotNull({{"row", row, row_size}});
  if (!status.ok()) return new bigtable_mutation{RowMutation(""), std::move(status)};
  return new bigtable_mutation{RowMutation(View(row, row_size)), absl::OkStatus()};
}
void bigtable_mutation_free(bigtable_mutation* mutation) { delete mutation; }

void bigtable_mutation_set(bigtable_mutation* mutation, const char* column, size_t column_size,
                           const char* value, size_t value_size) {
  if (bigtable::Accepts(mutation,
                        {{"column", column, column_size}, {"value", value, value_size}})) {
    mutation->mutation.Set(View(column, column_size), View(value, value_size));
  }
}

void bigtable_mutation_set_at(bigtable_mutation* mutation, const char* column, size_t column_size,
                              int64_t timestamp, const char* value, size_t value_size) {
  if (bigtable::Accepts(mutation,
                        {{"column", column, column_size}, {"value", value, value_size}})) {
    mutation->mutation.Set(View(column, column_size), Timestamp(timestamp),
                           View(value, value_size));
  }
}

void bigtable_mutation_add_int64_to_cell(bigtable_mutation* mutation, const char* column,
                                         size_t column_size, int64_t timestamp, int64_t input) {
  if (bigtable::Accepts(mutation, {{"column", column, column_size}})) {
    mutation->mutation.AddToCell(View(column, column_size), Timestamp(timestamp), input);
  }
}

void bigtable_mutation_add_double_to_cell(bigtable_mutation* mutation, const char* column,
                                          size_t column_size, int64_t timestamp, double input) {
  if (bigtable::Accepts(mutation, {{"column", column, column_size}})) {
    mutation->mutation.AddToCell(View(column, column_size), Timestamp(timestamp), input);
  }
}

void bigtable_mutation_add_to_cell(bigtable_mutation* mutation, const char* column,
                                   size_t column_size, int64_t timestamp, const char* input,
                                   size_t input_size) {
  if (bigtable::Accepts(mutation,
                        {{"column", column, column_size}, {"input", input, input_size}})) {
    mutation->mutation.AddToCell(View(column, column_size), Timestamp(timestamp),
                                 View(input, input_size));
  }
}

void bigtable_mutation_merge_to_cell(bigtable_mutation* mutation, const char* column,
                                     size_t column_size, int64_t timestamp, const char* state,
                                     size_t state_size) {
  if (bigtable::Accepts(mutation,
                        {{"column", column, column_size}, {"state", state, state_size}})) {
    mutation->mutation.MergeToCell(View(column, column_size), Timestamp(timestamp),
                                   View(state, state_size));
  }
}

void bigtable_mutation_delete_cell(bigtable_mutation* mutation, const char* column,
                                   size_t column_size, int64_t timestamp) {
  if (bigtable::Accepts(mutation, {{"column", column, column_size}})) {
    mutation->mutation.DeleteCell(View(column, column_size), Timestamp(timestamp));
  }
}

void bigtable_mutation_delete_time_range(bigtable_mutation* mutation, const char* column,
                                         size_t column_size, int64_t begin, int64_t end) {
  if (bigtable::Accepts(mutation, {{"column", column, column_size}})) {
    mutation->mutation.DeleteTimeRange(View(column, column_size), Timestamp(begin), Timestamp(end));
  }
}

void bigtable_mutation_delete_column(bigtable_mutation* mutation, const char* column,
                                     size_t column_size) {
  if (bigtable::Accepts(mutation, {{"column", column, column_size}})) {
    mutation->mutation.Delete(View(column, column_size));
  }
}

void bigtable_mutation_delete_family(bigtable_mutation* mutation, const char* family,
                                     size_t family_size) {
  if (bigtable::Accepts(mutation, {{"family", family, family_size}})) {
    mutation->mutation.DeleteFamily(View(family, family_size));
  }
}

void bigtable_mutation_delete_row(bigtable_mutation* mutation) { mutation->mutation.DeleteRow(); }

uint32_t bigtable_mutation_operation_count(const bigtable_mutation* mutation) {
  return mutation->mutation.operation_count();
}
size_t bigtable_mutation_byte_size(const bigtable_mutation* mutation) {
  return mutation->mutation.byte_size();
}

bigtable_error* bigtable_mutation_check(const bigtable_mutation* mutation) {
  absl::Status status = bigtable::CheckMutation(mutation);
  return bigtable::ToError(status.ok() ? mutation->mutation.status() : status);
}
