// Text for messages: Abseil's string functions, extended to std::string_view, which this project
// uses throughout (bigtable/string_view.h).
#ifndef BIGTABLE_BASE_STRINGS_H_
#define BIGTABLE_BASE_STRINGS_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "bigtable/string_view.h"

namespace bigtable {

namespace strings_internal {
inline absl::string_view Arg(std::string_view s) { return ToAbsl(s); }
inline absl::string_view Arg(const std::string& s) { return s; }
inline absl::string_view Arg(const char* s) { return s; }
template <typename T>
const T& Arg(const T& value) {
  return value;
}
}  // namespace strings_internal

// absl::StrCat that also takes std::string_view.
template <typename... Args>
std::string Cat(const Args&... args) {
  return absl::StrCat(strings_internal::Arg(args)...);
}

// `bytes` in quotes, with unprintable bytes escaped and long text truncated: for messages.
inline std::string Quoted(std::string_view bytes) {
  constexpr size_t kMost = 80;
  std::string out = Cat("\"", absl::CHexEscape(ToAbsl(bytes.substr(0, kMost))), "\"");
  if (bytes.size() > kMost) absl::StrAppend(&out, "... (", bytes.size(), " bytes)");
  return out;
}

// The names of the first elements, separated by commas, and how many more there are; "none" if
// there are none: for messages, which stay short however many elements there are. `name_of` is a
// function or a member.
template <typename Range, typename NameOf = std::identity>
std::string Listed(const Range& range, NameOf name_of = {}) {
  constexpr size_t kMost = 10;
  std::string out;
  size_t count = 0;
  for (const auto& element : range) {
    if (++count > kMost) continue;
    absl::StrAppend(&out, out.empty() ? "" : ", ", std::invoke(name_of, element));
  }
  if (count > kMost) absl::StrAppend(&out, " and ", count - kMost, " more");
  return out.empty() ? "none" : out;
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_STRINGS_H_
