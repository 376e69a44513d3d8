// The library from C: writes and reads pages in a transaction, and scans those of one site.
//
//   from_c DATABASE_DIRECTORY
#include <bigtable/c.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A literal as two arguments: pointer and size.
#define TEXT(literal) literal, sizeof(literal) - 1

// Ends the program if a call has failed.
static void Check(bigtable_error* error) {
  if (error == NULL) return;
  const char* const message = bigtable_error_message(error, NULL);
  fprintf(stderr, "error %d: %s\n", bigtable_error_code(error), message);
  bigtable_error_free(error);
  exit(EXIT_FAILURE);
}

static bigtable_table* OpenWebtable(bigtable_database* database) {
  bigtable_locality_group* const pages = bigtable_locality_group_new();
  bigtable_locality_group_set_compression(pages, BIGTABLE_COMPRESSION_ZSTD);
  bigtable_gc_rule* const rule = bigtable_gc_rule_max_versions_new(3);
  bigtable_schema* const schema = bigtable_schema_new();
  Check(bigtable_schema_add_locality_group(schema, TEXT("pages"), pages));
  Check(bigtable_schema_add_family(schema, TEXT("contents"), TEXT("pages"), rule));
  Check(bigtable_schema_add_family(schema, TEXT("anchor"), TEXT(""), NULL));
  bigtable_table* table = NULL;
  Check(bigtable_database_open_or_create_table(database, TEXT("webtable"), schema, NULL, &table));
  bigtable_schema_free(schema);
  bigtable_gc_rule_free(rule);
  bigtable_locality_group_free(pages);
  return table;
}

static void Write(bigtable_transaction* transaction, bigtable_table* table, const char* row,
                  const char* page) {
  bigtable_mutation* const mutation = bigtable_mutation_new(row, strlen(row));
  bigtable_mutation_set_at(mutation, TEXT("contents:"), 1, page, strlen(page));
  bigtable_mutation_set_at(mutation, TEXT("anchor:cnnsi.com"), 2, TEXT("CNN"));
  Check(bigtable_transaction_apply(transaction, table, mutation));
  bigtable_mutation_free(mutation);
}

// Is called again if another thread writes to the row that it reads. NULL: the transaction commits.
static bigtable_error* WritePages(void* table, bigtable_transaction* transaction) {
  Write(transaction, table, "com.cnn.money", "<html>money");
  Write(transaction, table, "com.cnn.www", "<html>news");
  Write(transaction, table, "org.example.www", "<html>example");
  bigtable_row* row = NULL;
  Check(bigtable_transaction_read_row(transaction, table, TEXT("com.cnn.www"), NULL, NULL, &row));
  size_t size = 0;
  const char* const page = bigtable_row_cell_value(row, 1, &size);  // behind the cell of anchor
  printf("page: %.*s\n", (int)size, page);
  bigtable_row_free(row);
  return NULL;
}

static void PrintCell(const bigtable_row* row, size_t index) {
  size_t key_size, family_size, name_size, value_size;
  const char* const key = bigtable_row_key(row, &key_size);
  const char* const family = bigtable_row_cell_family(row, index, &family_size);
  const char* const name = bigtable_row_cell_qualifier(row, index, &name_size);
  const char* const value = bigtable_row_cell_value(row, index, &value_size);
  printf("%.*s %.*s:%.*s %" PRId64 " %.*s\n", (int)key_size, key, (int)family_size, family,
         (int)name_size, name, bigtable_row_cell_timestamp(row, index), (int)value_size, value);
}

static void PrintSite(bigtable_table* table) {
  bigtable_row_set* const site = bigtable_row_set_new();
  bigtable_row_set_add_prefix(site, TEXT("com.cnn"));
  bigtable_rows* rows = NULL;
  Check(bigtable_table_read_rows(table, site, NULL, NULL, &rows));
  for (;;) {
    const bigtable_row* row = NULL;
    Check(bigtable_rows_next(rows, &row));
    if (row == NULL) break;
    for (size_t i = 0; i < bigtable_row_cell_count(row); ++i) PrintCell(row, i);
  }
  bigtable_rows_free(rows);
  bigtable_row_set_free(site);
}

int main(int argc, char** argv) {
  if (argc != 2 || argv[1][0] == '-') {
    fprintf(stderr, "usage: from_c DATABASE_DIRECTORY\n");
    return 2;
  }
  bigtable_database* database = NULL;
  Check(bigtable_database_open(argv[1], strlen(argv[1]), NULL, &database));
  bigtable_table* const table = OpenWebtable(database);
  Check(bigtable_database_run_transaction(database, WritePages, table, NULL));
  PrintSite(table);
  Check(bigtable_database_close(database));
  bigtable_database_free(database);
  return EXIT_SUCCESS;
}
