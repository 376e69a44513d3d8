#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

static bigtable_rows* ReadAll(bigtable_table* table, const bigtable_read_options* options) {
  bigtable_rows* rows = NULL;
  EXPECT_OK(bigtable_table_read_rows(table, NULL, NULL, options, &rows));
  return rows;
}

static void WriteRows(bigtable_table* table, const char* keys) {
  for (; *keys != '\0'; ++keys) {
    const char key[2] = {*keys, '\0'};
    WriteCell(table, key, 1, "v");
  }
}

void AStreamIsResumed(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_table* const t = fixture.table;
  WriteRows(t, "abcd");
  bigtable_rows* rows = ReadAll(t, NULL);
  const bigtable_row* row = NULL;
  EXPECT_OK(bigtable_rows_next(rows, &row));
  EXPECT_OK(bigtable_rows_next(rows, &row));
  bigtable_string* token = NULL;
  EXPECT_OK(bigtable_rows_get_resume_token(rows, &token));
  bigtable_rows_free(rows);

  size_t size = 0;
  const char* const bytes = bigtable_string_data(token, &size);
  bigtable_read_options* const options = bigtable_read_options_new();
  EXPECT_OK(bigtable_table_resume_rows(t, bytes, size, NULL, NULL, &rows));
  EXPECT(strcmp(KeysOf(rows), "c d ") == 0);
  bigtable_read_options_set_row_limit(options, 1);
  EXPECT_OK(bigtable_table_resume_rows(t, bytes, size, NULL, options, &rows));
  EXPECT(strcmp(KeysOf(rows), "c ") == 0);
  bigtable_filter* const nothing = bigtable_filter_block_all_new();
  EXPECT_OK(bigtable_table_resume_rows(t, bytes, size, nothing, NULL, &rows));
  EXPECT(strcmp(KeysOf(rows), "") == 0);
  bigtable_filter_free(nothing);

  const int code = BIGTABLE_INVALID_ARGUMENT;
  bigtable_read_options_set_reverse(options, true);
  EXPECT_ERROR(code, "reverse", bigtable_table_resume_rows(t, bytes, size, NULL, options, &rows));
  EXPECT(rows == NULL);
  EXPECT_ERROR(code, "token", bigtable_table_resume_rows(t, TEXT("x"), NULL, NULL, &rows));
  EXPECT_ERROR(code, "argument token", bigtable_table_resume_rows(t, NULL, 1, NULL, NULL, &rows));
  EXPECT_ERROR(code, "argument rows", bigtable_table_resume_rows(t, bytes, size, NULL, NULL, NULL));
  bigtable_string_free(token);
  EXPECT_ERROR(code, "argument rows", bigtable_rows_get_resume_token(NULL, &token));
  EXPECT(token == NULL);
  EXPECT_ERROR(code, "argument token", bigtable_rows_get_resume_token(NULL, NULL));
  bigtable_read_options_free(options);
  CloseFixture(&fixture);
}

void SizesOfRangesAreEstimated(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_table* const t = fixture.table;
  static char value[100001];
  memset(value, 'v', sizeof(value) - 1);
  WriteCell(t, "a1", 1, value);
  WriteCell(t, "a2", 1, value);
  WriteCell(t, "b", 1, value);

  bigtable_row_set* const set = bigtable_row_set_new();
  bigtable_row_set_add_row(set, TEXT("b"));
  bigtable_row_set_add_prefix(set, TEXT("a"));
  bigtable_row_set_add_range(set, TEXT("c"), NULL, 0);
  uint64_t sizes[3] = {1, 1, 1};
  EXPECT_OK(bigtable_table_get_approximate_sizes(t, set, NULL, sizes, 3));
  EXPECT(sizes[0] >= 100000 && sizes[0] < 200000);
  EXPECT(sizes[1] >= 200000 && sizes[1] < 300000);
  EXPECT(sizes[2] == 0);
  EXPECT_OK(bigtable_table_get_approximate_sizes(t, NULL, NULL, sizes, 1));
  EXPECT(sizes[0] >= 300000);
  const int code = BIGTABLE_INVALID_ARGUMENT;
  EXPECT_ERROR(code, "which is 3, and is 2",
               bigtable_table_get_approximate_sizes(t, set, NULL, sizes, 2));
  EXPECT(sizes[0] == 0 && sizes[1] == 0);
  EXPECT_ERROR(code, "argument sizes", bigtable_table_get_approximate_sizes(t, set, NULL, NULL, 3));
  bigtable_row_set_free(set);

  bigtable_row_key_samples* samples = NULL;
  EXPECT_OK(bigtable_table_sample_row_keys(t, NULL, &samples));
  const size_t count = bigtable_row_key_samples_count(samples);
  EXPECT(count >= 1);
  size_t size = 1;
  EXPECT_TEXT("", bigtable_row_key_samples_row(samples, count - 1, &size), size);
  EXPECT(bigtable_row_key_samples_offset(samples, count - 1) >= 300000);
  EXPECT(bigtable_row_key_samples_row(samples, count, &size) == NULL);
  EXPECT(bigtable_row_key_samples_offset(samples, count) == 0);
  for (size_t i = 0; i + 1 < count; ++i) {
    (void)bigtable_row_key_samples_row(samples, i, &size);
    EXPECT(size > 0);
  }
  bigtable_row_key_samples_free(samples);
  EXPECT_ERROR(code, "argument samples", bigtable_table_sample_row_keys(t, NULL, NULL));
  EXPECT_ERROR(code, "argument table", bigtable_table_sample_row_keys(NULL, NULL, &samples));
  EXPECT(samples == NULL);
  CloseFixture(&fixture);
}

void RangesOfRowsAreDropped(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_table* const t = fixture.table;
  WriteRows(t, "abcdef");
  bigtable_row_set* set = bigtable_row_set_new();
  EXPECT_OK(bigtable_table_drop_rows(t, set, NULL));  // an empty set
  bigtable_row_set_add_prefix(set, TEXT("b"));
  bigtable_row_set_add_range(set, TEXT("d"), TEXT("f"));
  EXPECT_OK(bigtable_table_drop_rows(t, set, NULL));
  EXPECT(strcmp(KeysOf(ReadAll(t, NULL)), "a c f ") == 0);
  bigtable_row_set_free(set);

  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument set", bigtable_table_drop_rows(t, NULL, NULL));
  set = bigtable_row_set_new();
  bigtable_row_set_add_prefix(set, TEXT(""));
  bigtable_call_options* const options = bigtable_call_options_new();
  bigtable_call_options_set_timeout(options, 0);
  EXPECT_ERROR(BIGTABLE_DEADLINE_EXCEEDED, "", bigtable_table_drop_rows(t, set, options));
  EXPECT(strcmp(KeysOf(ReadAll(t, NULL)), "a c f ") == 0);
  EXPECT_OK(bigtable_table_drop_rows(t, set, NULL));
  EXPECT(strcmp(KeysOf(ReadAll(t, NULL)), "") == 0);
  bigtable_call_options_free(options);
  bigtable_row_set_free(set);
  CloseFixture(&fixture);
}
