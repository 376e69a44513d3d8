// What families, tables and owners take.
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "fixture.h"
#include "tests.h"

// "a" of ann and "b" of bob share a locality group; "c" of ann is alone in one that is loaded into
// memory.
static bigtable_table* CreateTable(bigtable_database* database) {
  bigtable_schema* const schema = bigtable_schema_new();
  bigtable_locality_group* const group = bigtable_locality_group_new();
  EXPECT_OK(bigtable_schema_add_locality_group(schema, TEXT("shared"), group));
  bigtable_locality_group_set_in_memory(group, true);
  EXPECT_OK(bigtable_schema_add_locality_group(schema, TEXT("own"), group));
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("a"), TEXT("shared"), NULL));
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("b"), TEXT("shared"), NULL));
  EXPECT_OK(bigtable_schema_add_family(schema, TEXT("c"), TEXT("own"), NULL));
  EXPECT_OK(bigtable_schema_set_owner(schema, TEXT("a"), TEXT("ann")));
  EXPECT_OK(bigtable_schema_set_owner(schema, TEXT("b"), TEXT("bob")));
  EXPECT_OK(bigtable_schema_set_owner(schema, TEXT("c"), TEXT("ann")));
  bigtable_table* table = NULL;
  EXPECT_OK(bigtable_database_open_or_create_table(database, TEXT("t"), schema, NULL, &table));
  bigtable_locality_group_free(group);
  bigtable_schema_free(schema);
  return table;
}

// Writes 100 rows; "b" gets the fewest bytes.
static void WriteRows(bigtable_table* table) {
  char value[800];
  memset(value, 'v', sizeof(value));
  for (int i = 0; i < 100; ++i) {
    char row[16];
    snprintf(row, sizeof(row), "%d", i);
    bigtable_mutation* const mutation = bigtable_mutation_new(row, strlen(row));
    bigtable_mutation_set(mutation, TEXT("a:"), value, 800);
    bigtable_mutation_set(mutation, TEXT("b:"), value, 50);
    bigtable_mutation_set(mutation, TEXT("c:"), value, 300);
    EXPECT_OK(bigtable_table_apply(table, mutation, NULL));
    bigtable_mutation_free(mutation);
  }
}

struct Bytes {
  uint64_t disk, memtable, loaded;
};

static struct Bytes BytesOf(bigtable_database* database, int kind, const char* name,
                            const char* family) {
  bigtable_storage* storage = NULL;
  EXPECT_OK(bigtable_database_get_storage(database, &storage));
  const size_t index =
      bigtable_storage_find(storage, kind, name, strlen(name), family, strlen(family));
  const struct Bytes bytes = {bigtable_storage_disk_bytes(storage, index),
                              bigtable_storage_memtable_bytes(storage, index),
                              bigtable_storage_loaded_bytes(storage, index)};
  bigtable_storage_free(storage);
  return bytes;
}

// The sum of the sizes of the SSTables.
static uint64_t BytesOfFiles(const char* directory) {
  char path[4200];
  snprintf(path, sizeof(path), "%s/sst", directory);
  DIR* const files = opendir(path);
  EXPECT(files != NULL);
  uint64_t bytes = 0;
  for (struct dirent* entry = readdir(files); entry != NULL; entry = readdir(files)) {
    char file[8192];
    snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
    struct stat status;
    EXPECT(stat(file, &status) == 0);
    if (S_ISREG(status.st_mode)) bytes += (uint64_t)status.st_size;
  }
  closedir(files);
  return bytes;
}

