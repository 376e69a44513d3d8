// Arguments and results of the functions of bigtable/c.h: text, null pointers, errors, numbers of
// enums, timeouts, defaults, rows and streams. Pure functions.
#ifndef BIGTABLE_C_ARGUMENTS_H_
#define BIGTABLE_C_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "c/handles.h"

namespace bigtable {

// Text that the caller passes.
inline std::string_view View(const char* data, size_t size) {
  return size == 0 ? std::string_view() : std::string_view(data, size);
}

// Text for the caller: never NULL.
inline const char* Return(std::string_view text, size_t* size) {
  if (size != nullptr) *size = text.size();
  return text.data() == nullptr ? "" : text.data();
}

// The answer if there is no such text.
inline const char* ReturnNone(size_t* size) {
  if (size != nullptr) *size = 0;
  return nullptr;
}

// An argument that must not be NULL: a handle, or text that is not empty.
struct Argument {
  const char* name;
  const void* pointer;
  size_t size = 1;
};

// InvalidArgument, which names the argument.
absl::Status NullError(const Argument& argument);

inline absl::Status CheckNotNull(std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (argument.pointer == nullptr && argument.size != 0) [[unlikely]]
      return NullError(argument);
  }
  return absl::OkStatus();
}

// NULL for OK.
bigtable_error* NewError(const absl::Status& status);
// What a function of the program has returned, and passed to the library. OK for NULL. An error
// that the engine returns later has the same code, also one of the program's own.
absl::Status TakeError(bigtable_error* error);
inline bigtable_error* ToError(const absl::Status& status) {
  return status.ok() ? nullptr : NewError(status);
}

// Returns from a function of the C interface if an argument is NULL.
#define BT_C_CHECK_NOT_NULL(...)                                                                \
  if (absl::Status status = ::bigtable::CheckNotNull({__VA_ARGS__}); !status.ok()) [[unlikely]] \
  return ::bigtable::ToError(status)

// A value of an enum with one byte. A number that does not fit becomes a value that no enum of the
// library has, so that the check of the value finds it.
template <typename Enum>
Enum ToEnum(int number) {
  static_assert(sizeof(Enum) == 1);
  return static_cast<Enum>(number >= 0 && number < 255 ? number : 255);
}

// The C++ options of a call that begins now. NULL means the defaults.
template <typename Options>
auto OptionsOf(const Options* options) -> decltype(options->options) {
  if (options == nullptr) return {};
  auto result = options->options;
  if (options->timeout_micros.has_value()) {
    result.deadline = absl::Now() + absl::Microseconds(*options->timeout_micros);
  }
  return result;
}

// NULL means: every cell passes.
inline const Filter& FilterOf(const bigtable_filter* filter) {
  static const Filter pass_all;
  return filter == nullptr ? pass_all : filter->filter;
}

// NULL means: all rows.
inline RowSet RowsOf(const bigtable_row_set* set) {
  return set == nullptr ? RowSet(RowRange::All()) : set->rows;
}

// Passes a list of text to the caller.
inline bigtable_error* ReturnList(std::vector<std::string> strings, bigtable_string_list** list) {
  *list = new bigtable_string_list{std::move(strings)};
  return nullptr;
}

// Passes a row or a stream to the caller. The result stays NULL after an error.
inline bigtable_error* ReturnRow(absl::StatusOr<Row> row, bigtable_row** result) {
  if (!row.ok()) return ToError(row.status());
  *result = ToC(new Row(*std::move(row)));
  return nullptr;
}
inline bigtable_error* ReturnRows(RowReader reader, bigtable_rows** rows) {
  if (!reader.status().ok()) return ToError(reader.status());
  *rows = new bigtable_rows{std::move(reader)};
  return nullptr;
}

}  // namespace bigtable

#endif  // BIGTABLE_C_ARGUMENTS_H_
