// Observers: functions that are called before and after each write of a table.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

// --- Helpers ---

static void CountDestroyed(void* context) { ++*(int*)context; }

static bigtable_error* LetPass(void* context, const bigtable_observed_mutation* mutation,
                               bigtable_observer_context* write) {
  (void)context, (void)mutation, (void)write;
  return NULL;
}

// A table with the families "f" and "sum", an aggregate, whose schema names an observer or none.
static bigtable_table* CreateObserved(bigtable_database* database, const char* name,
                                      const char* observer) {
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("f"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("sum"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_set_value_type(schema, TEXT("sum"), BIGTABLE_VALUE_INT64_SUM));
  if (observer != NULL) EXPECT_OK(bigtable_schema_add_observer(schema, observer, strlen(observer)));
  bigtable_table* table = NULL;
  EXPECT_OK(
      bigtable_database_open_or_create_table(database, name, strlen(name), schema, NULL, &table));
  bigtable_schema_free(schema);
  return table;
}

// A mutation that sets "f:" of a row, at timestamp 1.
static bigtable_mutation* SetOf(const char* row, const char* value) {
  bigtable_mutation* const mutation = bigtable_mutation_new(row, strlen(row));
  bigtable_mutation_set_at(mutation, TEXT("f:"), 1, value, strlen(value));
  return mutation;
}

static bigtable_error* Put(bigtable_table* table, const char* row, const char* value) {
  bigtable_mutation* const mutation = SetOf(row, value);
  bigtable_error* const error = bigtable_table_apply(table, mutation, NULL);
  bigtable_mutation_free(mutation);
  return error;
}

static const char* AllKeys(bigtable_table* table) {
  bigtable_rows* rows = NULL;
  EXPECT_OK(bigtable_table_read_rows(table, NULL, NULL, NULL, &rows));
  return KeysOf(rows);
}

// --- What is seen ---

struct Seen {
  char text[1024];
  bigtable_mutation* copy;
};

static void Append(struct Seen* seen, const char* text, size_t size) {
  const size_t length = strlen(seen->text);
  EXPECT(length + size < sizeof(seen->text));
  memcpy(seen->text + length, text, size);
  seen->text[length + size] = '\0';
}

static bigtable_error* WriteDown(void* context, const bigtable_observed_mutation* mutation,
                                 bigtable_observer_context* write) {
  (void)write;
  struct Seen* const seen = context;
  size_t size = 0;
  const char* text = bigtable_table_name(bigtable_observed_mutation_table(mutation), &size);
  Append(seen, text, size);
  Append(seen, "/", 1);
  text = bigtable_observed_mutation_row(mutation, &size);
  Append(seen, text, size);
  const size_t count = bigtable_observed_mutation_count(mutation);
  for (size_t i = 0; i < count; ++i) {
    char numbers[64];
    snprintf(numbers, sizeof(numbers), "\n%d ", bigtable_observed_mutation_kind(mutation, i));
    Append(seen, numbers, strlen(numbers));
    text = bigtable_observed_mutation_family(mutation, i, &size);
    Append(seen, text, size);
    Append(seen, ":", 1);
    text = bigtable_observed_mutation_qualifier(mutation, i, &size);
    Append(seen, text, size);
    snprintf(numbers, sizeof(numbers),
             "@%d..%d=", (int)bigtable_observed_mutation_timestamp(mutation, i),
             (int)bigtable_observed_mutation_end(mutation, i));
    Append(seen, numbers, strlen(numbers));
    text = bigtable_observed_mutation_value(mutation, i, &size);
    if (bigtable_observed_mutation_kind(mutation, i) != BIGTABLE_OPERATION_ADD_TO_CELL) {
      Append(seen, text, size);
    }
  }
  EXPECT(bigtable_observed_mutation_kind(mutation, count) == -1);
  EXPECT(bigtable_observed_mutation_timestamp(mutation, count) == -1);
  EXPECT(bigtable_observed_mutation_end(mutation, count) == -1);
  size = 7;
  EXPECT(bigtable_observed_mutation_family(mutation, count, &size) == NULL && size == 0);
  EXPECT(bigtable_observed_mutation_qualifier(mutation, count, NULL) == NULL);
  EXPECT(bigtable_observed_mutation_value(mutation, count, NULL) == NULL);
  seen->copy = bigtable_observed_mutation_get_copy(mutation);
  return NULL;
}

void AnObserverSeesTheOperationsOfAMutation(const char* directory) {
  static struct Seen seen;
  EXPECT_OK(bigtable_mutation_observer_register(TEXT("write-down"), WriteDown, NULL, &seen, NULL));
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateObserved(database, "t", "write-down");
  bigtable_table* const other = CreateObserved(database, "other", NULL);
  bigtable_mutation* const mutation = bigtable_mutation_new(TEXT("row"));
  bigtable_mutation_set(mutation, TEXT("f:q"), TEXT("now"));
  bigtable_mutation_set_at(mutation, TEXT("f:q"), 5, TEXT("then"));
  bigtable_mutation_add_int64_to_cell(mutation, TEXT("sum:q"), 6, 1);
  bigtable_mutation_merge_to_cell(mutation, TEXT("sum:q"), 7, "12345678", 8);
  bigtable_mutation_delete_column(mutation, TEXT("f:p"));
  bigtable_mutation_delete_cell(mutation, TEXT("f:p"), 8);
  bigtable_mutation_delete_time_range(mutation, TEXT("f:p"), 2, 9);
  EXPECT_OK(bigtable_table_apply(table, mutation, NULL));
  EXPECT(strcmp(seen.text,
                "t/row\n0 f:q@-1..-1=now\n0 f:q@5..-1=then\n1 sum:q@6..-1=\n"
                "2 sum:q@7..-1=12345678\n3 f:p@-1..-1=\n4 f:p@8..-1=\n5 f:p@2..9=") == 0);
  bigtable_mutation_free(mutation);

  // The copy outlives the call, and has the row.
  EXPECT_OK(bigtable_table_apply(other, seen.copy, NULL));
  EXPECT(strcmp(AllKeys(other), "row ") == 0);
  bigtable_mutation_free(seen.copy);

  seen.text[0] = '\0';
  bigtable_mutation* const deletion = bigtable_mutation_new(TEXT("row"));
  bigtable_mutation_delete_family(deletion, TEXT("f"));
  bigtable_mutation_delete_row(deletion);
  EXPECT_OK(bigtable_table_apply(table, deletion, NULL));
  EXPECT(strcmp(seen.text, "t/row\n6 f:@-1..-1=\n7 :@-1..-1=") == 0);
  bigtable_mutation_free(deletion);
  bigtable_mutation_free(seen.copy);
  bigtable_database_free(database);
}

// --- Reads and additions ---

// The first error of several calls; the others are freed.
static bigtable_error* First(bigtable_error* first, bigtable_error* second) {
  if (first == NULL) return second;
  bigtable_error_free(second);
  return first;
}

// Adds a mutation that deletes or sets the row "value/row" of table "by_value".
static bigtable_error* ChangeIndex(bigtable_observer_context* write,
                                   const bigtable_observed_mutation* mutation,
                                   const bigtable_row* row, bool is_new) {
  if (bigtable_row_cell_count(row) == 0) return NULL;
  bigtable_table* index = NULL;
  bigtable_error* error = bigtable_observer_context_open_table(write, TEXT("by_value"), &index);
  if (error != NULL) return error;
  char key[256];
  size_t value_size, row_size;
  const char* const value = bigtable_row_cell_value(row, 0, &value_size);
  const char* const of = bigtable_observed_mutation_row(mutation, &row_size);
  const int size =
      snprintf(key, sizeof(key), "%.*s/%.*s", (int)value_size, value, (int)row_size, of);
  bigtable_mutation* const change = bigtable_mutation_new(key, (size_t)size);
  if (is_new) {
    bigtable_mutation_set_at(change, TEXT("f:"), 1, NULL, 0);
  } else {
    bigtable_mutation_delete_row(change);
  }
  error = bigtable_observer_context_apply(write, index, change);
  bigtable_mutation_free(change);
  return error;
}

static bigtable_error* KeepIndex(void* context, const bigtable_observed_mutation* mutation,
                                 bigtable_observer_context* write) {
  bigtable_row* before = NULL;
  bigtable_row* after = NULL;
  bigtable_filter* const latest = bigtable_filter_latest_new(1);
  bigtable_error* error = First(bigtable_observer_context_read_before(write, latest, &before),
                                bigtable_observer_context_read_after(write, latest, &after));
  bigtable_filter_free(latest);
  if (error == NULL) error = ChangeIndex(write, mutation, before, false);
  if (error == NULL) error = ChangeIndex(write, mutation, after, true);
  bigtable_row_free(before);
  bigtable_row_free(after);
  atomic_fetch_add((atomic_int*)context, 1);
  return error;
}

void AnObserverReadsAndAddsMutations(const char* directory) {
  static atomic_int calls;
  EXPECT_OK(bigtable_mutation_observer_register(TEXT("keep-index"), KeepIndex, NULL, &calls, NULL));
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const users = CreateObserved(database, "users", "keep-index");
  // An error of a function of the context, passed on.
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "by_value", Put(users, "ann", "oslo"));
  EXPECT(strcmp(AllKeys(users), "") == 0);

  bigtable_table* const index = CreateObserved(database, "by_value", NULL);
  EXPECT_OK(Put(users, "ann", "oslo"));
  EXPECT_OK(Put(users, "bob", "rome"));
  EXPECT(strcmp(AllKeys(index), "oslo/ann rome/bob ") == 0);
  EXPECT_OK(Put(users, "ann", "lima"));
  EXPECT(strcmp(AllKeys(index), "lima/ann rome/bob ") == 0);
  bigtable_mutation* const deletion = bigtable_mutation_new(TEXT("bob"));
  bigtable_mutation_delete_row(deletion);
  EXPECT_OK(bigtable_table_apply(users, deletion, NULL));
  bigtable_mutation_free(deletion);
  EXPECT(strcmp(AllKeys(index), "lima/ann ") == 0);
  EXPECT(calls == 5);
  bigtable_database_free(database);
}

