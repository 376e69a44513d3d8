// Whether a tablet server has ended for good, as callers in other processes find out: its file in
// the lock service is gone, or says that the server is fenced (recovery/server_record.h).
#ifndef BIGTABLE_SERVING_SERVER_END_H_
#define BIGTABLE_SERVING_SERVER_END_H_

#include <string_view>

#include "absl/status/statusor.h"

#include "lockservice/lock_service.h"
#include "recovery/server_record.h"

namespace bigtable {

// Whether the server of this name will never serve again. False if that cannot be read.
inline bool HasEnded(LockSession* session, std::string_view server) {
  const absl::StatusOr<ServerRecord> record = ReadServerRecord(session, server);
  return record.ok() ? record->is_fenced : absl::IsNotFound(record.status());
}

}  // namespace bigtable

#endif  // BIGTABLE_SERVING_SERVER_END_H_
