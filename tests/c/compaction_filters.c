// Compaction filters: functions that decide about cells.
#define _XOPEN_SOURCE 700
#include <ctype.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

struct Filtered {
  atomic_int cells;
  char last[256];  // of compactions of one thread
};

static bool BeginsWith(const char* text, size_t size, const char* prefix) {
  return size >= strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0;
}

// Removes values that begin with "drop", makes those that begin with "up" upper case, and those
// that begin with "empty" empty.
static int ByValue(void* context, const bigtable_compacted_cell* cell, bigtable_string* value) {
  struct Filtered* const filtered = context;
  atomic_fetch_add(&filtered->cells, 1);
  size_t old_size = 0, size = 0;
  EXPECT_TEXT("", bigtable_string_data(value, &size), size);
  const char* const old = bigtable_compacted_cell_value(cell, &old_size);
  EXPECT(bigtable_compacted_cell_now(cell) > INT64_C(1000000000000000));
  if (BeginsWith(old, old_size, "drop")) return BIGTABLE_COMPACTION_FILTER_REMOVE;
  if (BeginsWith(old, old_size, "empty")) return BIGTABLE_COMPACTION_FILTER_REPLACE;
  char upper[] = "................................";  // longer than what is assigned
  EXPECT(old_size < sizeof(upper));
  for (size_t i = 0; i < old_size; ++i) upper[i] = (char)toupper(old[i]);
  EXPECT_OK(bigtable_string_assign(value, upper, old_size));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument data", bigtable_string_assign(value, NULL, 1));
  if (BeginsWith(old, old_size, "up")) return BIGTABLE_COMPACTION_FILTER_REPLACE;
  // What was assigned counts only for a replacement, and a number without a meaning keeps the cell.
  return BeginsWith(old, old_size, "odd") ? 77 : BIGTABLE_COMPACTION_FILTER_KEEP;
}

static int NoteCell(void* context, const bigtable_compacted_cell* cell, bigtable_string* value) {
  (void)value;
  struct Filtered* const filtered = context;
  atomic_fetch_add(&filtered->cells, 1);
  size_t row_size, family_size, qualifier_size;
  const char* const row = bigtable_compacted_cell_row(cell, &row_size);
  const char* const family = bigtable_compacted_cell_family(cell, &family_size);
  const char* const qualifier = bigtable_compacted_cell_qualifier(cell, &qualifier_size);
  snprintf(filtered->last, sizeof(filtered->last), "%.*s/%.*s:%.*s@%d", (int)row_size, row,
           (int)family_size, family, (int)qualifier_size, qualifier,
           (int)bigtable_compacted_cell_timestamp(cell));
  return BIGTABLE_COMPACTION_FILTER_KEEP;
}

static void CountEnded(void* context) { ++*(int*)context; }

// A table with the families "f" and "g", of which the first has the filter.
static bigtable_table* CreateFiltered(bigtable_database* database, const char* name,
                                      const char* filter) {
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("f"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("g"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_set_compaction_filter(schema, TEXT("f"), filter, strlen(filter)));
  bigtable_table* table = NULL;
  EXPECT_OK(
      bigtable_database_open_or_create_table(database, name, strlen(name), schema, NULL, &table));
  bigtable_schema_free(schema);
  return table;
}

static void Put(bigtable_table* table, const char* row, const char* column, const char* value) {
  bigtable_mutation* const mutation = bigtable_mutation_new(row, strlen(row));
  bigtable_mutation_set_at(mutation, column, strlen(column), 7, value, strlen(value));
  EXPECT_OK(bigtable_table_apply(table, mutation, NULL));
  bigtable_mutation_free(mutation);
}

// "qualifier=value" of each cell of row "r", each with a space behind it.
static const char* CellsOf(bigtable_table* table) {
  static char text[1024];
  text[0] = '\0';
  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_table_read_row(table, TEXT("r"), NULL, NULL, &row));
  for (size_t i = 0; i < bigtable_row_cell_count(row); ++i) {
    size_t size = 0;
    const char* const qualifier = bigtable_row_cell_qualifier(row, i, &size);
    strncat(text, qualifier, size);
    strcat(text, "=");
    const char* const value = bigtable_row_cell_value(row, i, &size);
    strncat(text, value, size);
    strcat(text, " ");
  }
  bigtable_row_free(row);
  return text;
}

void ACompactionFilterKeepsRemovesAndReplacesCells(const char* directory) {
  static struct Filtered filtered;
  EXPECT_OK(bigtable_compaction_filter_register(TEXT("by-value"), ByValue, &filtered, NULL));
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateFiltered(database, "t", "by-value");
  Put(table, "r", "f:1", "keep");
  Put(table, "r", "f:2", "drop");
  Put(table, "r", "f:3", "up");
  Put(table, "r", "f:4", "empty");
  Put(table, "r", "f:5", "odd");
  Put(table, "r", "g:6", "drop");
  EXPECT_OK(bigtable_database_flush(database, TEXT("t"), NULL));
  EXPECT(strcmp(CellsOf(table), "1=keep 2=drop 3=up 4=empty 5=odd 6=drop ") == 0);
  EXPECT(filtered.cells == 0);
  EXPECT_OK(bigtable_database_compact(database, TEXT("t"), NULL));
  EXPECT(strcmp(CellsOf(table), "1=keep 3=UP 4= 5=odd 6=drop ") == 0);
  EXPECT(filtered.cells == 5);
  bigtable_database_free(database);
}

