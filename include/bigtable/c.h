// The C interface (C99), for programs in C and for other languages that can call C functions. It
// offers the core of the C++ interface, with the same meaning: the headers named in the sections
// below state what each option does and costs, and which errors a call returns.
//
// Handles. All types are opaque, but for the records of packed cells and packed operations. What a
// function with `new`, `open`, `take`, `begin`, `read`, `resume`, `sample`, `get` or `list` in its
// name passes to the caller belongs to the caller, until the caller passes it to the `free`
// function of its type. The exceptions are views, tables and what a function of the program is
// called with, and say so. A `free` function accepts NULL. A function copies what it is passed,
// unless it says otherwise, so its arguments can be freed after the call.
//
// Errors. A function that can fail returns a bigtable_error, which belongs to the caller, or NULL
// for success. After an error, every output is NULL, and nothing has changed unless the C++
// function states otherwise. The library throws no exceptions. Lack of memory is not reported:
// std::bad_alloc ends the process, if nothing in the program catches it.
//
// Null pointers. A function that returns a bigtable_error returns InvalidArgument if an argument is
// NULL that must not be. Options, filters and sets of rows may be NULL: each means the default. For
// other functions, only what is stated to be optional may be NULL.
//
// Text is a pointer and a size in bytes. It may contain any bytes, and need not end with a zero
// byte. The pointer may be NULL if the size is 0. A function that returns text returns the pointer
// and stores the size; the pointer for the size may be NULL. The text is a view: it is valid as
// long as the object that it came from exists and is not changed. A zero byte follows only where
// this is stated. Time is in microseconds.
//
// Threads. There is no global state but what a program registers (at the end). A database, a table,
// a snapshot, a filter, a memory budget and a cancellation can be used by several threads at a
// time, except to free them. Any other object can be read by several threads at a time, or changed
// by one. A stream of rows and a transaction can be used by one thread at a time. In a child of
// fork(), calls return FailedPrecondition (database.h).
//
// Stability. A function, type or constant of a release keeps its name, its parameters, its value
// and its meaning in all later releases. New functions and new constants may be added, so programs
// must expect unknown error codes. The texts of messages and statistics may change. So a program
// that was compiled with this header, or that loads the library at run time, works with that
// release and with every later one. Before 1.0 the file name of the shared library changes with
// each minor version, because of the C++ interface; a program that is linked with it must be linked
// again.
#ifndef BIGTABLE_C_H_
#define BIGTABLE_C_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)  // the shared library exports these functions
#endif
// NOLINTBEGIN(readability-identifier-naming): the names are those of C.

typedef struct bigtable_access_list bigtable_access_list;
typedef struct bigtable_call_options bigtable_call_options;
typedef struct bigtable_cancellation bigtable_cancellation;
typedef struct bigtable_change bigtable_change;
typedef struct bigtable_change_options bigtable_change_options;
typedef struct bigtable_changes bigtable_changes;
typedef struct bigtable_compacted_cell bigtable_compacted_cell;
typedef struct bigtable_database bigtable_database;
typedef struct bigtable_error bigtable_error;
typedef struct bigtable_family_changes bigtable_family_changes;
typedef struct bigtable_filter bigtable_filter;
typedef struct bigtable_follower bigtable_follower;
typedef struct bigtable_follower_options bigtable_follower_options;
typedef struct bigtable_gc_rule bigtable_gc_rule;
typedef struct bigtable_locality_group bigtable_locality_group;
typedef struct bigtable_memory_budget bigtable_memory_budget;
typedef struct bigtable_mutation bigtable_mutation;
typedef struct bigtable_observed_mutation bigtable_observed_mutation;
typedef struct bigtable_observer_context bigtable_observer_context;
typedef struct bigtable_options bigtable_options;
typedef struct bigtable_quota bigtable_quota;
typedef struct bigtable_read_modify_write bigtable_read_modify_write;
typedef struct bigtable_read_options bigtable_read_options;
typedef struct bigtable_row bigtable_row;
typedef struct bigtable_row_key_samples bigtable_row_key_samples;
typedef struct bigtable_row_set bigtable_row_set;
typedef struct bigtable_rows bigtable_rows;
typedef struct bigtable_schema bigtable_schema;
typedef struct bigtable_snapshot bigtable_snapshot;
typedef struct bigtable_storage bigtable_storage;
typedef struct bigtable_string bigtable_string;
typedef struct bigtable_sstable_sorter bigtable_sstable_sorter;
typedef struct bigtable_string_list bigtable_string_list;
typedef struct bigtable_table bigtable_table;
typedef struct bigtable_tablets bigtable_tablets;
typedef struct bigtable_backup_engine bigtable_backup_engine;
typedef struct bigtable_backup_options bigtable_backup_options;
typedef struct bigtable_backups bigtable_backups;
typedef struct bigtable_repair_report bigtable_repair_report;
typedef struct bigtable_transaction bigtable_transaction;
typedef struct bigtable_write_batch bigtable_write_batch;
typedef struct bigtable_write_options bigtable_write_options;

// The version of the library that is running, such as "0.1.0". Ends with a zero byte; never freed.
const char* bigtable_version(void);

// --- Errors ---

// The canonical codes, with the numbers of absl::StatusCode and gRPC.
enum {
  BIGTABLE_OK = 0,
  BIGTABLE_CANCELLED = 1,
  BIGTABLE_UNKNOWN = 2,
  BIGTABLE_INVALID_ARGUMENT = 3,
  BIGTABLE_DEADLINE_EXCEEDED = 4,
  BIGTABLE_NOT_FOUND = 5,
  BIGTABLE_ALREADY_EXISTS = 6,
  BIGTABLE_PERMISSION_DENIED = 7,
  BIGTABLE_RESOURCE_EXHAUSTED = 8,
  BIGTABLE_FAILED_PRECONDITION = 9,
  BIGTABLE_ABORTED = 10,
  BIGTABLE_OUT_OF_RANGE = 11,
  BIGTABLE_UNIMPLEMENTED = 12,
  BIGTABLE_INTERNAL = 13,
  BIGTABLE_UNAVAILABLE = 14,
  BIGTABLE_DATA_LOSS = 15,
  BIGTABLE_UNAUTHENTICATED = 16
};

// BIGTABLE_OK for NULL.
int bigtable_error_code(const bigtable_error* error);
// Empty for NULL. Ends with a zero byte.
const char* bigtable_error_message(const bigtable_error* error, size_t* size);
// Of a call that a quota of a rate has refused: after how many microseconds it may succeed, if no
// other call comes first (RetryAfter in quota.h). -1 for every other error, and for NULL.
int64_t bigtable_error_retry_after(const bigtable_error* error);
void bigtable_error_free(bigtable_error* error);
// For functions of the program that return an error to the library. The library has no negative
// codes of its own; a code of BIGTABLE_OK becomes BIGTABLE_UNKNOWN.
bigtable_error* bigtable_error_new(int code, const char* message, size_t message_size);

// --- Text that belongs to the caller ---

// Ends with a zero byte.
const char* bigtable_string_data(const bigtable_string* string, size_t* size);
// For functions of the program that return text to the library: replaces the text by a copy of
// `data`, which may be a part of the old text.
bigtable_error* bigtable_string_assign(bigtable_string* string, const char* data, size_t size);
void bigtable_string_free(bigtable_string* string);

size_t bigtable_string_list_count(const bigtable_string_list* list);
// NULL if there are not so many. Ends with a zero byte.
const char* bigtable_string_list_get(const bigtable_string_list* list, size_t index, size_t* size);
void bigtable_string_list_free(bigtable_string_list* list);

// --- Options of a database (options.h) ---
//
// Setters check nothing. bigtable_database_open checks all options, and names the one that is out
// of range.

// Which failures an acknowledged write survives.
enum {
  BIGTABLE_DURABILITY_NONE = 0,      // none: it is not logged
  BIGTABLE_DURABILITY_BUFFERED = 1,  // a crash of the process: the default
  BIGTABLE_DURABILITY_SYNC = 2       // a crash of the machine
};

bigtable_options* bigtable_options_new(void);
void bigtable_options_free(bigtable_options* options);
void bigtable_options_set_create_if_missing(bigtable_options* options, bool value);    // true
void bigtable_options_set_error_if_exists(bigtable_options* options, bool value);      // false
void bigtable_options_set_allow_foreign_files(bigtable_options* options, bool value);  // false
void bigtable_options_set_read_only(bigtable_options* options, bool value);            // false
// Opens a database that another process may be writing, and goes on after so many microseconds each
// time; negative: only by bigtable_database_refresh.
void bigtable_options_set_follow(bigtable_options* options, int64_t interval_micros);
void bigtable_options_set_durability(bigtable_options* options, int durability);
void bigtable_options_set_memory_budget(bigtable_options* options, uint64_t bytes);
// Databases with the same budget share its memory, and keep it after it was freed. NULL: the
// database has a budget of its own.
void bigtable_options_set_shared_memory_budget(bigtable_options* options,
                                               bigtable_memory_budget* budget);
void bigtable_options_set_memtable_size(bigtable_options* options, uint64_t bytes);
void bigtable_options_set_log_segment_size(bigtable_options* options, uint64_t bytes);
void bigtable_options_set_tablet_servers(bigtable_options* options, int count);
void bigtable_options_set_target_file_size(bigtable_options* options, uint64_t bytes);
void bigtable_options_set_compaction_threads(bigtable_options* options, int count);
void bigtable_options_set_compaction_rate(bigtable_options* options, uint64_t bytes_per_second);
void bigtable_options_set_scan_cache(bigtable_options* options, bool value);  // false
// True: ReadMode::kPositional. False, the default: ReadMode::kMapped.
void bigtable_options_set_positional_reads(bigtable_options* options, bool value);
void bigtable_options_set_max_open_files(bigtable_options* options, int count);
// INT64_MAX: tablets are not moved.
void bigtable_options_set_balance_interval(bigtable_options* options, int64_t micros);
void bigtable_options_set_metadata_tablet_size(bigtable_options* options, uint64_t bytes);

enum { BIGTABLE_LOG_INFO = 0, BIGTABLE_LOG_WARNING = 1, BIGTABLE_LOG_ERROR = 2 };

// Takes a message of the info log: one line, which does not end with a zero byte and is valid
// during the call. Called by any thread, also by several at a time. It must not call the database.
typedef void (*bigtable_log_function)(void* context, int severity, int64_t time,
                                      const char* message, size_t message_size);
// Frees the `context` of other functions.
typedef void (*bigtable_destroy_function)(void* context);
// Passes the messages of the info log to a function, with `context`, instead of the file LOG: those
// of all databases that are opened with the options. NULL: the file again. `destroy`, which may be
// NULL, is called once with `context`, by any thread, when no message can come any more: the
// options were freed or have another function, and the databases were freed, with all that came
// from them.
void bigtable_options_set_log_function(bigtable_options* options, bigtable_log_function function,
                                       void* context, bigtable_destroy_function destroy);

bigtable_memory_budget* bigtable_memory_budget_new(uint64_t bytes);
void bigtable_memory_budget_free(bigtable_memory_budget* budget);

// --- Options of calls (call_options.h, options.h) ---
//
// A call with a timeout returns DeadlineExceeded if it has not ended after so many microseconds,
// counted from its beginning. The timeout of a stream counts from bigtable_table_read_rows. By
// default there is none. Cancellation is by another thread. A cancellation is not copied: it must
// outlive the calls and streams that were given it.

