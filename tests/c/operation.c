// Options that change, and access lists.
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

// The strings of a list, each with a space behind it. Frees the list.
static const char* TextOf(bigtable_string_list* list) {
  static char text[1024];
  text[0] = '\0';
  for (size_t i = 0; i < bigtable_string_list_count(list); ++i) {
    strcat(text, bigtable_string_list_get(list, i, NULL));
    strcat(text, " ");
  }
  bigtable_string_list_free(list);
  return text;
}

static bool HasOption(bigtable_database* database, const char* name, const char* expected) {
  bigtable_string* value = NULL;
  EXPECT_OK(bigtable_database_get_option(database, name, strlen(name), &value));
  const bool same = strcmp(bigtable_string_data(value, NULL), expected) == 0;
  bigtable_string_free(value);
  return same;
}

void OptionsChangeWhileTheDatabaseIsOpen(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  EXPECT(HasOption(database, "durability", "buffered"));
  EXPECT_OK(bigtable_database_set_option(database, TEXT("durability"), TEXT("sync")));
  EXPECT(HasOption(database, "durability", "sync"));
  bigtable_string_list* names = NULL;
  EXPECT_OK(bigtable_database_list_options(database, &names));
  EXPECT(strstr(TextOf(names), "durability memory_budget memtable_size ") != NULL);

  const int code = BIGTABLE_INVALID_ARGUMENT;
  bigtable_string* value = NULL;
  EXPECT_ERROR(code, "\"SYNC\"",
               bigtable_database_set_option(database, TEXT("durability"), TEXT("SYNC")));
  EXPECT_ERROR(code, "\"x\"", bigtable_database_set_option(database, TEXT("x"), TEXT("1")));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "\"x\"",
               bigtable_database_get_option(database, TEXT("x"), &value));
  EXPECT_ERROR(code, "argument name", bigtable_database_set_option(database, NULL, 1, TEXT("1")));
  EXPECT_ERROR(code, "argument value", bigtable_database_get_option(database, TEXT("x"), NULL));
  EXPECT_ERROR(code, "argument names", bigtable_database_list_options(database, NULL));
  EXPECT_OK(bigtable_database_close(database));
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "closed",
               bigtable_database_get_option(database, TEXT("durability"), &value));
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "closed",
               bigtable_database_list_options(database, &names));
  EXPECT(value == NULL && names == NULL);
  bigtable_database_free(database);
}

void AnAccessListHasUsers(const char* directory) {
  (void)directory;
  bigtable_access_list* const list = bigtable_access_list_new();
  EXPECT_OK(bigtable_access_list_add_reader(list, TEXT("bob")));
  EXPECT_OK(bigtable_access_list_add_reader(list, TEXT("ada")));
  EXPECT_OK(bigtable_access_list_add_writer(list, TEXT("eve")));
  bigtable_string_list* users = NULL;
  EXPECT_OK(bigtable_access_list_get_readers(list, &users));
  EXPECT(strcmp(TextOf(users), "ada bob ") == 0);
  EXPECT_OK(bigtable_access_list_get_writers(list, &users));
  EXPECT(strcmp(TextOf(users), "eve ") == 0);
  const int code = BIGTABLE_INVALID_ARGUMENT;
  EXPECT_ERROR(code, "argument user", bigtable_access_list_add_reader(list, NULL, 1));
  EXPECT_ERROR(code, "argument list", bigtable_access_list_add_writer(NULL, TEXT("u")));
  EXPECT_ERROR(code, "argument users", bigtable_access_list_get_readers(list, NULL));
  bigtable_access_list_free(list);
}

