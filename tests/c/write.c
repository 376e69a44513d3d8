#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

// The number of cells of a row.
static size_t CountCells(bigtable_table* table, const char* key) {
  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_table_read_row(table, key, strlen(key), NULL, NULL, &row));
  const size_t count = bigtable_row_cell_count(row);
  bigtable_row_free(row);
  return count;
}

void AMutationIsAppliedAsAWhole(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_mutation* const mutation = bigtable_mutation_new(TEXT("com.cnn.www"));
  bigtable_mutation_set(mutation, TEXT("anchor:cnnsi.com"), TEXT("CNN"));
  bigtable_mutation_set_at(mutation, TEXT("contents:"), 7, TEXT("<html>"));
  EXPECT(bigtable_mutation_operation_count(mutation) == 2);
  EXPECT(bigtable_mutation_byte_size(mutation) > strlen("com.cnn.wwwcnnsi.comCNN<html>"));
  EXPECT_OK(bigtable_mutation_check(mutation));
  bigtable_write_options* const options = bigtable_write_options_new();
  bigtable_write_options_set_durability(options, BIGTABLE_DURABILITY_SYNC);
  EXPECT_OK(bigtable_table_apply(fixture.table, mutation, options));
  bigtable_write_options_set_durability(options, 3);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "durability",
               bigtable_table_apply(fixture.table, mutation, options));
  bigtable_write_options_free(options);
  bigtable_mutation_free(mutation);

  bigtable_string* value = NULL;
  size_t size = 0;
  EXPECT_OK(
      bigtable_table_get(fixture.table, TEXT("com.cnn.www"), TEXT("contents:"), NULL, &value));
  EXPECT_TEXT("<html>", bigtable_string_data(value, &size), size);
  bigtable_string_free(value);
  EXPECT_ERROR(
      BIGTABLE_NOT_FOUND, "no cell",
      bigtable_table_get(fixture.table, TEXT("com.cnn.www"), TEXT("anchor:x"), NULL, &value));
  EXPECT(value == NULL);
  CloseFixture(&fixture);
}

void AMutationDeletes(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_mutation* mutation = bigtable_mutation_new(TEXT("r"));
  for (int64_t timestamp = 1; timestamp <= 3; ++timestamp) {
    bigtable_mutation_set_at(mutation, TEXT("anchor:a"), timestamp, TEXT("v"));
    bigtable_mutation_set_at(mutation, TEXT("anchor:b"), timestamp, TEXT("v"));
    bigtable_mutation_set_at(mutation, TEXT("contents:"), timestamp, TEXT("v"));
  }
  EXPECT_OK(bigtable_table_apply(fixture.table, mutation, NULL));
  EXPECT(CountCells(fixture.table, "r") == 9);
  bigtable_mutation_free(mutation);

  mutation = bigtable_mutation_new(TEXT("r"));
  bigtable_mutation_delete_cell(mutation, TEXT("anchor:a"), 2);
  EXPECT_OK(bigtable_table_apply(fixture.table, mutation, NULL));
  EXPECT(CountCells(fixture.table, "r") == 8);
  bigtable_mutation_delete_column(mutation, TEXT("anchor:a"));
  EXPECT_OK(bigtable_table_apply(fixture.table, mutation, NULL));
  EXPECT(CountCells(fixture.table, "r") == 6);
  bigtable_mutation_delete_time_range(mutation, TEXT("anchor:b"), 1, 3);
  EXPECT_OK(bigtable_table_apply(fixture.table, mutation, NULL));
  EXPECT(CountCells(fixture.table, "r") == 4);
  bigtable_mutation_delete_family(mutation, TEXT("anchor"));
  EXPECT_OK(bigtable_table_apply(fixture.table, mutation, NULL));
  EXPECT(CountCells(fixture.table, "r") == 3);
  bigtable_mutation_delete_row(mutation);
  EXPECT_OK(bigtable_table_apply(fixture.table, mutation, NULL));
  EXPECT(CountCells(fixture.table, "r") == 0);
  bigtable_mutation_free(mutation);
  CloseFixture(&fixture);
}

