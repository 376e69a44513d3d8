#include "fixture.h"

#include <string.h>

#include "check.h"

bigtable_options* TestOptions(void) {
  bigtable_options* const options = bigtable_options_new();
  bigtable_options_set_memory_budget(options, 32 << 20);
  bigtable_options_set_log_segment_size(options, 1 << 20);
  bigtable_options_set_tablet_servers(options, 1);
  return options;
}

bigtable_database* OpenDatabase(const char* directory) {
  bigtable_options* const options = TestOptions();
  bigtable_database* database = NULL;
  EXPECT_OK(bigtable_database_open(directory, strlen(directory), options, &database));
  bigtable_options_free(options);
  return database;
}

struct Fixture OpenFixture(const char* directory) {
  struct Fixture fixture = {OpenDatabase(directory), NULL};
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("contents"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("anchor"), NULL, 0, NULL));
  EXPECT_OK(bigtable_database_open_or_create_table(fixture.database, TEXT("web"), schema, NULL,
                                                   &fixture.table));
  bigtable_schema_free(schema);
  return fixture;
}

void CloseFixture(struct Fixture* fixture) {
  EXPECT_OK(bigtable_database_close(fixture->database));
  bigtable_database_free(fixture->database);
}

void WriteCell(bigtable_table* table, const char* row, int64_t timestamp, const char* value) {
  bigtable_mutation* const mutation = bigtable_mutation_new(row, strlen(row));
  bigtable_mutation_set_at(mutation, TEXT("contents:"), timestamp, value, strlen(value));
  EXPECT_OK(bigtable_table_apply(table, mutation, NULL));
  bigtable_mutation_free(mutation);
}

const char* KeysOf(bigtable_rows* rows) {
  static char keys[1024];
  keys[0] = '\0';
  const bigtable_row* row = NULL;
  for (;;) {
    EXPECT_OK(bigtable_rows_next(rows, &row));
    if (row == NULL) break;
    size_t size = 0;
    const char* const key = bigtable_row_key(row, &size);
    EXPECT(strlen(keys) + size + 2 < sizeof(keys));
    strncat(keys, key, size);
    strcat(keys, " ");
  }
  bigtable_rows_free(rows);
  return keys;
}