void AFamilyChangesItsCompactionFilter(const char* directory) {
  static struct Filtered filtered;
  EXPECT_OK(bigtable_compaction_filter_register(TEXT("note-cell"), NoteCell, &filtered, NULL));
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateFiltered(database, "t", "");
  Put(table, "r", "f:q", "v");
  EXPECT_OK(bigtable_database_compact(database, TEXT("t"), NULL));
  EXPECT(filtered.cells == 0);
  EXPECT_OK(bigtable_database_set_family_compaction_filter(database, TEXT("t"), TEXT("f"),
                                                           TEXT("note-cell"), NULL));
  EXPECT_OK(bigtable_database_compact(database, TEXT("t"), NULL));
  EXPECT(filtered.cells == 1);
  EXPECT(strcmp(filtered.last, "r/f:q@7") == 0);
  EXPECT_OK(bigtable_database_set_family_compaction_filter(database, TEXT("t"), TEXT("f"), NULL, 0,
                                                           NULL));
  Put(table, "r", "f:p", "v");
  EXPECT_OK(bigtable_database_compact(database, TEXT("t"), NULL));
  EXPECT(filtered.cells == 1);

  const int code = BIGTABLE_INVALID_ARGUMENT;
  EXPECT_ERROR(code, "nothing",
               bigtable_database_set_family_compaction_filter(database, TEXT("t"), TEXT("f"),
                                                              TEXT("nothing"), NULL));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "\"x\"",
               bigtable_database_set_family_compaction_filter(database, TEXT("t"), TEXT("x"),
                                                              TEXT("note-cell"), NULL));
  EXPECT_ERROR(code, "argument name",
               bigtable_database_set_family_compaction_filter(database, TEXT("t"), TEXT("f"), NULL,
                                                              1, NULL));
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "\"x\"",
               bigtable_schema_set_compaction_filter(schema, TEXT("x"), TEXT("note-cell")));
  EXPECT_ERROR(code, "argument schema",
               bigtable_schema_set_compaction_filter(NULL, TEXT("x"), TEXT("note-cell")));
  EXPECT_ERROR(code, "argument name",
               bigtable_schema_set_compaction_filter(schema, TEXT("x"), NULL, 1));
  bigtable_schema_free(schema);
  bigtable_database_free(database);
}

void AFailedRegistrationOfAFilterEndsItsContextOnce(const char* directory) {
  (void)directory;
  const int code = BIGTABLE_INVALID_ARGUMENT;
  static int ended;
  EXPECT_ERROR(code, "\"\"",
               bigtable_compaction_filter_register(NULL, 0, NoteCell, &ended, CountEnded));
  EXPECT(ended == 1);
  EXPECT_ERROR(code, "argument name",
               bigtable_compaction_filter_register(NULL, 1, NoteCell, &ended, CountEnded));
  EXPECT(ended == 2);
  EXPECT_ERROR(code, "argument function",
               bigtable_compaction_filter_register(TEXT("nothing"), NULL, &ended, CountEnded));
  EXPECT(ended == 3);
  EXPECT_OK(
      bigtable_compaction_filter_register(TEXT("taken-filter"), NoteCell, &ended, CountEnded));
  EXPECT(ended == 3);
  EXPECT_ERROR(
      BIGTABLE_ALREADY_EXISTS, "taken-filter",
      bigtable_compaction_filter_register(TEXT("taken-filter"), NoteCell, &ended, CountEnded));
  EXPECT(ended == 4);
  bigtable_string_list* names = NULL;
  EXPECT_OK(bigtable_compaction_filter_list_names(&names));
  bool found = false;
  for (size_t i = 0; i < bigtable_string_list_count(names); ++i) {
    found |= strcmp(bigtable_string_list_get(names, i, NULL), "taken-filter") == 0;
  }
  EXPECT(found);
  bigtable_string_list_free(names);
  EXPECT_ERROR(code, "argument names", bigtable_compaction_filter_list_names(NULL));
}

// --- Threads ---

struct Compactor {
  pthread_t thread;
  bigtable_database* database;
  char table[8];
};

static int CountCell(void* context, const bigtable_compacted_cell* cell, bigtable_string* value) {
  (void)cell, (void)value;
  atomic_fetch_add(&((struct Filtered*)context)->cells, 1);
  return BIGTABLE_COMPACTION_FILTER_REMOVE;
}

static void* CompactTable(void* context) {
  const struct Compactor* const compactor = context;
  EXPECT_OK(bigtable_database_compact(compactor->database, compactor->table,
                                      strlen(compactor->table), NULL));
  return NULL;
}