void InvalidOperationsAreReported(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  const int code = BIGTABLE_INVALID_ARGUMENT;
  bigtable_mutation* mutation = bigtable_mutation_new(TEXT("r"));
  bigtable_mutation_set(mutation, TEXT("contents:"), TEXT("v"));
  bigtable_mutation_set(mutation, TEXT("contents"), TEXT("v"));
  EXPECT_ERROR(code, "\"contents\"", bigtable_mutation_check(mutation));
  EXPECT_ERROR(code, "\"contents\"", bigtable_table_apply(fixture.table, mutation, NULL));
  bigtable_mutation_free(mutation);

  mutation = bigtable_mutation_new(TEXT("r"));
  bigtable_mutation_set(mutation, TEXT("contents:"), TEXT("v"));
  bigtable_mutation_set(mutation, TEXT("contents:"), NULL, 5);
  bigtable_mutation_delete_column(mutation, NULL, 5);
  EXPECT_ERROR(code, "argument value", bigtable_mutation_check(mutation));
  EXPECT_ERROR(code, "argument value", bigtable_table_apply(fixture.table, mutation, NULL));
  bigtable_mutation_free(mutation);

  mutation = bigtable_mutation_new(NULL, 5);
  EXPECT_ERROR(code, "argument row", bigtable_mutation_check(mutation));
  bigtable_mutation_free(mutation);
  EXPECT(CountCells(fixture.table, "r") == 0);
  CloseFixture(&fixture);
}

void ABatchHasAnErrorForEachMutation(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_mutation* batch[5] = {bigtable_mutation_new(TEXT("a")), bigtable_mutation_new(TEXT("b")),
                                 NULL, NULL, bigtable_mutation_new(TEXT("c"))};
  batch[3] = batch[0];
  bigtable_mutation_set(batch[0], TEXT("contents:"), TEXT("v"));
  bigtable_mutation_set(batch[1], TEXT("nofamily:"), TEXT("v"));
  bigtable_mutation_set(batch[4], TEXT("contents:"), TEXT("v"));
  // Every call finds the mutations as they were.
  for (int repeat = 0; repeat < 2; ++repeat) {
    bigtable_error* errors[5];
    EXPECT_ERROR(BIGTABLE_NOT_FOUND, "nofamily",
                 bigtable_table_apply_batch(fixture.table, batch, 5, NULL, errors));
    EXPECT_OK(errors[0]);
    EXPECT_ERROR(BIGTABLE_NOT_FOUND, "nofamily", errors[1]);
    EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument mutation", errors[2]);
    EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "mutation 3 of the batch", errors[3]);
    EXPECT_OK(errors[4]);
    EXPECT(CountCells(fixture.table, "a") == (size_t)repeat + 1);
    EXPECT(CountCells(fixture.table, "c") == (size_t)repeat + 1);
  }
  EXPECT(CountCells(fixture.table, "b") == 0);

  bigtable_error* errors[1];
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument table",
               bigtable_table_apply_batch(NULL, batch, 1, NULL, errors));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument table", errors[0]);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument mutations",
               bigtable_table_apply_batch(fixture.table, NULL, 1, NULL, NULL));
  EXPECT_OK(bigtable_table_apply_batch(fixture.table, NULL, 0, NULL, NULL));
  EXPECT_OK(bigtable_table_apply_batch(fixture.table, batch, 1, NULL, NULL));
  bigtable_mutation_free(batch[0]);
  bigtable_mutation_free(batch[1]);
  bigtable_mutation_free(batch[4]);
  CloseFixture(&fixture);
}

