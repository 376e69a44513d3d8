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
