// Whether a tablet server has ended for good, as callers in other processes find out: its file in
// the lock service is gone, or says that the server is fenced (commit/server_lock.h).
#ifndef BIGTABLE_SERVING_SERVER_END_H_
#define BIGTABLE_SERVING_SERVER_END_H_

#include <string_view>

#include "absl/status/status.h"

#include "commit/server_lock.h"
#include "lockservice/lock_service.h"

namespace bigtable {

// Whether the server of this name will never serve again. False if that cannot be read.
inline bool HasEnded(LockSession* session, std::string_view server) {
  const auto file = session->Read(ServerLock::FileOf(server));
  return file.ok() ? ServerLock::IsFenced(file->contents) : absl::IsNotFound(file.status());
}

}  // namespace bigtable

#endif  // BIGTABLE_SERVING_SERVER_END_H_
