#include "convert/keys.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "convert/invalid.h"
#include "convert/limits.h"

namespace bigtable::convert {

absl::Status CheckRowKey(std::string_view row_key) {
  if (row_key.empty()) return Invalid("a row key must not be empty");
  if (row_key.size() <= kMaxRowKeySize) return absl::OkStatus();
  return Invalid("a row key must have at most ", kMaxRowKeySize, " bytes, and this one has ",
                 row_key.size(), ": ", Quoted(row_key));
}

absl::Status CheckFamilyName(std::string_view family) {
  const bool printable = std::all_of(family.begin(), family.end(),
                                     [](char c) { return c > ' ' && c < 0x7f && c != ':'; });
  if (!family.empty() && family.size() <= kMaxFamilyNameSize && printable) return absl::OkStatus();
  return Invalid("the name of a column family must be 1 to ", kMaxFamilyNameSize,
                 " printable ASCII characters without space and colon, and is ", Quoted(family));
}

absl::StatusOr<std::string> ToColumn(std::string_view family, std::string_view qualifier) {
  BT_RETURN_IF_ERROR(CheckFamilyName(family));
  if (qualifier.size() > kMaxQualifierSize) {
    return Invalid("a column qualifier must have at most ", kMaxQualifierSize,
                   " bytes, and this one has ", qualifier.size(), ": ", Quoted(qualifier));
  }
  std::string column;
  column.reserve(family.size() + 1 + qualifier.size());
  return column.append(family).append(1, ':').append(qualifier);
}

}  // namespace bigtable::convert
