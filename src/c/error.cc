// What functions return: errors and text.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
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

namespace {

// Has the code of an error that is no canonical one, on its way through the engine.
constexpr const char* kCodeMark = "bigtable.c.code";

int CodeOf(const absl::Status& status) {
  const absl::optional<absl::Cord> mark = status.GetPayload(kCodeMark);
  int code;
  if (mark.has_value() && absl::SimpleAtoi(std::string(*mark), &code)) return code;
  return static_cast<int>(status.code());
}

absl::Status StatusOfCode(int code, std::string_view message) {
  if (code >= BIGTABLE_CANCELLED && code <= BIGTABLE_UNAUTHENTICATED) {
    return {static_cast<absl::StatusCode>(code), ToAbsl(message)};
  }
  absl::Status status = absl::UnknownError(ToAbsl(message));
  if (code != BIGTABLE_OK) status.SetPayload(kCodeMark, absl::Cord(absl::StrCat(code)));
  return status;
}

}  // namespace

bigtable_error* NewError(const absl::Status& status) {
  return new bigtable_error{status, CodeOf(status), std::string(status.message()),
                            RetryAfter(status)};
}

absl::Status TakeError(bigtable_error* error) {
  const std::unique_ptr<bigtable_error> taken(error);
  return taken == nullptr ? absl::OkStatus() : taken->status;
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
  return bigtable::NewError(bigtable::StatusOfCode(code, bigtable::View(message, message_size)));
}

const char* bigtable_string_data(const bigtable_string* string, size_t* size) {
  return Return(string->text, size);
}
bigtable_error* bigtable_string_assign(bigtable_string* string, const char* data, size_t size) {
  BT_C_CHECK_NOT_NULL({"string", string}, {"data", data, size});
  string->text = bigtable::View(data, size);
  return nullptr;
}
void bigtable_string_free(bigtable_string* string) { delete string; }

size_t bigtable_string_list_count(const bigtable_string_list* list) { return list->strings.size(); }
const char* bigtable_string_list_get(const bigtable_string_list* list, size_t index, size_t* size) {
  return index < list->strings.size() ? Return(list->strings[index], size) : ReturnNone(size);
}
void bigtable_string_list_free(bigtable_string_list* list) { delete list; }
