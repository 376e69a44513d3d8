#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

static bigtable_mutation* SetContents(const char* row, const char* value) {
  bigtable_mutation* const mutation = bigtable_mutation_new(row, strlen(row));
  bigtable_mutation_set_at(mutation, TEXT("contents:"), 1, value, strlen(value));
  return mutation;
}

// Whether "contents:" of a row has this value; NULL: whether the row has no cells.
static bool HasContents(bigtable_table* table, const char* key, const char* expected) {
  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_table_read_row(table, key, strlen(key), NULL, NULL, &row));
  size_t size = 0;
  const char* const value = bigtable_row_cell_value(row, 0, &size);
  const bool same = value == NULL || expected == NULL
                        ? value == expected
                        : size == strlen(expected) && memcmp(value, expected, size) == 0;
  bigtable_row_free(row);
  return same;
}

void ABatchIsAppliedTogetherOrNotAtAll(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_database* const database = fixture.database;
  bigtable_table* const t = fixture.table;
  bigtable_mutation* const a = SetContents("a", "1");
  bigtable_mutation* const b = SetContents("b", "2");
  bigtable_mutation* const unknown = bigtable_mutation_new(TEXT("c"));
  bigtable_mutation_set(unknown, TEXT("nowhere:"), TEXT("v"));
  bigtable_write_batch* const batch = bigtable_write_batch_new();
  EXPECT_OK(bigtable_database_apply(database, batch, NULL));  // an empty batch changes nothing

  bigtable_write_batch_apply(batch, t, a);
  bigtable_write_batch_apply(batch, t, unknown);
  EXPECT_OK(bigtable_write_batch_check(batch));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "nowhere", bigtable_database_apply(database, batch, NULL));
  EXPECT(HasContents(t, "a", NULL));

  bigtable_write_batch_clear(batch);
  EXPECT(bigtable_write_batch_mutation_count(batch) == 0);
  bigtable_write_batch_apply(batch, t, a);
  bigtable_write_batch_apply(batch, t, b);
  EXPECT(bigtable_write_batch_mutation_count(batch) == 2);
  EXPECT(bigtable_write_batch_byte_size(batch) > bigtable_mutation_byte_size(a));
  EXPECT_OK(bigtable_database_apply(database, batch, NULL));
  EXPECT(HasContents(t, "a", "1") && HasContents(t, "b", "2"));
  EXPECT_OK(bigtable_database_apply(database, batch, NULL));

  // A null pointer, or a mutation that was given one, stays until the batch is cleared.
  bigtable_write_batch_apply(batch, NULL, a);
  bigtable_write_batch_apply(batch, t, b);
  EXPECT(bigtable_write_batch_mutation_count(batch) == 2);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument table",
               bigtable_database_apply(database, batch, NULL));
  bigtable_write_batch_clear(batch);
  EXPECT_OK(bigtable_write_batch_check(batch));
  bigtable_write_batch_apply(batch, t, NULL);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument mutation", bigtable_write_batch_check(batch));
  bigtable_write_batch_clear(batch);
  bigtable_mutation_set(b, NULL, 3, TEXT("v"));
  bigtable_write_batch_apply(batch, t, b);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument column", bigtable_write_batch_check(batch));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument batch",
               bigtable_database_apply(database, NULL, NULL));
  bigtable_write_batch_free(batch);
  bigtable_mutation_free(a);
  bigtable_mutation_free(b);
  bigtable_mutation_free(unknown);
  CloseFixture(&fixture);
}

static bigtable_transaction* Begin(bigtable_database* database) {
  bigtable_transaction* transaction = NULL;
  EXPECT_OK(bigtable_database_begin_transaction(database, NULL, &transaction));
  return transaction;
}

// Reads the row in the transaction; returns whether it has cells.
static bool ReadIn(bigtable_transaction* transaction, bigtable_table* table, const char* key) {
  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_transaction_read_row(transaction, table, key, strlen(key), NULL, NULL, &row));
  const bool found = bigtable_row_cell_count(row) > 0;
  bigtable_row_free(row);
  return found;
}

void ATransactionCommitsUnlessItIsInConflict(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_table* const t = fixture.table;
  WriteCell(t, "a", 1, "0");
  bigtable_mutation* const b = SetContents("b", "1");
  bigtable_transaction* transaction = Begin(fixture.database);
  EXPECT(ReadIn(transaction, t, "a"));
  EXPECT_OK(bigtable_transaction_apply(transaction, t, b));
  EXPECT(ReadIn(transaction, t, "b"));  // its own write, which nobody else sees
  EXPECT(HasContents(t, "b", NULL));
  bigtable_rows* rows = NULL;
  EXPECT_OK(bigtable_transaction_read_rows(transaction, t, NULL, NULL, NULL, &rows));
  EXPECT(strcmp(KeysOf(rows), "a b ") == 0);
  WriteCell(t, "a", 1, "9");
  EXPECT_ERROR(BIGTABLE_ABORTED, "may have been written",
               bigtable_transaction_commit(transaction, NULL));
  EXPECT(HasContents(t, "b", NULL));
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "ended",
               bigtable_transaction_apply(transaction, t, b));
  bigtable_transaction_free(transaction);

  transaction = Begin(fixture.database);
  EXPECT(ReadIn(transaction, t, "a"));
  EXPECT_OK(bigtable_transaction_apply(transaction, t, b));
  EXPECT_OK(bigtable_transaction_commit(transaction, NULL));
  EXPECT(HasContents(t, "b", "1"));
  bigtable_transaction_free(transaction);

  transaction = Begin(fixture.database);
  bigtable_mutation* const c = SetContents("c", "1");
  EXPECT_OK(bigtable_transaction_apply(transaction, t, c));
  bigtable_transaction_rollback(transaction);
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "ended",
               bigtable_transaction_commit(transaction, NULL));
  bigtable_transaction_free(transaction);
  EXPECT(HasContents(t, "c", NULL));
  bigtable_transaction_free(NULL);
  bigtable_mutation_free(b);
  bigtable_mutation_free(c);
  CloseFixture(&fixture);
}

