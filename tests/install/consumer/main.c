// The smallest use of the C interface: finds the library, and gets an error from it.
#include <bigtable/c.h>
#include <stdio.h>

int main(void) {
  bigtable_database* database = NULL;
  bigtable_error* const error = bigtable_database_open("", 0, NULL, &database);
  const int code = bigtable_error_code(error);
  bigtable_error_free(error);
  if (code != BIGTABLE_INVALID_ARGUMENT) {
    fprintf(stderr, "an empty path is no error of bigtable %s\n", bigtable_version());
    return 1;
  }
  printf("found bigtable %s\n", bigtable_version());
  return 0;
}
