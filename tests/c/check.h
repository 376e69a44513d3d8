// Expectations for tests in C. One that fails prints itself and ends the process.
#ifndef BIGTABLE_TESTS_C_CHECK_H_
#define BIGTABLE_TESTS_C_CHECK_H_

#include "bigtable/c.h"

// A literal as two arguments: pointer and size.
#define TEXT(literal) literal, sizeof(literal) - 1

#define EXPECT(condition) ExpectTrue(condition, #condition, __FILE__, __LINE__)
// A call that returns NULL.
#define EXPECT_OK(call) ExpectOk(call, #call, __FILE__, __LINE__)
// A call that returns an error with this code and with this text in its message.
#define EXPECT_ERROR(code, text, call) ExpectError(call, code, text, #call, __FILE__, __LINE__)
// Text that is returned with its size: EXPECT_TEXT("CNN", bigtable_row_key(row, &size), size).
#define EXPECT_TEXT(expected, data, size) \
  ExpectText(data, &(size), TEXT(expected), #data, __FILE__, __LINE__)

void ExpectTrue(int condition, const char* what, const char* file, int line);
void ExpectOk(bigtable_error* error, const char* what, const char* file, int line);
void ExpectError(bigtable_error* error, int code, const char* text, const char* what,
                 const char* file, int line);
// `size` is a pointer, since it is stored while the arguments are evaluated.
void ExpectText(const char* data, const size_t* size, const char* expected, size_t expected_size,
                const char* what, const char* file, int line);

#endif  // BIGTABLE_TESTS_C_CHECK_H_
