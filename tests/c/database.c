#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

// Opens and frees a database; returns the error of opening it.
static bigtable_error* TryOpen(const char* directory, const bigtable_options* options) {
  bigtable_database* database = NULL;
  bigtable_error* const error =
      bigtable_database_open(directory, strlen(directory), options, &database);
  EXPECT((error == NULL) == (database != NULL));
  bigtable_database_free(database);
  return error;
}

void ADatabaseIsOpenedAsItsOptionsSay(const char* directory) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/db", directory);
  bigtable_options* const options = TestOptions();
  bigtable_options_set_create_if_missing(options, false);
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "db", TryOpen(path, options));
  bigtable_options_set_create_if_missing(options, true);
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "no database here, but other files",
               TryOpen("/proc/self", options));
  bigtable_options_set_allow_foreign_files(options, true);
  bigtable_options_set_durability(options, BIGTABLE_DURABILITY_SYNC);
  bigtable_options_set_memtable_size(options, 1 << 20);
  bigtable_options_set_target_file_size(options, 2 << 20);
  bigtable_options_set_compaction_threads(options, 2);
  bigtable_options_set_compaction_rate(options, 100 << 20);
  bigtable_options_set_scan_cache(options, true);
  bigtable_options_set_positional_reads(options, true);
  bigtable_options_set_max_open_files(options, 16);
  EXPECT_OK(TryOpen(path, options));
  EXPECT_OK(TryOpen(path, NULL));
  bigtable_options_set_error_if_exists(options, true);
  EXPECT_ERROR(BIGTABLE_ALREADY_EXISTS, "db", TryOpen(path, options));
  bigtable_options_free(options);
}

void OptionsOutOfRangeAreRefused(const char* directory) {
  bigtable_options* const options = bigtable_options_new();
  bigtable_options_set_durability(options, 256);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "durability must be from 0 to 2",
               TryOpen(directory, options));
  bigtable_options_set_durability(options, -1);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "durability must be from 0 to 2",
               TryOpen(directory, options));
  bigtable_options_set_durability(options, BIGTABLE_DURABILITY_NONE);
  bigtable_options_set_memory_budget(options, 1);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "memory_budget", TryOpen(directory, options));
  bigtable_options_set_memory_budget(options, 8 << 20);
  bigtable_options_set_tablet_servers(options, 257);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "tablet_servers", TryOpen(directory, options));
  bigtable_options_set_tablet_servers(options, 1);
  bigtable_options_set_balance_interval(options, 999);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "balance_interval", TryOpen(directory, options));
  bigtable_options_free(options);
}

static void ExpectOption(bigtable_database* database, const char* name, const char* expected) {
  bigtable_string* value = NULL;
  EXPECT_OK(bigtable_database_get_option(database, name, strlen(name), &value));
  EXPECT(strcmp(bigtable_string_data(value, NULL), expected) == 0);
  bigtable_string_free(value);
}

void OptionsOfTheMasterAreInEffect(const char* directory) {
  bigtable_options* const options = TestOptions();
  bigtable_options_set_balance_interval(options, 1500000);
  bigtable_options_set_metadata_tablet_size(options, 64 << 20);
  bigtable_database* database = NULL;
  EXPECT_OK(bigtable_database_open(directory, strlen(directory), options, &database));
  ExpectOption(database, "balance_interval", "1.5s");
  ExpectOption(database, "metadata_tablet_size", "67108864");
  bigtable_database_free(database);
  bigtable_options_set_balance_interval(options, INT64_MAX);
  EXPECT_OK(bigtable_database_open(directory, strlen(directory), options, &database));
  bigtable_options_free(options);
  ExpectOption(database, "balance_interval", "inf");
  bigtable_database_free(database);
}

struct Log {
  atomic_int messages;
  atomic_int openings;  // messages of the path
  atomic_int ended;
  const char* path;
};

static void TakeMessage(void* context, int severity, int64_t time, const char* message,
                        size_t message_size) {
  struct Log* const log = context;
  EXPECT(severity >= BIGTABLE_LOG_INFO && severity <= BIGTABLE_LOG_ERROR);
  EXPECT(time > INT64_C(1000000000000000));
  EXPECT(message_size > 0 && memchr(message, '\n', message_size) == NULL);
  EXPECT(log->ended == 0);
  char text[8192];
  snprintf(text, sizeof(text), "%.*s", (int)message_size, message);
  if (strstr(text, log->path) != NULL) atomic_fetch_add(&log->openings, 1);
  atomic_fetch_add(&log->messages, 1);
}

