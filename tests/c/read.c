#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

void TextHasAnyBytes(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_mutation* const mutation = bigtable_mutation_new(TEXT("r\0\xff"));
  bigtable_mutation_set_at(mutation, TEXT("anchor:\0:q"), 1, TEXT("\0v\0"));
  bigtable_mutation_set_at(mutation, TEXT("anchor:empty"), 1, NULL, 0);
  EXPECT_OK(bigtable_table_apply(fixture.table, mutation, NULL));
  bigtable_mutation_free(mutation);
  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_table_read_row(fixture.table, TEXT("r\0\xff"), NULL, NULL, &row));
  size_t size = 0;
  EXPECT(bigtable_row_cell_count(row) == 2);
  EXPECT_TEXT("r\0\xff", bigtable_row_key(row, &size), size);
  EXPECT_TEXT("\0:q", bigtable_row_cell_qualifier(row, 0, &size), size);
  EXPECT_TEXT("\0v\0", bigtable_row_cell_value(row, 0, &size), size);
  EXPECT_TEXT("", bigtable_row_cell_value(row, 1, &size), size);
  bigtable_row_free(row);
  CloseFixture(&fixture);
}

void ARowHasItsCellsInOrder(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "r", 3, "old");
  WriteCell(fixture.table, "r", 5, "new");
  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_table_read_row(fixture.table, TEXT("r"), NULL, NULL, &row));
  size_t size = 0;
  EXPECT(bigtable_row_cell_count(row) == 2);
  EXPECT_TEXT("contents", bigtable_row_cell_family(row, 0, &size), size);
  EXPECT_TEXT("", bigtable_row_cell_qualifier(row, 0, &size), size);
  EXPECT(bigtable_row_cell_timestamp(row, 0) == 5);
  EXPECT_TEXT("new", bigtable_row_cell_value(row, 0, &size), size);
  EXPECT(bigtable_row_cell_timestamp(row, 1) == 3);
  EXPECT_TEXT("old", bigtable_row_cell_value(row, 1, &size), size);
  EXPECT(bigtable_row_cell_value(row, 0, NULL) != NULL);

  EXPECT(bigtable_row_cell_family(row, 2, &size) == NULL && size == 0);
  EXPECT(bigtable_row_cell_qualifier(row, 2, &size) == NULL);
  EXPECT(bigtable_row_cell_value(row, 2, NULL) == NULL);
  EXPECT(bigtable_row_cell_timestamp(row, 2) == -1);
  bigtable_row_free(row);

  EXPECT_OK(bigtable_table_read_row(fixture.table, TEXT("none"), NULL, NULL, &row));
  EXPECT(bigtable_row_cell_count(row) == 0);
  EXPECT_TEXT("none", bigtable_row_key(row, &size), size);
  bigtable_row_free(row);
  CloseFixture(&fixture);
}

void RowsAreReadTogether(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "a", 1, "of a");
  WriteCell(fixture.table, "b", 1, "of b");
  WriteCell(fixture.table, "b", 2, "new");
  const char* const keys[] = {"b", "none", "a", "b"};
  const size_t sizes[] = {1, 4, 1, 1};
  bigtable_row* rows[4] = {NULL};
  bigtable_error* errors[4] = {NULL};
  EXPECT_OK(bigtable_table_get_rows(fixture.table, keys, sizes, 4, NULL, NULL, rows, errors));
  const size_t cells[] = {2, 0, 1, 2};
  size_t size = 0;
  for (size_t i = 0; i < 4; ++i) {
    EXPECT(errors[i] == NULL);
    EXPECT(bigtable_row_cell_count(rows[i]) == cells[i]);
    const char* const key = bigtable_row_key(rows[i], &size);
    EXPECT(size == sizes[i] && memcmp(key, keys[i], size) == 0);
  }
  EXPECT_TEXT("of a", bigtable_row_cell_value(rows[2], 0, &size), size);
  EXPECT_TEXT("new", bigtable_row_cell_value(rows[3], 0, &size), size);
  for (size_t i = 0; i < 4; ++i) bigtable_row_free(rows[i]);

  // A filter and options are those of all rows.
  bigtable_filter* const filter = bigtable_filter_latest_new(1);
  bigtable_read_options* const options = bigtable_read_options_new();
  bigtable_read_options_set_verify_checksums(options, true);
  EXPECT_OK(bigtable_table_get_rows(fixture.table, keys, sizes, 4, filter, options, rows, NULL));
  EXPECT(bigtable_row_cell_count(rows[0]) == 1 && bigtable_row_cell_count(rows[3]) == 1);
  for (size_t i = 0; i < 4; ++i) bigtable_row_free(rows[i]);
  bigtable_filter_free(filter);
  bigtable_read_options_free(options);

  EXPECT_OK(bigtable_table_get_rows(fixture.table, NULL, NULL, 0, NULL, NULL, NULL, NULL));
  CloseFixture(&fixture);
}