bigtable_cancellation* bigtable_cancellation_new(void);
// Calls that were given the cancellation return Cancelled soon, and so do all later ones.
void bigtable_cancellation_cancel(bigtable_cancellation* cancellation);
void bigtable_cancellation_free(bigtable_cancellation* cancellation);

// Of calls that neither read nor write cells.
bigtable_call_options* bigtable_call_options_new(void);
void bigtable_call_options_free(bigtable_call_options* options);
void bigtable_call_options_set_timeout(bigtable_call_options* options, int64_t micros);
void bigtable_call_options_set_cancellation(bigtable_call_options* options,
                                            const bigtable_cancellation* cancellation);

bigtable_write_options* bigtable_write_options_new(void);
void bigtable_write_options_free(bigtable_write_options* options);
// Without it: the durability of the database's options.
void bigtable_write_options_set_durability(bigtable_write_options* options, int durability);
void bigtable_write_options_set_timeout(bigtable_write_options* options, int64_t micros);
void bigtable_write_options_set_cancellation(bigtable_write_options* options,
                                             const bigtable_cancellation* cancellation);

bigtable_read_options* bigtable_read_options_new(void);
void bigtable_read_options_free(bigtable_read_options* options);
// The options hold the snapshot until they are freed. NULL: the data as it is when the call begins.
void bigtable_read_options_set_snapshot(bigtable_read_options* options,
                                        const bigtable_snapshot* snapshot);
void bigtable_read_options_set_verify_checksums(bigtable_read_options* options, bool value);
void bigtable_read_options_set_fill_cache(bigtable_read_options* options, bool value);  // true
// Of streams: from the last row to the first; at most so many rows that have cells (0: all); and at
// most so many cells in all rows together (0: all), where the last row may lack some of its cells.
void bigtable_read_options_set_reverse(bigtable_read_options* options, bool value);
void bigtable_read_options_set_row_limit(bigtable_read_options* options, int64_t rows);
void bigtable_read_options_set_cell_limit(bigtable_read_options* options, int64_t cells);
void bigtable_read_options_set_timeout(bigtable_read_options* options, int64_t micros);
void bigtable_read_options_set_cancellation(bigtable_read_options* options,
                                            const bigtable_cancellation* cancellation);

// --- Schemas (schema.h) ---
//
// Setters of a locality group check nothing. The call that creates the table checks the schema, and
// names what is out of range.

enum {
  BIGTABLE_COMPRESSION_NONE = 0,  // the default
  BIGTABLE_COMPRESSION_ZSTD = 1,
  BIGTABLE_COMPRESSION_ZSTD_LONG_WINDOW = 2
};

// How reads skip files that do not contain a row.
enum {
  BIGTABLE_FILTER_KIND_NONE = 0,
  BIGTABLE_FILTER_KIND_ROW = 1,  // the default
  BIGTABLE_FILTER_KIND_ROW_AND_COLUMN = 2,
  BIGTABLE_FILTER_KIND_ROW_INDEX = 3
};

enum {
  BIGTABLE_COMPACTION_SIZE_TIERED = 0,  // the default
  BIGTABLE_COMPACTION_LEVELED = 1,
  BIGTABLE_COMPACTION_FIFO = 2,
  BIGTABLE_COMPACTION_NONE = 3
};

// What the cells of a family hold: bytes, or aggregates that are written by
// bigtable_mutation_add_to_cell. Others: bigtable_schema_set_value_operator.
enum {
  BIGTABLE_VALUE_BYTES = 0,  // the default
  BIGTABLE_VALUE_INT64_SUM = 1,
  BIGTABLE_VALUE_INT64_MIN = 2,
  BIGTABLE_VALUE_INT64_MAX = 3,
  BIGTABLE_VALUE_HYPER_LOG_LOG = 4,
  BIGTABLE_VALUE_DOUBLE_SUM = 5,
  BIGTABLE_VALUE_DOUBLE_MIN = 6,
  BIGTABLE_VALUE_DOUBLE_MAX = 7
};

bigtable_gc_rule* bigtable_gc_rule_max_versions_new(int64_t versions);
bigtable_gc_rule* bigtable_gc_rule_max_age_new(int64_t micros);
// Drops what either rule drops.
bigtable_gc_rule* bigtable_gc_rule_union_new(const bigtable_gc_rule* a, const bigtable_gc_rule* b);
// Drops what both rules drop. Not for families of aggregates.
bigtable_gc_rule* bigtable_gc_rule_intersection_new(const bigtable_gc_rule* a,
                                                    const bigtable_gc_rule* b);
void bigtable_gc_rule_free(bigtable_gc_rule* rule);

bigtable_locality_group* bigtable_locality_group_new(void);
void bigtable_locality_group_free(bigtable_locality_group* group);
void bigtable_locality_group_set_compression(bigtable_locality_group* group, int compression);
void bigtable_locality_group_set_compression_level(bigtable_locality_group* group, int level);
void bigtable_locality_group_set_block_size(bigtable_locality_group* group, size_t bytes);
void bigtable_locality_group_set_filter(bigtable_locality_group* group, int filter_kind);
void bigtable_locality_group_set_filter_bits(bigtable_locality_group* group, int bits);
void bigtable_locality_group_set_in_memory(bigtable_locality_group* group, bool value);  // false
void bigtable_locality_group_set_compaction(bigtable_locality_group* group, int style);
void bigtable_locality_group_set_compaction_factor(bigtable_locality_group* group, int factor);
// A policy that code in C++ has registered (compaction_policy.h); it replaces the style.
void bigtable_locality_group_set_compaction_policy(bigtable_locality_group* group, const char* name,
                                                   size_t name_size);

bigtable_schema* bigtable_schema_new(void);
void bigtable_schema_free(bigtable_schema* schema);
// AlreadyExists: the schema has a group, or a family, of this name.
bigtable_error* bigtable_schema_add_locality_group(bigtable_schema* schema, const char* name,
                                                   size_t name_size,
                                                   const bigtable_locality_group* group);
// An empty `group` is the group "default", which every table has. `rule` may be NULL: everything is
// kept.
bigtable_error* bigtable_schema_add_family(bigtable_schema* schema, const char* name,
                                           size_t name_size, const char* group, size_t group_size,
                                           const bigtable_gc_rule* rule);
// What a family of the schema holds, the access list that controls it, and the owner to whom its
// bytes are charged. An empty name: no list, no owner. NotFound: the schema has no such family.
bigtable_error* bigtable_schema_set_value_type(bigtable_schema* schema, const char* family,
                                               size_t family_size, int value_type);
bigtable_error* bigtable_schema_set_access_list(bigtable_schema* schema, const char* family,
                                                size_t family_size, const char* list,
                                                size_t list_size);
bigtable_error* bigtable_schema_set_owner(bigtable_schema* schema, const char* family,
                                          size_t family_size, const char* owner, size_t owner_size);
// The operator that merges the cells of a family of the schema, which stays BIGTABLE_VALUE_BYTES,
// and the filter that compactions apply to its cells, by the names under which they were registered
// (below). An empty name: none. NotFound: the schema has no such family.
bigtable_error* bigtable_schema_set_value_operator(bigtable_schema* schema, const char* family,
                                                   size_t family_size, const char* name,
                                                   size_t name_size);
bigtable_error* bigtable_schema_set_compaction_filter(bigtable_schema* schema, const char* family,
                                                      size_t family_size, const char* name,
                                                      size_t name_size);
// Adds an observer, which is called after those that were added before: TableSchema::observers.
bigtable_error* bigtable_schema_add_observer(bigtable_schema* schema, const char* name,
                                             size_t name_size);
// When tablets are split and merged: SplitRule.
void bigtable_schema_set_split_rule(bigtable_schema* schema, uint64_t tablet_size,
                                    uint64_t merge_size, size_t prefix_length);
// How long the changes of the table are kept, 0 for no change stream, and at most how many bytes of
// them: ChangeStreamRule.
void bigtable_schema_set_change_stream(bigtable_schema* schema, int64_t retention_micros,
                                       uint64_t max_bytes);
// A row that begins a tablet when the table is created: CreateTableOptions::split_rows.
bigtable_error* bigtable_schema_add_split_row(bigtable_schema* schema, const char* row,
                                              size_t row_size);
// The names of what a schema has. Sorted, except for observers, which are in call order.
bigtable_error* bigtable_schema_list_families(const bigtable_schema* schema,
                                              bigtable_string_list** names);
bigtable_error* bigtable_schema_list_locality_groups(const bigtable_schema* schema,
                                                     bigtable_string_list** names);
bigtable_error* bigtable_schema_list_observers(const bigtable_schema* schema,
                                               bigtable_string_list** names);
// What the schema has for a family. Text is empty if nothing is set. If there is no such family,
// text is NULL, and the type is -1.
int bigtable_schema_family_value_type(const bigtable_schema* schema, const char* family,
                                      size_t family_size);
const char* bigtable_schema_family_locality_group(const bigtable_schema* schema, const char* family,
                                                  size_t family_size, size_t* size);
const char* bigtable_schema_family_access_list(const bigtable_schema* schema, const char* family,
                                               size_t family_size, size_t* size);
const char* bigtable_schema_family_owner(const bigtable_schema* schema, const char* family,
                                         size_t family_size, size_t* size);
const char* bigtable_schema_family_value_operator(const bigtable_schema* schema, const char* family,
                                                  size_t family_size, size_t* size);
const char* bigtable_schema_family_compaction_filter(const bigtable_schema* schema,
                                                     const char* family, size_t family_size,
                                                     size_t* size);

// --- Databases (database.h) ---

// `path` is a directory. `options` may be NULL.
bigtable_error* bigtable_database_open(const char* path, size_t path_size,
                                       const bigtable_options* options,
                                       bigtable_database** database);
// Waits for running calls, refuses new ones, flushes the memtables, and unlocks the directory.
// Returns whether this succeeded; a second call returns the same. Does not free the handle.
bigtable_error* bigtable_database_close(bigtable_database* database);
// Closes the database if it is not closed; an error then goes to the info log. No call may be
// running. The database's tables must not be used any more, and transactions must have been freed.
// Rows, streams and snapshots may outlive the database.
void bigtable_database_free(bigtable_database* database);

// AlreadyExists: there is a table with this name.
bigtable_error* bigtable_database_create_table(bigtable_database* database, const char* name,
                                               size_t name_size, const bigtable_schema* schema,
                                               const bigtable_call_options* options);
// NotFound: there is no table with this name.
bigtable_error* bigtable_database_delete_table(bigtable_database* database, const char* name,
                                               size_t name_size,
                                               const bigtable_call_options* options);
// The table belongs to the database, and is valid until the database is freed. There is no function
// that frees it. Every call with the same name returns the same table.
bigtable_error* bigtable_database_open_table(bigtable_database* database, const char* name,
                                             size_t name_size, bigtable_table** table);
// Opens the table, after creating it if no table has this name. An existing table keeps its schema.
bigtable_error* bigtable_database_open_or_create_table(bigtable_database* database,
                                                       const char* name, size_t name_size,
                                                       const bigtable_schema* schema,
                                                       const bigtable_call_options* options,
                                                       bigtable_table** table);
// Sorted.
bigtable_error* bigtable_database_list_tables(bigtable_database* database,
                                              bigtable_string_list** names);
