#include "bigtable/transaction.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "c/arguments.h"
#include "c/handles.h"
#include "c/mutation.h"

using bigtable::FilterOf;
using bigtable::FromC;
using bigtable::OptionsOf;
using bigtable::ToError;
using bigtable::View;

bigtable_error* bigtable_database_begin_transaction(bigtable_database* database,
                                                    const bigtable_call_options* options,
                                                    bigtable_transaction** transaction) {
  BT_C_CHECK_NOT_NULL({"transaction", transaction});
  *transaction = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database});
  absl::StatusOr<bigtable::Transaction> begun =
      database->database->BeginTransaction(OptionsOf(options));
  if (!begun.ok()) return ToError(begun.status());
  *transaction = bigtable::ToC(new bigtable::Transaction(*std::move(begun)));
  return nullptr;
}

void bigtable_transaction_free(bigtable_transaction* transaction) { delete FromC(transaction); }

bigtable_error* bigtable_transaction_read_row(bigtable_transaction* transaction,
                                              bigtable_table* table, const char* row,
                                              size_t row_size, const bigtable_filter* filter,
                                              const bigtable_read_options* options,
                                              bigtable_row** result) {
  BT_C_CHECK_NOT_NULL({"result", result});
  *result = nullptr;
  BT_C_CHECK_NOT_NULL({"transaction", transaction}, {"table", table}, {"row", row, row_size});
  return bigtable::ReturnRow(
      FromC(transaction)
          ->ReadRow(FromC(table), View(row, row_size), FilterOf(filter), OptionsOf(options)),
      result);
}

bigtable_error* bigtable_transaction_read_rows(bigtable_transaction* transaction,
                                               bigtable_table* table, const bigtable_row_set* set,
                                               const bigtable_filter* filter,
                                               const bigtable_read_options* options,
                                               bigtable_rows** rows) {
  BT_C_CHECK_NOT_NULL({"rows", rows});
  *rows = nullptr;
  BT_C_CHECK_NOT_NULL({"transaction", transaction}, {"table", table});
  return bigtable::ReturnRows(
      FromC(transaction)
          ->ReadRows(FromC(table), bigtable::RowsOf(set), FilterOf(filter), OptionsOf(options)),
      rows);
}

bigtable_error* bigtable_transaction_apply(bigtable_transaction* transaction, bigtable_table* table,
                                           const bigtable_mutation* mutation) {
  BT_C_CHECK_NOT_NULL({"transaction", transaction}, {"table", table});
  if (absl::Status status = bigtable::CheckMutation(mutation); !status.ok()) return ToError(status);
  return ToError(FromC(transaction)->Apply(FromC(table), mutation->mutation));
}

bigtable_error* bigtable_transaction_commit(bigtable_transaction* transaction,
                                            const bigtable_write_options* options) {
  BT_C_CHECK_NOT_NULL({"transaction", transaction});
  return ToError(FromC(transaction)->Commit(OptionsOf(options)));
}

void bigtable_transaction_rollback(bigtable_transaction* transaction) {
  FromC(transaction)->Rollback();
}

bigtable_error* bigtable_database_run_transaction(bigtable_database* database,
                                                  bigtable_transaction_function function,
                                                  void* context,
                                                  const bigtable_write_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database},
                      {"function", reinterpret_cast<const void*>(function)});
  bigtable_error* returned = nullptr;  // by the function
  const auto call = [&](bigtable::Transaction* transaction) {
    returned = function(context, bigtable::ToC(transaction));
    // The transaction is not run again for this error, whatever its code.
    return returned == nullptr ? absl::OkStatus() : absl::UnknownError(returned->message);
  };
  const absl::Status status = database->database->RunTransaction(call, OptionsOf(options));
  return returned != nullptr ? returned : ToError(status);
}
