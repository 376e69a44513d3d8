#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/status.h"
#include "base/strings.h"
#include "c/arguments.h"
#include "c/handles.h"
#include "c/mutation.h"

using bigtable::Argument;
using bigtable::FromC;
using bigtable::OptionsOf;
using bigtable::ToError;
using bigtable::View;

namespace bigtable {
namespace {

// The mutations of a call of bigtable_table_apply_batch. A batch is contiguous in C++, so the
// mutations are moved out of their handles, and back.
class Batch {
 public:
  Batch(bigtable_mutation* const* handles, size_t count) : statuses_(count) {
    mutations_.reserve(count);
    taken_.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      statuses_[i] = Take(handles[i], i);
      if (statuses_[i].ok()) taken_.push_back({handles[i], i});
    }
  }
  ~Batch() {
    for (size_t i = 0; i < taken_.size(); ++i) {
      taken_[i].handle->mutation = std::move(mutations_[i]);
      taken_[i].handle->in_batch = false;
    }
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void Apply(Table* table, const WriteOptions& options) {
    if (mutations_.empty()) return;
    std::vector<absl::Status> applied = table->ApplyBatch(mutations_, options);
    for (size_t i = 0; i < taken_.size(); ++i) statuses_[taken_[i].index] = std::move(applied[i]);
  }
  // One for each handle.
  const std::vector<absl::Status>& statuses() const { return statuses_; }

 private:
  struct Taken {
    bigtable_mutation* handle;
    size_t index;  // in the batch
  };

  absl::Status Take(bigtable_mutation* handle, size_t index) {
    BT_RETURN_IF_ERROR(CheckMutation(handle));
    if (handle->in_batch) {
      return absl::InvalidArgumentError(
          Cat("mutation ", index, " of the batch must not be in the batch twice"));
    }
    handle->in_batch = true;
    mutations_.push_back(std::move(handle->mutation));
    return absl::OkStatus();
  }

  std::vector<absl::Status> statuses_;
  std::vector<RowMutation> mutations_;
  std::vector<Taken> taken_;  // where each of mutations_ is from
};

}  // namespace
}  // namespace bigtable

const char* bigtable_table_name(const bigtable_table* table, size_t* size) {
  return bigtable::Return(FromC(table)->name(), size);
}

bigtable_error* bigtable_table_apply(bigtable_table* table, const bigtable_mutation* mutation,
                                     const bigtable_write_options* options) {
  BT_C_CHECK_NOT_NULL({"table", table});
  if (absl::Status status = bigtable::CheckMutation(mutation); !status.ok()) return ToError(status);
  return ToError(FromC(table)->Apply(mutation->mutation, OptionsOf(options)));
}

bigtable_error* bigtable_table_apply_batch(bigtable_table* table,
                                           bigtable_mutation* const* mutations, size_t count,
                                           const bigtable_write_options* options,
                                           bigtable_error** errors) {
  absl::Status first = bigtable::CheckNotNull({{"table", table}, {"mutations", mutations, count}});
  if (!first.ok()) {
    for (size_t i = 0; errors != nullptr && i < count; ++i) errors[i] = ToError(first);
    return ToError(first);
  }
  bigtable::Batch batch(mutations, count);
  batch.Apply(FromC(table), OptionsOf(options));
  for (size_t i = 0; i < count; ++i) {
    const absl::Status& status = batch.statuses()[i];
    first.Update(status);
    if (errors != nullptr) errors[i] = ToError(status);
  }
  return ToError(first);
}

bigtable_error* bigtable_table_get(bigtable_table* table, const char* row, size_t row_size,
                                   const char* column, size_t column_size,
                                   const bigtable_read_options* options, bigtable_string** value) {
  BT_C_CHECK_NOT_NULL({"value", value});
  *value = nullptr;
  BT_C_CHECK_NOT_NULL({"table", table}, {"row", row, row_size}, {"column", column, column_size});
  absl::StatusOr<std::string> found =
      FromC(table)->Get(View(row, row_size), View(column, column_size), OptionsOf(options));
  if (!found.ok()) return ToError(found.status());
  *value = new bigtable_string{*std::move(found)};
  return nullptr;
}

bigtable_error* bigtable_table_read_row(bigtable_table* table, const char* row, size_t row_size,
                                        const bigtable_filter* filter,
                                        const bigtable_read_options* options,
                                        bigtable_row** result) {
  BT_C_CHECK_NOT_NULL({"result", result});
  *result = nullptr;
  BT_C_CHECK_NOT_NULL({"table", table}, {"row", row, row_size});
  return bigtable::ReturnRow(
      FromC(table)->ReadRow(View(row, row_size), bigtable::FilterOf(filter), OptionsOf(options)),
      result);
}

bigtable_error* bigtable_table_get_rows(bigtable_table* table, const char* const* rows,
                                        const size_t* row_sizes, size_t count,
                                        const bigtable_filter* filter,
                                        const bigtable_read_options* options,
                                        bigtable_row** results, bigtable_error** errors) {
  absl::Status first = bigtable::CheckNotNull({{"table", table},
                                               {"rows", rows, count},
                                               {"row_sizes", row_sizes, count},
                                               {"results", results, count}});
  for (size_t i = 0; first.ok() && i < count; ++i) {
    first = bigtable::CheckNotNull({{"rows[i]", rows[i], row_sizes[i]}});
  }
  if (!first.ok()) {
    for (size_t i = 0; results != nullptr && i < count; ++i) results[i] = nullptr;
    for (size_t i = 0; errors != nullptr && i < count; ++i) errors[i] = ToError(first);
    return ToError(first);
  }
  std::vector<std::string_view> keys;
  keys.reserve(count);
  for (size_t i = 0; i < count; ++i) keys.push_back(View(rows[i], row_sizes[i]));
  std::vector<absl::StatusOr<bigtable::Row>> read =
      FromC(table)->GetRows(keys, bigtable::FilterOf(filter), OptionsOf(options));
  for (size_t i = 0; i < count; ++i) {
    first.Update(read[i].status());
    results[i] = nullptr;
    bigtable_error* const error = bigtable::ReturnRow(std::move(read[i]), &results[i]);
    if (errors != nullptr) {
      errors[i] = error;
    } else {
      bigtable_error_free(error);
    }
  }
  return ToError(first);
}

bigtable_error* bigtable_table_read_rows(bigtable_table* table, const bigtable_row_set* set,
                                         const bigtable_filter* filter,
                                         const bigtable_read_options* options,
                                         bigtable_rows** rows) {
  BT_C_CHECK_NOT_NULL({"rows", rows});
  *rows = nullptr;
  BT_C_CHECK_NOT_NULL({"table", table});
  return bigtable::ReturnRows(
      FromC(table)->ReadRows(bigtable::RowsOf(set), bigtable::FilterOf(filter), OptionsOf(options)),
      rows);
}

bigtable_error* bigtable_table_resume_rows(bigtable_table* table, const char* token,
                                           size_t token_size, const bigtable_filter* filter,
                                           const bigtable_read_options* options,
                                           bigtable_rows** rows) {
  BT_C_CHECK_NOT_NULL({"rows", rows});
  *rows = nullptr;
  BT_C_CHECK_NOT_NULL({"table", table}, {"token", token, token_size});
  return bigtable::ReturnRows(
      FromC(table)->ResumeRows(View(token, token_size), bigtable::FilterOf(filter),
                               OptionsOf(options)),
      rows);
}
