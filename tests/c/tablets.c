// Tablets by request, and the schemas of existing tables.
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

// "begin-end@server" of each tablet of "web", each with a space behind it.
static const char* TabletsOf(bigtable_database* database) {
  static char text[1024];
  text[0] = '\0';
  bigtable_tablets* tablets = NULL;
  EXPECT_OK(bigtable_database_list_tablets(database, TEXT("web"), &tablets));
  for (size_t i = 0; i < bigtable_tablets_count(tablets); ++i) {
    size_t size = 0;
    const char* const begin = bigtable_tablets_begin_row(tablets, i, &size);
    strncat(text, begin, size);
    strcat(text, "-");
    const char* const end = bigtable_tablets_end_row(tablets, i, &size);
    strncat(text, end, size);
    strcat(text, bigtable_tablets_server(tablets, i) == 0 ? "@0 " : "@1 ");
  }
  bigtable_tablets_free(tablets);
  return text;
}

void TabletsAreSplitMovedAndMerged(const char* directory) {
  bigtable_options* const options = TestOptions();
  bigtable_options_set_tablet_servers(options, 2);
  bigtable_options_set_balance_interval(options, INT64_MAX);
  bigtable_database* database = NULL;
  EXPECT_OK(bigtable_database_open(directory, strlen(directory), options, &database));
  EXPECT_OK(bigtable_database_close(database));
  bigtable_database_free(database);
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "a", 1, "v");
  WriteCell(fixture.table, "z", 1, "v");
  CloseFixture(&fixture);
  EXPECT_OK(bigtable_database_open(directory, strlen(directory), options, &database));
  bigtable_options_free(options);

  EXPECT_OK(bigtable_database_split_tablet(database, TEXT("web"), TEXT("m"), NULL));
  EXPECT_OK(bigtable_database_move_tablet(database, TEXT("web"), TEXT("a"), 0, NULL));
  EXPECT_OK(bigtable_database_move_tablet(database, TEXT("web"), TEXT("z"), 1, NULL));
  EXPECT(strcmp(TabletsOf(database), "-m@0 m-@1 ") == 0);
  EXPECT_OK(bigtable_database_compact(database, TEXT("web"), NULL));  // a file for each
  bigtable_tablets* tablets = NULL;
  EXPECT_OK(bigtable_database_list_tablets(database, TEXT("web"), &tablets));
  EXPECT(bigtable_tablets_disk_bytes(tablets, 0) > 0);
  EXPECT(bigtable_tablets_disk_bytes(tablets, 2) == 0);
  EXPECT(bigtable_tablets_server(tablets, 2) == -1);
  size_t size = 7;
  EXPECT(bigtable_tablets_begin_row(tablets, 2, &size) == NULL && size == 0);
  EXPECT(bigtable_tablets_end_row(tablets, 2, NULL) == NULL);
  EXPECT_TEXT("", bigtable_tablets_end_row(tablets, 1, &size), size);
  bigtable_tablets_free(tablets);
  bigtable_tablets_free(NULL);

  const int code = BIGTABLE_INVALID_ARGUMENT;
  EXPECT_ERROR(BIGTABLE_ALREADY_EXISTS, "m",
               bigtable_database_split_tablet(database, TEXT("web"), TEXT("m"), NULL));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "x",
               bigtable_database_merge_tablets(database, TEXT("web"), TEXT("x"), NULL));
  EXPECT_ERROR(code, "", bigtable_database_move_tablet(database, TEXT("web"), TEXT("a"), 2, NULL));
  EXPECT_OK(bigtable_database_merge_tablets(database, TEXT("web"), TEXT("m"), NULL));
  EXPECT(strlen(TabletsOf(database)) == strlen("-@0 "));

  EXPECT_ERROR(code, "argument row",
               bigtable_database_split_tablet(database, TEXT("web"), NULL, 1, NULL));
  EXPECT_ERROR(code, "argument table",
               bigtable_database_merge_tablets(database, NULL, 1, TEXT("m"), NULL));
  EXPECT_ERROR(code, "argument database",
               bigtable_database_move_tablet(NULL, TEXT("web"), TEXT("a"), 0, NULL));
  EXPECT_ERROR(code, "argument tablets",
               bigtable_database_list_tablets(database, TEXT("web"), NULL));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "x",
               bigtable_database_list_tablets(database, TEXT("x"), &tablets));
  EXPECT(tablets == NULL);
  bigtable_database_free(database);
}

