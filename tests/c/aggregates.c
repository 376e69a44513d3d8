#include "check.h"
#include "fixture.h"
#include "tests.h"

// Cells of row "r" at timestamp 1. A family of each type is named after it.
static bigtable_table* CreateTable(bigtable_database* database) {
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("sum"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_set_value_type(schema, TEXT("sum"), BIGTABLE_VALUE_INT64_SUM));
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("min"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_set_value_type(schema, TEXT("min"), BIGTABLE_VALUE_INT64_MIN));
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("max"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_set_value_type(schema, TEXT("max"), BIGTABLE_VALUE_INT64_MAX));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "\"users\"",
               bigtable_schema_set_value_type(schema, TEXT("users"), BIGTABLE_VALUE_BYTES));
  bigtable_table* table = NULL;
  EXPECT_OK(bigtable_database_open_or_create_table(database, TEXT("t"), schema, NULL, &table));

  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("users"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_set_value_type(schema, TEXT("users"), 8));
  EXPECT_ERROR(
      BIGTABLE_INVALID_ARGUMENT, "users",
      bigtable_database_add_schema_family(database, TEXT("t"), TEXT("users"), schema, NULL));
  EXPECT_OK(bigtable_schema_set_value_type(schema, TEXT("users"), BIGTABLE_VALUE_HYPER_LOG_LOG));
  EXPECT_OK(bigtable_database_add_schema_family(database, TEXT("t"), TEXT("users"), schema, NULL));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "\"x\"",
               bigtable_database_add_schema_family(database, TEXT("t"), TEXT("x"), schema, NULL));
  bigtable_schema_free(schema);
  return table;
}

static int64_t NumberOf(const bigtable_row* row, size_t index) {
  size_t size = 0;
  const char* const value = bigtable_row_cell_value(row, index, &size);
  int64_t number = 0;
  EXPECT_OK(bigtable_decode_big_endian(value, size, &number));
  return number;
}

void ContributionsToACellAreMerged(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateTable(database);
  bigtable_mutation* mutation = bigtable_mutation_new(TEXT("r"));
  for (int64_t i = 1; i <= 3; ++i) {
    bigtable_mutation_add_int64_to_cell(mutation, TEXT("sum:"), 1, i);
    bigtable_mutation_add_int64_to_cell(mutation, TEXT("min:"), 1, -i);
    bigtable_mutation_add_int64_to_cell(mutation, TEXT("max:"), 1, i * 10);
    bigtable_mutation_add_to_cell(mutation, TEXT("users:"), 1, i == 1 ? "ada" : "bob", 3);
  }
  EXPECT_OK(bigtable_table_apply(table, mutation, NULL));
  EXPECT_OK(bigtable_table_apply(table, mutation, NULL));
  bigtable_mutation_free(mutation);

  // In the order of the families: max, min, sum, users.
  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_table_read_row(table, TEXT("r"), NULL, NULL, &row));
  EXPECT(bigtable_row_cell_count(row) == 4);
  EXPECT(NumberOf(row, 0) == 30);
  EXPECT(NumberOf(row, 1) == -3);
  EXPECT(NumberOf(row, 2) == 12);
  size_t size = 0;
  const char* const users = bigtable_row_cell_value(row, 3, &size);
  uint64_t count = 0;
  EXPECT_OK(bigtable_estimate_hyper_log_log(users, size, &count));
  EXPECT(count == 2);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "", bigtable_estimate_hyper_log_log("x", 1, &count));
  EXPECT(count == 0);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument estimate",
               bigtable_estimate_hyper_log_log(users, size, NULL));

  // The state of one cell is merged to another.
  mutation = bigtable_mutation_new(TEXT("all"));
  bigtable_mutation_add_to_cell(mutation, TEXT("users:"), 1, TEXT("eve"));
  bigtable_mutation_merge_to_cell(mutation, TEXT("users:"), 1, users, size);
  EXPECT_OK(bigtable_table_apply(table, mutation, NULL));
  bigtable_mutation_free(mutation);
  bigtable_row_free(row);
  bigtable_string* all = NULL;
  EXPECT_OK(bigtable_table_get(table, TEXT("all"), TEXT("users:"), NULL, &all));
  const char* const state = bigtable_string_data(all, &size);
  EXPECT_OK(bigtable_estimate_hyper_log_log(state, size, &count));
  EXPECT(count == 3);
  bigtable_string_free(all);
  bigtable_database_free(database);
}

