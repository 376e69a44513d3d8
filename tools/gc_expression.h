// Garbage collection rules as text, in the language of cbt:
//
//   maxversions=3                    the three newest versions are kept
//   maxage=30d                       what is younger than 30 days; units: d h m s ms us ns,
//                                    also together (1d12h)
//   maxversions=3 or maxage=30d      dropped is what either drops (GcRule::Union)
//   maxversions=3 and maxage=30d     dropped is what both drop (GcRule::Intersection)
//   (maxage=1d or maxversions=9) and maxage=1h
//   never                            everything is kept
//
// `and` binds tighter than `or`; && and || are the same. Pure functions.
#ifndef BIGTABLE_TOOLS_GC_EXPRESSION_H_
#define BIGTABLE_TOOLS_GC_EXPRESSION_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/schema.h"

namespace bigtable::tools {

// InvalidArgument names the word that is wrong, and what would be right.
absl::StatusOr<GcRule> ParseGcExpression(std::string_view text);

// "30d" or "1d12h", at least 1 ms. `what`: how the text is called in the error ("maxage").
absl::StatusOr<absl::Duration> ParseAge(std::string_view text, std::string_view what);

// "30d": a number and the largest unit that it is a whole number of.
std::string FormatAge(absl::Duration age);

// The simplest expression of the rule, which ParseGcExpression reads as the same rule.
std::string FormatGcExpression(const GcRule& rule);

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_GC_EXPRESSION_H_