// The present schema of a table, without split rows. It serves to create another table like it.
// NotFound: there is no table with this name.
bigtable_error* bigtable_database_get_schema(bigtable_database* database, const char* table,
                                             size_t table_size, bigtable_schema** schema);

// `group` and `rule` as in bigtable_schema_add_family.
bigtable_error* bigtable_database_add_family(bigtable_database* database, const char* table,
                                             size_t table_size, const char* name, size_t name_size,
                                             const char* group, size_t group_size,
                                             const bigtable_gc_rule* rule,
                                             const bigtable_call_options* options);
// Adds the family `name` of the schema, with all that the schema says about it. NotFound: the
// schema has no such family.
bigtable_error* bigtable_database_add_schema_family(bigtable_database* database, const char* table,
                                                    size_t table_size, const char* name,
                                                    size_t name_size, const bigtable_schema* schema,
                                                    const bigtable_call_options* options);
bigtable_error* bigtable_database_drop_family(bigtable_database* database, const char* table,
                                              size_t table_size, const char* name, size_t name_size,
                                              const bigtable_call_options* options);
// Replaces the family's rule. NULL: everything is kept.
bigtable_error* bigtable_database_set_gc_rule(bigtable_database* database, const char* table,
                                              size_t table_size, const char* family,
                                              size_t family_size, const bigtable_gc_rule* rule,
                                              const bigtable_call_options* options);
// Replaces the family's compaction filter, which must be registered. An empty name: none. What the
// old filter has removed does not come back.
bigtable_error* bigtable_database_set_family_compaction_filter(
    bigtable_database* database, const char* table, size_t table_size, const char* family,
    size_t family_size, const char* name, size_t name_size, const bigtable_call_options* options);

// Changes of families of one table that are made together or not at all, in the order in which they
// are added here: Database::ModifyFamilies. A name that does not fit is an error of that call.
bigtable_family_changes* bigtable_family_changes_new(void);
void bigtable_family_changes_free(bigtable_family_changes* changes);
// Adds the family `name` of the schema, with all that the schema says about it. NotFound: the
// schema has no such family.
bigtable_error* bigtable_family_changes_add_schema_family(bigtable_family_changes* changes,
                                                          const char* name, size_t name_size,
                                                          const bigtable_schema* schema);
bigtable_error* bigtable_family_changes_drop_family(bigtable_family_changes* changes,
                                                    const char* name, size_t name_size);
// Replaces one thing of a family: its rule (NULL: everything is kept), or the name of its access
// list, its compaction filter or its owner (empty: none).
bigtable_error* bigtable_family_changes_set_gc_rule(bigtable_family_changes* changes,
                                                    const char* family, size_t family_size,
                                                    const bigtable_gc_rule* rule);
bigtable_error* bigtable_family_changes_set_access_list(bigtable_family_changes* changes,
                                                        const char* family, size_t family_size,
                                                        const char* list, size_t list_size);
bigtable_error* bigtable_family_changes_set_compaction_filter(bigtable_family_changes* changes,
                                                              const char* family,
                                                              size_t family_size, const char* name,
                                                              size_t name_size);
bigtable_error* bigtable_family_changes_set_owner(bigtable_family_changes* changes,
                                                  const char* family, size_t family_size,
                                                  const char* owner, size_t owner_size);
bigtable_error* bigtable_database_modify_families(bigtable_database* database, const char* table,
                                                  size_t table_size,
                                                  const bigtable_family_changes* changes,
                                                  const bigtable_call_options* options);

// Adds a locality group, or changes how the next SSTables of an existing one are written.
bigtable_error* bigtable_database_set_locality_group(bigtable_database* database, const char* table,
                                                     size_t table_size, const char* name,
                                                     size_t name_size,
                                                     const bigtable_locality_group* group,
                                                     const bigtable_call_options* options);
// When tablets of the table are split and merged, after this call: SplitRule.
bigtable_error* bigtable_database_set_split_rule(bigtable_database* database, const char* table,
                                                 size_t table_size, uint64_t tablet_size,
                                                 uint64_t merge_size, size_t prefix_length,
                                                 const bigtable_call_options* options);
// Opens or changes the change stream of the table, or closes it if the retention is 0:
// Database::SetChangeStream. InvalidArgument: the retention, or the number of bytes.
bigtable_error* bigtable_database_set_change_stream(bigtable_database* database, const char* table,
                                                    size_t table_size, int64_t retention_micros,
                                                    uint64_t max_bytes,
                                                    const bigtable_call_options* options);
// Replaces the table's observers by those of the schema, of which nothing else is used. Mutations
// that are applied after the call are observed by these: Database::SetObservers. InvalidArgument: a
// name that is not registered or is there twice, or more than 16 of them.
bigtable_error* bigtable_database_set_observers(bigtable_database* database, const char* table,
                                                size_t table_size, const bigtable_schema* schema,
                                                const bigtable_call_options* options);

// Makes a copy of the whole database, of one moment of the call, in another directory, which is new
// or empty: Database::Checkpoint. AlreadyExists: there are files in it.
bigtable_error* bigtable_database_checkpoint(bigtable_database* database, const char* directory,
                                             size_t directory_size,
                                             const bigtable_call_options* options);

// Sorts mutations that come in any order into SSTables for bigtable_table_ingest: SSTableSorter, on
// the machine's file system. `directory` exists. `memory` and `file_size` in bytes; 0: the default.
// One call after the other. The functions return the errors of those of SSTableSorter.
bigtable_error* bigtable_sstable_sorter_open(const char* directory, size_t directory_size,
                                             const bigtable_schema* schema, uint64_t memory,
                                             uint64_t file_size, int threads,
                                             bigtable_sstable_sorter** sorter);
// Without bigtable_sstable_sorter_finish, removes what it has written.
void bigtable_sstable_sorter_free(bigtable_sstable_sorter* sorter);
// Copies the mutation, which stays the caller's.
bigtable_error* bigtable_sstable_sorter_add(bigtable_sstable_sorter* sorter,
                                            const bigtable_mutation* mutation);
// One cell.
bigtable_error* bigtable_sstable_sorter_add_cell(bigtable_sstable_sorter* sorter, const char* row,
                                                 size_t row_size, const char* column,
                                                 size_t column_size, int64_t timestamp,
                                                 const char* value, size_t value_size);
// The paths of the files.
bigtable_error* bigtable_sstable_sorter_finish(bigtable_sstable_sorter* sorter,
                                               bigtable_string_list** files);

// Backups in a directory of their own, of which each stores only what no earlier one has:
// BackupEngine, on the machine's file system. One call after the other. The functions return the
// errors of those of BackupEngine with these names.
bigtable_error* bigtable_backup_engine_open(const char* directory, size_t directory_size,
                                            bigtable_backup_engine** engine);
void bigtable_backup_engine_free(bigtable_backup_engine* engine);
// The number of the backup goes to `*id`.
bigtable_error* bigtable_backup_engine_create(bigtable_backup_engine* engine,
                                              bigtable_database* database, const char* description,
                                              size_t description_size,
                                              const bigtable_call_options* options, uint64_t* id);
// The description of a backup, when it expires, and which of its tables a call is about. New
// options, and NULL in their place: no description, it never expires, all tables.
bigtable_backup_options* bigtable_backup_options_new(void);
void bigtable_backup_options_free(bigtable_backup_options* options);
bigtable_error* bigtable_backup_options_set_description(bigtable_backup_options* options,
                                                        const char* description,
                                                        size_t description_size);
// In microseconds since 1970; INT64_MAX: never.
bigtable_error* bigtable_backup_options_set_expire_time(bigtable_backup_options* options,
                                                        int64_t time);
// One more table that is wanted. `name`: what it is called after a restore; NULL: as before.
bigtable_error* bigtable_backup_options_add_table(bigtable_backup_options* options,
                                                  const char* table, size_t table_size,
                                                  const char* name, size_t name_size);
// Is called after each SSTable, by the thread of the call, with how many were looked at and the
// bytes that were copied so far.
typedef void (*bigtable_progress_function)(void* context, uint64_t files, uint64_t copied_bytes);
bigtable_error* bigtable_backup_options_set_progress(bigtable_backup_options* options,
                                                     bigtable_progress_function function,
                                                     void* context);
// As bigtable_backup_engine_create.
bigtable_error* bigtable_backup_engine_create_with(bigtable_backup_engine* engine,
                                                   bigtable_database* database,
                                                   const bigtable_backup_options* options,
                                                   const bigtable_call_options* call, uint64_t* id);
// Replaces the description and the time, if they are set.
bigtable_error* bigtable_backup_engine_update(bigtable_backup_engine* engine, uint64_t id,
                                              const bigtable_backup_options* options,
                                              const bigtable_call_options* call);
// Another backup of the same files; its number goes to `*copy`.
bigtable_error* bigtable_backup_engine_copy(bigtable_backup_engine* engine, uint64_t id,
                                            const bigtable_backup_options* options,
                                            const bigtable_call_options* call, uint64_t* copy);
// From the oldest to the newest.
bigtable_error* bigtable_backup_engine_list(bigtable_backup_engine* engine,
                                            bigtable_backups** backups);
void bigtable_backups_free(bigtable_backups* backups);
size_t bigtable_backups_count(const bigtable_backups* backups);
// Of the backup with this index: its number, the time in microseconds since 1970, its description,
// the bytes of its SSTables, and of those that no earlier one had. If there are not so many: 0,
// NULL.
uint64_t bigtable_backups_id(const bigtable_backups* backups, size_t index);
int64_t bigtable_backups_time(const bigtable_backups* backups, size_t index);
const char* bigtable_backups_description(const bigtable_backups* backups, size_t index,
                                         size_t* size);
uint64_t bigtable_backups_bytes(const bigtable_backups* backups, size_t index);
uint64_t bigtable_backups_new_bytes(const bigtable_backups* backups, size_t index);
// When it expires, in microseconds since 1970; INT64_MAX: never, or there are not so many.
int64_t bigtable_backups_expire_time(const bigtable_backups* backups, size_t index);
// The tables of a backup, in the order of their names. 0 and NULL: there are not so many.
size_t bigtable_backups_table_count(const bigtable_backups* backups, size_t index);
const char* bigtable_backups_table(const bigtable_backups* backups, size_t index, size_t table,
                                   size_t* size);
// Compares all files with their checksums.
bigtable_error* bigtable_backup_engine_verify(bigtable_backup_engine* engine, uint64_t id,
                                              const bigtable_call_options* options);
bigtable_error* bigtable_backup_engine_delete(bigtable_backup_engine* engine, uint64_t id);
// All but the newest `keep`.
bigtable_error* bigtable_backup_engine_delete_old(bigtable_backup_engine* engine, size_t keep);
// Those that have expired at this time, in microseconds since 1970. How many goes to `*deleted`,
// unless it is NULL.
bigtable_error* bigtable_backup_engine_delete_expired(bigtable_backup_engine* engine, int64_t now,
                                                      size_t* deleted);
// Makes a database in a directory that is new or empty.
bigtable_error* bigtable_backup_engine_restore(bigtable_backup_engine* engine, uint64_t id,
                                               const char* directory, size_t directory_size,
                                               const bigtable_call_options* options);
// The same for the tables of `options`, under their names there.
bigtable_error* bigtable_backup_engine_restore_with(bigtable_backup_engine* engine, uint64_t id,
                                                    const char* directory, size_t directory_size,
                                                    const bigtable_backup_options* options,
                                                    const bigtable_call_options* call);
