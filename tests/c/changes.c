// Change streams: what they return, and where they go on.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

// A table with the families "f" and "sum", an aggregate, and a change stream.
static bigtable_table* CreateWithStream(bigtable_database* database, const char* name) {
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("f"), NULL, 0, NULL));
  bigtable_schema_set_change_stream(schema, INT64_C(3600000000), UINT64_C(1) << 30);
  bigtable_table* table = NULL;
  EXPECT_OK(
      bigtable_database_open_or_create_table(database, name, strlen(name), schema, NULL, &table));
  bigtable_schema_free(schema);
  return table;
}

static void Set(bigtable_table* table, const char* row, int64_t timestamp, const char* value) {
  bigtable_mutation* const mutation = bigtable_mutation_new(row, strlen(row));
  bigtable_mutation_set_at(mutation, TEXT("f:q"), timestamp, value, strlen(value));
  EXPECT_OK(bigtable_table_apply(table, mutation, NULL));
  bigtable_mutation_free(mutation);
}

static bigtable_changes* ReadOldest(bigtable_table* table) {
  bigtable_change_options* const options = bigtable_change_options_new();
  bigtable_change_options_set_since(options, INT64_MIN);
  bigtable_changes* changes = NULL;
  EXPECT_OK(bigtable_table_read_changes(table, options, &changes));
  bigtable_change_options_free(options);
  return changes;
}

static const bigtable_change* Next(bigtable_changes* changes) {
  const bigtable_change* change = NULL;
  EXPECT_OK(bigtable_changes_next(changes, 0, &change));
  return change;
}

// The rows of the changes that there are, each with a space behind it.
static const char* RowsOf(bigtable_changes* changes) {
  static char rows[256];
  rows[0] = '\0';
  for (const bigtable_change* change; (change = Next(changes)) != NULL;) {
    size_t size = 0;
    const char* const row = bigtable_change_row(change, &size);
    strncat(rows, row, size);
    strcat(rows, " ");
  }
  return rows;
}