void CallsEndAtTheirTimeoutsAndIfCancelled(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_cancellation* const cancellation = bigtable_cancellation_new();
  bigtable_write_options* const write = bigtable_write_options_new();
  bigtable_read_options* const read = bigtable_read_options_new();
  bigtable_call_options* const call = bigtable_call_options_new();
  bigtable_mutation* const mutation = bigtable_mutation_new(TEXT("r"));
  bigtable_mutation_set(mutation, TEXT("contents:"), TEXT("v"));
  bigtable_row* row = NULL;

  const int64_t minute = 60000000;
  bigtable_write_options_set_timeout(write, minute);
  bigtable_read_options_set_timeout(read, minute);
  bigtable_call_options_set_timeout(call, minute);
  bigtable_write_options_set_cancellation(write, cancellation);
  bigtable_read_options_set_cancellation(read, cancellation);
  bigtable_call_options_set_cancellation(call, cancellation);
  EXPECT_OK(bigtable_table_apply(fixture.table, mutation, write));
  EXPECT_OK(bigtable_table_read_row(fixture.table, TEXT("r"), NULL, read, &row));
  bigtable_row_free(row);
  EXPECT_OK(bigtable_database_compact(fixture.database, TEXT("web"), call));

  bigtable_cancellation_cancel(cancellation);
  EXPECT_ERROR(BIGTABLE_CANCELLED, "", bigtable_table_apply(fixture.table, mutation, write));
  EXPECT_ERROR(BIGTABLE_CANCELLED, "",
               bigtable_table_read_row(fixture.table, TEXT("r"), NULL, read, &row));
  EXPECT_ERROR(BIGTABLE_CANCELLED, "",
               bigtable_database_compact(fixture.database, TEXT("web"), call));

  bigtable_write_options_set_cancellation(write, NULL);
  bigtable_read_options_set_cancellation(read, NULL);
  bigtable_call_options_set_cancellation(call, NULL);
  bigtable_cancellation_free(cancellation);
  bigtable_write_options_set_timeout(write, 0);
  bigtable_read_options_set_timeout(read, -1);
  bigtable_call_options_set_timeout(call, 0);
  const int code = BIGTABLE_DEADLINE_EXCEEDED;
  EXPECT_ERROR(code, "", bigtable_table_apply(fixture.table, mutation, write));
  EXPECT_ERROR(code, "", bigtable_table_read_row(fixture.table, TEXT("r"), NULL, read, &row));
  EXPECT_ERROR(code, "", bigtable_database_compact(fixture.database, TEXT("web"), call));
  bigtable_mutation_free(mutation);
  bigtable_call_options_free(call);
  bigtable_read_options_free(read);
  bigtable_write_options_free(write);
  CloseFixture(&fixture);
}

void ACheckpointIsADatabase(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "r", 1, "before");
  char copy[1024];
  EXPECT(strlen(directory) + 6 < sizeof(copy));
  strcat(strcpy(copy, directory), "-copy");
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument directory",
               bigtable_database_checkpoint(fixture.database, NULL, 1, NULL));
  EXPECT_OK(bigtable_database_checkpoint(fixture.database, copy, strlen(copy), NULL));
  EXPECT_ERROR(BIGTABLE_ALREADY_EXISTS, "there are files",
               bigtable_database_checkpoint(fixture.database, copy, strlen(copy), NULL));
  WriteCell(fixture.table, "s", 1, "after");
  CloseFixture(&fixture);

  fixture = OpenFixture(copy);
  EXPECT(CountCells(fixture.table, "r") == 1);
  EXPECT(CountCells(fixture.table, "s") == 0);
  CloseFixture(&fixture);
}