// Adds a table of a backup to an open database, under a name that is free there. Of `options` only
// the progress is used.
bigtable_error* bigtable_backup_engine_restore_table(bigtable_backup_engine* engine, uint64_t id,
                                                     const char* table, size_t table_size,
                                                     bigtable_database* database, const char* name,
                                                     size_t name_size,
                                                     const bigtable_backup_options* options,
                                                     const bigtable_call_options* call);

// Makes a database from what is left of a damaged one, on the machine's file system:
// RepairDatabase. A NULL `target` is the directory with ".repaired" at its end.
bigtable_error* bigtable_database_repair(const char* directory, size_t directory_size,
                                         const char* target, size_t target_size,
                                         const bigtable_call_options* options,
                                         bigtable_repair_report** report);
void bigtable_repair_report_free(bigtable_repair_report* report);
// The directory of the repaired database, as long as the report.
const char* bigtable_repair_report_target(const bigtable_repair_report* report, size_t* size);
// Whether tables were put together without METADATA, and whether entries may be missing.
bool bigtable_repair_report_is_metadata_lost(const bigtable_repair_report* report);
bool bigtable_repair_report_has_losses(const bigtable_repair_report* report);
// What was wrong: the number of findings; and of the one with this index the path of its file, and
// a text that also has the rows that may be missing. If there are not so many: NULL.
size_t bigtable_repair_report_count(const bigtable_repair_report* report);
const char* bigtable_repair_report_path(const bigtable_repair_report* report, size_t index,
                                        size_t* size);
const char* bigtable_repair_report_problem(const bigtable_repair_report* report, size_t index,
                                           size_t* size);

// Minor compaction: everything that was written to the table before is in SSTables, durably.
bigtable_error* bigtable_database_flush(bigtable_database* database, const char* table,
                                        size_t table_size, const bigtable_call_options* options);
// A major compaction.
bigtable_error* bigtable_database_compact(bigtable_database* database, const char* table,
                                          size_t table_size, const bigtable_call_options* options);
bigtable_error* bigtable_database_wait_until_quiet(bigtable_database* database,
                                                   const bigtable_call_options* options);
// Running merging compactions finish. No other one starts until the second function was called as
// often as the first. The third function cancels those that run, and waits until they have ended.
// They fail for a null pointer only, and have no effect in a child of fork().
bigtable_error* bigtable_database_pause_compactions(bigtable_database* database);
bigtable_error* bigtable_database_continue_compactions(bigtable_database* database);
bigtable_error* bigtable_database_cancel_compactions(bigtable_database* database);
// Lets writes continue after a background error. The second function does it within the timeout and
// the cancellation of `options`; NULL: there are none.
bigtable_error* bigtable_database_resume(bigtable_database* database);
bigtable_error* bigtable_database_resume_within(bigtable_database* database,
                                                const bigtable_call_options* options);
// For a database that is opened to follow another one: goes on to what that one has now.
bigtable_error* bigtable_database_refresh(bigtable_database* database,
                                          const bigtable_call_options* options);
// The statistics in Prometheus' text format (prometheus.h). All zero after the database was closed.
bigtable_error* bigtable_database_get_statistics(bigtable_database* database,
                                                 bigtable_string** text);

// Every write that was acknowledged before the call, and none that begins after it.
bigtable_error* bigtable_database_take_snapshot(bigtable_database* database,
                                                bigtable_snapshot** snapshot);
// The last mutation that the snapshot contains.
uint64_t bigtable_snapshot_sequence(const bigtable_snapshot* snapshot);
void bigtable_snapshot_free(bigtable_snapshot* snapshot);

// --- Tablets (database.h) ---

// The tablets of a table as they are now, in key order.
bigtable_error* bigtable_database_list_tablets(bigtable_database* database, const char* table,
                                               size_t table_size, bigtable_tablets** tablets);
// At least 1. Indexes begin at 0.
size_t bigtable_tablets_count(const bigtable_tablets* tablets);
// The first row of a tablet, and the first row after it: empty if there is none. NULL if there are
// not so many tablets.
const char* bigtable_tablets_begin_row(const bigtable_tablets* tablets, size_t index, size_t* size);
const char* bigtable_tablets_end_row(const bigtable_tablets* tablets, size_t index, size_t* size);
// The number of the tablet server, from 0 on, and the bytes of the SSTables. If there are not so
// many tablets, -1 and 0.
int bigtable_tablets_server(const bigtable_tablets* tablets, size_t index);
uint64_t bigtable_tablets_disk_bytes(const bigtable_tablets* tablets, size_t index);
void bigtable_tablets_free(bigtable_tablets* tablets);

// Splits a tablet so that `row` is the first of the new one. AlreadyExists: a tablet begins with
// it.
bigtable_error* bigtable_database_split_tablet(bigtable_database* database, const char* table,
                                               size_t table_size, const char* row, size_t row_size,
                                               const bigtable_call_options* options);
// Merges the tablet that begins with `row` with the one before it. NotFound: there is no such
// tablet, or it is the first.
bigtable_error* bigtable_database_merge_tablets(bigtable_database* database, const char* table,
                                                size_t table_size, const char* row, size_t row_size,
                                                const bigtable_call_options* options);
// Moves the tablet that contains `row` to a tablet server.
bigtable_error* bigtable_database_move_tablet(bigtable_database* database, const char* table,
                                              size_t table_size, const char* row, size_t row_size,
                                              int server, const bigtable_call_options* options);

// --- Storage (StorageStatistics in statistics.h) ---
//
// What families, tables and owners of families take, on disk and in memory. On disk these are
// exactly the sizes of the files: a table is the sum of its families and what belongs to none of
// them, and the tables and METADATA together are all SSTables.

// What the bytes are charged to. New kinds may be added.
enum {
  BIGTABLE_STORAGE_TABLE = 0,
  BIGTABLE_STORAGE_FAMILY = 1,
  BIGTABLE_STORAGE_OWNER = 2,
  BIGTABLE_STORAGE_METADATA = 3
};

// The charges at the time of the call, as a list: sorted by kind, then by name, then by family.
// Once the database was closed, and in a child of fork(), it has no
// tables. Cost: some microseconds for each table.
bigtable_error* bigtable_database_get_storage(bigtable_database* database,
                                              bigtable_storage** storage);
void bigtable_storage_free(bigtable_storage* storage);
// The number of charges. Indexes begin at 0.
size_t bigtable_storage_count(const bigtable_storage* storage);
// The index of a charge. The count, for which all bytes are 0, if there is none. `name` is that of
// the table or the owner, and `family` that of a family; both are empty for other kinds.
size_t bigtable_storage_find(const bigtable_storage* storage, int kind, const char* name,
                             size_t name_size, const char* family, size_t family_size);
// What a charge is for. -1, or NULL, if there are not so many.
int bigtable_storage_kind(const bigtable_storage* storage, size_t index);
const char* bigtable_storage_name(const bigtable_storage* storage, size_t index, size_t* size);
const char* bigtable_storage_family(const bigtable_storage* storage, size_t index, size_t* size);
// Of SSTables; of memtables, with the bytes of the log that they refer to; and copies in memory of
// SSTables, of locality groups that are loaded. The first two are what a quota of storage limits. 0
// if there are not so many charges.
uint64_t bigtable_storage_disk_bytes(const bigtable_storage* storage, size_t index);
uint64_t bigtable_storage_memtable_bytes(const bigtable_storage* storage, size_t index);
uint64_t bigtable_storage_loaded_bytes(const bigtable_storage* storage, size_t index);

// --- Options that change (database.h) ---
//
// By their names in DatabaseOptions, as text: Database::SetOptions states which options can be
// changed, how their values are written, and when a change is in effect.

// InvalidArgument: there is no such option, or it cannot be changed, or bigtable_database_open
// would refuse the value.
bigtable_error* bigtable_database_set_option(bigtable_database* database, const char* name,
                                             size_t name_size, const char* value,
                                             size_t value_size);
// The present value. NotFound: there is no such option that can be changed. FailedPrecondition: the
// database is closed.
bigtable_error* bigtable_database_get_option(bigtable_database* database, const char* name,
                                             size_t name_size, bigtable_string** value);
// The names of the options that can be changed, sorted. FailedPrecondition: the database is closed.
bigtable_error* bigtable_database_list_options(bigtable_database* database,
                                               bigtable_string_list** names);

// --- Access lists (access_list.h) ---
//
// The users that may read and write families, in tables that are opened in a user's name.

bigtable_access_list* bigtable_access_list_new(void);
void bigtable_access_list_free(bigtable_access_list* list);
// Adds a user, or everybody: "*". The names are checked when the list is set.
bigtable_error* bigtable_access_list_add_reader(bigtable_access_list* list, const char* user,
                                                size_t user_size);
bigtable_error* bigtable_access_list_add_writer(bigtable_access_list* list, const char* user,
                                                size_t user_size);
// The users that may read, or write. Sorted.
bigtable_error* bigtable_access_list_get_readers(const bigtable_access_list* list,
                                                 bigtable_string_list** users);
bigtable_error* bigtable_access_list_get_writers(const bigtable_access_list* list,
                                                 bigtable_string_list** users);

// Creates or replaces the list of this name.
bigtable_error* bigtable_database_set_access_list(bigtable_database* database, const char* name,
                                                  size_t name_size,
                                                  const bigtable_access_list* list,
                                                  const bigtable_call_options* options);
// NotFound. FailedPrecondition: a family uses the list.
bigtable_error* bigtable_database_delete_access_list(bigtable_database* database, const char* name,
                                                     size_t name_size,
                                                     const bigtable_call_options* options);
// NotFound: there is no list with this name.
bigtable_error* bigtable_database_get_access_list(bigtable_database* database, const char* name,
                                                  size_t name_size, bigtable_access_list** list);
// The names of all lists. Sorted.
bigtable_error* bigtable_database_list_access_lists(bigtable_database* database,
                                                    bigtable_string_list** names);
// Sets the access list of a family of a table. An empty name: every user may read and write.
bigtable_error* bigtable_database_set_family_access_list(bigtable_database* database,
                                                         const char* table, size_t table_size,
                                                         const char* family, size_t family_size,
                                                         const char* list, size_t list_size,
                                                         const bigtable_call_options* options);
// Opens a table in the name of a user: OpenTableOptions::caller. As with
// bigtable_database_open_table, the table belongs to the database. Every call with the same names
// returns the same table.
bigtable_error* bigtable_database_open_table_for_user(bigtable_database* database, const char* name,
                                                      size_t name_size, const char* user,
                                                      size_t user_size, bigtable_table** table);

// --- Quotas (quota.h) ---
//
// A quota limits a table, or a user: the calls on tables that were opened in the user's name, and
// the storage of the families that the user owns. A call that a quota refuses returns
// ResourceExhausted and changes nothing; bigtable_error_retry_after has the time to wait.

// Without limits. A limit of 0 is none: Quota states what each of them counts.
bigtable_quota* bigtable_quota_new(void);
void bigtable_quota_free(bigtable_quota* quota);
void bigtable_quota_set_storage_bytes(bigtable_quota* quota, uint64_t bytes);
void bigtable_quota_set_requests_per_second(bigtable_quota* quota, uint64_t requests);
void bigtable_quota_set_bytes_per_second(bigtable_quota* quota, uint64_t bytes);
uint64_t bigtable_quota_storage_bytes(const bigtable_quota* quota);
uint64_t bigtable_quota_requests_per_second(const bigtable_quota* quota);
uint64_t bigtable_quota_bytes_per_second(const bigtable_quota* quota);

