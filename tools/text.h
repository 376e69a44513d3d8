// Text for people: escapes of bytes that cannot be printed, names that were meant, aligned columns.
//
// Escapes are those of Go's %q, which cbt prints: \a \b \f \n \r \t \v \\, \xHH for a byte that is
// not part of valid UTF-8, or of a control character of ASCII, \uHHHH and \UHHHHHHHH for characters
// that cannot be seen. Everything else stays as it is. In a Quoted text a quotation mark is \".
//
// Pure functions.
#ifndef BIGTABLE_TOOLS_TEXT_H_
#define BIGTABLE_TOOLS_TEXT_H_

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace bigtable::tools {

// The parts as one text.
template <typename... Parts>
std::string Cat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

std::string Escaped(std::string_view bytes);
std::string Quoted(std::string_view bytes);
// The bytes of an escaped or quoted text. InvalidArgument names the escape that does not exist.
absl::StatusOr<std::string> Unescaped(std::string_view text);

// Whether the bytes are UTF-8 as Unicode defines it: no surrogates, nothing longer than needed.
bool IsUtf8(std::string_view bytes);

// The candidate that differs from the name by the fewest letters, if these are few; or "".
std::string Nearest(std::string_view name, const std::vector<std::string>& candidates);
// '; did you mean "NAME"?', or "" if no candidate is near.
std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates);

// The parts between separators: "a,b" are two, "" is none.
std::vector<std::string> Split(std::string_view text, char separator);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
// The first ten of them, separated by commas, and how many more there are.
std::string Listed(const std::vector<std::string>& names);

// Lines of words, with columns as wide as their longest word.
std::string Aligned(const std::vector<std::vector<std::string>>& lines);

// 1234567 as "1,234,567".
std::string WithCommas(uint64_t number);

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_TEXT_H_
