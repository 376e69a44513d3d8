// Errors that pass by themselves when the system has room again.
#ifndef BIGTABLE_SYSTEM_SHORTAGE_H_
#define BIGTABLE_SYSTEM_SHORTAGE_H_

#include "absl/status/status.h"

#include "bigtable/export.h"

namespace bigtable {

// Whether a call returned this error, a ResourceExhausted, because the operating system had no
// space on disk, no file descriptor or no memory for a file of the database. A write that it
// refused was not made. The database goes on by itself once there is room, so the call may be made
// again later. False for the database's own limits: quotas, and sizes that are never taken.
// Thread-safe.
BIGTABLE_EXPORT bool IsSystemShortage(const absl::Status& status);

}  // namespace bigtable

#endif  // BIGTABLE_SYSTEM_SHORTAGE_H_