void ATransactionRefusesNullPointers(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_transaction* const transaction = Begin(fixture.database);
  const int code = BIGTABLE_INVALID_ARGUMENT;
  bigtable_row* row = NULL;
  EXPECT_ERROR(code, "argument transaction",
               bigtable_database_begin_transaction(fixture.database, NULL, NULL));
  EXPECT_ERROR(code, "argument table",
               bigtable_transaction_read_row(transaction, NULL, TEXT("r"), NULL, NULL, &row));
  EXPECT_ERROR(code, "argument rows",
               bigtable_transaction_read_rows(transaction, fixture.table, NULL, NULL, NULL, NULL));
  EXPECT_ERROR(code, "argument mutation",
               bigtable_transaction_apply(transaction, fixture.table, NULL));
  EXPECT_ERROR(code, "argument transaction", bigtable_transaction_commit(NULL, NULL));
  bigtable_snapshot* snapshot = NULL;
  EXPECT_OK(bigtable_database_take_snapshot(fixture.database, &snapshot));
  bigtable_read_options* const options = bigtable_read_options_new();
  bigtable_read_options_set_snapshot(options, snapshot);
  bigtable_snapshot_free(snapshot);
  EXPECT_ERROR(
      code, "snapshot",
      bigtable_transaction_read_row(transaction, fixture.table, TEXT("r"), NULL, options, &row));
  EXPECT(row == NULL);
  bigtable_read_options_free(options);
  bigtable_transaction_free(transaction);
  CloseFixture(&fixture);
}

struct Copy {
  bigtable_table* table;
  int calls;
  int conflicts;  // the calls that another write disturbs
};

// Copies "contents:" of the row "from" to the row "to".
static bigtable_error* CopyContents(void* context, bigtable_transaction* transaction) {
  struct Copy* const copy = context;
  bigtable_row* row = NULL;
  bigtable_error* error =
      bigtable_transaction_read_row(transaction, copy->table, TEXT("from"), NULL, NULL, &row);
  if (error != NULL) return error;
  if (copy->calls++ < copy->conflicts) WriteCell(copy->table, "from", 1, "other");
  size_t size = 0;
  const char* const value = bigtable_row_cell_value(row, 0, &size);
  if (value == NULL) {
    error = bigtable_error_new(-7, TEXT("there is nothing to copy"));
  } else {
    bigtable_mutation* const mutation = bigtable_mutation_new(TEXT("to"));
    bigtable_mutation_set_at(mutation, TEXT("contents:"), 1, value, size);
    error = bigtable_transaction_apply(transaction, copy->table, mutation);
    bigtable_mutation_free(mutation);
  }
  bigtable_row_free(row);
  return error;
}

static bigtable_error* ReturnAborted(void* context, bigtable_transaction* transaction) {
  (void)transaction;
  ++*(int*)context;
  return bigtable_error_new(BIGTABLE_ABORTED, TEXT("no"));
}

void AFunctionIsRunAgainAfterAConflict(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_database* const database = fixture.database;
  struct Copy copy = {fixture.table, 0, 0};
  EXPECT_ERROR(-7, "nothing to copy",
               bigtable_database_run_transaction(database, CopyContents, &copy, NULL));
  WriteCell(fixture.table, "from", 1, "value");
  EXPECT_OK(bigtable_database_run_transaction(database, CopyContents, &copy, NULL));
  EXPECT(copy.calls == 2);
  EXPECT(HasContents(fixture.table, "to", "value"));
  copy.calls = 0;
  copy.conflicts = 3;
  EXPECT_OK(bigtable_database_run_transaction(database, CopyContents, &copy, NULL));
  EXPECT(copy.calls == 4);
  EXPECT(HasContents(fixture.table, "to", "other"));

  // An error of the function ends it, whatever its code.
  int calls = 0;
  EXPECT_ERROR(BIGTABLE_ABORTED, "no",
               bigtable_database_run_transaction(database, ReturnAborted, &calls, NULL));
  EXPECT(calls == 1);
  bigtable_write_options* const options = bigtable_write_options_new();
  bigtable_write_options_set_timeout(options, 0);
  EXPECT_ERROR(BIGTABLE_DEADLINE_EXCEEDED, "",
               bigtable_database_run_transaction(database, ReturnAborted, &calls, options));
  EXPECT(calls == 1);
  bigtable_write_options_free(options);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument function",
               bigtable_database_run_transaction(database, NULL, NULL, NULL));
  EXPECT_ERROR(BIGTABLE_UNKNOWN, "x", bigtable_error_new(BIGTABLE_OK, TEXT("x")));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument message", bigtable_error_new(5, NULL, 1));
  CloseFixture(&fixture);
}