void AccessListsControlFamilies(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  bigtable_database* const database = fixture.database;
  WriteCell(fixture.table, "r", 1, "v");
  bigtable_access_list* list = bigtable_access_list_new();
  EXPECT_OK(bigtable_access_list_add_reader(list, TEXT("ada")));
  EXPECT_OK(bigtable_database_set_access_list(database, TEXT("staff"), list, NULL));
  bigtable_access_list_free(list);
  EXPECT_OK(bigtable_database_set_family_access_list(database, TEXT("web"), TEXT("contents"),
                                                     TEXT("staff"), NULL));

  bigtable_table* ada = NULL;
  bigtable_table* bob = NULL;
  EXPECT_OK(bigtable_database_open_table_for_user(database, TEXT("web"), TEXT("ada"), &ada));
  EXPECT_OK(bigtable_database_open_table_for_user(database, TEXT("web"), TEXT("bob"), &bob));
  bigtable_string* value = NULL;
  EXPECT_OK(bigtable_table_get(ada, TEXT("r"), TEXT("contents:"), NULL, &value));
  bigtable_string_free(value);
  EXPECT_ERROR(BIGTABLE_PERMISSION_DENIED, "bob",
               bigtable_table_get(bob, TEXT("r"), TEXT("contents:"), NULL, &value));

  EXPECT_OK(bigtable_database_get_access_list(database, TEXT("staff"), &list));
  bigtable_string_list* names = NULL;
  EXPECT_OK(bigtable_access_list_get_readers(list, &names));
  EXPECT(strcmp(TextOf(names), "ada ") == 0);
  bigtable_access_list_free(list);
  EXPECT_OK(bigtable_database_list_access_lists(database, &names));
  EXPECT(strcmp(TextOf(names), "staff ") == 0);
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "contents",
               bigtable_database_delete_access_list(database, TEXT("staff"), NULL));
  EXPECT_OK(bigtable_database_set_family_access_list(database, TEXT("web"), TEXT("contents"), NULL,
                                                     0, NULL));
  EXPECT_OK(bigtable_table_get(bob, TEXT("r"), TEXT("contents:"), NULL, &value));
  bigtable_string_free(value);
  CloseFixture(&fixture);
}

void AccessListsAreChecked(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_access_list* list = bigtable_access_list_new();
  EXPECT_OK(bigtable_access_list_add_writer(list, TEXT("no name")));
  const int code = BIGTABLE_INVALID_ARGUMENT;
  EXPECT_ERROR(code, "no name", bigtable_database_set_access_list(database, TEXT("l"), list, NULL));
  EXPECT_ERROR(code, "argument list",
               bigtable_database_set_access_list(database, TEXT("l"), NULL, NULL));
  bigtable_access_list_free(list);
  list = bigtable_access_list_new();
  EXPECT_OK(bigtable_database_set_access_list(database, TEXT("l"), list, NULL));
  bigtable_access_list_free(list);

  // The schema names the list, which keeps it.
  bigtable_schema* const schema = bigtable_schema_new();
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("f"), NULL, 0, NULL));
  EXPECT_OK(bigtable_schema_set_access_list(schema, TEXT("f"), TEXT("l")));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "\"g\"",
               bigtable_schema_set_access_list(schema, TEXT("g"), TEXT("l")));
  EXPECT_OK(bigtable_database_create_table(database, TEXT("t"), schema, NULL));
  bigtable_schema_free(schema);
  EXPECT_ERROR(BIGTABLE_FAILED_PRECONDITION, "\"f\"",
               bigtable_database_delete_access_list(database, TEXT("l"), NULL));
  bigtable_table* table = NULL;
  EXPECT_ERROR(code, "argument user",
               bigtable_database_open_table_for_user(database, TEXT("t"), NULL, 1, &table));
  EXPECT_OK(bigtable_database_delete_table(database, TEXT("t"), NULL));
  EXPECT_OK(bigtable_database_delete_access_list(database, TEXT("l"), NULL));
  EXPECT_ERROR(BIGTABLE_NOT_FOUND, "l",
               bigtable_database_get_access_list(database, TEXT("l"), &list));
  EXPECT(list == NULL);
  bigtable_database_free(database);
}