void AStreamReturnsTheMutationsOfATable(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateWithStream(database, "t");
  bigtable_changes* changes = NULL;
  EXPECT_OK(bigtable_table_read_changes(table, NULL, &changes));
  EXPECT(bigtable_changes_complete_through(changes) > 0);
  EXPECT(Next(changes) == NULL);
  bigtable_mutation* const mutation = bigtable_mutation_new(TEXT("row"));
  bigtable_mutation_set_at(mutation, TEXT("f:q"), 5, TEXT("then"));
  bigtable_mutation_set(mutation, TEXT("f:q"), TEXT("now"));
  bigtable_mutation_delete_time_range(mutation, TEXT("f:p"), 2, 9);
  bigtable_mutation_delete_column(mutation, TEXT("f:p"));
  EXPECT_OK(bigtable_table_apply(table, mutation, NULL));
  bigtable_mutation_free(mutation);
  bigtable_snapshot* snapshot = NULL;
  EXPECT_OK(bigtable_database_take_snapshot(database, &snapshot));

  const bigtable_change* change = NULL;
  EXPECT_OK(bigtable_changes_next(changes, INT64_C(60000000), &change));
  EXPECT(change != NULL);
  size_t size = 0;
  EXPECT(bigtable_change_kind(change) == BIGTABLE_CHANGE_MUTATION);
  EXPECT(bigtable_change_sequence(change) > 0);
  EXPECT(bigtable_change_sequence(change) <= bigtable_snapshot_sequence(snapshot));
  EXPECT(bigtable_change_batch(change) == 0);
  EXPECT_TEXT("row", bigtable_change_row(change, &size), size);
  EXPECT(bigtable_change_count(change) == 4);
  EXPECT(bigtable_change_operation_kind(change, 0) == BIGTABLE_OPERATION_SET);
  EXPECT_TEXT("f", bigtable_change_operation_family(change, 0, &size), size);
  EXPECT_TEXT("q", bigtable_change_operation_qualifier(change, 0, &size), size);
  EXPECT_TEXT("then", bigtable_change_operation_value(change, 0, &size), size);
  EXPECT(bigtable_change_operation_timestamp(change, 0) == 5);
  EXPECT(bigtable_change_operation_end(change, 0) == -1);
  // The timestamp that the cell has got.
  EXPECT(bigtable_change_operation_timestamp(change, 1) == bigtable_change_time(change));
  EXPECT(bigtable_change_operation_kind(change, 2) == BIGTABLE_OPERATION_DELETE_TIME_RANGE);
  EXPECT(bigtable_change_operation_timestamp(change, 2) == 2);
  EXPECT(bigtable_change_operation_end(change, 2) == 9);
  EXPECT(bigtable_change_operation_timestamp(change, 3) == -1);
  EXPECT_TEXT("", bigtable_change_operation_value(change, 3, &size), size);
  // There is no fifth, and nothing of the other kinds.
  EXPECT(bigtable_change_operation_kind(change, 4) == -1);
  EXPECT(bigtable_change_operation_timestamp(change, 4) == -1);
  EXPECT(bigtable_change_operation_end(change, 4) == -1);
  EXPECT(bigtable_change_operation_family(change, 4, &size) == NULL && size == 0);
  EXPECT(bigtable_change_operation_qualifier(change, 4, NULL) == NULL);
  EXPECT(bigtable_change_operation_value(change, 4, NULL) == NULL);
  EXPECT(bigtable_change_drop_begin(change, NULL) == NULL);
  EXPECT(bigtable_change_drop_end(change, NULL) == NULL);
  EXPECT(bigtable_change_get_schema(change) == NULL);
  EXPECT(bigtable_change_new_family_count(change) == 0);

  // The copy can be applied to another table, and outlives the change.
  bigtable_mutation* const copy = bigtable_change_get_mutation(change);
  EXPECT(Next(changes) == NULL);
  bigtable_table* const other = CreateWithStream(database, "other");
  EXPECT_OK(bigtable_table_apply(other, copy, NULL));
  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_table_read_row(other, TEXT("row"), NULL, NULL, &row));
  EXPECT(bigtable_row_cell_count(row) == 2);
  bigtable_row_free(row);
  bigtable_mutation_free(copy);
  bigtable_snapshot_free(snapshot);
  bigtable_changes_free(changes);
  bigtable_database_free(database);
}