void ContributionsOfDoublesAreMerged(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_schema* const schema = bigtable_schema_new();
  static const int kTypes[] = {BIGTABLE_VALUE_DOUBLE_MAX, BIGTABLE_VALUE_DOUBLE_MIN,
                               BIGTABLE_VALUE_DOUBLE_SUM};
  static const char* const kFamilies[] = {"max", "min", "sum"};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_OK(bigtable_schema_add_family(schema, kFamilies[i], 3, NULL, 0, NULL));
    EXPECT_OK(bigtable_schema_set_value_type(schema, kFamilies[i], 3, kTypes[i]));
  }
  bigtable_table* table = NULL;
  EXPECT_OK(bigtable_database_open_or_create_table(database, TEXT("t"), schema, NULL, &table));
  bigtable_schema_free(schema);
  bigtable_mutation* mutation = bigtable_mutation_new(TEXT("r"));
  static const double kNumbers[] = {1e308, 1e308, 0.5, -1e308, -1e308};
  for (size_t i = 0; i < 5; ++i) {
    bigtable_mutation_add_double_to_cell(mutation, TEXT("max:"), 1, kNumbers[i]);
    bigtable_mutation_add_double_to_cell(mutation, TEXT("min:"), 1, kNumbers[i]);
    bigtable_mutation_add_double_to_cell(mutation, TEXT("sum:"), 1, kNumbers[i]);
  }
  EXPECT_OK(bigtable_table_apply(table, mutation, NULL));
  bigtable_mutation_free(mutation);

  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_table_read_row(table, TEXT("r"), NULL, NULL, &row));
  EXPECT(bigtable_row_cell_count(row) == 3);
  double number = 0;
  size_t size = 0;
  const char* value = bigtable_row_cell_value(row, 0, &size);
  EXPECT_OK(bigtable_decode_double(value, size, &number));
  EXPECT(number == 1e308);
  value = bigtable_row_cell_value(row, 1, &size);
  EXPECT_OK(bigtable_decode_double(value, size, &number));
  EXPECT(number == -1e308);
  value = bigtable_row_cell_value(row, 2, &size);
  EXPECT_OK(bigtable_decode_double_sum(value, size, &number));
  EXPECT(number == 0.5);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument sum",
               bigtable_decode_double_sum(value, size, NULL));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument number",
               bigtable_decode_double(value, size, NULL));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "8 bytes", bigtable_decode_double("x", 1, &number));
  EXPECT(number == 0);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "not the state of a sum of doubles",
               bigtable_decode_double_sum("x", 1, &number));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument value",
               bigtable_decode_double_sum(NULL, 1, &number));
  bigtable_row_free(row);

  mutation = bigtable_mutation_new(TEXT("r"));
  bigtable_mutation_add_double_to_cell(mutation, NULL, 4, 1, 1);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument column", bigtable_mutation_check(mutation));
  bigtable_mutation_free(mutation);
  bigtable_database_free(database);
}

void InvalidContributionsAreReported(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateTable(database);
  bigtable_mutation* mutation = bigtable_mutation_new(TEXT("r"));
  bigtable_mutation_add_to_cell(mutation, TEXT("sum:"), 1, TEXT("seven"));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "sum", bigtable_table_apply(table, mutation, NULL));
  bigtable_mutation_free(mutation);
  mutation = bigtable_mutation_new(TEXT("r"));
  bigtable_mutation_add_to_cell(mutation, TEXT("sum:"), 1, NULL, 8);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument input", bigtable_mutation_check(mutation));
  bigtable_mutation_free(mutation);
  mutation = bigtable_mutation_new(TEXT("r"));
  bigtable_mutation_merge_to_cell(mutation, TEXT("sum:"), 1, NULL, 8);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument state", bigtable_mutation_check(mutation));
  bigtable_mutation_free(mutation);
  mutation = bigtable_mutation_new(TEXT("r"));
  bigtable_mutation_add_int64_to_cell(mutation, NULL, 4, 1, 1);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument column", bigtable_mutation_check(mutation));
  bigtable_mutation_free(mutation);
  bigtable_database_free(database);
}