void ACompactionFilterIsCalledBySeveralThreads(const char* directory) {
  static struct Filtered filtered;
  EXPECT_OK(bigtable_compaction_filter_register(TEXT("count-cell"), CountCell, &filtered, NULL));
  bigtable_options* const options = TestOptions();
  bigtable_options_set_compaction_threads(options, 3);
  bigtable_database* database = NULL;
  EXPECT_OK(bigtable_database_open(directory, strlen(directory), options, &database));
  bigtable_options_free(options);
  enum { kTables = 3, kRows = 500 };
  struct Compactor compactors[kTables];
  bigtable_table* tables[kTables];
  for (int i = 0; i < kTables; ++i) {
    compactors[i].database = database;
    snprintf(compactors[i].table, sizeof(compactors[i].table), "t%d", i);
    tables[i] = CreateFiltered(database, compactors[i].table, "count-cell");
    for (int k = 0; k < kRows; ++k) {
      char row[16];
      snprintf(row, sizeof(row), "%d", k);
      Put(tables[i], row, "f:q", "v");
    }
  }
  for (int i = 0; i < kTables; ++i) {
    EXPECT(pthread_create(&compactors[i].thread, NULL, CompactTable, &compactors[i]) == 0);
  }
  for (int i = 0; i < kTables; ++i) EXPECT(pthread_join(compactors[i].thread, NULL) == 0);
  EXPECT(filtered.cells == kTables * kRows);
  for (int i = 0; i < kTables; ++i) {
    bigtable_rows* rows = NULL;
    EXPECT_OK(bigtable_table_read_rows(tables[i], NULL, NULL, NULL, &rows));
    EXPECT(strcmp(KeysOf(rows), "") == 0);
  }
  bigtable_database_free(database);
}

// --- Compactions that are paused and cancelled ---

static int Dawdle(void* context, const bigtable_compacted_cell* cell, bigtable_string* value) {
  const struct timespec millisecond = {.tv_nsec = 1000000};
  nanosleep(&millisecond, NULL);
  return CountCell(context, cell, value) - BIGTABLE_COMPACTION_FILTER_REMOVE;
}

static void* ExpectCancelled(void* context) {
  const struct Compactor* const compactor = context;
  EXPECT_ERROR(BIGTABLE_CANCELLED, "",
               bigtable_database_compact(compactor->database, compactor->table,
                                         strlen(compactor->table), NULL));
  return NULL;
}

// The number of sorted runs of the table "paused".
static int CountRuns(bigtable_database* database) {
  bigtable_string* text = NULL;
  EXPECT_OK(bigtable_database_get_statistics(database, &text));
  const char* const runs =
      strstr(bigtable_string_data(text, NULL), "bigtable_group_sorted_runs{table=\"paused\"");
  EXPECT(runs != NULL);
  int count = -1;
  EXPECT(sscanf(strchr(runs, '}'), "} %d", &count) == 1);
  bigtable_string_free(text);
  return count;
}

void CompactionsArePausedAndCancelled(const char* directory) {
  static struct Filtered filtered;
  EXPECT_OK(bigtable_compaction_filter_register(TEXT("dawdle"), Dawdle, &filtered, NULL));
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateFiltered(database, "paused", "");
  EXPECT_OK(bigtable_database_pause_compactions(database));
  for (int i = 0; i < 10; ++i) {
    Put(table, "r", "f:q", "v");
    EXPECT_OK(bigtable_database_flush(database, TEXT("paused"), NULL));
  }
  EXPECT_OK(bigtable_database_wait_until_quiet(database, NULL));
  EXPECT(CountRuns(database) == 10);
  EXPECT_OK(bigtable_database_continue_compactions(database));
  EXPECT_OK(bigtable_database_wait_until_quiet(database, NULL));
  EXPECT(CountRuns(database) < 10);

  // Five seconds of work, if it is not cancelled.
  struct Compactor compactor = {.database = database, .table = "slow"};
  bigtable_table* const slow = CreateFiltered(database, "slow", "dawdle");
  for (int i = 0; i < 5000; ++i) {
    char row[16];
    snprintf(row, sizeof(row), "%d", i);
    Put(slow, row, "f:q", "v");
  }
  EXPECT(pthread_create(&compactor.thread, NULL, ExpectCancelled, &compactor) == 0);
  while (filtered.cells == 0) sched_yield();
  EXPECT_OK(bigtable_database_cancel_compactions(database));
  EXPECT(pthread_join(compactor.thread, NULL) == 0);
  EXPECT(filtered.cells < 5000);

  const int code = BIGTABLE_INVALID_ARGUMENT;
  EXPECT_ERROR(code, "argument database", bigtable_database_pause_compactions(NULL));
  EXPECT_ERROR(code, "argument database", bigtable_database_continue_compactions(NULL));
  EXPECT_ERROR(code, "argument database", bigtable_database_cancel_compactions(NULL));
  bigtable_database_free(database);
}