void AStreamHasBatchesDropsAndFamilies(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateWithStream(database, "t");
  bigtable_write_batch* const batch = bigtable_write_batch_new();
  bigtable_mutation* const one = bigtable_mutation_new(TEXT("a"));
  bigtable_mutation_set(one, TEXT("f:"), TEXT("1"));
  bigtable_mutation* const two = bigtable_mutation_new(TEXT("b"));
  bigtable_mutation_delete_row(two);
  bigtable_write_batch_apply(batch, table, one);
  bigtable_write_batch_apply(batch, table, two);
  EXPECT_OK(bigtable_database_apply(database, batch, NULL));
  bigtable_row_set* const rows = bigtable_row_set_new();
  bigtable_row_set_add_range(rows, TEXT("b"), TEXT("c"));
  bigtable_row_set_add_range(rows, TEXT("x"), NULL, 0);
  EXPECT_OK(bigtable_table_drop_rows(table, rows, NULL));
  EXPECT_OK(bigtable_database_add_family(database, TEXT("t"), TEXT("g"), NULL, 0, NULL, NULL));

  bigtable_changes* const changes = ReadOldest(table);
  const bigtable_change* change = Next(changes);
  EXPECT(change != NULL && bigtable_change_batch(change) != 0);
  const uint64_t number = bigtable_change_batch(change);
  change = Next(changes);
  EXPECT(change != NULL && bigtable_change_batch(change) == number);
  EXPECT(bigtable_change_operation_kind(change, 0) == BIGTABLE_OPERATION_DELETE_ROW);
  size_t size = 0;
  change = Next(changes);
  EXPECT(change != NULL && bigtable_change_kind(change) == BIGTABLE_CHANGE_DROP_ROWS);
  EXPECT_TEXT("b", bigtable_change_drop_begin(change, &size), size);
  EXPECT_TEXT("c", bigtable_change_drop_end(change, &size), size);
  EXPECT(bigtable_change_row(change, &size) == NULL && size == 0);
  EXPECT(bigtable_change_get_mutation(change) == NULL);
  EXPECT(bigtable_change_count(change) == 0);
  change = Next(changes);
  EXPECT(change != NULL && bigtable_change_kind(change) == BIGTABLE_CHANGE_DROP_ROWS);
  EXPECT_TEXT("x", bigtable_change_drop_begin(change, &size), size);
  EXPECT(bigtable_change_drop_end(change, NULL) == NULL);
  change = Next(changes);
  EXPECT(change != NULL && bigtable_change_kind(change) == BIGTABLE_CHANGE_FAMILIES);
  EXPECT(bigtable_change_new_family_count(change) == 1);
  EXPECT_TEXT("g", bigtable_change_new_family(change, 0, &size), size);
  EXPECT(bigtable_change_new_family(change, 1, NULL) == NULL);
  bigtable_schema* const schema = bigtable_change_get_schema(change);
  EXPECT(bigtable_schema_family_value_type(schema, TEXT("g")) == BIGTABLE_VALUE_BYTES);
  EXPECT(Next(changes) == NULL);
  bigtable_schema_free(schema);
  bigtable_changes_free(changes);
  bigtable_row_set_free(rows);
  bigtable_mutation_free(one);
  bigtable_mutation_free(two);
  bigtable_write_batch_free(batch);
  bigtable_database_free(database);
}

void AStreamHasGarbageCollections(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateWithStream(database, "t");
  bigtable_gc_rule* const rule = bigtable_gc_rule_max_versions_new(1);
  EXPECT_OK(bigtable_database_set_gc_rule(database, TEXT("t"), TEXT("f"), rule, NULL));
  bigtable_gc_rule_free(rule);
  bigtable_changes* changes = NULL;
  bigtable_change_options* const options = bigtable_change_options_new();
  EXPECT_OK(bigtable_change_options_set_rows(options, NULL, 0, TEXT("m")));
  EXPECT_OK(bigtable_table_read_changes(table, options, &changes));
  bigtable_change_options_free(options);
  for (int64_t i = 1; i <= 2; ++i) {
    Set(table, "a", i, "");
    EXPECT_OK(bigtable_database_flush(database, TEXT("t"), NULL));
  }
  EXPECT_OK(bigtable_database_compact(database, TEXT("t"), NULL));
  for (int i = 0; i < 2; ++i) {
    const bigtable_change* const mutation = Next(changes);
    EXPECT(bigtable_change_kind(mutation) == BIGTABLE_CHANGE_MUTATION);
    EXPECT(bigtable_change_collection_begin(mutation, NULL) == NULL);
    EXPECT(bigtable_change_collection_end(mutation, NULL) == NULL);
    EXPECT(bigtable_change_collected_family_count(mutation) == 0);
    EXPECT(bigtable_change_collected_family(mutation, 0, NULL) == NULL);
    EXPECT(bigtable_change_collected_at(mutation) == 0);
  }
  const bigtable_change* const change = Next(changes);
  EXPECT(change != NULL && bigtable_change_kind(change) == BIGTABLE_CHANGE_GARBAGE_COLLECTION);
  size_t size = 0;
  EXPECT_TEXT("", bigtable_change_collection_begin(change, &size), size);
  EXPECT_TEXT("m", bigtable_change_collection_end(change, &size), size);
  EXPECT(bigtable_change_collected_family_count(change) == 1);
  EXPECT_TEXT("f", bigtable_change_collected_family(change, 0, &size), size);
  EXPECT(bigtable_change_collected_family(change, 1, &size) == NULL && size == 0);
  EXPECT(bigtable_change_collected_at(change) > 0);
  EXPECT(bigtable_change_collected_at(change) <= bigtable_change_time(change));
  EXPECT(bigtable_change_row(change, NULL) == NULL);
  EXPECT(bigtable_change_drop_begin(change, NULL) == NULL);
  EXPECT(bigtable_change_get_mutation(change) == NULL);
  bigtable_changes_free(changes);
  bigtable_database_free(database);
}

