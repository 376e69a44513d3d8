// Whether a follower's database is a beginning of the database that it is to follow, so that the
// changes after what it has are all that it lacks. Numbers of two databases can be compared only
// as far as they have one history (cluster/database_history.h).
#ifndef BIGTABLE_REPLICATION_SOURCE_HISTORY_H_
#define BIGTABLE_REPLICATION_SOURCE_HISTORY_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"

#include "cluster/database_history.h"
#include "rows/change_position.h"

namespace bigtable {

// The positions are in the stream of the database `followed`. FailedPrecondition: they are none in
// that of `source`.
absl::Status CheckGoesOn(uint64_t followed, const std::map<std::string, ChangePosition>& applied,
                         const DatabaseHistory& source);

// FailedPrecondition: the database `own`, which was opened for writing, is no copy of `source`.
absl::Status CheckIsCopy(const DatabaseHistory& own, const DatabaseHistory& source);

// `last` is the end of the stream of a table that is a copy. FailedPrecondition: something was
// changed in the table since it was copied.
absl::Status CheckIsAsCopied(const DatabaseHistory& own, const ChangePosition& last);

}  // namespace bigtable

#endif  // BIGTABLE_REPLICATION_SOURCE_HISTORY_H_
