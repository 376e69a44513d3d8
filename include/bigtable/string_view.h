// Converts strings for Abseil's functions, and back. The library uses std::string_view. Some builds
// of Abseil, such as Debian 12's, have a string_view type of their own, so that
// absl::StrCat(cell.value) does not compile; absl::StrCat(ToAbsl(cell.value)) compiles with every
// build.
#ifndef BIGTABLE_STRING_VIEW_H_
#define BIGTABLE_STRING_VIEW_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace bigtable {

// The same characters, as Abseil takes them and as the standard library does.
inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view ToStd(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace bigtable

#endif  // BIGTABLE_STRING_VIEW_H_
