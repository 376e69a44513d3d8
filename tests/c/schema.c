#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

// Creates the table "t" with one locality group.
static bigtable_error* CreateWithGroup(bigtable_database* database,
                                       const bigtable_locality_group* group) {
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_locality_group(schema, TEXT("pages"), group));
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("f"), TEXT("pages"), NULL));
  bigtable_error* const error = bigtable_database_create_table(database, TEXT("t"), schema, NULL);
  bigtable_schema_free(schema);
  return error;
}

void ASchemaIsCheckedWhenATableIsMade(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_locality_group* const group = bigtable_locality_group_new();
  const int code = BIGTABLE_INVALID_ARGUMENT;
  bigtable_locality_group_set_compression(group, 256);
  EXPECT_ERROR(code, "compression of locality group \"pages\"", CreateWithGroup(database, group));
  bigtable_locality_group_set_compression(group, BIGTABLE_COMPRESSION_ZSTD);
  bigtable_locality_group_set_compression_level(group, 20);
  EXPECT_ERROR(code, "compression_level", CreateWithGroup(database, group));
  bigtable_locality_group_set_compression_level(group, 19);
  bigtable_locality_group_set_block_size(group, 1);
  EXPECT_ERROR(code, "block_size", CreateWithGroup(database, group));
  bigtable_locality_group_set_block_size(group, 64 << 10);
  bigtable_locality_group_set_filter(group, -1);
  EXPECT_ERROR(code, "filter of", CreateWithGroup(database, group));
  bigtable_locality_group_set_filter(group, BIGTABLE_FILTER_KIND_ROW_AND_COLUMN);
  bigtable_locality_group_set_filter_bits(group, 33);
  EXPECT_ERROR(code, "filter_bits", CreateWithGroup(database, group));
  bigtable_locality_group_set_filter_bits(group, 12);
  bigtable_locality_group_set_compaction(group, 4);
  EXPECT_ERROR(code, "compaction of", CreateWithGroup(database, group));
  bigtable_locality_group_set_compaction(group, BIGTABLE_COMPACTION_LEVELED);
  bigtable_locality_group_set_compaction_factor(group, 1);
  EXPECT_ERROR(code, "compaction_factor", CreateWithGroup(database, group));
  bigtable_locality_group_set_compaction_factor(group, 4);
  bigtable_locality_group_set_in_memory(group, true);
  EXPECT_OK(CreateWithGroup(database, group));
  bigtable_locality_group_free(group);
  bigtable_database_free(database);
}

// The number of lines of a text that contain `part`.
static int CountLines(const char* text, const char* part) {
  int count = 0;
  for (const char* at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) ++count;
  return count;
}

void FamiliesAreAddedChangedAndDropped(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("f"), NULL, 0, NULL));
  EXPECT_ERROR(BIGTABLE_ALREADY_EXISTS, "column family \"f\"",
               bigtable_schema_add_family(schema, TEXT("f"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_add_split_row(schema, TEXT("m")));
  bigtable_schema_set_split_rule(schema, 1, 0, 0);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "tablet_size",
               bigtable_database_create_table(database, TEXT("t"), schema, NULL));
  bigtable_schema_set_split_rule(schema, 1 << 20, 0, 2);
  bigtable_schema_set_change_stream(schema, 1, 1 << 20);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "retention of a change stream",
               bigtable_database_create_table(database, TEXT("t"), schema, NULL));
  bigtable_schema_set_change_stream(schema, 3600000000, 1 << 20);
  EXPECT_OK(bigtable_database_create_table(database, TEXT("t"), schema, NULL));
  bigtable_schema_free(schema);

  // The split row made two tablets.
  bigtable_string* text = NULL;
  EXPECT_OK(bigtable_database_get_statistics(database, &text));
  EXPECT(CountLines(bigtable_string_data(text, NULL),
                    "bigtable_tablet_rows_written_total{server=") >= 2);
  EXPECT(strstr(bigtable_string_data(text, NULL), "table=\"t\",end_row=\"m\"") != NULL);
  bigtable_string_free(text);

  bigtable_gc_rule* const rule = bigtable_gc_rule_max_versions_new(1);
  EXPECT_OK(bigtable_database_add_family(database, TEXT("t"), TEXT("g"), NULL, 0, rule, NULL));
  EXPECT_ERROR(BIGTABLE_ALREADY_EXISTS, "\"g\"",
               bigtable_database_add_family(database, TEXT("t"), TEXT("g"), NULL, 0, rule, NULL));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "\"h\"",
               bigtable_database_set_gc_rule(database, TEXT("t"), TEXT("h"), rule, NULL));
  EXPECT_OK(bigtable_database_set_gc_rule(database, TEXT("t"), TEXT("g"), NULL, NULL));
  bigtable_gc_rule_free(rule);
  EXPECT_OK(bigtable_database_drop_family(database, TEXT("t"), TEXT("g"), NULL));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "\"g\"",
               bigtable_database_drop_family(database, TEXT("t"), TEXT("g"), NULL));
  bigtable_database_free(database);
}