void BackupsAreListedVerifiedAndRestored(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "r", 1, "before");
  char store[1024];
  char copy[1024];
  EXPECT(strlen(directory) + 10 < sizeof(store));
  strcat(strcpy(store, directory), "-backups");
  strcat(strcpy(copy, directory), "-restored");
  bigtable_backup_engine* engine = NULL;
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument engine",
               bigtable_backup_engine_open(store, strlen(store), NULL));
  EXPECT_OK(bigtable_backup_engine_open(store, strlen(store), &engine));
  uint64_t first = 0;
  uint64_t second = 0;
  EXPECT_OK(bigtable_backup_engine_create(engine, fixture.database, TEXT("first"), NULL, &first));
  WriteCell(fixture.table, "s", 1, "after");
  EXPECT_OK(bigtable_backup_engine_create(engine, fixture.database, NULL, 0, NULL, &second));
  EXPECT(second == first + 1);

  bigtable_backups* backups = NULL;
  EXPECT_OK(bigtable_backup_engine_list(engine, &backups));
  EXPECT(bigtable_backups_count(backups) == 2);
  EXPECT(bigtable_backups_id(backups, 0) == first);
  EXPECT(bigtable_backups_time(backups, 0) > 0);
  size_t size = 0;
  const char* const description = bigtable_backups_description(backups, 0, &size);
  EXPECT_TEXT("first", description, size);
  EXPECT(bigtable_backups_bytes(backups, 0) >= bigtable_backups_new_bytes(backups, 0));
  EXPECT(bigtable_backups_description(backups, 2, &size) == NULL && size == 0);
  EXPECT(bigtable_backups_id(backups, 2) == 0 && bigtable_backups_time(backups, 2) == 0);
  EXPECT(bigtable_backups_bytes(backups, 2) == 0 && bigtable_backups_new_bytes(backups, 2) == 0);
  bigtable_backups_free(backups);

  EXPECT_OK(bigtable_backup_engine_verify(engine, first, NULL));
  EXPECT_OK(bigtable_backup_engine_delete(engine, second));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "no backup",
               bigtable_backup_engine_verify(engine, second, NULL));
  EXPECT_OK(bigtable_backup_engine_restore(engine, first, copy, strlen(copy), NULL));
  EXPECT_OK(bigtable_backup_engine_delete_old(engine, 0));
  bigtable_backup_engine_free(engine);
  CloseFixture(&fixture);

  fixture = OpenFixture(copy);
  EXPECT(CountCells(fixture.table, "r") == 1);
  EXPECT(CountCells(fixture.table, "s") == 0);
  CloseFixture(&fixture);
}

static void CountFiles(void* context, uint64_t files, uint64_t copied_bytes) {
  EXPECT(copied_bytes > 0);
  *(uint64_t*)context = files;
}

