// Abseil's functions for strings, for std::string_view, which its builds for C++14 do not support.
#ifndef BIGTABLE_BENCH_COMMON_STRINGS_H_
#define BIGTABLE_BENCH_COMMON_STRINGS_H_

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace bench {

inline absl::string_view ToAbsl(std::string_view s) { return {s.data(), s.size()}; }

// absl::StrCat
template <typename... Args>
std::string Concat(const Args&... args) {
  constexpr auto kConvert = [](const auto& arg) -> decltype(auto) {
    using Arg = std::decay_t<decltype(arg)>;
    if constexpr (std::is_same_v<Arg, std::string_view>) {
      return ToAbsl(arg);
    } else {
      return (arg);
    }
  };
  return absl::StrCat(kConvert(args)...);
}

// The parts of `text` between the characters `separator`.
inline std::vector<std::string> Split(std::string_view text, char separator) {
  return absl::StrSplit(ToAbsl(text), separator);
}

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_STRINGS_H_
