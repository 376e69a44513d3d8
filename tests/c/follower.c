#include <stdio.h>
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

// Two directories in the one of the test.
struct Directories {
  char source[4200];
  char own[4200];
};
static struct Directories In(const char* directory) {
  struct Directories made;
  snprintf(made.source, sizeof(made.source), "%s/source", directory);
  snprintf(made.own, sizeof(made.own), "%s/own", directory);
  return made;
}

static bigtable_table* CreateFollowed(bigtable_database* database, const char* name) {
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("contents"), NULL, 0, NULL));
  bigtable_schema_set_change_stream(schema, INT64_C(3600000000), UINT64_C(1) << 30);
  bigtable_table* table = NULL;
  EXPECT_OK(
      bigtable_database_open_or_create_table(database, name, strlen(name), schema, NULL, &table));
  bigtable_schema_free(schema);
  return table;
}

static const char* RowsOf(bigtable_database* database, const char* name) {
  bigtable_table* table = NULL;
  EXPECT_OK(bigtable_database_open_table(database, name, strlen(name), &table));
  bigtable_rows* rows = NULL;
  EXPECT_OK(bigtable_table_read_rows(table, NULL, NULL, NULL, &rows));
  return KeysOf(rows);
}

void AFollowerHasWhatTheOtherDatabaseHas(const char* directory) {
  const struct Directories at = In(directory);
  bigtable_database* const source = OpenDatabase(at.source);
  bigtable_table* const table = CreateFollowed(source, "t");
  WriteCell(table, "a", 1, "v");
  bigtable_options* const database_options = TestOptions();
  bigtable_follower_options* const options = bigtable_follower_options_new();
  bigtable_follower_options_set_database(options, database_options);
  bigtable_follower_options_set_interval(options, 1000);
  EXPECT_OK(bigtable_follower_options_add_table(options, TEXT("t")));
  EXPECT_OK(bigtable_follower_options_set_reader(options, TEXT("standby")));
  bigtable_follower* follower = NULL;
  EXPECT_OK(bigtable_follower_open(at.own, strlen(at.own), source, options, &follower));
  EXPECT_OK(bigtable_follower_catch_up(follower, NULL));
  WriteCell(table, "b", 1, "v");
  EXPECT_OK(bigtable_follower_catch_up(follower, NULL));
  EXPECT(strcmp(RowsOf(bigtable_follower_database(follower), "t"), "a b ") == 0);
  EXPECT(bigtable_follower_changes_applied(follower) == 2);
  EXPECT(bigtable_follower_bytes_applied(follower) > 0);
  EXPECT(bigtable_follower_complete_through(follower) > 0);
  EXPECT(bigtable_follower_lag(follower) < INT64_C(60000000));
  EXPECT_OK(bigtable_follower_status(follower));
  EXPECT_OK(bigtable_follower_close(follower));
  bigtable_follower_free(follower);

  EXPECT_OK(bigtable_follower_options_add_table(options, TEXT("missing")));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "missing",
               bigtable_follower_open(at.own, strlen(at.own), source, options, &follower));
  EXPECT(follower == NULL);
  bigtable_follower_options_set_database(options, NULL);
  bigtable_follower_options_set_interval(options, 0);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "interval",
               bigtable_follower_open(at.own, strlen(at.own), source, options, &follower));
  bigtable_follower_options_free(options);
  bigtable_options_free(database_options);
  bigtable_database_free(source);
}

void AFollowerIsPromotedAndFencesTheOtherDatabase(const char* directory) {
  const struct Directories at = In(directory);
  bigtable_database* writer = OpenDatabase(at.source);
  WriteCell(CreateFollowed(writer, "t"), "a", 1, "v");
  bigtable_options* const beside = TestOptions();
  bigtable_options_set_follow(beside, -1);
  bigtable_database* source = NULL;
  EXPECT_OK(bigtable_database_open(at.source, strlen(at.source), beside, &source));
  bigtable_options_free(beside);
  bigtable_follower* follower = NULL;
  EXPECT_OK(bigtable_follower_open(at.own, strlen(at.own), source, NULL, &follower));
  bigtable_database* promoted = NULL;
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "",
               bigtable_follower_promote(follower, at.source, strlen(at.source), NULL, &promoted));
  EXPECT(promoted == NULL);
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "",
               bigtable_fence_database(at.source, strlen(at.source)));
  bigtable_database_free(writer);

  EXPECT_OK(bigtable_follower_promote(follower, at.source, strlen(at.source), NULL, &promoted));
  bigtable_follower_free(follower);
  bigtable_database_free(source);
  bigtable_table* table = NULL;
  EXPECT_OK(bigtable_database_open_table(promoted, TEXT("t"), &table));
  WriteCell(table, "b", 1, "v");
  EXPECT(strcmp(RowsOf(promoted, "t"), "a b ") == 0);
  EXPECT_OK(bigtable_database_close(promoted));
  bigtable_database_free(promoted);
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "is fenced",
               bigtable_database_open(at.source, strlen(at.source), NULL, &writer));
  EXPECT_OK(bigtable_fence_database(at.own, strlen(at.own)));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "", bigtable_fence_database(directory, strlen(directory)));
}

void FunctionsOfFollowersRefuseNullPointers(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_follower* follower = NULL;
  bigtable_database* writer = NULL;
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "follower",
               bigtable_follower_open(TEXT("/x"), database, NULL, NULL));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "path",
               bigtable_follower_open(NULL, 1, database, NULL, &follower));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "source",
               bigtable_follower_open(TEXT("/x"), NULL, NULL, &follower));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "follower", bigtable_follower_catch_up(NULL, NULL));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "follower", bigtable_follower_status(NULL));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "follower", bigtable_follower_close(NULL));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "follower",
               bigtable_follower_promote(NULL, NULL, 0, NULL, &writer));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "writer",
               bigtable_follower_promote(NULL, NULL, 0, NULL, NULL));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "directory", bigtable_fence_database(NULL, 1));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "options",
               bigtable_follower_options_add_table(NULL, TEXT("t")));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "options",
               bigtable_follower_options_set_reader(NULL, TEXT("r")));
  bigtable_follower_free(NULL);
  bigtable_follower_options_free(NULL);
  bigtable_database_free(database);
}