void BackupsAreOfTablesAndExpire(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "r", 1, "before");
  char store[1024];
  char copy[1024];
  EXPECT(strlen(directory) + 10 < sizeof(store));
  strcat(strcpy(store, directory), "-backups");
  strcat(strcpy(copy, directory), "-restored");
  bigtable_backup_engine* engine = NULL;
  EXPECT_OK(bigtable_backup_engine_open(store, strlen(store), &engine));
  bigtable_backup_options* options = bigtable_backup_options_new();
  uint64_t files = 0;
  EXPECT_OK(bigtable_backup_options_set_description(options, TEXT("d")));
  EXPECT_OK(bigtable_backup_options_set_expire_time(options, 5000));
  EXPECT_OK(bigtable_backup_options_set_progress(options, CountFiles, &files));
  EXPECT_OK(bigtable_backup_options_add_table(options, TEXT("web"), TEXT("old")));
  uint64_t made = 0;
  EXPECT_OK(bigtable_backup_engine_create_with(engine, fixture.database, options, NULL, &made));
  EXPECT(files == 1);
  EXPECT_OK(bigtable_backup_engine_restore_with(engine, made, copy, strlen(copy), options, NULL));
  files = 0;
  WriteCell(fixture.table, "s", 1, "after");
  EXPECT_OK(bigtable_backup_engine_restore_table(engine, made, TEXT("web"), fixture.database,
                                                 TEXT("again"), options, NULL));
  EXPECT(files == 1);
  EXPECT_ERROR(BIGTABLE_ALREADY_EXISTS, "again",
               bigtable_backup_engine_restore_table(engine, made, TEXT("web"), fixture.database,
                                                    TEXT("again"), NULL, NULL));
  bigtable_table* again = NULL;
  EXPECT_OK(bigtable_database_open_table(fixture.database, TEXT("again"), &again));
  EXPECT(CountCells(again, "r") == 1);
  EXPECT(CountCells(again, "s") == 0);

  EXPECT_OK(bigtable_backup_options_set_progress(options, NULL, NULL));
  EXPECT_OK(bigtable_backup_options_set_expire_time(options, INT64_MAX));
  uint64_t second = 0;
  EXPECT_OK(bigtable_backup_engine_copy(engine, made, options, NULL, &second));
  EXPECT_OK(bigtable_backup_options_set_description(options, TEXT("changed")));
  EXPECT_OK(bigtable_backup_engine_update(engine, second, options, NULL));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "no backup",
               bigtable_backup_engine_update(engine, 99, options, NULL));
  bigtable_backup_options_free(options);
  bigtable_backups* backups = NULL;
  EXPECT_OK(bigtable_backup_engine_list(engine, &backups));
  EXPECT(bigtable_backups_count(backups) == 2);
  EXPECT(bigtable_backups_expire_time(backups, 0) == 5000);
  EXPECT(bigtable_backups_expire_time(backups, 1) == INT64_MAX);
  EXPECT(bigtable_backups_table_count(backups, 0) == 1);
  EXPECT(bigtable_backups_table_count(backups, 2) == 0);
  size_t size = 0;
  const char* const table = bigtable_backups_table(backups, 0, 0, &size);
  EXPECT_TEXT("web", table, size);
  EXPECT(bigtable_backups_table(backups, 0, 1, &size) == NULL && size == 0);
  const char* const description = bigtable_backups_description(backups, 1, &size);
  EXPECT_TEXT("changed", description, size);
  bigtable_backups_free(backups);
  size_t deleted = 0;
  EXPECT_OK(bigtable_backup_engine_delete_expired(engine, 5000, &deleted));
  EXPECT(deleted == 1);
  EXPECT_OK(bigtable_backup_engine_delete_expired(engine, 5000, NULL));
  bigtable_backup_engine_free(engine);
  CloseFixture(&fixture);

  bigtable_database* const restored = OpenDatabase(copy);
  EXPECT_OK(bigtable_database_open_table(restored, TEXT("old"), &again));
  EXPECT(CountCells(again, "r") == 1);
  bigtable_database_free(restored);
}

void ADamagedDatabaseIsRepaired(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "r", 1, "before");
  bigtable_repair_report* report = NULL;
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "",
               bigtable_database_repair(directory, strlen(directory), NULL, 0, NULL, &report));
  CloseFixture(&fixture);
  char file[1024];
  EXPECT(strlen(directory) + 40 < sizeof(file));
  strcat(strcpy(file, directory), "/lockservice/root");
  EXPECT(remove(file) == 0);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument report",
               bigtable_database_repair(directory, strlen(directory), NULL, 0, NULL, NULL));
  EXPECT_OK(bigtable_database_repair(directory, strlen(directory), NULL, 0, NULL, &report));
  EXPECT(!bigtable_repair_report_is_metadata_lost(report));
  EXPECT(!bigtable_repair_report_has_losses(report));
  EXPECT(bigtable_repair_report_count(report) == 1);
  size_t size = 0;
  const char* text = bigtable_repair_report_path(report, 0, &size);
  EXPECT(size == strlen(file) && memcmp(file, text, size) == 0);
  text = bigtable_repair_report_problem(report, 0, &size);
  EXPECT(strstr(text, "its copy was read") != NULL);
  EXPECT(bigtable_repair_report_problem(report, 1, &size) == NULL && size == 0);
  EXPECT(bigtable_repair_report_path(report, 1, &size) == NULL && size == 0);
  strcat(strcpy(file, directory), ".repaired");
  text = bigtable_repair_report_target(report, &size);
  EXPECT(size == strlen(file) && memcmp(file, text, size) == 0);
  bigtable_repair_report_free(report);

  fixture = OpenFixture(file);
  EXPECT(CountCells(fixture.table, "r") == 1);
  CloseFixture(&fixture);
}