static void EndLog(void* context) { atomic_fetch_add(&((struct Log*)context)->ended, 1); }

void TheInfoLogGoesToAFunction(const char* directory) {
  struct Log first = {.path = directory}, second = {.path = directory}, none = {.path = ""};
  bigtable_options* const options = TestOptions();
  bigtable_options_set_log_function(options, TakeMessage, &first, EndLog);
  bigtable_database* database = NULL;
  EXPECT_OK(bigtable_database_open(directory, strlen(directory), options, &database));
  EXPECT(first.messages > 0 && first.openings > 0);
  char file[8192];
  snprintf(file, sizeof(file), "%s/LOG", directory);
  EXPECT(fopen(file, "r") == NULL);
  // The database still has the first function.
  bigtable_options_set_log_function(options, TakeMessage, &second, EndLog);
  EXPECT(first.ended == 0 && second.messages == 0);
  bigtable_database_free(database);
  EXPECT(first.ended == 1);
  EXPECT_OK(TryOpen(directory, options));
  EXPECT(second.messages > 0 && second.ended == 0);
  // No function: nothing will be called with its context.
  bigtable_options_set_log_function(options, NULL, &none, EndLog);
  EXPECT(second.ended == 1 && none.ended == 1);
  bigtable_options_set_log_function(options, TakeMessage, &none, NULL);
  bigtable_options_free(options);
  EXPECT(first.ended == 1 && second.ended == 1 && none.ended == 1);
}

void AReadOnlyDatabaseRefusesWrites(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "r", 1, "v");
  CloseFixture(&fixture);

  bigtable_options* const options = TestOptions();
  bigtable_options_set_read_only(options, true);
  EXPECT_OK(bigtable_database_open(directory, strlen(directory), options, &fixture.database));
  EXPECT_OK(bigtable_database_open_table(fixture.database, TEXT("web"), &fixture.table));
  bigtable_mutation* const mutation = bigtable_mutation_new(TEXT("r"));
  bigtable_mutation_delete_row(mutation);
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "read-only",
               bigtable_table_apply(fixture.table, mutation, NULL));
  bigtable_string* value = NULL;
  EXPECT_OK(bigtable_table_get(fixture.table, TEXT("r"), TEXT("contents:"), NULL, &value));
  bigtable_string_free(value);
  bigtable_mutation_free(mutation);
  bigtable_options_free(options);
  CloseFixture(&fixture);
}

void DatabasesShareAMemoryBudget(const char* directory) {
  bigtable_memory_budget* const budget = bigtable_memory_budget_new(16 << 20);
  bigtable_options* const options = TestOptions();
  bigtable_options_set_shared_memory_budget(options, budget);
  bigtable_memory_budget_free(budget);
  bigtable_database* databases[2] = {NULL, NULL};
  for (int i = 0; i < 2; ++i) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/%d", directory, i);
    EXPECT_OK(bigtable_database_open(path, strlen(path), options, &databases[i]));
    bigtable_string* text = NULL;
    EXPECT_OK(bigtable_database_get_statistics(databases[i], &text));
    EXPECT(strstr(bigtable_string_data(text, NULL), "16777216") != NULL);
    bigtable_string_free(text);
  }
  bigtable_options_set_shared_memory_budget(options, NULL);
  bigtable_options_free(options);
  bigtable_database_free(databases[0]);
  bigtable_database_free(databases[1]);
}