// Refuses rows other than those that the table has already, which it counts.
static bigtable_error* RefuseNewRows(void* context, const bigtable_observed_mutation* mutation,
                                     bigtable_observer_context* write) {
  bigtable_table* const table = bigtable_observed_mutation_table(mutation);
  size_t size = 0;
  const char* const key = bigtable_observed_mutation_row(mutation, &size);
  bigtable_row* row = NULL;
  bigtable_error* error = bigtable_observer_context_read_row(write, table, key, size, NULL, &row);
  if (error != NULL) return error;
  const bool is_known = bigtable_row_cell_count(row) > 0;
  bigtable_row_free(row);
  bigtable_rows* rows = NULL;
  error = bigtable_observer_context_read_rows(write, table, NULL, NULL, &rows);
  if (error != NULL) return error;
  strcpy(context, KeysOf(rows));
  return is_known ? NULL : bigtable_error_new(-7, TEXT("no new rows"));
}

void AnObserverReadsOtherRows(const char* directory) {
  static char keys[1024];
  EXPECT_OK(
      bigtable_mutation_observer_register(TEXT("refuse-new"), RefuseNewRows, NULL, keys, NULL));
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateObserved(database, "t", NULL);
  EXPECT_OK(Put(table, "a", "1"));
  EXPECT_OK(Put(table, "b", "1"));
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_observer(schema, TEXT("refuse-new")));
  EXPECT_OK(bigtable_database_set_observers(database, TEXT("t"), schema, NULL));
  bigtable_schema_free(schema);
  EXPECT_OK(Put(table, "b", "2"));
  EXPECT(strcmp(keys, "a b ") == 0);
  EXPECT_ERROR(-7, "no new rows", Put(table, "c", "2"));
  bigtable_database_free(database);
}

