// Handles of the C interface that free themselves, and their errors as codes.
#ifndef BIGTABLE_TESTS_FUZZ_C_API_HANDLE_H_
#define BIGTABLE_TESTS_FUZZ_C_API_HANDLE_H_

#include <memory>

#include "bigtable/c.h"

#include "fuzz/target.h"

namespace bigtable {

template <auto Free>
struct FreeHandle {
  template <typename T>
  void operator()(T* handle) const {
    Free(handle);
  }
};
template <typename T, auto Free>
using Handle = std::unique_ptr<T, FreeHandle<Free>>;

using FilterHandle = Handle<bigtable_filter, bigtable_filter_free>;
using MutationHandle = Handle<bigtable_mutation, bigtable_mutation_free>;
using ReadOptionsHandle = Handle<bigtable_read_options, bigtable_read_options_free>;
using RowHandle = Handle<bigtable_row, bigtable_row_free>;
using RowSetHandle = Handle<bigtable_row_set, bigtable_row_set_free>;
using RowsHandle = Handle<bigtable_rows, bigtable_rows_free>;
using RulesHandle = Handle<bigtable_read_modify_write, bigtable_read_modify_write_free>;
using SchemaHandle = Handle<bigtable_schema, bigtable_schema_free>;
using SnapshotHandle = Handle<bigtable_snapshot, bigtable_snapshot_free>;
using StringHandle = Handle<bigtable_string, bigtable_string_free>;
using TransactionHandle = Handle<bigtable_transaction, bigtable_transaction_free>;
using WriteBatchHandle = Handle<bigtable_write_batch, bigtable_write_batch_free>;

// Frees the error.
inline int TakeCode(bigtable_error* error) {
  const int code = bigtable_error_code(error);
  bigtable_error_free(error);
  return code;
}
inline bool IsOk(bigtable_error* error) { return TakeCode(error) == BIGTABLE_OK; }

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_FUZZ_C_API_HANDLE_H_