// Replaces the quota of a table, or of a user. NULL, or a quota without limits, removes it.
// NotFound: the table. InvalidArgument: the user's name.
bigtable_error* bigtable_database_set_table_quota(bigtable_database* database, const char* table,
                                                  size_t table_size, const bigtable_quota* quota,
                                                  const bigtable_call_options* options);
bigtable_error* bigtable_database_set_user_quota(bigtable_database* database, const char* user,
                                                 size_t user_size, const bigtable_quota* quota,
                                                 const bigtable_call_options* options);
// Without limits if none is set. Errors as above.
bigtable_error* bigtable_database_get_table_quota(bigtable_database* database, const char* table,
                                                  size_t table_size, bigtable_quota** quota);
bigtable_error* bigtable_database_get_user_quota(bigtable_database* database, const char* user,
                                                 size_t user_size, bigtable_quota** quota);
// The tables, or users, that have a quota. Sorted.
bigtable_error* bigtable_database_list_table_quotas(bigtable_database* database,
                                                    bigtable_string_list** tables);
bigtable_error* bigtable_database_list_user_quotas(bigtable_database* database,
                                                   bigtable_string_list** users);
// Sets the owner of a family of a table. An empty name: nobody.
bigtable_error* bigtable_database_set_family_owner(bigtable_database* database, const char* table,
                                                   size_t table_size, const char* family,
                                                   size_t family_size, const char* owner,
                                                   size_t owner_size,
                                                   const bigtable_call_options* options);

// --- Mutations (row_mutation.h) ---
//
// A list of operations on one row. A column is "family:qualifier". An operation that is invalid is
// reported when the mutation is applied, and then no operation is applied.

bigtable_mutation* bigtable_mutation_new(const char* row, size_t row_size);
void bigtable_mutation_free(bigtable_mutation* mutation);
// Writes a cell: at the server's time, or at `timestamp`.
void bigtable_mutation_set(bigtable_mutation* mutation, const char* column, size_t column_size,
                           const char* value, size_t value_size);
void bigtable_mutation_set_at(bigtable_mutation* mutation, const char* column, size_t column_size,
                              int64_t timestamp, const char* value, size_t value_size);
// Add to the cell of an aggregate family at `timestamp`, whether it exists or not; nothing is read.
// The input of a sum, minimum or maximum is a number, an integer or a double as the family's type
// says (both have 8 bytes, so nothing finds the wrong one), that of a HyperLogLog any bytes to be
// counted. The last function adds all that another such cell has: its value, as a read has returned
// it.
void bigtable_mutation_add_int64_to_cell(bigtable_mutation* mutation, const char* column,
                                         size_t column_size, int64_t timestamp, int64_t input);
void bigtable_mutation_add_double_to_cell(bigtable_mutation* mutation, const char* column,
                                          size_t column_size, int64_t timestamp, double input);
void bigtable_mutation_add_to_cell(bigtable_mutation* mutation, const char* column,
                                   size_t column_size, int64_t timestamp, const char* input,
                                   size_t input_size);
void bigtable_mutation_merge_to_cell(bigtable_mutation* mutation, const char* column,
                                     size_t column_size, int64_t timestamp, const char* state,
                                     size_t state_size);
// Deletes: the version of a column at exactly `timestamp`, or its versions from `begin` to before
// `end` (INT64_MAX is no end), or all versions of the column, or the columns of a family, or the
// row.
void bigtable_mutation_delete_cell(bigtable_mutation* mutation, const char* column,
                                   size_t column_size, int64_t timestamp);
void bigtable_mutation_delete_time_range(bigtable_mutation* mutation, const char* column,
                                         size_t column_size, int64_t begin, int64_t end);
void bigtable_mutation_delete_column(bigtable_mutation* mutation, const char* column,
                                     size_t column_size);
void bigtable_mutation_delete_family(bigtable_mutation* mutation, const char* family,
                                     size_t family_size);
void bigtable_mutation_delete_row(bigtable_mutation* mutation);
// The number of operations, and about how many bytes they take in the commit log.
uint32_t bigtable_mutation_operation_count(const bigtable_mutation* mutation);
size_t bigtable_mutation_byte_size(const bigtable_mutation* mutation);
// InvalidArgument: the first invalid operation.
bigtable_error* bigtable_mutation_check(const bigtable_mutation* mutation);

// Packed operations: many mutations from one call, for languages in which a call costs more than a
// copy. A record for each operation, and the text of all of them in one piece of memory, in the
// order of the records and without gaps: of each operation its row, column and value. A record with
// a row begins a mutation. The following records without a row add operations to it.
typedef struct bigtable_packed_operation {
  int32_t kind;          // BIGTABLE_OPERATION_SET and so on, below
  uint32_t row_size;     // 0: the operation is of the same mutation as the one before it
  uint32_t column_size;  // with family and colon; DELETE_FAMILY: of the family alone; DELETE_ROW: 0
  uint32_t value_size;   // what SET writes, ADD_TO_CELL adds and MERGE_TO_CELL merges; else 0
  int64_t timestamp;     // -1: the server's time, of SET only. DELETE_TIME_RANGE: the begin
  int64_t end;           // of DELETE_TIME_RANGE; not used otherwise
} bigtable_packed_operation;
// Stores the mutations of the records in mutations[0] to mutations[count - 1]. They belong to the
// caller, and are as those of bigtable_mutation_new: what is invalid in them is reported when they
// are applied. InvalidArgument: `count` is not the number of records with a row, the first record
// has none, the sizes do not add up to `text_size`, or there is no such kind. After an error all
// `count` mutations are NULL.
bigtable_error* bigtable_mutations_new_packed(const bigtable_packed_operation* operations,
                                              size_t operation_count, const char* text,
                                              size_t text_size, bigtable_mutation** mutations,
                                              size_t count);
// Frees `count` mutations, each of which may be NULL. It does not free the array.
void bigtable_mutations_free(bigtable_mutation* const* mutations, size_t count);

// --- Filters (filter.h) ---
//
// A filter that is invalid is reported by the calls that read with it.

bigtable_filter* bigtable_filter_pass_all_new(void);
bigtable_filter* bigtable_filter_block_all_new(void);
bigtable_filter* bigtable_filter_latest_new(int64_t versions);
bigtable_filter* bigtable_filter_family_new(const char* family, size_t family_size);
bigtable_filter* bigtable_filter_family_regex_new(const char* regex, size_t regex_size);
bigtable_filter* bigtable_filter_column_new(const char* family, size_t family_size,
                                            const char* qualifier, size_t qualifier_size);
bigtable_filter* bigtable_filter_column_prefix_new(const char* family, size_t family_size,
                                                   const char* prefix, size_t prefix_size);
// Qualifiers in [begin, end). An empty end means no end.
bigtable_filter* bigtable_filter_column_range_new(const char* family, size_t family_size,
                                                  const char* begin, size_t begin_size,
                                                  const char* end, size_t end_size);
bigtable_filter* bigtable_filter_column_regex_new(const char* regex, size_t regex_size);
// Timestamps in [begin, end). An end of INT64_MAX is no end.
bigtable_filter* bigtable_filter_timestamp_range_new(int64_t begin, int64_t end);
bigtable_filter* bigtable_filter_row_regex_new(const char* regex, size_t regex_size);
bigtable_filter* bigtable_filter_value_regex_new(const char* regex, size_t regex_size);
// Values in [begin, end) by their bytes. An empty end means no end.
bigtable_filter* bigtable_filter_value_range_new(const char* begin, size_t begin_size,
                                                 const char* end, size_t end_size);
// Each row with this probability, between 0 and 1, both excluded.
bigtable_filter* bigtable_filter_row_sample_new(double probability);
bigtable_filter* bigtable_filter_cells_row_limit_new(int64_t cells);
bigtable_filter* bigtable_filter_cells_row_offset_new(int64_t cells);
bigtable_filter* bigtable_filter_strip_value_new(void);
// The cells with this label (bigtable_row_cell_label): 1 to 15 characters of [a-z0-9-].
bigtable_filter* bigtable_filter_apply_label_new(const char* label, size_t label_size);
// Passes nothing on: its cells are in the result, whatever filters follow.
bigtable_filter* bigtable_filter_sink_new(void);
// Each filter sees the cells that the one before it passes. Copies the filters.
bigtable_filter* bigtable_filter_chain_new(const bigtable_filter* const* filters, size_t count);
// The cells that each of the filters passes, together and in the order of the row; a cell that
// several pass is there several times. Copies the filters.
bigtable_filter* bigtable_filter_interleave_new(const bigtable_filter* const* filters,
                                                size_t count);
// `if_true` for the rows of which `predicate` passes a cell, `if_false` for the others. Copies the
// filters. `if_false` may be NULL: no cell.
bigtable_filter* bigtable_filter_condition_new(const bigtable_filter* predicate,
                                               const bigtable_filter* if_true,
                                               const bigtable_filter* if_false);
void bigtable_filter_free(bigtable_filter* filter);
// InvalidArgument: why the filter is invalid. It must not be NULL.
bigtable_error* bigtable_filter_check(const bigtable_filter* filter);

// --- Sets of rows (row_range.h) ---

// An empty set: a read of it has no rows.
bigtable_row_set* bigtable_row_set_new(void);
void bigtable_row_set_free(bigtable_row_set* set);
void bigtable_row_set_add_row(bigtable_row_set* set, const char* row, size_t row_size);
// Rows in [begin, end). `end` may be NULL: no end. The next possible row after a row is that row
// with a zero byte behind it, so this covers every kind of interval.
void bigtable_row_set_add_range(bigtable_row_set* set, const char* begin, size_t begin_size,
                                const char* end, size_t end_size);
// Rows that begin with `prefix`.
void bigtable_row_set_add_prefix(bigtable_row_set* set, const char* prefix, size_t prefix_size);

// --- Tables (table.h) ---

// The table's name. Ends with a zero byte.
const char* bigtable_table_name(const bigtable_table* table, size_t* size);

// Applies a mutation, which may be applied again.
bigtable_error* bigtable_table_apply(bigtable_table* table, const bigtable_mutation* mutation,
                                     const bigtable_write_options* options);
// Applies `count` mutations, each atomically, with one commit to the log. Returns NULL if all were
// applied, otherwise the error of the first that was not. If `errors` is not NULL, errors[i]
// becomes NULL if mutation i was applied, otherwise its error, which belongs to the caller.
// Mutations may be applied again. During the call no other thread may use them. A mutation that
// occurs twice in the batch is refused with InvalidArgument the second time.
bigtable_error* bigtable_table_apply_batch(bigtable_table* table,
                                           bigtable_mutation* const* mutations, size_t count,
                                           const bigtable_write_options* options,
                                           bigtable_error** errors);

// --- Batches (write_batch.h) ---
//
// A list of mutations, of one or several tables of a database, which are applied together or not at
// all: every read and every snapshot sees all of them or none. A mutation that is invalid is
// reported when the batch is applied, and then no mutation is applied.

bigtable_write_batch* bigtable_write_batch_new(void);
void bigtable_write_batch_free(bigtable_write_batch* batch);
// Adds a copy of the mutation.
void bigtable_write_batch_apply(bigtable_write_batch* batch, bigtable_table* table,
                                const bigtable_mutation* mutation);
