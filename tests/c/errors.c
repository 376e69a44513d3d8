#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

void AnErrorHasACodeAndAMessage(const char* directory) {
  (void)directory;
  bigtable_database* database = NULL;
  bigtable_error* const error = bigtable_database_open(TEXT(""), NULL, &database);
  EXPECT(error != NULL);
  EXPECT(database == NULL);
  EXPECT(bigtable_error_code(error) == BIGTABLE_INVALID_ARGUMENT);
  size_t size = 0;
  const char* const message = bigtable_error_message(error, &size);
  EXPECT_TEXT("the path of a database must not be empty", message, size);
  EXPECT(strlen(message) == size);
  bigtable_error_free(error);

  EXPECT(bigtable_error_code(NULL) == BIGTABLE_OK);
  EXPECT_TEXT("", bigtable_error_message(NULL, &size), size);
  bigtable_error_free(NULL);
}

void NullPointersAreRefused(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_database* const database = fixture.database;
  const int code = BIGTABLE_INVALID_ARGUMENT;
  EXPECT_ERROR(code, "database must not be a null pointer", bigtable_database_close(NULL));
  EXPECT_ERROR(code, "argument database", bigtable_database_resume(NULL));
  EXPECT_ERROR(code, "argument database", bigtable_database_resume_within(NULL, NULL));
  EXPECT_ERROR(code, "argument database", bigtable_database_wait_until_quiet(NULL, NULL));
  EXPECT_ERROR(code, "argument table must not be a null pointer if its size is 3",
               bigtable_database_flush(database, NULL, 3, NULL));
  EXPECT_ERROR(code, "argument table", bigtable_database_compact(database, NULL, 3, NULL));
  EXPECT_ERROR(code, "argument schema",
               bigtable_database_create_table(database, TEXT("t"), NULL, NULL));
  EXPECT_ERROR(code, "argument name", bigtable_database_delete_table(database, NULL, 3, NULL));
  EXPECT_ERROR(code, "argument group",
               bigtable_database_add_family(database, TEXT("web"), TEXT("f"), NULL, 3, NULL, NULL));
  EXPECT_ERROR(code, "argument name",
               bigtable_database_drop_family(database, TEXT("web"), NULL, 3, NULL));
  EXPECT_ERROR(code, "argument family",
               bigtable_database_set_gc_rule(database, TEXT("web"), NULL, 3, NULL, NULL));
  EXPECT_ERROR(code, "argument schema", bigtable_schema_add_split_row(NULL, TEXT("r")));
  EXPECT_ERROR(code, "argument schema", bigtable_schema_add_family(NULL, TEXT("f"), NULL, 0, NULL));
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_ERROR(code, "argument group", bigtable_schema_add_locality_group(schema, TEXT("g"), NULL));
  bigtable_schema_free(schema);

  EXPECT_ERROR(code, "argument mutation", bigtable_mutation_check(NULL));
  EXPECT_ERROR(code, "argument mutation", bigtable_table_apply(fixture.table, NULL, NULL));
  bigtable_mutation* const mutation = bigtable_mutation_new(TEXT("r"));
  EXPECT_ERROR(code, "argument table", bigtable_table_apply(NULL, mutation, NULL));
  bigtable_mutation_free(mutation);
  // An empty text may be NULL.
  bigtable_row* row = NULL;
  EXPECT_ERROR(code, "a row key must not be empty",
               bigtable_table_read_row(fixture.table, NULL, 0, NULL, NULL, &row));
  CloseFixture(&fixture);
}

// Also: an output is NULL after an error.
void NullOutputsAreRefused(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_database* const database = fixture.database;
  const int code = BIGTABLE_INVALID_ARGUMENT;
  EXPECT_ERROR(code, "argument database", bigtable_database_open(TEXT("x"), NULL, NULL));
  EXPECT_ERROR(code, "argument table", bigtable_database_open_table(database, TEXT("web"), NULL));
  EXPECT_ERROR(code, "argument table",
               bigtable_database_open_or_create_table(database, TEXT("web"), NULL, NULL, NULL));
  EXPECT_ERROR(code, "argument names", bigtable_database_list_tables(database, NULL));
  EXPECT_ERROR(code, "argument text", bigtable_database_get_statistics(database, NULL));
  EXPECT_ERROR(code, "argument snapshot", bigtable_database_take_snapshot(database, NULL));
  EXPECT_ERROR(code, "argument value",
               bigtable_table_get(fixture.table, TEXT("r"), TEXT("contents:"), NULL, NULL));
  EXPECT_ERROR(code, "argument result",
               bigtable_table_read_row(fixture.table, TEXT("r"), NULL, NULL, NULL));
  EXPECT_ERROR(code, "argument rows",
               bigtable_table_read_rows(fixture.table, NULL, NULL, NULL, NULL));
  EXPECT_ERROR(code, "argument row", bigtable_rows_next(NULL, NULL));

  bigtable_table* table = fixture.table;
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "nowhere",
               bigtable_database_open_table(database, TEXT("nowhere"), &table));
  EXPECT(table == NULL);
  CloseFixture(&fixture);
}

void TheLibraryHasAVersion(const char* directory) {
  (void)directory;
  EXPECT(strcmp(bigtable_version(), BIGTABLE_EXPECTED_VERSION) == 0);
}
