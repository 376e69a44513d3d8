// Operators of aggregates that are functions of the program.
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

// Keeps the longest text, behind a colon. Does not take "bad" as an input, and no state without a
// colon.
static bigtable_error* CheckInput(void* context, const char* text, size_t size) {
  ++*(int*)context;
  if (size != 3 || memcmp(text, "bad", 3) != 0) return NULL;
  return bigtable_error_new(-3, TEXT("a bad input"));
}

static bigtable_error* CheckState(void* context, const char* text, size_t size) {
  (void)context;
  return size > 0 && text[0] == ':'
             ? NULL
             : bigtable_error_new(BIGTABLE_OUT_OF_RANGE, TEXT("a bad state"));
}

static void StateOf(void* context, const char* input, size_t size, bigtable_string* state) {
  (void)context;
  char text[64] = "cut:";
  strncat(text, input, size);
  EXPECT_OK(bigtable_string_assign(state, text, strlen(text)));
  // A part of the string itself.
  size_t all = 0;
  const char* const part = bigtable_string_data(state, &all) + 3;
  EXPECT_OK(bigtable_string_assign(state, part, all - 3));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument string", bigtable_string_assign(NULL, text, 1));
}

static bigtable_error* KeepLongest(void* context, const char* older, size_t size,
                                   bigtable_string* state) {
  (void)context;
  size_t newer_size = 0;
  bigtable_string_data(state, &newer_size);
  if (size == strlen(":fail") && memcmp(older, ":fail", size) == 0) {
    return bigtable_error_new(BIGTABLE_DATA_LOSS, TEXT("cannot merge"));
  }
  return size > newer_size ? bigtable_string_assign(state, older, size) : NULL;
}

static bigtable_table* CreateTable(bigtable_database* database, const char* name,
                                   const char* operator_name) {
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("f"), NULL, 0, NULL));
  EXPECT_OK(
      bigtable_schema_set_value_operator(schema, TEXT("f"), operator_name, strlen(operator_name)));
  bigtable_table* table = NULL;
  EXPECT_OK(
      bigtable_database_open_or_create_table(database, name, strlen(name), schema, NULL, &table));
  bigtable_schema_free(schema);
  return table;
}

static bigtable_error* Add(bigtable_table* table, const char* row, const char* input,
                           bool is_state) {
  bigtable_mutation* const mutation = bigtable_mutation_new(row, strlen(row));
  if (is_state) {
    bigtable_mutation_merge_to_cell(mutation, TEXT("f:"), 1, input, strlen(input));
  } else {
    bigtable_mutation_add_to_cell(mutation, TEXT("f:"), 1, input, strlen(input));
  }
  bigtable_error* const error = bigtable_table_apply(table, mutation, NULL);
  bigtable_mutation_free(mutation);
  return error;
}

static void ExpectCell(bigtable_table* table, const char* row, const char* expected) {
  bigtable_string* value = NULL;
  EXPECT_OK(bigtable_table_get(table, row, strlen(row), TEXT("f:"), NULL, &value));
  EXPECT(strcmp(bigtable_string_data(value, NULL), expected) == 0);
  bigtable_string_free(value);
}

void AnOperatorOfTheProgramMergesContributions(const char* directory) {
  static int inputs;
  EXPECT_OK(bigtable_aggregate_operator_register(TEXT("longest"), CheckInput, CheckState, StateOf,
                                                 KeepLongest, &inputs, NULL));
  EXPECT_OK(bigtable_aggregate_operator_register(TEXT("merge-alone"), NULL, NULL, NULL, KeepLongest,
                                                 NULL, NULL));
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateTable(database, "t", "longest");
  EXPECT_OK(Add(table, "r", "one", false));
  EXPECT_OK(Add(table, "r", "three", false));
  EXPECT_OK(Add(table, "r", "two", false));
  ExpectCell(table, "r", ":three");
  EXPECT_OK(Add(table, "r", ":thirteen", true));
  ExpectCell(table, "r", ":thirteen");
  EXPECT(inputs >= 3);
  EXPECT_OK(bigtable_database_compact(database, TEXT("t"), NULL));
  ExpectCell(table, "r", ":thirteen");

  EXPECT_ERROR(-3, "\"longest\", and does not take what AddToCell adds: a bad input",
               Add(table, "s", "bad", false));
  EXPECT_ERROR(BIGTABLE_OUT_OF_RANGE, "a bad state", Add(table, "s", "state", true));
  EXPECT_OK(Add(table, "s", "fail", false));
  EXPECT_OK(Add(table, "s", "x", false));
  bigtable_string* value = NULL;
  EXPECT_ERROR(BIGTABLE_DATA_LOSS, "cannot merge",
               bigtable_table_get(table, TEXT("s"), TEXT("f:"), NULL, &value));

  bigtable_table* const simple = CreateTable(database, "simple", "merge-alone");
  EXPECT_OK(Add(simple, "r", "bad", false));
  EXPECT_OK(Add(simple, "r", "no", true));
  ExpectCell(simple, "r", "bad");
  bigtable_database_free(database);
}

static void CountEnd(void* context) { ++*(int*)context; }

void AFailedRegistrationOfAnOperatorEndsItsContextOnce(const char* directory) {
  (void)directory;
  const int code = BIGTABLE_INVALID_ARGUMENT;
  static int ended;
  EXPECT_ERROR(code, "a:b",
               bigtable_aggregate_operator_register(TEXT("a:b"), NULL, NULL, NULL, KeepLongest,
                                                    &ended, CountEnd));
  EXPECT(ended == 1);
  EXPECT_ERROR(code, "argument merge",
               bigtable_aggregate_operator_register(TEXT("nothing"), CheckInput, NULL, NULL, NULL,
                                                    &ended, CountEnd));
  EXPECT(ended == 2);
  EXPECT_ERROR(code, "argument name",
               bigtable_aggregate_operator_register(NULL, 1, NULL, NULL, NULL, KeepLongest, &ended,
                                                    CountEnd));
  EXPECT(ended == 3);
  EXPECT_OK(bigtable_aggregate_operator_register(TEXT("taken-operator"), NULL, NULL, NULL,
                                                 KeepLongest, &ended, CountEnd));
  EXPECT(ended == 3);
  EXPECT_ERROR(BIGTABLE_ALREADY_EXISTS, "taken-operator",
               bigtable_aggregate_operator_register(TEXT("taken-operator"), NULL, NULL, NULL,
                                                    KeepLongest, &ended, CountEnd));
  EXPECT(ended == 4);
  bigtable_string_list* names = NULL;
  EXPECT_OK(bigtable_aggregate_operator_list_names(&names));
  bool found = false;
  for (size_t i = 0; i < bigtable_string_list_count(names); ++i) {
    found |= strcmp(bigtable_string_list_get(names, i, NULL), "taken-operator") == 0;
  }
  EXPECT(found);
  bigtable_string_list_free(names);
  EXPECT_ERROR(code, "argument names", bigtable_aggregate_operator_list_names(NULL));

  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "\"x\"",
               bigtable_schema_set_value_operator(schema, TEXT("x"), TEXT("taken-operator")));
  EXPECT_ERROR(code, "argument name",
               bigtable_schema_set_value_operator(schema, TEXT("x"), NULL, 1));
  bigtable_schema_free(schema);
}