void StorageIsChargedToFamiliesTablesAndOwners(const char* directory) {
  bigtable_database* const database = OpenDatabase(directory);
  bigtable_table* const table = CreateTable(database);
  WriteRows(table);
  struct Bytes a = BytesOf(database, BIGTABLE_STORAGE_FAMILY, "t", "a");
  struct Bytes b = BytesOf(database, BIGTABLE_STORAGE_FAMILY, "t", "b");
  struct Bytes c = BytesOf(database, BIGTABLE_STORAGE_FAMILY, "t", "c");
  struct Bytes ann = BytesOf(database, BIGTABLE_STORAGE_OWNER, "ann", "");
  struct Bytes all = BytesOf(database, BIGTABLE_STORAGE_TABLE, "t", "");
  EXPECT(a.memtable > 80000 && c.memtable > 30000);
  EXPECT(b.memtable > 5000 && b.memtable < c.memtable);
  EXPECT(ann.memtable == a.memtable + c.memtable);
  EXPECT(all.memtable == a.memtable + b.memtable + c.memtable);
  EXPECT(all.disk == 0 && a.disk == 0 && ann.disk == 0 && all.loaded == 0);

  EXPECT_OK(bigtable_database_flush(database, TEXT("t"), NULL));
  bigtable_row* row = NULL;
  EXPECT_OK(bigtable_table_read_row(table, TEXT("7"), NULL, NULL, &row));  // loads the group
  bigtable_row_free(row);
  a = BytesOf(database, BIGTABLE_STORAGE_FAMILY, "t", "a");
  b = BytesOf(database, BIGTABLE_STORAGE_FAMILY, "t", "b");
  c = BytesOf(database, BIGTABLE_STORAGE_FAMILY, "t", "c");
  ann = BytesOf(database, BIGTABLE_STORAGE_OWNER, "ann", "");
  all = BytesOf(database, BIGTABLE_STORAGE_TABLE, "t", "");
  const struct Bytes bob = BytesOf(database, BIGTABLE_STORAGE_OWNER, "bob", "");
  const struct Bytes metadata = BytesOf(database, BIGTABLE_STORAGE_METADATA, "", "");
  EXPECT(a.disk > 80000 && b.disk > 5000 && c.disk > 30000);
  EXPECT(all.disk == a.disk + b.disk + c.disk && all.memtable == 0);
  EXPECT(ann.disk == a.disk + c.disk && bob.disk == b.disk);
  EXPECT(c.loaded > 30000 && a.loaded == 0 && all.loaded == c.loaded && ann.loaded == c.loaded);
  EXPECT(all.disk + metadata.disk == BytesOfFiles(directory));
  bigtable_database_free(database);
}

// "kind name family" of all charges, each with a comma behind it.
static const char* ListOf(const bigtable_storage* storage) {
  static char text[1024];
  text[0] = '\0';
  for (size_t i = 0; i < bigtable_storage_count(storage); ++i) {
    const size_t length = strlen(text);
    size_t name_size, family_size;
    const char* const name = bigtable_storage_name(storage, i, &name_size);
    const char* const family = bigtable_storage_family(storage, i, &family_size);
    snprintf(text + length, sizeof(text) - length, "%d %.*s %.*s,",
             bigtable_storage_kind(storage, i), (int)name_size, name, (int)family_size, family);
    EXPECT(bigtable_storage_find(storage, bigtable_storage_kind(storage, i), name, name_size,
                                 family, family_size) == i);
  }
  return text;
}

void ChargesAreListed(const char* directory) {
  struct Fixture fixture = OpenFixture(directory);
  CreateTable(fixture.database);
  bigtable_storage* storage = NULL;
  EXPECT_OK(bigtable_database_get_storage(fixture.database, &storage));
  EXPECT(strcmp(ListOf(storage),
                "0 t ,0 web ,1 t a,1 t b,1 t c,1 web anchor,1 web contents,2 ann ,2 bob ,3  ,") ==
         0);
  const size_t count = bigtable_storage_count(storage);
  EXPECT(bigtable_storage_find(storage, BIGTABLE_STORAGE_FAMILY, TEXT("t"), TEXT("x")) == count);
  EXPECT(bigtable_storage_find(storage, BIGTABLE_STORAGE_TABLE, TEXT("t"), TEXT("a")) == count);
  EXPECT(bigtable_storage_find(storage, BIGTABLE_STORAGE_TABLE, TEXT("zebra"), NULL, 0) == count);
  EXPECT(bigtable_storage_find(storage, 4, NULL, 0, NULL, 0) == count);
  EXPECT(bigtable_storage_kind(storage, count) == -1);
  size_t size = 7;
  EXPECT(bigtable_storage_name(storage, count, &size) == NULL && size == 0);
  EXPECT(bigtable_storage_family(storage, count, NULL) == NULL);
  EXPECT(bigtable_storage_disk_bytes(storage, count) == 0);
  EXPECT(bigtable_storage_memtable_bytes(storage, count) == 0);
  EXPECT(bigtable_storage_loaded_bytes(storage, count) == 0);
  bigtable_storage_free(NULL);

  const int code = BIGTABLE_INVALID_ARGUMENT;
  EXPECT_ERROR(code, "argument storage", bigtable_database_get_storage(fixture.database, NULL));
  EXPECT_OK(bigtable_database_close(fixture.database));
  EXPECT(bigtable_storage_count(storage) == count);  // a list of its own
  bigtable_storage_free(storage);
  EXPECT_OK(bigtable_database_get_storage(fixture.database, &storage));
  EXPECT(strcmp(ListOf(storage), "3  ,") == 0);
  bigtable_storage_free(storage);
  EXPECT_ERROR(code, "argument database", bigtable_database_get_storage(NULL, &storage));
  EXPECT(storage == NULL);
  bigtable_database_free(fixture.database);
}
