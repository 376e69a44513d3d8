// Which errors of reading the damaged database are damage, and which end the repair. Pure function;
// any thread.
#ifndef BIGTABLE_REPAIR_READ_ERRORS_H_
#define BIGTABLE_REPAIR_READ_ERRORS_H_

#include "absl/status/status.h"

namespace bigtable {

// Whether a file of the damaged database that could not be read counts as damaged: its bytes are
// wrong, it is missing, the disk cannot read it, or a program with a later format has written it.
// Every other error, such as one of permissions, of memory or of open files, ends the repair: with
// less than what is there, it would report as lost what is not.
inline bool IsDamage(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsNotFound(status) || absl::IsUnavailable(status) ||
         absl::IsFailedPrecondition(status);
}

}  // namespace bigtable

#endif  // BIGTABLE_REPAIR_READ_ERRORS_H_