// --- Refusals ---

struct Refusal {
  int code;
  int after;  // the calls of After
};

// Refuses rows that begin with "bad", after adding a row to table "log".
static bigtable_error* RefuseBad(void* context, const bigtable_observed_mutation* mutation,
                                 bigtable_observer_context* write) {
  const struct Refusal* const refusal = context;
  bigtable_table* log = NULL;
  EXPECT_OK(bigtable_observer_context_open_table(write, TEXT("log"), &log));
  size_t size = 0;
  const char* const row = bigtable_observed_mutation_row(mutation, &size);
  bigtable_mutation* const entry = bigtable_mutation_new(row, size);
  bigtable_mutation_set(entry, TEXT("f:"), TEXT("seen"));
  EXPECT_OK(bigtable_observer_context_apply(write, log, entry));
  bigtable_mutation_free(entry);
  if (size < 3 || memcmp(row, "bad", 3) != 0) return NULL;
  return bigtable_error_new(refusal->code, TEXT("it is bad"));
}

static void CountAfter(void* context, const bigtable_observed_mutation* mutation,
                       uint64_t sequence) {
  (void)mutation, (void)sequence;
  ++((struct Refusal*)context)->after;
}

static int SetBad(void* context, const bigtable_row* row, bigtable_mutation* mutation) {
  (void)context, (void)row;
  bigtable_mutation_set(mutation, TEXT("f:"), TEXT("v"));
  return 0;
}