void AStreamGoesOnAtAPosition(const char* directory) {
  bigtable_database* database = OpenDatabase(directory);
  bigtable_table* table = CreateWithStream(database, "t");
  Set(table, "a", 1, "");
  Set(table, "b", 1, "");
  bigtable_changes* changes = ReadOldest(table);
  EXPECT(Next(changes) != NULL);
  bigtable_string* position = NULL;
  EXPECT_OK(bigtable_changes_get_position(changes, &position));
  bigtable_changes_free(changes);
  bigtable_database_free(database);

  database = OpenDatabase(directory);
  EXPECT_OK(bigtable_database_open_table(database, TEXT("t"), &table));
  Set(table, "c", 1, "");
  bigtable_change_options* const options = bigtable_change_options_new();
  size_t size = 0;
  const char* const bytes = bigtable_string_data(position, &size);
  EXPECT_OK(bigtable_change_options_add_position(options, bytes, size));
  EXPECT_OK(bigtable_table_read_changes(table, options, &changes));
  EXPECT(strcmp(RowsOf(changes), "b c ") == 0);
  bigtable_changes_free(changes);
  // Of a part of the rows.
  EXPECT_OK(bigtable_change_options_set_rows(options, TEXT("c"), NULL, 0));
  EXPECT_OK(bigtable_table_read_changes(table, options, &changes));
  EXPECT(strcmp(RowsOf(changes), "c ") == 0);
  bigtable_changes_free(changes);
  EXPECT_OK(bigtable_change_options_set_rows(options, NULL, 0, TEXT("c")));
  EXPECT_OK(bigtable_table_read_changes(table, options, &changes));
  EXPECT(strcmp(RowsOf(changes), "b ") == 0);
  bigtable_changes_free(changes);
  EXPECT_OK(bigtable_change_options_add_position(options, TEXT("no position")));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "not a position",
               bigtable_table_read_changes(table, options, &changes));
  EXPECT(changes == NULL);
  bigtable_change_options_free(options);
  bigtable_string_free(position);
  bigtable_database_free(database);
}

void AStreamEndsWithItsTablet(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateWithStream(database, "t");
  bigtable_change_options* const options = bigtable_change_options_new();
  bigtable_change_options_set_ends_with_tablets(options, true);
  bigtable_changes* changes = NULL;
  EXPECT_OK(bigtable_table_read_changes(table, options, &changes));
  EXPECT(Next(changes) == NULL);
  EXPECT(!bigtable_changes_has_ended(changes));
  EXPECT(bigtable_changes_successor_count(changes) == 0);
  EXPECT_OK(bigtable_database_split_tablet(database, TEXT("t"), TEXT("m"), NULL));
  Set(table, "x", 1, "");
  EXPECT(Next(changes) == NULL);
  EXPECT(bigtable_changes_has_ended(changes));
  EXPECT(bigtable_changes_successor_count(changes) == 2);
  size_t size = 0;
  EXPECT_TEXT("", bigtable_changes_successor_begin(changes, 0, &size), size);
  EXPECT_TEXT("m", bigtable_changes_successor_end(changes, 0, &size), size);
  EXPECT_TEXT("m", bigtable_changes_successor_begin(changes, 1, &size), size);
  EXPECT(bigtable_changes_successor_end(changes, 1, &size) == NULL && size == 0);
  EXPECT(bigtable_changes_successor_begin(changes, 2, NULL) == NULL);
  EXPECT(bigtable_changes_successor_end(changes, 2, NULL) == NULL);
  EXPECT(bigtable_changes_successor_position(changes, 2, NULL) == NULL);

  const char* const position = bigtable_changes_successor_position(changes, 1, &size);
  EXPECT_OK(bigtable_change_options_set_rows(options, TEXT("m"), NULL, 0));
  EXPECT_OK(bigtable_change_options_add_position(options, position, size));
  bigtable_changes* right = NULL;
  EXPECT_OK(bigtable_table_read_changes(table, options, &right));
  EXPECT(strcmp(RowsOf(right), "x ") == 0);
  bigtable_changes_free(right);
  bigtable_changes_free(changes);
  bigtable_change_options_free(options);
  bigtable_database_free(database);
}