void ErrorsOfRowsThatAreReadTogether(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "a", 1, "of a");
  const int code = BIGTABLE_INVALID_ARGUMENT;
  const char* const keys[] = {"a", NULL, "b"};
  const size_t sizes[] = {1, 0, 1};
  bigtable_row* rows[3] = {NULL};
  bigtable_error* errors[3] = {NULL};
  EXPECT_ERROR(code, "a row key must not be empty",
               bigtable_table_get_rows(fixture.table, keys, sizes, 3, NULL, NULL, rows, errors));
  EXPECT(errors[0] == NULL && rows[1] == NULL && errors[2] == NULL);
  EXPECT_ERROR(code, "a row key must not be empty", errors[1]);
  EXPECT(bigtable_row_cell_count(rows[0]) == 1 && bigtable_row_cell_count(rows[2]) == 0);
  bigtable_row_free(rows[0]);
  bigtable_row_free(rows[2]);
  // The errors of the rows may be left out.
  EXPECT_ERROR(code, "a row key must not be empty",
               bigtable_table_get_rows(fixture.table, keys, sizes, 3, NULL, NULL, rows, NULL));
  EXPECT(rows[1] == NULL && bigtable_row_cell_count(rows[0]) == 1);
  bigtable_row_free(rows[0]);
  bigtable_row_free(rows[2]);

  // Each row has the error of the call.
  EXPECT_ERROR(code, "argument table",
               bigtable_table_get_rows(NULL, keys, sizes, 3, NULL, NULL, rows, errors));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT(rows[i] == NULL);
    EXPECT_ERROR(code, "argument table", errors[i]);
  }
  EXPECT_ERROR(code, "argument table",
               bigtable_table_get_rows(NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL));
  EXPECT_ERROR(code, "argument rows",
               bigtable_table_get_rows(fixture.table, NULL, sizes, 3, NULL, NULL, rows, NULL));
  EXPECT_ERROR(code, "argument row_sizes",
               bigtable_table_get_rows(fixture.table, keys, NULL, 3, NULL, NULL, rows, NULL));
  EXPECT_ERROR(code, "argument results",
               bigtable_table_get_rows(fixture.table, keys, sizes, 3, NULL, NULL, NULL, errors));
  for (size_t i = 0; i < 3; ++i) EXPECT_ERROR(code, "argument results", errors[i]);
  const size_t wrong[] = {1, 3, 1};
  EXPECT_ERROR(code, "argument rows[i]",
               bigtable_table_get_rows(fixture.table, keys, wrong, 3, NULL, NULL, rows, errors));
  for (size_t i = 0; i < 3; ++i) EXPECT_ERROR(code, "argument rows[i]", errors[i]);
  CloseFixture(&fixture);
}

static void ExpectKeys(const struct Fixture* fixture, const bigtable_row_set* set,
                       const bigtable_read_options* options, const char* expected) {
  bigtable_rows* rows = NULL;
  EXPECT_OK(bigtable_table_read_rows(fixture->table, set, NULL, options, &rows));
  EXPECT(strcmp(KeysOf(rows), expected) == 0);
}

static void WriteRows(const struct Fixture* fixture) {
  const char* const keys[] = {"a", "b", "ba", "bb", "c", "d"};
  for (size_t i = 0; i < 6; ++i) WriteCell(fixture->table, keys[i], 1, "v");
}