static const char* Listed(bigtable_string_list* list) {
  static char text[256];
  text[0] = '\0';
  for (size_t i = 0; i < bigtable_string_list_count(list); ++i) {
    strcat(text, bigtable_string_list_get(list, i, NULL));
    strcat(text, " ");
  }
  bigtable_string_list_free(list);
  return text;
}

void ASchemaDescribesItsFamilies(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_access_list* const list = bigtable_access_list_new();
  EXPECT_OK(bigtable_database_set_access_list(database, TEXT("staff"), list, NULL));
  bigtable_access_list_free(list);
  bigtable_schema* schema = bigtable_schema_new();
  bigtable_locality_group* const group = bigtable_locality_group_new();
  EXPECT_OK(bigtable_schema_add_locality_group(schema, TEXT("pages"), group));
  bigtable_locality_group_free(group);
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("f"), TEXT("pages"), NULL));
  EXPECT_OK(bigtable_schema_set_access_list(schema, TEXT("f"), TEXT("staff")));
  EXPECT_OK(bigtable_schema_set_owner(schema, TEXT("f"), TEXT("ann")));
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("sum"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_set_value_type(schema, TEXT("sum"), BIGTABLE_VALUE_INT64_SUM));
  EXPECT_OK(bigtable_database_create_table(database, TEXT("t"), schema, NULL));
  bigtable_schema_free(schema);

  EXPECT_OK(bigtable_database_get_schema(database, TEXT("t"), &schema));
  size_t size = 0;
  EXPECT_TEXT("pages", bigtable_schema_family_locality_group(schema, TEXT("f"), &size), size);
  EXPECT_TEXT("staff", bigtable_schema_family_access_list(schema, TEXT("f"), &size), size);
  EXPECT_TEXT("ann", bigtable_schema_family_owner(schema, TEXT("f"), &size), size);
  EXPECT_TEXT("", bigtable_schema_family_owner(schema, TEXT("sum"), &size), size);
  EXPECT(bigtable_schema_family_value_type(schema, TEXT("f")) == BIGTABLE_VALUE_BYTES);
  EXPECT(bigtable_schema_family_value_type(schema, TEXT("sum")) == BIGTABLE_VALUE_INT64_SUM);
  // By name only: neither is registered.
  EXPECT_OK(bigtable_schema_set_value_operator(schema, TEXT("f"), TEXT("an-operator")));
  EXPECT_OK(bigtable_schema_set_compaction_filter(schema, TEXT("f"), TEXT("a-filter")));
  EXPECT_TEXT("an-operator", bigtable_schema_family_value_operator(schema, TEXT("f"), &size), size);
  EXPECT_TEXT("a-filter", bigtable_schema_family_compaction_filter(schema, TEXT("f"), &size), size);

  EXPECT(bigtable_schema_family_value_type(schema, TEXT("x")) == -1);
  size = 7;
  EXPECT(bigtable_schema_family_locality_group(schema, TEXT("x"), &size) == NULL && size == 0);
  EXPECT(bigtable_schema_family_compaction_filter(schema, TEXT("x"), NULL) == NULL);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "an-operator",
               bigtable_database_create_table(database, TEXT("u"), schema, NULL));
  bigtable_schema_free(schema);
  bigtable_database_free(database);
}

