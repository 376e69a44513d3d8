#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

static bigtable_rows* ReadAll(bigtable_table* table, const bigtable_read_options* options) {
  bigtable_rows* rows = NULL;
  EXPECT_OK(bigtable_table_read_rows(table, NULL, NULL, options, &rows));
  return rows;
}

// What bigtable_rows_next_packed has returned, and where its text has been read to.
struct Batch {
  const bigtable_packed_cell* cells;
  size_t count;
  const char* text;
  size_t text_size;
  size_t read;
};

static struct Batch NextBatch(bigtable_rows* rows, size_t text_limit) {
  struct Batch batch = {NULL, 0, NULL, 0, 0};
  EXPECT_OK(bigtable_rows_next_packed(rows, text_limit, &batch.cells, &batch.count, &batch.text,
                                      &batch.text_size));
  return batch;
}

static void ExpectNext(struct Batch* batch, size_t size, const char* expected) {
  EXPECT(batch->read + size <= batch->text_size);
  EXPECT(strlen(expected) == size);
  EXPECT(memcmp(batch->text + batch->read, expected, size) == 0);
  batch->read += size;
}

// Of the next cell. An empty row or family is that of the cell before.
static void ExpectCell(struct Batch* batch, size_t index, const char* row, const char* family,
                       const char* qualifier, int64_t timestamp, const char* value) {
  EXPECT(index < batch->count);
  const bigtable_packed_cell* const cell = &batch->cells[index];
  EXPECT(cell->text == batch->read);
  EXPECT(cell->timestamp == timestamp);
  ExpectNext(batch, cell->row_size, row);
  ExpectNext(batch, cell->family_size, family);
  ExpectNext(batch, cell->qualifier_size, qualifier);
  ExpectNext(batch, cell->label_size, "");
  ExpectNext(batch, (size_t)cell->value_size, value);
}

static void ExpectEnd(bigtable_rows* rows) {
  for (int i = 0; i < 2; ++i) {
    const struct Batch end = NextBatch(rows, 100);
    EXPECT(end.count == 0 && end.cells == NULL && end.text == NULL && end.text_size == 0);
  }
  bigtable_rows_free(rows);
}

static void WriteThreeRows(bigtable_table* table) {
  WriteCell(table, "a", 3, "old");
  WriteCell(table, "a", 5, "new");
  WriteCell(table, "b", 1, "");
  bigtable_mutation* const mutation = bigtable_mutation_new(TEXT("c"));
  bigtable_mutation_set_at(mutation, TEXT("anchor:x"), 1, TEXT("X"));
  bigtable_mutation_set_at(mutation, TEXT("contents:y"), 2, TEXT("Y"));
  EXPECT_OK(bigtable_table_apply(table, mutation, NULL));
  bigtable_mutation_free(mutation);
}

void CellsArePacked(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteThreeRows(fixture.table);
  bigtable_rows* rows = ReadAll(fixture.table, NULL);
  struct Batch batch = NextBatch(rows, 1 << 20);
  EXPECT(batch.count == 5);
  ExpectCell(&batch, 0, "a", "contents", "", 5, "new");
  ExpectCell(&batch, 1, "", "", "", 3, "old");
  ExpectCell(&batch, 2, "b", "", "", 1, "");
  ExpectCell(&batch, 3, "c", "anchor", "x", 1, "X");
  ExpectCell(&batch, 4, "", "contents", "y", 2, "Y");
  EXPECT(batch.read == batch.text_size);
  ExpectEnd(rows);

  // A limit ends a batch behind a row, and never within one. The next one begins with a family.
  rows = ReadAll(fixture.table, NULL);
  batch = NextBatch(rows, 0);
  EXPECT(batch.count == 2);
  ExpectCell(&batch, 0, "a", "contents", "", 5, "new");
  batch = NextBatch(rows, strlen("bcontents"));
  EXPECT(batch.count == 1);
  ExpectCell(&batch, 0, "b", "contents", "", 1, "");
  // Together with the other function, on one stream.
  const bigtable_row* row = NULL;
  EXPECT_OK(bigtable_rows_next(rows, &row));
  size_t size = 0;
  EXPECT_TEXT("c", bigtable_row_key(row, &size), size);
  ExpectEnd(rows);
  CloseFixture(&fixture);
}

