// An observer in C: refuses empty pages, and counts the pages in the same commit.
//
//   observer_from_c DATABASE_DIRECTORY
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

// Is called before each write to the table "pages", by the thread that writes, and again if another
// write to the row was first. An error that it returns is the error of the write.
static bigtable_error* CountPage(void* context, const bigtable_observed_mutation* mutation,
                                 bigtable_observer_context* write) {
  (void)context;
  size_t size = 1;
  bigtable_observed_mutation_value(mutation, 0, &size);
  if (bigtable_observed_mutation_kind(mutation, 0) == BIGTABLE_OPERATION_SET && size == 0) {
    return bigtable_error_new(BIGTABLE_INVALID_ARGUMENT, TEXT("a page must not be empty"));
  }
  bigtable_row* row = NULL;
  bigtable_error* error = bigtable_observer_context_read_before(write, NULL, &row);
  if (error != NULL) return error;
  const int was_page = bigtable_row_cell_count(row) > 0;
  bigtable_row_free(row);
  error = bigtable_observer_context_read_after(write, NULL, &row);
  if (error != NULL) return error;
  const int is_page = bigtable_row_cell_count(row) > 0;
  bigtable_row_free(row);
  if (is_page == was_page) return NULL;
  bigtable_table* counts = NULL;
  error = bigtable_observer_context_open_table(write, TEXT("counts"), &counts);
  if (error != NULL) return error;
  bigtable_mutation* const change = bigtable_mutation_new(TEXT("pages"));
  bigtable_mutation_add_int64_to_cell(change, TEXT("f:"), 0, is_page - was_page);
  error = bigtable_observer_context_apply(write, counts, change);
  bigtable_mutation_free(change);
  return error;
}

static bigtable_table* OpenTable(bigtable_database* database, const char* name, int value_type,
                                 const char* observer) {
  bigtable_schema* const schema = bigtable_schema_new();
  Check(bigtable_schema_add_family(schema, TEXT("f"), NULL, 0, NULL));
  Check(bigtable_schema_set_value_type(schema, TEXT("f"), value_type));
  if (observer != NULL) Check(bigtable_schema_add_observer(schema, observer, strlen(observer)));
  bigtable_table* table = NULL;
  Check(bigtable_database_open_or_create_table(database, name, strlen(name), schema, NULL, &table));
  bigtable_schema_free(schema);
  return table;
}

// Writes a page, or deletes it if `page` is NULL.
static bigtable_error* Write(bigtable_table* table, const char* row, const char* page) {
  bigtable_mutation* const mutation = bigtable_mutation_new(row, strlen(row));
  if (page == NULL) bigtable_mutation_delete_row(mutation);
  if (page != NULL) bigtable_mutation_set_at(mutation, TEXT("f:"), 1, page, strlen(page));
  bigtable_error* const error = bigtable_table_apply(table, mutation, NULL);
  bigtable_mutation_free(mutation);
  return error;
}

int main(int argc, char** argv) {
  if (argc != 2 || argv[1][0] == '-') return 2;  // the usage is above
  Check(bigtable_mutation_observer_register(TEXT("count-page"), CountPage, NULL, NULL, NULL));
  bigtable_database* database = NULL;
  Check(bigtable_database_open(argv[1], strlen(argv[1]), NULL, &database));
  bigtable_table* const counts = OpenTable(database, "counts", BIGTABLE_VALUE_INT64_SUM, NULL);
  bigtable_table* const pages = OpenTable(database, "pages", BIGTABLE_VALUE_BYTES, "count-page");
  Check(Write(pages, "com.cnn.money", "<html>money"));
  Check(Write(pages, "com.cnn.www", "<html>news"));
  Check(Write(pages, "com.cnn.www", "<html>more news"));
  Check(Write(pages, "com.cnn.money", NULL));
  bigtable_error* const refused = Write(pages, "com.cnn.empty", "");
  printf("refused: %s\n", bigtable_error_message(refused, NULL));
  bigtable_error_free(refused);
  bigtable_string* value = NULL;
  Check(bigtable_table_get(counts, TEXT("pages"), TEXT("f:"), NULL, &value));
  size_t size = 0;
  const char* const number = bigtable_string_data(value, &size);
  int64_t count = 0;
  Check(bigtable_decode_big_endian(number, size, &count));
  bigtable_string_free(value);
  printf("pages: %" PRId64 "\n", count);
  Check(bigtable_database_close(database));
  bigtable_database_free(database);
  return EXIT_SUCCESS;
}
