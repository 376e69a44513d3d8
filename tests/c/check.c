#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void Fail(const char* what, const char* file, int line, const char* reason) {
  fprintf(stderr, "%s:%d: %s\n  %s\n", file, line, what, reason);
  exit(EXIT_FAILURE);
}

void ExpectTrue(int condition, const char* what, const char* file, int line) {
  if (!condition) Fail(what, file, line, "is false");
}

void ExpectOk(bigtable_error* error, const char* what, const char* file, int line) {
  if (error != NULL) Fail(what, file, line, bigtable_error_message(error, NULL));
}

void ExpectError(bigtable_error* error, int code, const char* text, const char* what,
                 const char* file, int line) {
  if (error == NULL) Fail(what, file, line, "returned no error");
  const char* const message = bigtable_error_message(error, NULL);
  if (bigtable_error_code(error) != code) {
    fprintf(stderr, "code %d instead of %d\n", bigtable_error_code(error), code);
    Fail(what, file, line, message);
  }
  if (strstr(message, text) == NULL) Fail(what, file, line, message);
  bigtable_error_free(error);
}

void ExpectText(const char* data, const size_t* size, const char* expected, size_t expected_size,
                const char* what, const char* file, int line) {
  if (data == NULL) Fail(what, file, line, "is NULL");
  if (*size != expected_size || memcmp(data, expected, expected_size) != 0) {
    fprintf(stderr, "%.*s\n", (int)*size, data);
    Fail(what, file, line, expected);
  }
}