void ADatabaseIsReadBesideItsWriter(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "r", 1, "before");
  bigtable_options* const options = TestOptions();
  bigtable_options_set_follow(options, -1);
  bigtable_database* follower = NULL;
  EXPECT_OK(bigtable_database_open(directory, strlen(directory), options, &follower));
  bigtable_options_free(options);
  bigtable_table* table = NULL;
  EXPECT_OK(bigtable_database_open_table(follower, TEXT("web"), &table));
  EXPECT(CountCells(table, "r") == 1);
  WriteCell(fixture.table, "s", 1, "after");
  EXPECT(CountCells(table, "s") == 0);
  EXPECT_OK(bigtable_database_refresh(follower, NULL));
  EXPECT(CountCells(table, "s") == 1);
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "follow",
               bigtable_database_refresh(fixture.database, NULL));
  EXPECT_OK(bigtable_database_close(follower));
  bigtable_database_free(follower);
  CloseFixture(&fixture);
}

void SortedFilesAreIngested(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "r", 1, "before");
  bigtable_schema* schema = NULL;
  EXPECT_OK(bigtable_database_get_schema(fixture.database, TEXT("web"), &schema));
  char files_in[1024];
  EXPECT(strlen(directory) + 10 < sizeof(files_in));
  strcat(strcpy(files_in, directory), "-files");
  EXPECT(mkdir(files_in, 0700) == 0);
  bigtable_sstable_sorter* sorter = NULL;
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument sorter",
               bigtable_sstable_sorter_open(files_in, strlen(files_in), schema, 0, 0, 0, NULL));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "memory",
               bigtable_sstable_sorter_open(files_in, strlen(files_in), schema, 1, 0, 0, &sorter));
  EXPECT_OK(bigtable_sstable_sorter_open(files_in, strlen(files_in), schema, 0, 0, 0, &sorter));
  EXPECT_OK(bigtable_sstable_sorter_add_cell(sorter, TEXT("s"), TEXT("contents:"), 1, TEXT("sorted")));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "family",
               bigtable_sstable_sorter_add_cell(sorter, TEXT("s"), TEXT("no:q"), 1, TEXT("v")));
  bigtable_mutation* mutation = bigtable_mutation_new(TEXT("r"));
  bigtable_mutation_delete_row(mutation);
  EXPECT_OK(bigtable_sstable_sorter_add(sorter, mutation));
  bigtable_mutation_free(mutation);
  bigtable_string_list* files = NULL;
  EXPECT_OK(bigtable_sstable_sorter_finish(sorter, &files));
  bigtable_sstable_sorter_free(sorter);
  EXPECT(bigtable_string_list_count(files) == 1);
  uint64_t entries = 0;
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument flags",
               bigtable_table_ingest(fixture.table, files, 64, NULL, &entries));
  EXPECT_OK(bigtable_table_ingest(fixture.table, files, BIGTABLE_INGEST_MOVE, NULL, &entries));
  EXPECT(entries >= 2);
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "sorted-",
               bigtable_table_ingest(fixture.table, files, 0, NULL, NULL));
  bigtable_string_list_free(files);
  bigtable_schema_free(schema);
  EXPECT(CountCells(fixture.table, "r") == 0);
  EXPECT(CountCells(fixture.table, "s") == 1);
  CloseFixture(&fixture);
}