static bigtable_error* PutBad(void* table, bigtable_transaction* transaction) {
  bigtable_mutation* const good = SetOf("good", "v");
  bigtable_mutation* const bad = SetOf("bad", "v");
  EXPECT_OK(bigtable_transaction_apply(transaction, table, good));
  bigtable_error* const error = bigtable_transaction_apply(transaction, table, bad);
  bigtable_mutation_free(good);
  bigtable_mutation_free(bad);
  return error;
}

void ARefusedWriteChangesNothing(const char* directory) {
  static struct Refusal refusal;
  const int code = refusal.code = BIGTABLE_ABORTED;  // as a conflict, which is tried again
  EXPECT_OK(bigtable_mutation_observer_register(TEXT("refuse-bad"), RefuseBad, CountAfter, &refusal,
                                                NULL));
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateObserved(database, "t", "refuse-bad");
  bigtable_table* const log = CreateObserved(database, "log", NULL);
  EXPECT_ERROR(code, "it is bad", Put(table, "bad", "v"));
  bigtable_mutation* const good = SetOf("good", "v");
  bigtable_mutation* const bad = SetOf("bad", "v");
  bigtable_write_batch* const batch = bigtable_write_batch_new();
  bigtable_write_batch_apply(batch, table, good);
  bigtable_write_batch_apply(batch, table, bad);
  EXPECT_ERROR(code, "it is bad", bigtable_database_apply(database, batch, NULL));
  bigtable_write_batch_free(batch);
  EXPECT_ERROR(code, "it is bad", bigtable_database_run_transaction(database, PutBad, table, NULL));
  EXPECT_ERROR(
      code, "it is bad",
      bigtable_table_check_and_mutate_row(table, TEXT("bad"), NULL, NULL, bad, NULL, NULL));
  EXPECT_ERROR(code, "it is bad",
               bigtable_table_mutate_row_atomically(table, TEXT("bad"), NULL, SetBad, NULL, NULL));
  bigtable_read_modify_write* const rules = bigtable_read_modify_write_new(TEXT("bad"));
  bigtable_read_modify_write_append(rules, TEXT("f:"), TEXT("x"));
  EXPECT_ERROR(code, "it is bad", bigtable_table_read_modify_write_row(table, rules, NULL, NULL));
  bigtable_read_modify_write_free(rules);
  EXPECT(strcmp(AllKeys(table), "") == 0);
  EXPECT(strcmp(AllKeys(log), "") == 0);
  EXPECT(refusal.after == 0);

  // The mutations of a table's batch are applied one by one.
  bigtable_mutation* const both[] = {bad, good};
  bigtable_error* errors[2];
  EXPECT_ERROR(code, "it is bad", bigtable_table_apply_batch(table, both, 2, NULL, errors));
  EXPECT_ERROR(code, "it is bad", errors[0]);
  EXPECT_OK(errors[1]);
  EXPECT(strcmp(AllKeys(table), "good ") == 0);
  EXPECT(strcmp(AllKeys(log), "good ") == 0);
  EXPECT(refusal.after == 1);

  // A code of the program's own, and one that is no error.
  refusal.code = -7;
  EXPECT_ERROR(-7, "it is bad", Put(table, "bad", "v"));
  EXPECT_ERROR(-7, "it is bad", bigtable_database_run_transaction(database, PutBad, table, NULL));
  refusal.code = 1000;
  EXPECT_ERROR(1000, "it is bad", Put(table, "bad", "v"));
  refusal.code = BIGTABLE_OK;
  EXPECT_ERROR(BIGTABLE_UNKNOWN, "it is bad", Put(table, "bad", "v"));
  EXPECT(strcmp(AllKeys(table), "good ") == 0);
  bigtable_mutation_free(good);
  bigtable_mutation_free(bad);
  bigtable_database_free(database);
}

