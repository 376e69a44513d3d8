// The location of a tablet that is reached by messages, as METADATA had it at the lookup.
#ifndef BIGTABLE_ROUTING_REMOTE_TABLET_H_
#define BIGTABLE_ROUTING_REMOTE_TABLET_H_

#include <atomic>
#include <string>

#include "bigtable/row_range.h"

#include "rpc/data_service.h"

namespace bigtable {

// Immutable except for `is_stale`. Thread-safe.
struct RemoteTablet {
  RowRange rows;
  std::string server;              // the name of the server
  DataService* service = nullptr;  // reaches the server
  // A caller learned that the tablet is not there, or got no response: look the tablet up again.
  mutable std::atomic<bool> is_stale{false};
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_REMOTE_TABLET_H_