// Removes all mutations, and an error; keeps the memory for the next ones.
void bigtable_write_batch_clear(bigtable_write_batch* batch);
// The number of mutations, and about how many bytes they take in the commit logs.
size_t bigtable_write_batch_mutation_count(const bigtable_write_batch* batch);
uint64_t bigtable_write_batch_byte_size(const bigtable_write_batch* batch);
// InvalidArgument: the first invalid mutation.
bigtable_error* bigtable_write_batch_check(const bigtable_write_batch* batch);
// Applies the batch, which may be applied again.
bigtable_error* bigtable_database_apply(bigtable_database* database,
                                        const bigtable_write_batch* batch,
                                        const bigtable_write_options* options);

// --- Transactions (transaction.h) ---
//
// Reads at one snapshot, with the transaction's own writes, and writes that become visible together
// when it commits. Optimistic: a commit returns Aborted if a row that the transaction has read may
// have been written since it began. Then nothing was applied, and the transaction is to be run
// again from its beginning, with a new handle: bigtable_database_run_transaction does that. After a
// commit or a rollback, the other calls return FailedPrecondition.

// Sees every write that was acknowledged before the call.
bigtable_error* bigtable_database_begin_transaction(bigtable_database* database,
                                                    const bigtable_call_options* options,
                                                    bigtable_transaction** transaction);
// Rolls back what was not committed.
void bigtable_transaction_free(bigtable_transaction* transaction);
// As the functions of a table (below), with the transaction's writes so far. InvalidArgument: the
// options have a snapshot. Rows belong to the caller; a stream must be freed before the
// transaction.
bigtable_error* bigtable_transaction_read_row(bigtable_transaction* transaction,
                                              bigtable_table* table, const char* row,
                                              size_t row_size, const bigtable_filter* filter,
                                              const bigtable_read_options* options,
                                              bigtable_row** result);
bigtable_error* bigtable_transaction_read_rows(bigtable_transaction* transaction,
                                               bigtable_table* table, const bigtable_row_set* set,
                                               const bigtable_filter* filter,
                                               const bigtable_read_options* options,
                                               bigtable_rows** rows);
// Adds a copy of the mutation, which is checked against the schema when the transaction commits.
bigtable_error* bigtable_transaction_apply(bigtable_transaction* transaction, bigtable_table* table,
                                           const bigtable_mutation* mutation);
// Both end the transaction, but do not free it. BIGTABLE_ABORTED from a commit: a conflict.
bigtable_error* bigtable_transaction_commit(bigtable_transaction* transaction,
                                            const bigtable_write_options* options);
void bigtable_transaction_rollback(bigtable_transaction* transaction);

// Reads and writes in the transaction, which is valid during the call, and which it must not commit
// or free. NULL: commit. An error, which passes to the library: apply nothing.
typedef bigtable_error* (*bigtable_transaction_function)(void* context,
                                                         bigtable_transaction* transaction);
// Begins a transaction, calls `function`, and commits; all of it again, as long as the commit is in
// conflict. So `function` must have no other effects, or such that may happen several times.
// `context` is passed on. Returns the error of `function`, if it returned one, or that of the
// commit. Only the timeout and the cancellation limit how often `function` is called.
bigtable_error* bigtable_database_run_transaction(bigtable_database* database,
                                                  bigtable_transaction_function function,
                                                  void* context,
                                                  const bigtable_write_options* options);

// --- Atomic operations on one row (table.h) ---

// Applies `if_matched` if at least one cell of the row passes the filter, otherwise `if_not`, with
// no other write to the row in between. Either may be NULL: do nothing; InvalidArgument if both
// are. A predicate of NULL passes every cell. `matched`, which may be NULL, becomes whether a cell
// passed, and false after an error.
bigtable_error* bigtable_table_check_and_mutate_row(
    bigtable_table* table, const char* row, size_t row_size, const bigtable_filter* predicate,
    const bigtable_mutation* if_matched, const bigtable_mutation* if_not,
    const bigtable_write_options* options, bool* matched);

// A list of additions to the newest cells of one row (read_modify_write.h). They are checked when
// they are applied, and may be applied again.
bigtable_read_modify_write* bigtable_read_modify_write_new(const char* row, size_t row_size);
void bigtable_read_modify_write_free(bigtable_read_modify_write* rules);
// Adds bytes at the end of the value. A missing cell is empty.
void bigtable_read_modify_write_append(bigtable_read_modify_write* rules, const char* column,
                                       size_t column_size, const char* bytes, size_t bytes_size);
// Adds to the value, a signed integer of 8 bytes, the most significant one first. A missing cell is
// zero.
void bigtable_read_modify_write_increment(bigtable_read_modify_write* rules, const char* column,
                                          size_t column_size, int64_t amount);
// Applies the rules, with no other write to the row in between. `written`, which may be NULL,
// becomes the new cells, which belong to the caller, and NULL after an error.
bigtable_error* bigtable_table_read_modify_write_row(bigtable_table* table,
                                                     const bigtable_read_modify_write* rules,
                                                     const bigtable_write_options* options,
                                                     bigtable_row** written);
// The number in such a value. InvalidArgument: it does not have 8 bytes.
bigtable_error* bigtable_decode_big_endian(const char* value, size_t value_size, int64_t* number);
// The double in the value of a minimum or maximum of doubles. InvalidArgument: it does not have 8
// bytes.
bigtable_error* bigtable_decode_double(const char* value, size_t value_size, double* number);

// About how many different inputs a cell of a BIGTABLE_VALUE_HYPER_LOG_LOG family has counted,
// given its value. The values of minima, maxima and integer sums are numbers in big-endian form, as
// above. InvalidArgument: it is not such a value.
bigtable_error* bigtable_estimate_hyper_log_log(const char* value, size_t value_size,
                                                uint64_t* estimate);
// The double that is nearest to the sum in a cell of a BIGTABLE_VALUE_DOUBLE_SUM family, given its
// value (aggregate.h, DoubleSumValue). InvalidArgument: it is not such a value.
bigtable_error* bigtable_decode_double_sum(const char* value, size_t value_size, double* sum);

// Adds operations to `mutation`, which is of the row, depending on the cells of the row. Both are
// valid during the call. Not 0: nothing is applied.
typedef int (*bigtable_row_function)(void* context, const bigtable_row* row,
                                     bigtable_mutation* mutation);
// A transaction on one row: calls `function` with the cells of the row that pass the filter (all if
// it is NULL), and applies the mutation that it makes. If such a cell has changed meanwhile, calls
// it again. `context` is passed on. Aborted, with the number: `function` did not return 0.
bigtable_error* bigtable_table_mutate_row_atomically(bigtable_table* table, const char* row,
                                                     size_t row_size, const bigtable_filter* filter,
                                                     bigtable_row_function function, void* context,
                                                     const bigtable_write_options* options);

// --- Reads (table.h) ---

// The newest value of a column, "family:qualifier". NotFound: the row has no cell in it.
bigtable_error* bigtable_table_get(bigtable_table* table, const char* row, size_t row_size,
                                   const char* column, size_t column_size,
                                   const bigtable_read_options* options, bigtable_string** value);
// The cells of one row that pass the filter. A row without cells is an empty row, not an error.
bigtable_error* bigtable_table_read_row(bigtable_table* table, const char* row, size_t row_size,
                                        const bigtable_filter* filter,
                                        const bigtable_read_options* options,
                                        bigtable_row** result);
// Reads `count` rows as bigtable_table_read_row does, whose waits for the disk overlap. results[i]
// becomes row i, which belongs to the caller, or NULL if it could not be read. Returns NULL if all
// were, otherwise the error of the first that was not. If `errors` is not NULL, errors[i] becomes
// NULL if row i was read, otherwise its error, which belongs to the caller.
bigtable_error* bigtable_table_get_rows(bigtable_table* table, const char* const* rows,
                                        const size_t* row_sizes, size_t count,
                                        const bigtable_filter* filter,
                                        const bigtable_read_options* options,
                                        bigtable_row** results, bigtable_error** errors);
// A stream of the rows of the set that have cells which pass the filter, in key order. If `set` is
// NULL: of all rows. The stream pins memory and files: free it soon.
bigtable_error* bigtable_table_read_rows(bigtable_table* table, const bigtable_row_set* set,
                                         const bigtable_filter* filter,
                                         const bigtable_read_options* options,
                                         bigtable_rows** rows);
// Moves to the next row. *row belongs to the stream, and is valid until the next call or until the
// stream is freed. At the end, *row becomes NULL. After an error, every call returns that error.
bigtable_error* bigtable_rows_next(bigtable_rows* rows, const bigtable_row** row);
void bigtable_rows_free(bigtable_rows* rows);

// Packed cells: many cells of a stream from one call, for languages in which a call costs more than
// a copy. A record for each cell, and the text of all of them in one piece of memory, in the order
// of the records and without gaps: of each cell its row, family, qualifier, label and value. A row,
// and a family, is there only once for all cells in sequence that have it.
typedef struct bigtable_packed_cell {
  uint64_t text;            // where the text of the cell begins in the text of all cells
  int64_t timestamp;        // in microseconds
  uint32_t row_size;        // 0: the row of the cell before
  uint32_t family_size;     // 0: the family of the cell before
  uint32_t qualifier_size;  // may be 0
  uint32_t label_size;      // 0: no label
  uint64_t value_size;      // may be 0
} bigtable_packed_cell;
// Moves over the next rows, and packs their cells: of at least one row, and of more as long as the
// text of all has fewer than `text_limit` bytes. Only whole rows; the first cell has a row and a
// family. *cells and *text belong to the stream, and are valid until the next call with the stream
// or until it is freed. At the end, *count becomes 0, and *cells and *text NULL. An error after the
// first row is returned by the next call. A resume token stands behind the last row of the cells.
bigtable_error* bigtable_rows_next_packed(bigtable_rows* rows, size_t text_limit,
                                          const bigtable_packed_cell** cells, size_t* count,
                                          const char** text, size_t* text_size);

// Where the stream stands: behind the last row that bigtable_rows_next has returned, also after an
// error or a limit. Bytes that may be stored, also for later openings: RowReader::ResumeToken.
bigtable_error* bigtable_rows_get_resume_token(const bigtable_rows* rows, bigtable_string** token);
// A stream of the rows that were left when the token was taken. It takes the filter and the order
// from the arguments: they should be those of the first stream. A limit counts from here on.
// InvalidArgument: the text is not a token, or is of another table or of the other order.
bigtable_error* bigtable_table_resume_rows(bigtable_table* table, const char* token,
                                           size_t token_size, const bigtable_filter* filter,
                                           const bigtable_read_options* options,
                                           bigtable_rows** rows);

// --- Change streams (change_stream.h) ---
//
// Every change of a table with a change stream (bigtable_database_set_change_stream), once, in the
// order of the commits, from a position on that the program keeps.

// New options, and NULL in their place: all rows, from the call of bigtable_table_read_changes on.
bigtable_change_options* bigtable_change_options_new(void);
void bigtable_change_options_free(bigtable_change_options* options);
// The rows from `begin` on, and before `end`; NULL: to the end of the table.
bigtable_error* bigtable_change_options_set_rows(bigtable_change_options* options,
                                                 const char* begin, size_t begin_size,
                                                 const char* end, size_t end_size);
// Where to go on: one more position of an earlier stream.
bigtable_error* bigtable_change_options_add_position(bigtable_change_options* options,
                                                     const char* position, size_t position_size);