// Reads the table "log", whose quota may refuse that.
static bigtable_error* ReadLog(void* context, const bigtable_observed_mutation* mutation,
                               bigtable_observer_context* write) {
  (void)mutation, (void)write;
  bigtable_row* row = NULL;
  bigtable_error* const error =
      bigtable_table_read_row(*(bigtable_table**)context, TEXT("r"), NULL, NULL, &row);
  bigtable_row_free(row);
  return error;
}

void ARefusalKeepsTheTimeToRetry(const char* directory) {
  static bigtable_table* log;
  EXPECT_OK(bigtable_mutation_observer_register(TEXT("read-log"), ReadLog, NULL, &log, NULL));
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateObserved(database, "t", "read-log");
  log = CreateObserved(database, "log", NULL);
  bigtable_quota* const quota = bigtable_quota_new();
  bigtable_quota_set_requests_per_second(quota, 1);
  EXPECT_OK(bigtable_database_set_table_quota(database, TEXT("log"), quota, NULL));
  bigtable_quota_free(quota);
  bigtable_error* error = NULL;
  for (int i = 0; i < 100 && error == NULL; ++i) error = Put(table, "r", "v");
  EXPECT(bigtable_error_retry_after(error) > 0);
  EXPECT_ERROR(BIGTABLE_RESOURCE_EXHAUSTED, "log", error);
  bigtable_database_free(database);
}

// --- After, and threads ---

enum { kThreads = 4, kWritesOfAThread = 50 };

struct Tally {
  bigtable_database* database;
  bigtable_table* table;   // observed
  bigtable_table* totals;  // not observed
  // By After, one call at a time.
  int after;
  uint64_t last;
  bool is_refused;
};

