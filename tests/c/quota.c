// Quotas of tables and users, and owners of families.
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

static bigtable_error* Put(bigtable_table* table, const char* column) {
  bigtable_mutation* const mutation = bigtable_mutation_new(TEXT("r"));
  bigtable_mutation_set(mutation, column, strlen(column), TEXT("value"));
  bigtable_error* const error = bigtable_table_apply(table, mutation, NULL);
  bigtable_mutation_free(mutation);
  return error;
}

static void ExpectOnly(bigtable_string_list* names, const char* name) {
  EXPECT(bigtable_string_list_count(names) == 1);
  EXPECT(strcmp(bigtable_string_list_get(names, 0, NULL), name) == 0);
  bigtable_string_list_free(names);
}

void AQuotaOfARateSaysWhenToRetry(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_quota* quota = bigtable_quota_new();
  bigtable_quota_set_bytes_per_second(quota, 1);
  bigtable_quota_set_requests_per_second(quota, 1000);
  EXPECT_OK(bigtable_database_set_table_quota(fixture.database, TEXT("web"), quota, NULL));
  bigtable_quota_free(quota);
  EXPECT_OK(Put(fixture.table, "contents:"));
  bigtable_error* const refused = Put(fixture.table, "contents:");
  EXPECT(bigtable_error_code(refused) == BIGTABLE_RESOURCE_EXHAUSTED);
  EXPECT(bigtable_error_retry_after(refused) > 1000000);
  bigtable_error_free(refused);
  EXPECT(bigtable_error_retry_after(NULL) == -1);

  EXPECT_OK(bigtable_database_get_table_quota(fixture.database, TEXT("web"), &quota));
  EXPECT(bigtable_quota_bytes_per_second(quota) == 1);
  EXPECT(bigtable_quota_requests_per_second(quota) == 1000);
  EXPECT(bigtable_quota_storage_bytes(quota) == 0);
  bigtable_quota_free(quota);
  bigtable_string_list* names = NULL;
  EXPECT_OK(bigtable_database_list_table_quotas(fixture.database, &names));
  ExpectOnly(names, "web");
  EXPECT_OK(bigtable_database_set_table_quota(fixture.database, TEXT("web"), NULL, NULL));
  EXPECT_OK(Put(fixture.table, "contents:"));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "x",
               bigtable_database_get_table_quota(fixture.database, TEXT("x"), &quota));
  EXPECT(quota == NULL);
  CloseFixture(&fixture);
}

void AQuotaOfAUserLimitsTheTablesOpenedInItsName(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_table* table = NULL;
  EXPECT_OK(
      bigtable_database_open_table_for_user(fixture.database, TEXT("web"), TEXT("ann"), &table));
  bigtable_quota* const quota = bigtable_quota_new();
  bigtable_quota_set_bytes_per_second(quota, 1);
  EXPECT_OK(bigtable_database_set_user_quota(fixture.database, TEXT("ann"), quota, NULL));
  EXPECT_OK(Put(table, "contents:"));
  EXPECT_ERROR(BIGTABLE_RESOURCE_EXHAUSTED, "ann", Put(table, "contents:"));
  EXPECT_OK(Put(fixture.table, "contents:"));
  bigtable_quota_set_bytes_per_second(quota, 0);
  EXPECT_OK(bigtable_database_set_user_quota(fixture.database, TEXT("ann"), quota, NULL));
  EXPECT_OK(Put(table, "contents:"));
  bigtable_quota_free(quota);
  CloseFixture(&fixture);
}

void FunctionsForQuotasRefuseNullPointers(const char* directory) {
  const int code = BIGTABLE_INVALID_ARGUMENT;
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_schema* const schema = bigtable_schema_new();
  bigtable_quota* quota = NULL;
  bigtable_string_list* names = NULL;
  EXPECT_ERROR(code, "argument schema", bigtable_schema_set_owner(NULL, TEXT("f"), TEXT("ann")));
  EXPECT_ERROR(code, "argument owner", bigtable_schema_set_owner(schema, TEXT("f"), NULL, 3));
  EXPECT_ERROR(code, "argument table",
               bigtable_database_set_table_quota(database, NULL, 3, NULL, NULL));
  EXPECT_ERROR(code, "argument user",
               bigtable_database_set_user_quota(database, NULL, 3, NULL, NULL));
  EXPECT_ERROR(code, "argument quota",
               bigtable_database_get_table_quota(database, TEXT("t"), NULL));
  EXPECT_ERROR(code, "argument user", bigtable_database_get_user_quota(database, NULL, 3, &quota));
  EXPECT_ERROR(code, "argument database", bigtable_database_list_table_quotas(NULL, &names));
  EXPECT_ERROR(code, "argument users", bigtable_database_list_user_quotas(database, NULL));
  EXPECT_ERROR(code, "argument family",
               bigtable_database_set_family_owner(database, TEXT("t"), NULL, 3, TEXT("ann"), NULL));
  bigtable_schema_free(schema);
  bigtable_database_free(database);
}

void AnOwnerIsLimitedByAQuotaOfStorage(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("a"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_set_owner(schema, TEXT("a"), TEXT("ann")));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "\"b\"",
               bigtable_schema_set_owner(schema, TEXT("b"), TEXT("ann")));
  bigtable_table* table = NULL;
  EXPECT_OK(bigtable_database_open_or_create_table(database, TEXT("t"), schema, NULL, &table));
  bigtable_schema_free(schema);
  EXPECT_OK(Put(table, "a:"));
  bigtable_quota* quota = bigtable_quota_new();
  bigtable_quota_set_storage_bytes(quota, 1);
  EXPECT_OK(bigtable_database_set_user_quota(database, TEXT("ann"), quota, NULL));
  EXPECT_ERROR(BIGTABLE_INVALID_ARGUMENT, "no name",
               bigtable_database_set_user_quota(database, TEXT("no name"), quota, NULL));
  bigtable_quota_free(quota);
  bigtable_error* const refused = Put(table, "a:");
  EXPECT(bigtable_error_retry_after(refused) == -1);
  EXPECT_ERROR(BIGTABLE_RESOURCE_EXHAUSTED, "ann", refused);
  EXPECT_OK(bigtable_database_get_user_quota(database, TEXT("ann"), &quota));
  EXPECT(bigtable_quota_storage_bytes(quota) == 1);
  bigtable_quota_free(quota);
  bigtable_string_list* names = NULL;
  EXPECT_OK(bigtable_database_list_user_quotas(database, &names));
  ExpectOnly(names, "ann");
  EXPECT_OK(bigtable_database_set_family_owner(database, TEXT("t"), TEXT("a"), NULL, 0, NULL));
  EXPECT_OK(Put(table, "a:"));
  bigtable_database_free(database);
}