void AStreamReturnsTheRowsOfASet(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteRows(&fixture);
  ExpectKeys(&fixture, NULL, NULL, "a b ba bb c d ");
  bigtable_row_set* const set = bigtable_row_set_new();
  ExpectKeys(&fixture, set, NULL, "");
  bigtable_row_set_add_prefix(set, TEXT("b"));
  ExpectKeys(&fixture, set, NULL, "b ba bb ");
  bigtable_row_set_add_row(set, TEXT("d"));
  bigtable_row_set_add_row(set, TEXT("nothing"));
  ExpectKeys(&fixture, set, NULL, "b ba bb d ");
  bigtable_row_set_add_range(set, TEXT("bb"), TEXT("d"));
  ExpectKeys(&fixture, set, NULL, "b ba bb c d ");
  bigtable_row_set_free(set);

  bigtable_row_set* const open = bigtable_row_set_new();
  bigtable_row_set_add_range(open, TEXT("bb\0"), NULL, 0);
  ExpectKeys(&fixture, open, NULL, "c d ");
  bigtable_row_set_add_range(open, NULL, 0, TEXT("b"));
  ExpectKeys(&fixture, open, NULL, "a c d ");
  bigtable_row_set_free(open);
  CloseFixture(&fixture);
}

void AStreamIsLimitedAndReversed(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteRows(&fixture);
  bigtable_read_options* const options = bigtable_read_options_new();
  bigtable_read_options_set_row_limit(options, 2);
  ExpectKeys(&fixture, NULL, options, "a b ");
  bigtable_read_options_set_reverse(options, true);
  ExpectKeys(&fixture, NULL, options, "d c ");
  bigtable_read_options_set_row_limit(options, 0);
  bigtable_read_options_set_cell_limit(options, 1);
  ExpectKeys(&fixture, NULL, options, "d ");
  bigtable_read_options_set_cell_limit(options, 0);
  bigtable_read_options_set_verify_checksums(options, true);
  bigtable_read_options_set_fill_cache(options, false);
  EXPECT_OK(bigtable_database_flush(fixture.database, TEXT("web"), NULL));
  ExpectKeys(&fixture, NULL, options, "d c bb ba b a ");
  bigtable_read_options_free(options);
  CloseFixture(&fixture);
}

void AStreamReturnsItsErrorAgain(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteRows(&fixture);
  bigtable_cancellation* const cancellation = bigtable_cancellation_new();
  bigtable_read_options* const options = bigtable_read_options_new();
  bigtable_read_options_set_cancellation(options, cancellation);
  bigtable_rows* rows = NULL;
  EXPECT_OK(bigtable_table_read_rows(fixture.table, NULL, NULL, options, &rows));
  bigtable_read_options_free(options);
  const bigtable_row* row = NULL;
  size_t size = 0;
  EXPECT_OK(bigtable_rows_next(rows, &row));
  EXPECT_TEXT("a", bigtable_row_key(row, &size), size);
  bigtable_cancellation_cancel(cancellation);
  bigtable_error* error = NULL;
  while (error == NULL) {
    error = bigtable_rows_next(rows, &row);
    EXPECT(error != NULL || row != NULL);
  }
  EXPECT_ERROR(BIGTABLE_CANCELLED, "", error);
  EXPECT(row == NULL);
  EXPECT_ERROR(BIGTABLE_CANCELLED, "", bigtable_rows_next(rows, &row));
  bigtable_rows_free(rows);
  bigtable_rows_free(NULL);
  bigtable_cancellation_free(cancellation);
  CloseFixture(&fixture);
}

void ASnapshotDoesNotChange(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "r", 1, "before");
  bigtable_snapshot* snapshot = NULL;
  EXPECT_OK(bigtable_database_take_snapshot(fixture.database, &snapshot));
  EXPECT(bigtable_snapshot_sequence(snapshot) > 0);
  WriteCell(fixture.table, "r", 2, "after");

  bigtable_read_options* const options = bigtable_read_options_new();
  bigtable_read_options_set_snapshot(options, snapshot);
  bigtable_snapshot_free(snapshot);
  bigtable_string* value = NULL;
  size_t size = 0;
  EXPECT_OK(bigtable_table_get(fixture.table, TEXT("r"), TEXT("contents:"), options, &value));
  EXPECT_TEXT("before", bigtable_string_data(value, &size), size);
  bigtable_string_free(value);
  bigtable_read_options_set_snapshot(options, NULL);
  EXPECT_OK(bigtable_table_get(fixture.table, TEXT("r"), TEXT("contents:"), options, &value));
  EXPECT_TEXT("after", bigtable_string_data(value, &size), size);
  bigtable_string_free(value);
  bigtable_read_options_free(options);
  CloseFixture(&fixture);
}