// Adds one to the cell "f:" of row "all" of the totals, which it reads: so writers are in conflict.
static bigtable_error* AddOne(void* context, const bigtable_observed_mutation* mutation,
                              bigtable_observer_context* write) {
  (void)mutation;
  const struct Tally* const tally = context;
  bigtable_row* row = NULL;
  bigtable_error* error =
      bigtable_observer_context_read_row(write, tally->totals, TEXT("all"), NULL, &row);
  if (error != NULL) return error;
  int total = 0;
  size_t size = 0;
  const char* const value = bigtable_row_cell_value(row, 0, &size);
  for (size_t i = 0; i < size; ++i) total = 10 * total + (value[i] - '0');
  bigtable_row_free(row);
  char text[16];
  snprintf(text, sizeof(text), "%d", total + 1);
  bigtable_mutation* const sum = SetOf("all", text);
  error = bigtable_observer_context_apply(write, tally->totals, sum);
  bigtable_mutation_free(sum);
  return error;
}

static void CheckCommit(void* context, const bigtable_observed_mutation* mutation,
                        uint64_t sequence) {
  struct Tally* const tally = context;
  EXPECT(sequence > tally->last);
  tally->last = sequence;
  ++tally->after;
  bigtable_snapshot* snapshot = NULL;
  EXPECT_OK(bigtable_database_take_snapshot(tally->database, &snapshot));
  EXPECT(bigtable_snapshot_sequence(snapshot) >= sequence);
  bigtable_snapshot_free(snapshot);
  size_t size = 0;
  const char* const key = bigtable_observed_mutation_row(mutation, &size);
  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_table_read_row(tally->table, key, size, NULL, NULL, &row));
  EXPECT(bigtable_row_cell_count(row) == 1);
  bigtable_row_free(row);
  // It would wait for itself.
  bigtable_error* const error = Put(tally->table, "from after", "v");
  tally->is_refused = bigtable_error_code(error) == BIGTABLE_FAILED_PRECONDITION;
  bigtable_error_free(error);
}

struct Writer {
  pthread_t thread;
  struct Tally* tally;
  int number;
};

static void* WriteRows(void* context) {
  const struct Writer* const writer = context;
  for (int i = 0; i < kWritesOfAThread; ++i) {
    char row[32];
    snprintf(row, sizeof(row), "%d-%d", writer->number, i);
    EXPECT_OK(Put(writer->tally->table, row, "v"));
  }
  return NULL;
}

void ThreadsAreObservedOneCommitAfterAnother(const char* directory) {
  static struct Tally tally;
  EXPECT_OK(bigtable_mutation_observer_register(TEXT("tally"), AddOne, CheckCommit, &tally, NULL));
  bigtable_database* const database = OpenDatabase(directory);
  tally.database = database;
  tally.table = CreateObserved(database, "t", "tally");
  tally.totals = CreateObserved(database, "totals", NULL);
  struct Writer writers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    writers[i].tally = &tally;
    writers[i].number = i;
    EXPECT(pthread_create(&writers[i].thread, NULL, WriteRows, &writers[i]) == 0);
  }
  for (int i = 0; i < kThreads; ++i) EXPECT(pthread_join(writers[i].thread, NULL) == 0);
  EXPECT(tally.after == kThreads * kWritesOfAThread);
  EXPECT(tally.is_refused);
  bigtable_string* total = NULL;
  EXPECT_OK(bigtable_table_get(tally.totals, TEXT("all"), TEXT("f:"), NULL, &total));
  EXPECT(strcmp(bigtable_string_data(total, NULL), "200") == 0);
  bigtable_string_free(total);
  bigtable_database_free(database);
}

// --- Registration ---

static void Ignore(void* context, const bigtable_observed_mutation* mutation, uint64_t sequence) {
  (void)mutation, (void)sequence;
  if (context != NULL) ++*(int*)context;
}