void TheSchemaOfATableIsReadAndChanged(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_database* const database = fixture.database;
  bigtable_locality_group* const group = bigtable_locality_group_new();
  bigtable_locality_group_set_compaction(group, BIGTABLE_COMPACTION_FIFO);
  EXPECT_OK(bigtable_database_set_locality_group(database, TEXT("web"), TEXT("new"), group, NULL));
  EXPECT_OK(
      bigtable_database_add_family(database, TEXT("web"), TEXT("links"), TEXT("new"), NULL, NULL));
  EXPECT_OK(bigtable_database_set_split_rule(database, TEXT("web"), 1 << 20, 0, 4, NULL));

  const uint64_t megabyte = 1 << 20;
  EXPECT_OK(bigtable_database_set_change_stream(database, TEXT("web"), 1000000, megabyte, NULL));
  EXPECT_OK(bigtable_database_set_change_stream(database, TEXT("web"), 0, 0, NULL));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "retention of a change stream",
               bigtable_database_set_change_stream(database, TEXT("web"), 1, megabyte, NULL));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "max_bytes",
               bigtable_database_set_change_stream(database, TEXT("web"), 1000000, 1, NULL));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "argument table",
               bigtable_database_set_change_stream(database, NULL, 1, 0, 0, NULL));

  bigtable_schema* schema = NULL;
  EXPECT_OK(bigtable_database_get_schema(database, TEXT("web"), &schema));
  bigtable_string_list* names = NULL;
  EXPECT_OK(bigtable_schema_list_families(schema, &names));
  EXPECT(strcmp(Listed(names), "anchor contents links ") == 0);
  EXPECT_OK(bigtable_schema_list_locality_groups(schema, &names));
  EXPECT(strstr(Listed(names), "new ") != NULL);
  EXPECT_OK(bigtable_schema_list_observers(schema, &names));
  EXPECT(strcmp(Listed(names), "") == 0);
  // Another table like it.
  EXPECT_OK(bigtable_database_create_table(database, TEXT("copy"), schema, NULL));
  bigtable_schema_free(schema);
  EXPECT_OK(bigtable_database_get_schema(database, TEXT("copy"), &schema));
  EXPECT_OK(bigtable_schema_list_families(schema, &names));
  EXPECT(strcmp(Listed(names), "anchor contents links ") == 0);

  const int code = BIGTABLE_INVALID_ARGUMENT;
  bigtable_locality_group_set_compaction_policy(group, TEXT("no_such_policy"));
  EXPECT_ERROR(
      code, "no_such_policy",
      bigtable_database_set_locality_group(database, TEXT("web"), TEXT("new"), group, NULL));
  bigtable_locality_group_set_compaction_policy(group, TEXT("leveled"));
  EXPECT_OK(bigtable_database_set_locality_group(database, TEXT("web"), TEXT("new"), group, NULL));
  EXPECT_ERROR(code, "tablet_size",
               bigtable_database_set_split_rule(database, TEXT("web"), 1, 0, 0, NULL));
  EXPECT_ERROR(code, "argument table",
               bigtable_database_set_split_rule(database, NULL, 1, 0, 0, 0, NULL));
  EXPECT_ERROR(code, "argument group",
               bigtable_database_set_locality_group(database, TEXT("web"), TEXT("x"), NULL, NULL));
  EXPECT_ERROR(code, "argument names", bigtable_schema_list_families(schema, NULL));
  EXPECT_ERROR(code, "argument schema", bigtable_schema_list_families(NULL, &names));
  EXPECT_ERROR(code, "argument schema", bigtable_schema_list_locality_groups(NULL, &names));
  bigtable_schema_free(schema);
  EXPECT_ERROR(code, "argument schema", bigtable_database_get_schema(database, TEXT("web"), NULL));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "x", bigtable_database_get_schema(database, TEXT("x"), &schema));
  EXPECT(schema == NULL);
  bigtable_locality_group_free(group);
  CloseFixture(&fixture);
}
