// Where a tablet is that is reached by messages: what METADATA said when it was looked up.
#ifndef BIGTABLE_CLIENT_REMOTE_TABLET_H_
#define BIGTABLE_CLIENT_REMOTE_TABLET_H_

#include <atomic>
#include <string>

#include "bigtable/row_range.h"

#include "rpc/data_service.h"

namespace bigtable {

// Immutable but for the mark. Thread-safe.
struct RemoteTablet {
  RowRange rows;
  std::string server;              // its name
  DataService* service = nullptr;  // what reaches it
  // Somebody was told that the tablet is not there, or was told nothing: to be looked up again.
  mutable std::atomic<bool> is_stale{false};
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_REMOTE_TABLET_H_