void AFailedRegistrationOfAnObserverEndsItsContextOnce(const char* directory) {
  const int code = BIGTABLE_INVALID_ARGUMENT;
  static int ended;
  EXPECT_ERROR(
      code, "\"no name\"",
      bigtable_mutation_observer_register(TEXT("no name"), LetPass, NULL, &ended, CountDestroyed));
  EXPECT(ended == 1);
  EXPECT_ERROR(code, "argument name",
               bigtable_mutation_observer_register(NULL, 3, LetPass, NULL, &ended, CountDestroyed));
  EXPECT(ended == 2);
  EXPECT_ERROR(
      code, "argument before",
      bigtable_mutation_observer_register(TEXT("nothing"), NULL, NULL, &ended, CountDestroyed));
  EXPECT(ended == 3);
  EXPECT_OK(
      bigtable_mutation_observer_register(TEXT("taken"), LetPass, NULL, &ended, CountDestroyed));
  EXPECT(ended == 3);
  EXPECT_ERROR(
      BIGTABLE_ALREADY_EXISTS, "\"taken\"",
      bigtable_mutation_observer_register(TEXT("taken"), LetPass, Ignore, &ended, CountDestroyed));
  EXPECT(ended == 4);
  EXPECT_ERROR(BIGTABLE_ALREADY_EXISTS, "\"taken\"",
               bigtable_mutation_observer_register(TEXT("taken"), LetPass, NULL, NULL, NULL));

  static int committed;
  EXPECT_OK(bigtable_mutation_observer_register(TEXT("after-alone"), NULL, Ignore, &committed,
                                                CountDestroyed));
  bigtable_database* const database = OpenDatabase(directory);
  EXPECT_OK(Put(CreateObserved(database, "a", "taken"), "r", "v"));
  EXPECT_OK(Put(CreateObserved(database, "b", "after-alone"), "r", "v"));
  EXPECT(ended == 4 && committed == 1);
  bigtable_database_free(database);
  EXPECT(ended == 4 && committed == 1);

  bigtable_string_list* names = NULL;
  EXPECT_OK(bigtable_mutation_observer_list_names(&names));
  int found = 0;
  for (size_t i = 0; i < bigtable_string_list_count(names); ++i) {
    const char* const name = bigtable_string_list_get(names, i, NULL);
    found += strcmp(name, "taken") == 0 || strcmp(name, "after-alone") == 0;
    EXPECT(strcmp(name, "no name") != 0 && strcmp(name, "nothing") != 0);
  }
  EXPECT(found == 2);
  bigtable_string_list_free(names);
  EXPECT_ERROR(code, "argument names", bigtable_mutation_observer_list_names(NULL));
}

static bigtable_error* Count(void* context, const bigtable_observed_mutation* mutation,
                             bigtable_observer_context* write) {
  (void)mutation, (void)write;
  ++*(int*)context;
  return NULL;
}

void ObserversOfATableAreReplaced(const char* directory) {
  static int first, second;
  EXPECT_OK(bigtable_mutation_observer_register(TEXT("first"), Count, NULL, &first, NULL));
  EXPECT_OK(bigtable_mutation_observer_register(TEXT("second"), Count, NULL, &second, NULL));
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateObserved(database, "t", "first");
  EXPECT_OK(Put(table, "r", "1"));
  EXPECT(first == 1 && second == 0);

  bigtable_schema* schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_observer(schema, TEXT("second")));
  EXPECT_OK(bigtable_schema_add_observer(schema, TEXT("first")));
  EXPECT_OK(bigtable_database_set_observers(database, TEXT("t"), schema, NULL));
  bigtable_schema_free(schema);
  EXPECT_OK(Put(table, "r", "2"));
  EXPECT(first == 2 && second == 1);
  EXPECT_OK(bigtable_database_get_schema(database, TEXT("t"), &schema));
  bigtable_string_list* names = NULL;
  EXPECT_OK(bigtable_schema_list_observers(schema, &names));
  EXPECT(bigtable_string_list_count(names) == 2);
  EXPECT(strcmp(bigtable_string_list_get(names, 0, NULL), "second") == 0);
  EXPECT(strcmp(bigtable_string_list_get(names, 1, NULL), "first") == 0);
  bigtable_string_list_free(names);

  const int code = BIGTABLE_INVALID_ARGUMENT;
  EXPECT_OK(bigtable_schema_add_observer(schema, TEXT("nobody")));
  EXPECT_ERROR(code, "nobody", bigtable_database_set_observers(database, TEXT("t"), schema, NULL));
  EXPECT_ERROR(code, "nobody", bigtable_database_create_table(database, TEXT("u"), schema, NULL));
  bigtable_schema_free(schema);
  schema = bigtable_schema_new();
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "nowhere",
               bigtable_database_set_observers(database, TEXT("nowhere"), schema, NULL));
  EXPECT_OK(bigtable_database_set_observers(database, TEXT("t"), schema, NULL));
  EXPECT_OK(Put(table, "r", "3"));
  EXPECT(first == 2 && second == 1);

  EXPECT_ERROR(code, "argument schema",
               bigtable_database_set_observers(database, TEXT("t"), NULL, NULL));
  EXPECT_ERROR(code, "argument table",
               bigtable_database_set_observers(database, NULL, 1, schema, NULL));
  EXPECT_ERROR(code, "argument name", bigtable_schema_add_observer(schema, NULL, 1));
  EXPECT_ERROR(code, "argument names", bigtable_schema_list_observers(schema, NULL));
  bigtable_schema_free(schema);
  bigtable_database_free(database);
}

