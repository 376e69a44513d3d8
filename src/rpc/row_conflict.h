// The status of a write whose precondition failed: its row may have been written since it was read.
// Nothing was applied, and the caller reads the row again.
#ifndef BIGTABLE_RPC_ROW_CONFLICT_H_
#define BIGTABLE_RPC_ROW_CONFLICT_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

#include "base/strings.h"

namespace bigtable {

// The mark by which a conflict differs from an Aborted of, say, a file system of the user's.
inline constexpr const char* kConflictMark = "bigtable.conflict";

[[gnu::cold]] inline absl::Status ConflictError(
    std::string_view message = "the row may have been written since it was read") {
  absl::Status status = absl::AbortedError(ToAbsl(message));
  status.SetPayload(kConflictMark, absl::Cord());
  return status;
}

inline bool IsConflict(const absl::Status& status) {
  return absl::IsAborted(status) && status.GetPayload(kConflictMark).has_value();
}

// The same error, but not a conflict: for code of the program, which may return the error of a
// commit of its own.
inline absl::Status WithoutConflict(absl::Status status) {
  status.ErasePayload(kConflictMark);
  return status;
}

}  // namespace bigtable

#endif  // BIGTABLE_RPC_ROW_CONFLICT_H_
