// What functions return: errors and text.
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/quota.h"

#include "base/strings.h"
#include "c/arguments.h"
#include "c/handles.h"

namespace bigtable {

absl::Status NullError(const Argument& argument) {
  return absl::InvalidArgumentError(
      Cat("the argument ", argument.name, " must not be a null pointer",
          argument.size == 1 ? "" : Cat(" if its size is ", argument.size)));
}

bigtable_error* NewError(const absl::Status& status) {
  return new bigtable_error{static_cast<int>(status.code()), std::string(status.message()),
                            RetryAfter(status)};
}

}  // namespace bigtable

using bigtable::Return;
using bigtable::ReturnNone;

int bigtable_error_code(const bigtable_error* error) {
  return error == nullptr ? BIGTABLE_OK : error->code;
}
const char* bigtable_error_message(const bigtable_error* error, size_t* size) {
  return error == nullptr ? Return("", size) : Return(error->message, size);
}
int64_t bigtable_error_retry_after(const bigtable_error* error) {
  if (error == nullptr || !error->retry_after.has_value()) return -1;
  return absl::ToInt64Microseconds(absl::Ceil(*error->retry_after, absl::Microseconds(1)));
}
void bigtable_error_free(bigtable_error* error) { delete error; }
bigtable_error* bigtable_error_new(int code, const char* message, size_t message_size) {
  BT_C_CHECK_NOT_NULL({"message", message, message_size});
  return new bigtable_error{code == BIGTABLE_OK ? BIGTABLE_UNKNOWN : code,
                            std::string(bigtable::View(message, message_size))};
}

const char* bigtable_string_data(const bigtable_string* string, size_t* size) {
  return Return(string->text, size);
}
void bigtable_string_free(bigtable_string* string) { delete string; }

size_t bigtable_string_list_count(const bigtable_string_list* list) { return list->strings.size(); }
const char* bigtable_string_list_get(const bigtable_string_list* list, size_t index, size_t* size) {
  return index < list->strings.size() ? Return(list->strings[index], size) : ReturnNone(size);
}
void bigtable_string_list_free(bigtable_string_list* list) { delete list; }