// Without positions: from the first change on that was committed at this time, in microseconds
// since 1970, or later. INT64_MIN: from the oldest that is kept.
void bigtable_change_options_set_since(bigtable_change_options* options, int64_t micros);
// The stream ends when its rows are not, or are no longer, those of one tablet.
void bigtable_change_options_set_ends_with_tablets(bigtable_change_options* options, bool value);
// The timeout is of all calls of bigtable_changes_next together.
void bigtable_change_options_set_timeout(bigtable_change_options* options, int64_t micros);
void bigtable_change_options_set_cancellation(bigtable_change_options* options,
                                              const bigtable_cancellation* cancellation);

// A stream of the changes of a table: Table::ReadChanges. It pins no file and no memory, so it may
// be left open. One thread at a time. It must be freed before the database is.
bigtable_error* bigtable_table_read_changes(bigtable_table* table,
                                            const bigtable_change_options* options,
                                            bigtable_changes** changes);
void bigtable_changes_free(bigtable_changes* changes);
// Moves to the next change. If there is none yet, waits up to so many microseconds for one. *change
// belongs to the stream, and is valid until the next call or until the stream is freed. If there is
// none, or the stream has ended, *change becomes NULL. After an error, every call returns that
// error: those of ChangeStream::status.
bigtable_error* bigtable_changes_next(bigtable_changes* changes, int64_t wait_micros,
                                      const bigtable_change** change);
// Where a stream goes on that has returned everything up to the present change: bytes to keep for
// bigtable_change_options_add_position. Empty if an error was the first thing to happen.
bigtable_error* bigtable_changes_get_position(bigtable_changes* changes,
                                              bigtable_string** position);
// Every change that was committed before this time, in microseconds since 1970, has been returned.
// INT64_MIN while nothing was looked for.
int64_t bigtable_changes_complete_through(const bigtable_changes* changes);
// Whether the stream has ended with its tablet, and then the tablets that have its rows now:
// ChangeStream::successors. Indexes begin at 0. If there are not so many, text is NULL; the end is
// also NULL if the rows have none.
bool bigtable_changes_has_ended(const bigtable_changes* changes);
size_t bigtable_changes_successor_count(const bigtable_changes* changes);
const char* bigtable_changes_successor_begin(const bigtable_changes* changes, size_t index,
                                             size_t* size);
const char* bigtable_changes_successor_end(const bigtable_changes* changes, size_t index,
                                           size_t* size);
const char* bigtable_changes_successor_position(const bigtable_changes* changes, size_t index,
                                                size_t* size);

// What a change is: TableChange::Kind. New kinds may be added.
enum {
  BIGTABLE_CHANGE_MUTATION = 0,   // of a row
  BIGTABLE_CHANGE_DROP_ROWS = 1,  // rows were dropped: bigtable_table_drop_rows
  BIGTABLE_CHANGE_FAMILIES = 2,   // families were added, changed or dropped
  // a compaction has removed cells that were garbage by the rules of families
  BIGTABLE_CHANGE_GARBAGE_COLLECTION = 3
};

// What a change does not have, because it is of another kind, is NULL or 0; a count is 0.
int bigtable_change_kind(const bigtable_change* change);
// The number of its commit: the snapshots with this bigtable_snapshot_sequence or a larger one see
// it.
uint64_t bigtable_change_sequence(const bigtable_change* change);
// When it was committed, in microseconds since 1970.
int64_t bigtable_change_time(const bigtable_change* change);
// The same number for all mutations of a batch or a transaction, also those of other tables; 0: it
// was applied alone.
uint64_t bigtable_change_batch(const bigtable_change* change);
// Of a mutation: its row, and a copy, which belongs to the caller and can be applied to another
// table.
const char* bigtable_change_row(const bigtable_change* change, size_t* size);
bigtable_mutation* bigtable_change_get_mutation(const bigtable_change* change);
// The operations of a mutation, as those of bigtable_observed_mutation_count, with the timestamps
// that the cells have got.
size_t bigtable_change_count(const bigtable_change* change);
int bigtable_change_operation_kind(const bigtable_change* change, size_t index);
const char* bigtable_change_operation_family(const bigtable_change* change, size_t index,
                                             size_t* size);
const char* bigtable_change_operation_qualifier(const bigtable_change* change, size_t index,
                                                size_t* size);
const char* bigtable_change_operation_value(const bigtable_change* change, size_t index,
                                            size_t* size);
int64_t bigtable_change_operation_timestamp(const bigtable_change* change, size_t index);
int64_t bigtable_change_operation_end(const bigtable_change* change, size_t index);
// Of rows that were dropped: from `begin` on, and before `end`. A NULL end: to the end of the
// table.
const char* bigtable_change_drop_begin(const bigtable_change* change, size_t* size);
const char* bigtable_change_drop_end(const bigtable_change* change, size_t* size);
// Of a change of families: the schema after it, which belongs to the caller, and the names of those
// that were added. These are empty, also if there was a family of the name before.
bigtable_schema* bigtable_change_get_schema(const bigtable_change* change);
size_t bigtable_change_new_family_count(const bigtable_change* change);
const char* bigtable_change_new_family(const bigtable_change* change, size_t index, size_t* size);
// Of a garbage collection: its rows, as those that were dropped; the families; and the time as of
// which their rules were applied, in microseconds since 1970 (TableChange::collected_at).
const char* bigtable_change_collection_begin(const bigtable_change* change, size_t* size);
const char* bigtable_change_collection_end(const bigtable_change* change, size_t* size);
size_t bigtable_change_collected_family_count(const bigtable_change* change);
const char* bigtable_change_collected_family(const bigtable_change* change, size_t index,
                                             size_t* size);
int64_t bigtable_change_collected_at(const bigtable_change* change);

// --- Followers (follower.h) ---

// A database of its own that has what another one had a moment ago, and that can take over.

// Like FollowerOptions.
bigtable_follower_options* bigtable_follower_options_new(void);
void bigtable_follower_options_free(bigtable_follower_options* options);
// Of the follower's own database; they are copied. NULL: the defaults.
void bigtable_follower_options_set_database(bigtable_follower_options* options,
                                            const bigtable_options* database);
// Follows this table, and others that are added. None: all with a change stream.
bigtable_error* bigtable_follower_options_add_table(bigtable_follower_options* options,
                                                    const char* table, size_t table_size);
// How long it waits, with nothing to apply, before it looks again.
void bigtable_follower_options_set_interval(bigtable_follower_options* options, int64_t micros);
// The name under which it registers as a reader of changes: FollowerOptions::reader.
bigtable_error* bigtable_follower_options_set_reader(bigtable_follower_options* options,
                                                     const char* reader, size_t reader_size);

// Opens or creates the follower's database in a directory, and begins to follow: Follower::Open.
// `source` outlives the follower: a database of this process, or of another one, opened with
// bigtable_options_set_follow. `options` may be NULL. Errors of Follower::Open, such as OutOfRange:
// begin with a checkpoint. A follower can be used by several threads at a time, except to promote,
// close or free it.
bigtable_error* bigtable_follower_open(const char* path, size_t path_size,
                                       bigtable_database* source,
                                       const bigtable_follower_options* options,
                                       bigtable_follower** follower);
// Stops, and closes the follower's database, unless it was promoted. A second call returns NULL.
// Does not free the handle.
bigtable_error* bigtable_follower_close(bigtable_follower* follower);
// Closes the follower if it is not closed or promoted.
void bigtable_follower_free(bigtable_follower* follower);

// The follower's database, to read from. It belongs to the follower: do not close or free it, and
// do not use it after the follower was closed, promoted or freed.
bigtable_database* bigtable_follower_database(bigtable_follower* follower);
// Waits until it has everything that the other database had when the call began.
bigtable_error* bigtable_follower_catch_up(bigtable_follower* follower,
                                           const bigtable_call_options* options);

// Since it was opened.
uint64_t bigtable_follower_changes_applied(const bigtable_follower* follower);
uint64_t bigtable_follower_bytes_applied(const bigtable_follower* follower);
// It has everything that was committed before this time, in microseconds since 1970. INT64_MIN
// before it has caught up for the first time.
int64_t bigtable_follower_complete_through(const bigtable_follower* follower);
// The time since then, in microseconds; INT64_MAX before.
int64_t bigtable_follower_lag(const bigtable_follower* follower);
// Why it does not go on: FollowerStatistics::status. NULL: it does.
bigtable_error* bigtable_follower_status(const bigtable_follower* follower);

// Ends following, and makes the follower's database one to be written, which the caller closes and
// frees: Follower::Promote. `fence_directory` is that of the other database, which is fenced first;
// if it is empty, whoever calls must see to it that nobody writes there. After an error it follows
// as before. After success only bigtable_follower_close and bigtable_follower_free may be called.
// FailedPrecondition: a process has the directory open for writing.
bigtable_error* bigtable_follower_promote(bigtable_follower* follower, const char* fence_directory,
                                          size_t fence_directory_size,
                                          const bigtable_call_options* options,
                                          bigtable_database** writer);
// From here on no process opens the database in the directory for writing, until its file FENCED is
// removed: FenceDatabase.
bigtable_error* bigtable_fence_database(const char* directory, size_t directory_size);

// --- Sizes, and deleting many rows (table.h) ---

// Rows that divide the table into parts of about equal size, in key order.
bigtable_error* bigtable_table_sample_row_keys(bigtable_table* table,
                                               const bigtable_call_options* options,
                                               bigtable_row_key_samples** samples);
// At least 1. Indexes begin at 0.
size_t bigtable_row_key_samples_count(const bigtable_row_key_samples* samples);
// Empty in the last sample, which stands for the end of the table. NULL if there are not so many.
const char* bigtable_row_key_samples_row(const bigtable_row_key_samples* samples, size_t index,
                                         size_t* size);
// About how many bytes the rows before this one take. 0 if there are not so many.
uint64_t bigtable_row_key_samples_offset(const bigtable_row_key_samples* samples, size_t index);
void bigtable_row_key_samples_free(bigtable_row_key_samples* samples);

// How files are ingested: the flags of bigtable_table_ingest.
enum {
  BIGTABLE_INGEST_OLDEST = 1,      // IngestOptions::Wins::kOldest
  BIGTABLE_INGEST_MOVE = 2,        // IngestOptions::moves_files
  BIGTABLE_INGEST_UNVERIFIED = 4,  // the files are right
};
// Makes SSTables that were written elsewhere part of the table, all of them at one moment:
// Table::Ingest. `flags` is the sum of those of BIGTABLE_INGEST_ that hold. The number of entries
// goes to `*entries`, unless that is NULL.
bigtable_error* bigtable_table_ingest(bigtable_table* table, const bigtable_string_list* files,
                                      uint32_t flags, const bigtable_call_options* options,
                                      uint64_t* entries);

// About how many bytes the rows of each range take: sizes[i] for the row, range or prefix that was
// added to the set as number i. InvalidArgument: `count` is not the number of additions. If `set`
// is NULL: of all rows, with a count of 1. After an error all sizes are 0.
bigtable_error* bigtable_table_get_approximate_sizes(bigtable_table* table,
                                                     const bigtable_row_set* set,
                                                     const bigtable_call_options* options,
                                                     uint64_t* sizes, size_t count);