void PackedCellsHaveLabels(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "a", 1, "v");
  bigtable_filter* const filter = bigtable_filter_apply_label_new(TEXT("label"));
  bigtable_rows* rows = NULL;
  EXPECT_OK(bigtable_table_read_rows(fixture.table, NULL, filter, NULL, &rows));
  bigtable_filter_free(filter);
  const struct Batch batch = NextBatch(rows, 0);
  EXPECT(batch.count == 1);
  EXPECT(batch.cells[0].label_size == strlen("label"));
  EXPECT_TEXT("acontentslabelv", batch.text, batch.text_size);
  bigtable_rows_free(rows);
  CloseFixture(&fixture);
}

void AStreamOfPackedCellsReturnsItsErrorAgain(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteThreeRows(fixture.table);
  bigtable_cancellation* const cancellation = bigtable_cancellation_new();
  bigtable_read_options* const options = bigtable_read_options_new();
  bigtable_read_options_set_cancellation(options, cancellation);
  bigtable_rows* const rows = ReadAll(fixture.table, options);
  bigtable_read_options_free(options);
  bigtable_cancellation_cancel(cancellation);
  // Rows that were read before come first.
  struct Batch batch = {NULL, 0, NULL, 0, 0};
  bigtable_error* error = NULL;
  for (int i = 0; i < 5 && error == NULL; ++i) {
    error = bigtable_rows_next_packed(rows, 0, &batch.cells, &batch.count, &batch.text,
                                      &batch.text_size);
    EXPECT(error != NULL || batch.count > 0);
  }
  EXPECT_ERROR(BIGTABLE_CANCELLED, "", error);
  EXPECT(batch.count == 0 && batch.cells == NULL && batch.text == NULL);
  EXPECT_ERROR(BIGTABLE_CANCELLED, "",
               bigtable_rows_next_packed(rows, 0, &batch.cells, &batch.count, &batch.text,
                                         &batch.text_size));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument rows",
               bigtable_rows_next_packed(NULL, 0, &batch.cells, &batch.count, &batch.text,
                                         &batch.text_size));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument cells",
               bigtable_rows_next_packed(rows, 0, NULL, NULL, NULL, NULL));
  bigtable_rows_free(rows);
  bigtable_cancellation_free(cancellation);
  CloseFixture(&fixture);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void ApplyPacked(bigtable_table* table, const bigtable_packed_operation* operations,
                        size_t operation_count, const char* text, size_t text_size, size_t count) {
  bigtable_mutation* mutations[4] = {NULL, NULL, NULL, NULL};
  EXPECT(count <= COUNT(mutations));
  EXPECT_OK(bigtable_mutations_new_packed(operations, operation_count, text, text_size, mutations,
                                          count));
  EXPECT_OK(bigtable_table_apply_batch(table, mutations, count, NULL, NULL));
  bigtable_mutations_free(mutations, count);
}

void PackedOperationsAreMutations(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  const bigtable_packed_operation sets[] = {
      {BIGTABLE_OPERATION_SET, 1, 8, 1, 7, 0},   // a anchor:x 1
      {BIGTABLE_OPERATION_SET, 0, 8, 1, 8, 0},   //   anchor:x 2
      {BIGTABLE_OPERATION_SET, 0, 8, 1, 9, 0},   //   anchor:x 3
      {BIGTABLE_OPERATION_SET, 0, 8, 2, 5, 0},   //   anchor:y \0
      {BIGTABLE_OPERATION_SET, 1, 9, 0, -1, 0},  // b contents:
      {BIGTABLE_OPERATION_SET, 0, 8, 1, 1, 0},   //   anchor:z 4
      {BIGTABLE_OPERATION_SET, 1, 8, 1, 1, 0},   // c anchor:q 5
  };
  ApplyPacked(fixture.table, sets, COUNT(sets),
              TEXT("aanchor:x1anchor:x2anchor:x3anchor:y\0\xff"
                   "bcontents:anchor:z4canchor:q5"),
              3);
  bigtable_rows* rows = ReadAll(fixture.table, NULL);
  struct Batch batch = NextBatch(rows, 0);
  EXPECT(batch.count == 4);
  ExpectCell(&batch, 0, "a", "anchor", "x", 9, "3");
  ExpectCell(&batch, 1, "", "", "x", 8, "2");
  ExpectCell(&batch, 2, "", "", "x", 7, "1");
  EXPECT(memcmp(batch.text + batch.text_size - 2, "\0\xff", 2) == 0);
  batch = NextBatch(rows, 0);
  EXPECT(batch.count == 2);
  EXPECT(batch.cells[1].timestamp > 1000000);  // the server's time
  bigtable_rows_free(rows);

  const bigtable_packed_operation deletions[] = {
      {BIGTABLE_OPERATION_DELETE_CELL, 1, 8, 0, 9, 0},        // a anchor:x
      {BIGTABLE_OPERATION_DELETE_TIME_RANGE, 0, 8, 0, 7, 8},  //   anchor:x
      {BIGTABLE_OPERATION_DELETE_COLUMN, 0, 8, 0, 0, 0},      //   anchor:y
      {BIGTABLE_OPERATION_DELETE_FAMILY, 1, 8, 0, 0, 0},      // b contents
      {BIGTABLE_OPERATION_DELETE_ROW, 1, 0, 0, 0, 0},         // c
  };
  ApplyPacked(fixture.table, deletions, COUNT(deletions),
              TEXT("aanchor:xanchor:xanchor:ybcontentsc"), 3);
  rows = ReadAll(fixture.table, NULL);
  batch = NextBatch(rows, 1000);
  EXPECT(batch.count == 2);
  ExpectCell(&batch, 0, "a", "anchor", "x", 8, "2");
  ExpectCell(&batch, 1, "b", "", "z", 1, "4");
  ExpectEnd(rows);
  CloseFixture(&fixture);
}

