// A database with a table "web", which has the families "contents" and "anchor".
#ifndef BIGTABLE_TESTS_C_FIXTURE_H_
#define BIGTABLE_TESTS_C_FIXTURE_H_

#include "bigtable/c.h"

struct Fixture {
  bigtable_database* database;
  bigtable_table* table;
};

// Options for small databases.
bigtable_options* TestOptions(void);
bigtable_database* OpenDatabase(const char* directory);
struct Fixture OpenFixture(const char* directory);
// Closes and frees the database.
void CloseFixture(struct Fixture* fixture);

// Writes "contents:" of a row, at a timestamp.
void WriteCell(bigtable_table* table, const char* row, int64_t timestamp, const char* value);
// The keys of the rows that a stream returns, each with a space behind it. Reads the stream to its
// end, and frees it.
const char* KeysOf(bigtable_rows* rows);

#endif  // BIGTABLE_TESTS_C_FIXTURE_H_
