#include <stdio.h>
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

// Rows "a" and "b", each with two versions of "contents:" and two anchors.
static void WriteRows(bigtable_table* table) {
  for (int i = 0; i < 2; ++i) {
    bigtable_mutation* const mutation = bigtable_mutation_new(i == 0 ? "a" : "b", 1);
    bigtable_mutation_set_at(mutation, TEXT("anchor:x1"), 1, TEXT("one"));
    bigtable_mutation_set_at(mutation, TEXT("anchor:y2"), 2, TEXT("two"));
    bigtable_mutation_set_at(mutation, TEXT("contents:"), 3, TEXT("three"));
    bigtable_mutation_set_at(mutation, TEXT("contents:"), 4, TEXT("four"));
    EXPECT_OK(bigtable_table_apply(table, mutation, NULL));
    bigtable_mutation_free(mutation);
  }
}

// Row and value of each cell that a stream returns.
static const char* CellsOf(bigtable_table* table, const bigtable_filter* filter) {
  static char cells[1024];
  cells[0] = '\0';
  bigtable_rows* rows = NULL;
  EXPECT_OK(bigtable_table_read_rows(table, NULL, filter, NULL, &rows));
  for (;;) {
    const bigtable_row* row = NULL;
    EXPECT_OK(bigtable_rows_next(rows, &row));
    if (row == NULL) break;
    for (size_t i = 0; i < bigtable_row_cell_count(row); ++i) {
      size_t key_size = 0;
      size_t size = 0;
      const char* const key = bigtable_row_key(row, &key_size);
      const char* const value = bigtable_row_cell_value(row, i, &size);
      char cell[64];
      snprintf(cell, sizeof(cell), "%.*s-%.*s ", (int)key_size, key, (int)size, value);
      EXPECT(strlen(cells) + strlen(cell) < sizeof(cells));
      strcat(cells, cell);
    }
  }
  bigtable_rows_free(rows);
  return cells;
}

// Frees the filter.
static void ExpectCells(bigtable_table* table, bigtable_filter* filter, const char* expected) {
  const char* const cells = CellsOf(table, filter);
  if (strcmp(cells, expected) != 0) fprintf(stderr, "%s instead of %s\n", cells, expected);
  EXPECT(strcmp(cells, expected) == 0);
  bigtable_filter_free(filter);
}

void FiltersSelectCells(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_table* const t = fixture.table;
  WriteRows(t);
  const char* const all = "a-one a-two a-four a-three b-one b-two b-four b-three ";
  ExpectCells(t, NULL, all);
  ExpectCells(t, bigtable_filter_pass_all_new(), all);
  ExpectCells(t, bigtable_filter_block_all_new(), "");
  ExpectCells(t, bigtable_filter_latest_new(1), "a-one a-two a-four b-one b-two b-four ");
  ExpectCells(t, bigtable_filter_family_new(TEXT("anchor")), "a-one a-two b-one b-two ");
  ExpectCells(t, bigtable_filter_family_regex_new(TEXT("a.*")), "a-one a-two b-one b-two ");
  ExpectCells(t, bigtable_filter_column_new(TEXT("anchor"), TEXT("x1")), "a-one b-one ");
  ExpectCells(t, bigtable_filter_column_prefix_new(TEXT("anchor"), TEXT("y")), "a-two b-two ");
  ExpectCells(t, bigtable_filter_column_range_new(TEXT("anchor"), TEXT("x2"), NULL, 0),
              "a-two b-two ");
  ExpectCells(t, bigtable_filter_column_regex_new(TEXT("x\\d")), "a-one b-one ");
  ExpectCells(t, bigtable_filter_timestamp_range_new(2, 4), "a-two a-three b-two b-three ");
  ExpectCells(t, bigtable_filter_row_regex_new(TEXT("b")), "b-one b-two b-four b-three ");
  ExpectCells(t, bigtable_filter_value_regex_new(TEXT("t.*")), "a-two a-three b-two b-three ");
  ExpectCells(t, bigtable_filter_cells_row_limit_new(1), "a-one b-one ");
  ExpectCells(t, bigtable_filter_cells_row_offset_new(3), "a-three b-three ");
  ExpectCells(t, bigtable_filter_strip_value_new(), "a- a- a- a- b- b- b- b- ");

  const bigtable_filter* const chain[] = {bigtable_filter_family_new(TEXT("contents")),
                                          bigtable_filter_latest_new(1)};
  bigtable_filter* const both = bigtable_filter_chain_new(chain, 2);
  bigtable_filter_free((bigtable_filter*)chain[0]);
  bigtable_filter_free((bigtable_filter*)chain[1]);
  ExpectCells(t, both, "a-four b-four ");
  ExpectCells(t, bigtable_filter_chain_new(NULL, 0), all);
  ExpectCells(t, bigtable_filter_value_range_new(TEXT("one"), TEXT("two")),
              "a-one a-three b-one b-three ");
  ExpectCells(t, bigtable_filter_value_range_new(TEXT("three"), NULL, 0),
              "a-two a-three b-two b-three ");
  ExpectCells(t, bigtable_filter_row_sample_new(0.999999), all);
  CloseFixture(&fixture);
}

