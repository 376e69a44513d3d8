// Row keys and columns of requests: what they must be, and how the engine writes a column.
//
// Pure functions. INVALID_ARGUMENT names the key or the name, and the rule.
#ifndef BIGTABLE_CONVERT_KEYS_H_
#define BIGTABLE_CONVERT_KEYS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bigtable::convert {

// A row key is 1 byte to 4 KiB.
absl::Status CheckRowKey(std::string_view row_key);

// The column as "family:qualifier". A qualifier is at most 16 KiB. The family may have any name
// that the engine takes, since the table may have been made by a program that embeds the engine:
// whether the table has it, the engine knows. (A new family is held to the names of Cloud Bigtable:
// column_family.h.)
absl::StatusOr<std::string> ToColumn(std::string_view family, std::string_view qualifier);

// The same for a family alone: 1 to 64 printable ASCII characters without space and colon.
absl::Status CheckFamilyName(std::string_view family);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_KEYS_H_