void PackedContributionsAreMerged(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("sum"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_set_value_type(schema, TEXT("sum"), BIGTABLE_VALUE_INT64_SUM));
  bigtable_table* table = NULL;
  EXPECT_OK(
      bigtable_database_open_or_create_table(fixture.database, TEXT("sums"), schema, NULL, &table));
  bigtable_schema_free(schema);
  const bigtable_packed_operation operations[] = {
      {BIGTABLE_OPERATION_ADD_TO_CELL, 1, 4, 8, 1, 0},
      {BIGTABLE_OPERATION_MERGE_TO_CELL, 0, 4, 8, 1, 0},
  };
  ApplyPacked(table, operations, COUNT(operations),
              TEXT("rsum:\0\0\0\0\0\0\0\2sum:\0\0\0\0\0\0\0\3"), 1);
  bigtable_string* value = NULL;
  EXPECT_OK(bigtable_table_get(table, TEXT("r"), TEXT("sum:"), NULL, &value));
  size_t size = 0;
  EXPECT_TEXT("\0\0\0\0\0\0\0\5", bigtable_string_data(value, &size), size);
  bigtable_string_free(value);
  CloseFixture(&fixture);
}

static void ExpectRefused(const bigtable_packed_operation* operations, size_t operation_count,
                          const char* text, size_t text_size, size_t count, const char* message) {
  bigtable_mutation* const some = (bigtable_mutation*)&count;
  bigtable_mutation* mutations[4] = {some, some, some, some};
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, message,
               bigtable_mutations_new_packed(operations, operation_count, text, text_size,
                                             mutations, count));
  for (size_t i = 0; i < count; ++i) EXPECT(mutations[i] == NULL);
}

void PackedOperationsAreChecked(const char* directory) {
  (void)directory;
  bigtable_packed_operation operations[] = {
      {BIGTABLE_OPERATION_SET, 1, 8, 1, 7, 0},
      {BIGTABLE_OPERATION_SET, 1, 8, 1, 7, 0},
  };
  const char* const text = "aanchor:x1banchor:x2";
  ExpectRefused(operations, 2, text, 20, 1, "more mutations than the argument count, which is 1");
  ExpectRefused(operations, 2, text, 20, 3, "have 2 mutations, and the argument count is 3");
  ExpectRefused(operations, 2, text, 19, 2, "operation 1 ends behind the text");
  ExpectRefused(operations, 1, text, 20, 1, "has 10 bytes too many");
  ExpectRefused(operations, 2, NULL, 20, 2, "argument text");
  ExpectRefused(NULL, 2, text, 20, 2, "argument operations");
  operations[1].kind = 100;
  ExpectRefused(operations, 2, text, 20, 2, "operation 1 has the kind 100, which does not exist");
  operations[1].value_size = UINT32_MAX;
  operations[1].column_size = UINT32_MAX;
  ExpectRefused(operations, 2, text, 20, 2, "operation 1 ends behind the text");
  operations[0].row_size = 0;
  ExpectRefused(operations, 1, text + 1, 9, 1, "operation 0 must have a row");
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument mutations",
               bigtable_mutations_new_packed(operations, 1, text, 9, NULL, 1));
  EXPECT_OK(bigtable_mutations_new_packed(NULL, 0, NULL, 0, NULL, 0));
  bigtable_mutations_free(NULL, 0);
}
