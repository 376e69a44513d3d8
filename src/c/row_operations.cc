// The atomic operations on one row.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/aggregate.h"
#include "bigtable/read_modify_write.h"

#include "base/status.h"
#include "base/strings.h"
#include "c/arguments.h"
#include "c/handles.h"
#include "c/mutation.h"

using bigtable::FromC;
using bigtable::OptionsOf;
using bigtable::ToError;
using bigtable::View;

struct bigtable_read_modify_write {
  bigtable::ReadModifyWrite rules;
  absl::Status refused;  // the first null pointer that was passed; no rule is applied
};

namespace bigtable {
namespace {

// Whether no argument is NULL. Otherwise the rules are refused.
bool Accepts(bigtable_read_modify_write* rules, std::initializer_list<Argument> arguments) {
  absl::Status status = CheckNotNull(arguments);
  if (status.ok()) [[likely]]
    return true;
  if (rules->refused.ok()) rules->refused = std::move(status);
  return false;
}

// The mutation of a handle that may be NULL: then one without operations.
absl::StatusOr<RowMutation> MutationOf(const bigtable_mutation* mutation, std::string_view row) {
  if (mutation == nullptr) return RowMutation(row);
  BT_RETURN_IF_ERROR(CheckMutation(mutation));
  return mutation->mutation;
}

}  // namespace
}  // namespace bigtable

bigtable_error* bigtable_table_check_and_mutate_row(
    bigtable_table* table, const char* row, size_t row_size, const bigtable_filter* predicate,
    const bigtable_mutation* if_matched, const bigtable_mutation* if_not,
    const bigtable_write_options* options, bool* matched) {
  BT_C_CHECK_NOT_NULL({"table", table}, {"row", row, row_size});
  const std::string_view key = View(row, row_size);
  const absl::StatusOr<bigtable::RowMutation> then = bigtable::MutationOf(if_matched, key);
  if (!then.ok()) return ToError(then.status());
  const absl::StatusOr<bigtable::RowMutation> otherwise = bigtable::MutationOf(if_not, key);
  if (!otherwise.ok()) return ToError(otherwise.status());
  const absl::StatusOr<bool> result = FromC(table)->CheckAndMutateRow(
      key, bigtable::FilterOf(predicate), *then, *otherwise, OptionsOf(options));
  if (matched != nullptr) *matched = result.ok() && *result;
  return ToError(result.status());
}

bigtable_read_modify_write* bigtable_read_modify_write_new(const char* row, size_t row_size) {
  absl::Status status = bigtable::CheckNotNull({{"row", row, row_size}});
  const std::string_view key = status.ok() ? View(row, row_size) : std::string_view();
  return new bigtable_read_modify_write{bigtable::ReadModifyWrite(key), std::move(status)};
}
void bigtable_read_modify_write_free(bigtable_read_modify_write* rules) { delete rules; }

void bigtable_read_modify_write_append(bigtable_read_modify_write* rules, const char* column,
                                       size_t column_size, const char* bytes, size_t bytes_size) {
  if (bigtable::Accepts(rules, {{"column", column, column_size}, {"bytes", bytes, bytes_size}})) {
    rules->rules.Append(View(column, column_size), View(bytes, bytes_size));
  }
}

void bigtable_read_modify_write_increment(bigtable_read_modify_write* rules, const char* column,
                                          size_t column_size, int64_t amount) {
  if (bigtable::Accepts(rules, {{"column", column, column_size}})) {
    rules->rules.Increment(View(column, column_size), amount);
  }
}

bigtable_error* bigtable_table_read_modify_write_row(bigtable_table* table,
                                                     const bigtable_read_modify_write* rules,
                                                     const bigtable_write_options* options,
                                                     bigtable_row** written) {
  if (written != nullptr) *written = nullptr;
  BT_C_CHECK_NOT_NULL({"table", table}, {"rules", rules});
  if (!rules->refused.ok()) return ToError(rules->refused);
  absl::StatusOr<bigtable::Row> row =
      FromC(table)->ReadModifyWriteRow(rules->rules, OptionsOf(options));
  if (!row.ok()) return ToError(row.status());
  if (written != nullptr) *written = bigtable::ToC(new bigtable::Row(*std::move(row)));
  return nullptr;
}

bigtable_error* bigtable_table_mutate_row_atomically(bigtable_table* table, const char* row,
                                                     size_t row_size, const bigtable_filter* filter,
                                                     bigtable_row_function function, void* context,
                                                     const bigtable_write_options* options) {
  BT_C_CHECK_NOT_NULL({"table", table}, {"row", row, row_size},
                      {"function", reinterpret_cast<const void*>(function)});
  const std::string_view key = View(row, row_size);
  const auto call = [&](const bigtable::Row& cells) -> absl::StatusOr<bigtable::RowMutation> {
    bigtable_mutation mutation{bigtable::RowMutation(key), absl::OkStatus()};
    if (const int code = function(context, bigtable::ToC(&cells), &mutation); code != 0) {
      return absl::AbortedError(bigtable::Cat("the function of the row returned ", code));
    }
    BT_RETURN_IF_ERROR(mutation.refused);
    return std::move(mutation.mutation);
  };
  return ToError(
      FromC(table)->MutateRowAtomically(key, bigtable::FilterOf(filter), call, OptionsOf(options)));
}

bigtable_error* bigtable_decode_big_endian(const char* value, size_t value_size, int64_t* number) {
  BT_C_CHECK_NOT_NULL({"value", value, value_size}, {"number", number});
  const absl::StatusOr<int64_t> decoded = bigtable::DecodeBigEndian(View(value, value_size));
  *number = decoded.ok() ? *decoded : 0;
  return ToError(decoded.status());
}

bigtable_error* bigtable_decode_double(const char* value, size_t value_size, double* number) {
  BT_C_CHECK_NOT_NULL({"value", value, value_size}, {"number", number});
  const absl::StatusOr<double> decoded = bigtable::DecodeDouble(View(value, value_size));
  *number = decoded.ok() ? *decoded : 0;
  return ToError(decoded.status());
}

bigtable_error* bigtable_estimate_hyper_log_log(const char* value, size_t value_size,
                                                uint64_t* estimate) {
  BT_C_CHECK_NOT_NULL({"estimate", estimate});
  *estimate = 0;
  BT_C_CHECK_NOT_NULL({"value", value, value_size});
  const absl::StatusOr<uint64_t> counted = bigtable::HyperLogLogEstimate(View(value, value_size));
  if (counted.ok()) *estimate = *counted;
  return ToError(counted.status());
}

bigtable_error* bigtable_decode_double_sum(const char* value, size_t value_size, double* sum) {
  BT_C_CHECK_NOT_NULL({"value", value, value_size}, {"sum", sum});
  const absl::StatusOr<double> decoded = bigtable::DoubleSumValue(View(value, value_size));
  *sum = decoded.ok() ? *decoded : 0;
  return ToError(decoded.status());
}