static bigtable_error* PassNullPointers(void* context, const bigtable_observed_mutation* mutation,
                                        bigtable_observer_context* write) {
  const int code = BIGTABLE_INVALID_ARGUMENT;
  bigtable_table* const table = bigtable_observed_mutation_table(mutation);
  bigtable_table* opened = table;
  bigtable_row* row = (bigtable_row*)context;
  bigtable_rows* rows = NULL;
  EXPECT_ERROR(code, "argument result", bigtable_observer_context_read_before(write, NULL, NULL));
  EXPECT_ERROR(code, "argument write", bigtable_observer_context_read_before(NULL, NULL, &row));
  EXPECT(row == NULL);
  EXPECT_ERROR(code, "argument write", bigtable_observer_context_read_after(NULL, NULL, &row));
  EXPECT_ERROR(code, "argument result", bigtable_observer_context_read_after(write, NULL, NULL));
  EXPECT_ERROR(code, "argument table",
               bigtable_observer_context_read_row(write, NULL, TEXT("r"), NULL, &row));
  EXPECT_ERROR(code, "argument row",
               bigtable_observer_context_read_row(write, table, NULL, 1, NULL, &row));
  EXPECT_ERROR(code, "argument rows",
               bigtable_observer_context_read_rows(write, table, NULL, NULL, NULL));
  EXPECT_ERROR(code, "argument table",
               bigtable_observer_context_read_rows(write, NULL, NULL, NULL, &rows));
  EXPECT_ERROR(code, "argument name",
               bigtable_observer_context_open_table(write, NULL, 1, &opened));
  EXPECT(opened == NULL);
  EXPECT_ERROR(code, "argument table", bigtable_observer_context_open_table(write, NULL, 1, NULL));
  EXPECT_ERROR(code, "argument mutation", bigtable_observer_context_apply(write, table, NULL));
  bigtable_mutation* const change = SetOf("s", "v");
  EXPECT_ERROR(code, "argument table", bigtable_observer_context_apply(write, NULL, change));
  bigtable_mutation_set(change, NULL, 1, TEXT("v"));
  EXPECT_ERROR(code, "argument column", bigtable_observer_context_apply(write, table, change));
  bigtable_mutation_free(change);
  return NULL;
}

void AnObserverMayPassNullPointers(const char* directory) {
  static int something;
  EXPECT_OK(bigtable_mutation_observer_register(TEXT("null-pointers"), PassNullPointers, NULL,
                                                &something, NULL));
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateObserved(database, "t", "null-pointers");
  EXPECT_OK(Put(table, "r", "v"));
  EXPECT(strcmp(AllKeys(table), "r ") == 0);
  bigtable_database_free(database);
}