void FamiliesAreChangedTogetherOrNotAtAll(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  WriteCell(fixture.table, "r", 1, "v");
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("contents"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_set_value_type(schema, TEXT("contents"), BIGTABLE_VALUE_INT64_SUM));
  bigtable_gc_rule* const rule = bigtable_gc_rule_max_versions_new(1);
  bigtable_family_changes* const changes = bigtable_family_changes_new();
  EXPECT_OK(bigtable_family_changes_drop_family(changes, TEXT("contents")));
  EXPECT_OK(bigtable_family_changes_add_schema_family(changes, TEXT("contents"), schema));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "\"g\"",
               bigtable_family_changes_add_schema_family(changes, TEXT("g"), schema));
  EXPECT_OK(bigtable_family_changes_set_gc_rule(changes, TEXT("contents"), rule));
  EXPECT_OK(bigtable_family_changes_set_owner(changes, TEXT("contents"), TEXT("ann")));
  EXPECT_OK(bigtable_family_changes_set_access_list(changes, TEXT("contents"), TEXT("list")));
  EXPECT_OK(bigtable_family_changes_set_compaction_filter(changes, TEXT("contents"), NULL, 0));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "owner",
               bigtable_family_changes_set_owner(changes, TEXT("contents"), NULL, 1));

  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "list",
               bigtable_database_modify_families(fixture.database, TEXT("web"), changes, NULL));
  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_table_read_row(fixture.table, TEXT("r"), NULL, NULL, &row));
  EXPECT(bigtable_row_cell_count(row) == 1);
  bigtable_row_free(row);

  EXPECT_OK(bigtable_family_changes_set_access_list(changes, TEXT("contents"), NULL, 0));
  EXPECT_OK(bigtable_database_modify_families(fixture.database, TEXT("web"), changes, NULL));
  EXPECT_OK(bigtable_table_read_row(fixture.table, TEXT("r"), NULL, NULL, &row));
  EXPECT(bigtable_row_cell_count(row) == 0);
  bigtable_row_free(row);
  bigtable_schema* found = NULL;
  EXPECT_OK(bigtable_database_get_schema(fixture.database, TEXT("web"), &found));
  EXPECT(bigtable_schema_family_value_type(found, TEXT("contents")) == BIGTABLE_VALUE_INT64_SUM);
  size_t size = 0;
  EXPECT(memcmp(bigtable_schema_family_owner(found, TEXT("contents"), &size), "ann", 3) == 0 &&
         size == 3);
  bigtable_schema_free(found);
  bigtable_family_changes_free(changes);
  bigtable_gc_rule_free(rule);
  bigtable_schema_free(schema);
  CloseFixture(&fixture);
}

// The number of versions of "f:" in row "r" of the table "t".
static size_t CountVersions(bigtable_table* table) {
  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_table_read_row(table, TEXT("r"), NULL, NULL, &row));
  const size_t count = bigtable_row_cell_count(row);
  bigtable_row_free(row);
  return count;
}

void RulesCollectVersions(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_gc_rule* const three = bigtable_gc_rule_max_versions_new(3);
  bigtable_gc_rule* const hour = bigtable_gc_rule_max_age_new(INT64_C(3600000000));
  bigtable_gc_rule* const both = bigtable_gc_rule_union_new(three, hour);
  bigtable_gc_rule* const two = bigtable_gc_rule_max_versions_new(2);
  bigtable_gc_rule* const old = bigtable_gc_rule_intersection_new(two, hour);
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("f"), NULL, 0, three));
  bigtable_table* table = NULL;
  EXPECT_OK(bigtable_database_open_or_create_table(database, TEXT("t"), schema, NULL, &table));
  bigtable_mutation* const mutation = bigtable_mutation_new(TEXT("r"));
  for (int64_t timestamp = 1; timestamp <= 4; ++timestamp) {
    bigtable_mutation_set_at(mutation, TEXT("f:"), timestamp, TEXT("v"));
  }
  EXPECT_OK(bigtable_table_apply(table, mutation, NULL));
  EXPECT(CountVersions(table) == 3);
  EXPECT_OK(bigtable_database_set_gc_rule(database, TEXT("t"), TEXT("f"), old, NULL));
  EXPECT(CountVersions(table) == 2);
  EXPECT_OK(bigtable_database_set_gc_rule(database, TEXT("t"), TEXT("f"), both, NULL));
  EXPECT(CountVersions(table) == 0);
  bigtable_mutation_free(mutation);
  bigtable_schema_free(schema);
  bigtable_gc_rule_free(old);
  bigtable_gc_rule_free(two);
  bigtable_gc_rule_free(both);
  bigtable_gc_rule_free(hour);
  bigtable_gc_rule_free(three);

  bigtable_gc_rule* const none = bigtable_gc_rule_max_versions_new(0);
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "MaxVersions",
               bigtable_database_set_gc_rule(database, TEXT("t"), TEXT("f"), none, NULL));
  bigtable_gc_rule_free(none);
  bigtable_database_free(database);
}