// Drops the rows of the set, one range after another, without reading or writing them:
// Table::DropRowRange. After an error some of the rows may be gone and others not; repeat the call.
// The set must not be NULL. One that contains all rows is made by adding the empty prefix.
bigtable_error* bigtable_table_drop_rows(bigtable_table* table, const bigtable_row_set* set,
                                         const bigtable_call_options* options);

// --- Rows (row.h) ---
//
// Cells are ordered by family, qualifier, and timestamp from new to old. Indexes begin at 0. If
// there is no such cell, text is NULL and a timestamp is -1.

const char* bigtable_row_key(const bigtable_row* row, size_t* size);
size_t bigtable_row_cell_count(const bigtable_row* row);
const char* bigtable_row_cell_family(const bigtable_row* row, size_t index, size_t* size);
const char* bigtable_row_cell_qualifier(const bigtable_row* row, size_t index, size_t* size);
int64_t bigtable_row_cell_timestamp(const bigtable_row* row, size_t index);
const char* bigtable_row_cell_value(const bigtable_row* row, size_t index, size_t* size);
// Empty if the cell has no label.
const char* bigtable_row_cell_label(const bigtable_row* row, size_t index, size_t* size);
// Only for a row that belongs to the caller, not for one of a stream or of a function's call.
void bigtable_row_free(bigtable_row* row);

// --- Functions that a program registers ---
//
// Observers, compaction filters and operators of aggregates: functions of the program under a name,
// for all databases of the process, until it ends. Schemas refer to the names. A program that lacks
// a name which a table's schema has can open the database; what it cannot do then is stated at
// TableSchema::observers, Family::compaction_filter and Family::value_operator (schema.h).
//
// Registration. By any thread, before a schema with the name is used. InvalidArgument: a name that
// does not have 1 to 64 printable ASCII characters without space and colon, or a null pointer.
// AlreadyExists: the name is taken, also by code in C++, which shares the names.
//
// Calls. `context` is passed on. The functions are called by any thread, also by several at a time,
// and by threads of the library: what `context` points to must allow that. They return to their
// caller: a longjmp out of them leaves the database unusable. An exception, of a function in C++,
// becomes the error of the call or of the background work that has called it.
// Handles and text that they are called with are valid during the call, and are not freed by them.
//
// The end of `context`. If the registration fails, for whatever reason, `destroy`, which may be
// NULL, is called once with `context`, before the registration returns. After a success it is never
// called, not even at the end of the process: until that end, the functions may be called.

// --- Observers (mutation_observer.h) ---
//
// They are called before and after each mutation of the tables whose schemas name them, whichever
// way it is written. Writes to such tables are transactions, and are tried again after a conflict.
// So an observer may be called several times before a write, and only the last time counts.

// Called before a mutation is applied. NULL: it may be. An error, which passes to the library,
// refuses it: nothing is applied, and the call that writes returns an error with the same code and
// message; codes may be the program's own, as for bigtable_transaction_function. It
// changes things only by the functions of `write`. Any other effect may happen several times, and
// also for a mutation that is never applied. No lock is held, and no other write waits for it.
typedef bigtable_error* (*bigtable_before_function)(void* context,
                                                    const bigtable_observed_mutation* mutation,
                                                    bigtable_observer_context* write);
// Called once the mutation is committed, before the write returns: one call at a time in a
// database, in the order of the commits, by the thread of some write. `sequence` is the number of
// the commit: the snapshots with this bigtable_snapshot_sequence or a larger one see it. It may
// read; writes to tables with observers are FailedPrecondition. Other writes wait for it. It is not
// called if the write returns an error, nor if the process ends first.
typedef void (*bigtable_after_function)(void* context, const bigtable_observed_mutation* mutation,
                                        uint64_t sequence);

// Registers an observer. One of the functions may be NULL. Without `after`, writes need not wait
// for one another's calls.
bigtable_error* bigtable_mutation_observer_register(const char* name, size_t name_size,
                                                    bigtable_before_function before,
                                                    bigtable_after_function after, void* context,
                                                    bigtable_destroy_function destroy);
// The names of all registered observers. Sorted.
bigtable_error* bigtable_mutation_observer_list_names(bigtable_string_list** names);

// The functions of mutations: OperationKind. New kinds may be added.
enum {
  BIGTABLE_OPERATION_SET = 0,
  BIGTABLE_OPERATION_ADD_TO_CELL = 1,
  BIGTABLE_OPERATION_MERGE_TO_CELL = 2,
  BIGTABLE_OPERATION_DELETE_COLUMN = 3,
  BIGTABLE_OPERATION_DELETE_CELL = 4,
  BIGTABLE_OPERATION_DELETE_TIME_RANGE = 5,
  BIGTABLE_OPERATION_DELETE_FAMILY = 6,
  BIGTABLE_OPERATION_DELETE_ROW = 7
};

// The table of the mutation, opened for the program itself, and the row.
bigtable_table* bigtable_observed_mutation_table(const bigtable_observed_mutation* mutation);
const char* bigtable_observed_mutation_row(const bigtable_observed_mutation* mutation,
                                           size_t* size);
// A copy, which belongs to the caller and outlives the call. It can be applied to other tables.
bigtable_mutation* bigtable_observed_mutation_get_copy(const bigtable_observed_mutation* mutation);
// The operations, in the order of their calls. Indexes begin at 0. If there are not so many, the
// kind is -1, and text is NULL. Text that an operation of this kind does not have is empty.
size_t bigtable_observed_mutation_count(const bigtable_observed_mutation* mutation);
int bigtable_observed_mutation_kind(const bigtable_observed_mutation* mutation, size_t index);
const char* bigtable_observed_mutation_family(const bigtable_observed_mutation* mutation,
                                              size_t index, size_t* size);
const char* bigtable_observed_mutation_qualifier(const bigtable_observed_mutation* mutation,
                                                 size_t index, size_t* size);
const char* bigtable_observed_mutation_value(const bigtable_observed_mutation* mutation,
                                             size_t index, size_t* size);
// -1: the server's time, or a deletion of more than a cell. Of a time range, its begin.
int64_t bigtable_observed_mutation_timestamp(const bigtable_observed_mutation* mutation,
                                             size_t index);
// The end of a time range; -1 for all other operations.
int64_t bigtable_observed_mutation_end(const bigtable_observed_mutation* mutation, size_t index);

// What can be done before a write, by the thread of the call only: ObserverContext. The timeout and
// the cancellation are those of the write. What is read counts as read by the write: if it changes
// before the commit, all is done again. `filter` may be NULL.
//
// The row of the mutation as it is without it, and as it will be with it and with what observers
// called before this one have added to the row.
bigtable_error* bigtable_observer_context_read_before(bigtable_observer_context* write,
                                                      const bigtable_filter* filter,
                                                      bigtable_row** result);
bigtable_error* bigtable_observer_context_read_after(bigtable_observer_context* write,
                                                     const bigtable_filter* filter,
                                                     bigtable_row** result);
// Any row, and rows as a stream, without the mutation. `set` may be NULL: all rows. A stream must
// be freed before the observer returns.
bigtable_error* bigtable_observer_context_read_row(bigtable_observer_context* write,
                                                   bigtable_table* table, const char* row,
                                                   size_t row_size, const bigtable_filter* filter,
                                                   bigtable_row** result);
bigtable_error* bigtable_observer_context_read_rows(bigtable_observer_context* write,
                                                    bigtable_table* table,
                                                    const bigtable_row_set* set,
                                                    const bigtable_filter* filter,
                                                    bigtable_rows** rows);
// A table of the database, which belongs to it. Costs some microseconds.
bigtable_error* bigtable_observer_context_open_table(bigtable_observer_context* write,
                                                     const char* name, size_t name_size,
                                                     bigtable_table** table);
// Adds a copy of a mutation of any row and table of the database, which is applied if and only if
// the observed one is, after it. If it is of another row, and of a table with observers, these are
// called for it too, up to 8 deep.
bigtable_error* bigtable_observer_context_apply(bigtable_observer_context* write,
                                                bigtable_table* table,
                                                const bigtable_mutation* mutation);

// --- Compaction filters (compaction_filter.h) ---
//
// Compactions that include the oldest SSTables pass to the filter of a family the cells that they
// would keep, which must be bytes. Before that, reads return a cell as it was written.

// What a filter decides.
enum {
  BIGTABLE_COMPACTION_FILTER_KEEP = 0,
  BIGTABLE_COMPACTION_FILTER_REMOVE = 1,
  BIGTABLE_COMPACTION_FILTER_REPLACE = 2  // keep the cell, with another value
};

// Decides about a cell. To replace its value, it assigns the new one to `value`, which is empty
// before the call (bigtable_string_assign); more than 256 MiB fail the compaction. It only
// computes, and must not call the database. Every other number keeps the cell. Cost: a call for
// each cell.
typedef int (*bigtable_compaction_filter_function)(void* context,
                                                   const bigtable_compacted_cell* cell,
                                                   bigtable_string* value);
// Registers a filter.
bigtable_error* bigtable_compaction_filter_register(const char* name, size_t name_size,
                                                    bigtable_compaction_filter_function function,
                                                    void* context,
                                                    bigtable_destroy_function destroy);
// The names of all registered filters. Sorted.
bigtable_error* bigtable_compaction_filter_list_names(bigtable_string_list** names);

// The cell, and the time when the compaction began, by the database's clock.
const char* bigtable_compacted_cell_row(const bigtable_compacted_cell* cell, size_t* size);
const char* bigtable_compacted_cell_family(const bigtable_compacted_cell* cell, size_t* size);
const char* bigtable_compacted_cell_qualifier(const bigtable_compacted_cell* cell, size_t* size);
int64_t bigtable_compacted_cell_timestamp(const bigtable_compacted_cell* cell);
const char* bigtable_compacted_cell_value(const bigtable_compacted_cell* cell, size_t* size);
int64_t bigtable_compacted_cell_now(const bigtable_compacted_cell* cell);

// --- Operators of aggregates (aggregate.h) ---
//
// They merge the contributions to a cell of a family that names them
// (bigtable_schema_set_value_operator). Their functions only compute, and must not call the
// database. What they store stays: an operator keeps its meaning as long as there are families of
// it.

// Whether the operator takes an input or a state that is written. An error, which passes to the
// library, is that of the write, which adds the family to its message.
typedef bigtable_error* (*bigtable_check_function)(void* context, const char* text, size_t size);
// Assigns to `state`, which is empty before the call, the state of a cell with one input.
typedef void (*bigtable_state_function)(void* context, const char* input, size_t input_size,
                                        bigtable_string* state);
// Assigns to `state`, which has what was written later, the state of the contributions of both.
// Associative. An error, which passes to the library, fails the read or the compaction. `older` and
// `state` may be corrupt.
typedef bigtable_error* (*bigtable_merge_function)(void* context, const char* older,
                                                   size_t older_size, bigtable_string* state);
// Registers an operator. The checks may be NULL: everything is taken. `state_of` may be NULL: the
// state of an input is the input.
bigtable_error* bigtable_aggregate_operator_register(const char* name, size_t name_size,
                                                     bigtable_check_function check_input,
                                                     bigtable_check_function check_state,
                                                     bigtable_state_function state_of,
                                                     bigtable_merge_function merge, void* context,
                                                     bigtable_destroy_function destroy);
// The names of all registered operators. Sorted.
bigtable_error* bigtable_aggregate_operator_list_names(bigtable_string_list** names);

// NOLINTEND(readability-identifier-naming)
#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // BIGTABLE_C_H_