void AStreamIsOpenedForATableAndReturnsItsErrorAgain(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_changes* changes = NULL;
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "no change stream",
               bigtable_table_read_changes(fixture.table, NULL, &changes));
  EXPECT_ERROR(
      BIGTABLE_INVALID_ARGUMENT, "retention",
      bigtable_database_set_change_stream(fixture.database, TEXT("web"), 1, 1 << 20, NULL));
  EXPECT_OK(
      bigtable_database_set_change_stream(fixture.database, TEXT("web"), 60000000, 1 << 20, NULL));
  WriteCell(fixture.table, "a", 1, "v");
  changes = ReadOldest(fixture.table);
  EXPECT(strcmp(RowsOf(changes), "a ") == 0);
  EXPECT_OK(bigtable_database_set_change_stream(fixture.database, TEXT("web"), 0, 0, NULL));
  for (int i = 0; i < 2; ++i) {
    const bigtable_change* change = NULL;
    EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "no change stream",
                 bigtable_changes_next(changes, 0, &change));
    EXPECT(change == NULL);
  }
  bigtable_changes_free(changes);

  // The options of calls.
  EXPECT_OK(
      bigtable_database_set_change_stream(fixture.database, TEXT("web"), 60000000, 1 << 20, NULL));
  bigtable_cancellation* const cancellation = bigtable_cancellation_new();
  bigtable_change_options* const options = bigtable_change_options_new();
  bigtable_change_options_set_cancellation(options, cancellation);
  EXPECT_OK(bigtable_table_read_changes(fixture.table, options, &changes));
  bigtable_cancellation_cancel(cancellation);
  const bigtable_change* change = NULL;
  EXPECT_ERROR(BIGTABLE_CANCELLED, "", bigtable_changes_next(changes, 60000000, &change));
  bigtable_changes_free(changes);
  bigtable_change_options_set_cancellation(options, NULL);
  bigtable_change_options_set_timeout(options, 20000);
  bigtable_change_options_set_since(options, 0);
  EXPECT_OK(bigtable_table_read_changes(fixture.table, options, &changes));
  EXPECT_ERROR(BIGTABLE_DEADLINE_EXCEEDED, "", bigtable_changes_next(changes, 60000000, &change));
  bigtable_changes_free(changes);
  bigtable_change_options_free(options);
  bigtable_cancellation_free(cancellation);

  // Null pointers.
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "table",
               bigtable_table_read_changes(NULL, NULL, &changes));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "changes",
               bigtable_table_read_changes(fixture.table, NULL, NULL));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "changes", bigtable_changes_next(NULL, 0, &change));
  bigtable_string* position = NULL;
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "changes",
               bigtable_changes_get_position(NULL, &position));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "options",
               bigtable_change_options_add_position(NULL, TEXT("p")));
  bigtable_changes_free(NULL);
  bigtable_change_options_free(NULL);
  CloseFixture(&fixture);
}