void FiltersOfWholeRowsSelectCells(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_table* const t = fixture.table;
  WriteRows(t);
  bigtable_filter* const x1 = bigtable_filter_column_new(TEXT("anchor"), TEXT("x1"));
  bigtable_filter* const two = bigtable_filter_value_regex_new(TEXT("two"));
  bigtable_filter* const row_b = bigtable_filter_row_regex_new(TEXT("b"));

  const bigtable_filter* const parts[] = {two, x1};
  ExpectCells(t, bigtable_filter_interleave_new(parts, 2), "a-one a-two b-one b-two ");
  ExpectCells(t, bigtable_filter_condition_new(row_b, x1, two), "a-two b-one ");
  ExpectCells(t, bigtable_filter_condition_new(row_b, x1, NULL), "b-one ");

  // What the sink takes is in the result, although the filter behind it passes nothing.
  bigtable_filter* const sink = bigtable_filter_sink_new();
  const bigtable_filter* const sunk[] = {x1, sink};
  bigtable_filter* const into_sink = bigtable_filter_chain_new(sunk, 2);
  const bigtable_filter* const branches[] = {into_sink, two};
  bigtable_filter* const interleaved = bigtable_filter_interleave_new(branches, 2);
  bigtable_filter* const nothing = bigtable_filter_block_all_new();
  const bigtable_filter* const behind[] = {interleaved, nothing};
  ExpectCells(t, bigtable_filter_chain_new(behind, 2), "a-one b-one ");

  bigtable_filter* const label = bigtable_filter_apply_label_new(TEXT("seen"));
  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_table_read_row(t, TEXT("a"), label, NULL, &row));
  size_t size = 0;
  const char* text = bigtable_row_cell_label(row, 0, &size);
  EXPECT(size == 4 && memcmp(text, "seen", 4) == 0);
  bigtable_row_free(row);
  EXPECT_OK(bigtable_table_read_row(t, TEXT("a"), x1, NULL, &row));
  (void)bigtable_row_cell_label(row, 0, &size);
  EXPECT(size == 0);
  bigtable_row_free(row);

  bigtable_filter_free(x1);
  bigtable_filter_free(two);
  bigtable_filter_free(row_b);
  bigtable_filter_free(sink);
  bigtable_filter_free(into_sink);
  bigtable_filter_free(interleaved);
  bigtable_filter_free(nothing);
  bigtable_filter_free(label);
  CloseFixture(&fixture);
}

void AnInvalidFilterIsReported(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_filter* const filter = bigtable_filter_value_regex_new(TEXT("("));
  bigtable_row* row = NULL;
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "(",
               bigtable_table_read_row(fixture.table, TEXT("r"), filter, NULL, &row));
  bigtable_rows* rows = NULL;
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "(",
               bigtable_table_read_rows(fixture.table, NULL, filter, NULL, &rows));
  EXPECT(rows == NULL);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "(", bigtable_filter_check(filter));
  bigtable_filter_free(filter);
  bigtable_filter* const valid = bigtable_filter_latest_new(1);
  EXPECT_OK(bigtable_filter_check(valid));
  bigtable_filter_free(valid);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument filter", bigtable_filter_check(NULL));
  CloseFixture(&fixture);
}
