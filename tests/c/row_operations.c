#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

// The value of "contents:" of the row "r".
static void ExpectContents(bigtable_table* table, const char* expected) {
  bigtable_string* value = NULL;
  size_t size = 0;
  EXPECT_OK(bigtable_table_get(table, TEXT("r"), TEXT("contents:"), NULL, &value));
  const char* const data = bigtable_string_data(value, &size);
  EXPECT(size == strlen(expected) && memcmp(data, expected, size) == 0);
  bigtable_string_free(value);
}

static bigtable_mutation* SetContents(const char* value) {
  bigtable_mutation* const mutation = bigtable_mutation_new(TEXT("r"));
  bigtable_mutation_set_at(mutation, TEXT("contents:"), 1, value, strlen(value));
  return mutation;
}

void ARowIsCheckedAndMutated(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_table* const t = fixture.table;
  bigtable_filter* const contents = bigtable_filter_family_new(TEXT("contents"));
  bigtable_mutation* const first = SetContents("first");
  bigtable_mutation* const second = SetContents("second");
  bool matched = true;
  EXPECT_OK(
      bigtable_table_check_and_mutate_row(t, TEXT("r"), contents, second, first, NULL, &matched));
  EXPECT(!matched);
  ExpectContents(t, "first");
  EXPECT_OK(
      bigtable_table_check_and_mutate_row(t, TEXT("r"), contents, NULL, first, NULL, &matched));
  EXPECT(matched);
  ExpectContents(t, "first");
  EXPECT_OK(bigtable_table_check_and_mutate_row(t, TEXT("r"), NULL, second, NULL, NULL, NULL));
  ExpectContents(t, "second");

  matched = true;
  EXPECT_ERROR(
      BIGTABLE_INVALID_ARGUMENT, "",
      bigtable_table_check_and_mutate_row(t, TEXT("r"), contents, NULL, NULL, NULL, &matched));
  EXPECT(!matched);
  bigtable_mutation_set(first, NULL, 3, TEXT("v"));
  EXPECT_ERROR(
      BIGTABLE_INVALID_ARGUMENT, "column",
      bigtable_table_check_and_mutate_row(t, TEXT("r"), contents, second, first, NULL, NULL));
  bigtable_filter_free(contents);
  bigtable_mutation_free(first);
  bigtable_mutation_free(second);
  CloseFixture(&fixture);
}

void ARowIsReadModifiedAndWritten(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_read_modify_write* rules = bigtable_read_modify_write_new(TEXT("r"));
  bigtable_read_modify_write_append(rules, TEXT("contents:"), TEXT("ab"));
  bigtable_read_modify_write_increment(rules, TEXT("anchor:n"), -3);
  EXPECT_OK(bigtable_table_read_modify_write_row(fixture.table, rules, NULL, NULL));
  bigtable_row* written = NULL;
  EXPECT_OK(bigtable_table_read_modify_write_row(fixture.table, rules, NULL, &written));

  EXPECT(bigtable_row_cell_count(written) == 2);
  size_t size = 0;
  const char* const number = bigtable_row_cell_value(written, 0, &size);
  int64_t sum = 0;
  EXPECT_OK(bigtable_decode_big_endian(number, size, &sum));
  EXPECT(sum == -6);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "", bigtable_decode_big_endian(number, 7, &sum));
  bigtable_row_free(written);
  ExpectContents(fixture.table, "abab");

  bigtable_read_modify_write_increment(rules, TEXT("contents:"), 1);
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "contents",
               bigtable_table_read_modify_write_row(fixture.table, rules, NULL, &written));
  EXPECT(written == NULL);
  bigtable_read_modify_write_append(rules, NULL, 3, TEXT("v"));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "column",
               bigtable_table_read_modify_write_row(fixture.table, rules, NULL, &written));
  ExpectContents(fixture.table, "abab");
  bigtable_read_modify_write_free(rules);
  CloseFixture(&fixture);
}

// Appends an 'x' to "contents:", up to three, and counts its calls.
static int AppendUpToThree(void* context, const bigtable_row* row, bigtable_mutation* mutation) {
  ++*(int*)context;
  char value[4] = "xxx";
  size_t size = 0;
  if (bigtable_row_cell_count(row) > 0) (void)bigtable_row_cell_value(row, 0, &size);
  if (size == 3) return 7;
  bigtable_mutation_set_at(mutation, TEXT("contents:"), 1, value, size + 1);
  return 0;
}

static int SetNothing(void* context, const bigtable_row* row, bigtable_mutation* mutation) {
  (void)context;
  (void)row;
  bigtable_mutation_set(mutation, NULL, 1, TEXT("v"));
  return 0;
}

void AFunctionMutatesARow(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_table* const t = fixture.table;
  int calls = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(
        bigtable_table_mutate_row_atomically(t, TEXT("r"), NULL, AppendUpToThree, &calls, NULL));
  }
  ExpectContents(t, "xxx");
  EXPECT_ERROR(
      BIGTABLE_ABORTED, "7",
      bigtable_table_mutate_row_atomically(t, TEXT("r"), NULL, AppendUpToThree, &calls, NULL));
  EXPECT(calls == 4);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "column",
               bigtable_table_mutate_row_atomically(t, TEXT("r"), NULL, SetNothing, NULL, NULL));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "function",
               bigtable_table_mutate_row_atomically(t, TEXT("r"), NULL, NULL, NULL, NULL));
  // The row has cells, but none that passes the filter.
  bigtable_filter* const nothing = bigtable_filter_block_all_new();
  EXPECT_OK(
      bigtable_table_mutate_row_atomically(t, TEXT("r"), nothing, AppendUpToThree, &calls, NULL));
  ExpectContents(t, "x");
  bigtable_filter_free(nothing);
  CloseFixture(&fixture);
}