void AClosedDatabaseRefusesCalls(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "r", 1, "v");
  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_table_read_row(fixture.table, TEXT("r"), NULL, NULL, &row));
  bigtable_snapshot* snapshot = NULL;
  EXPECT_OK(bigtable_database_take_snapshot(fixture.database, &snapshot));
  EXPECT(bigtable_snapshot_sequence(snapshot) > 0);
  bigtable_rows* rows = NULL;
  EXPECT_OK(bigtable_table_read_rows(fixture.table, NULL, NULL, NULL, &rows));

  EXPECT_OK(bigtable_database_close(fixture.database));
  EXPECT_OK(bigtable_database_close(fixture.database));
  bigtable_row* none = row;
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "closed",
               bigtable_table_read_row(fixture.table, TEXT("r"), NULL, NULL, &none));
  EXPECT(none == NULL);
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "closed",
               bigtable_table_read_rows(fixture.table, NULL, NULL, NULL, (bigtable_rows*[]){NULL}));
  bigtable_database_free(fixture.database);

  // What came from the database outlives it.
  size_t size = 0;
  EXPECT_TEXT("v", bigtable_row_cell_value(row, 0, &size), size);
  const bigtable_row* next = NULL;
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "closed", bigtable_rows_next(rows, &next));
  bigtable_rows_free(rows);
  bigtable_row_free(row);
  bigtable_snapshot_free(snapshot);
}

void TablesAreCreatedListedAndDeleted(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("f"), NULL, 0, NULL));
  EXPECT_OK(bigtable_database_create_table(database, TEXT("b"), schema, NULL));
  EXPECT_ERROR(BIGTABLE_ALREADY_EXISTS, "\"b\"",
               bigtable_database_create_table(database, TEXT("b"), schema, NULL));
  bigtable_table* a = NULL;
  bigtable_table* again = NULL;
  EXPECT_OK(bigtable_database_open_or_create_table(database, TEXT("a"), schema, NULL, &a));
  EXPECT_OK(bigtable_database_open_table(database, TEXT("a"), &again));
  EXPECT(a == again);
  size_t size = 0;
  EXPECT_TEXT("a", bigtable_table_name(a, &size), size);
  bigtable_schema_free(schema);

  bigtable_string_list* names = NULL;
  EXPECT_OK(bigtable_database_list_tables(database, &names));
  EXPECT(bigtable_string_list_count(names) == 2);
  EXPECT_TEXT("a", bigtable_string_list_get(names, 0, &size), size);
  EXPECT_TEXT("b", bigtable_string_list_get(names, 1, &size), size);
  EXPECT(bigtable_string_list_get(names, 2, &size) == NULL && size == 0);
  bigtable_string_list_free(names);

  EXPECT_OK(bigtable_database_delete_table(database, TEXT("b"), NULL));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "\"b\"",
               bigtable_database_delete_table(database, TEXT("b"), NULL));
  bigtable_database_free(database);
}

void BackgroundWorkIsDoneByRequest(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "r", 1, "v");
  EXPECT_OK(bigtable_database_flush(fixture.database, TEXT("web"), NULL));
  EXPECT_OK(bigtable_database_compact(fixture.database, TEXT("web"), NULL));
  EXPECT_OK(bigtable_database_wait_until_quiet(fixture.database, NULL));
  EXPECT_OK(bigtable_database_resume(fixture.database));
  EXPECT_OK(bigtable_database_resume_within(fixture.database, NULL));
  bigtable_call_options* call = bigtable_call_options_new();
  bigtable_call_options_set_timeout(call, 0);
  EXPECT_ERROR(BIGTABLE_DEADLINE_EXCEEDED, "deadline",
               bigtable_database_resume_within(fixture.database, call));
  bigtable_call_options_free(call);
  bigtable_string* text = NULL;
  EXPECT_OK(bigtable_database_get_statistics(fixture.database, &text));
  EXPECT(strstr(bigtable_string_data(text, NULL), "\nbigtable_major_compactions_total 1\n") !=
         NULL);
  bigtable_string_free(text);
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "nowhere",
               bigtable_database_flush(fixture.database, TEXT("nowhere"), NULL));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "nowhere",
               bigtable_database_compact(fixture.database, TEXT("nowhere"), NULL));
  CloseFixture(&fixture);
}

void StatisticsAreText(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "r", 1, "v");
  bigtable_string* text = NULL;
  EXPECT_OK(bigtable_database_get_statistics(fixture.database, &text));
  size_t size = 0;
  const char* const data = bigtable_string_data(text, &size);
  EXPECT(strlen(data) == size);
  EXPECT(strstr(data, "bigtable_calls_total{table=\"web\",call=\"apply\"} 1\n") != NULL);
  bigtable_string_free(text);
  CloseFixture(&fixture);
}
