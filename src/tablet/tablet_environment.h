// What a tablet needs of the server it is on.
#ifndef BIGTABLE_TABLET_TABLET_ENVIRONMENT_H_
#define BIGTABLE_TABLET_TABLET_ENVIRONMENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/clock.h"
#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/sequence.h"
#include "cache/scan_cache.h"
#include "compaction/rate_limiter.h"
#include "monitoring/listener_queue.h"
#include "sstable/open_tables.h"
#include "tablet/file_numbers.h"
#include "tablet/immutable_memtables.h"
#include "tablet/snapshot_list.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// Outlives the tablet.
struct TabletEnvironment {
  FileSystem* file_system = nullptr;
  Clock* clock = nullptr;
  std::shared_ptr<MemoryBudget> budget;
  TabletStore* store = nullptr;
  const SnapshotList* snapshots = nullptr;
  // For rows of the tablet, with the id of the version that they are read from; may be null.
  ScanCache* scan_cache = nullptr;
  std::shared_ptr<LastWrites> last_writes;  // the server's; null if the scan cache is
  RateLimiter* rate_limiter = nullptr;
  ListenerQueue* events = nullptr;  // null: nobody listens
  OpenTables* open_tables = nullptr;
  // A tablet that is loaded opens its SSTables when they are used for the first time.
  bool defers_files = false;
  uint64_t target_file_size = 64 << 20;
  uint64_t memtable_size = 64 << 20;

  std::string server;  // its name, for redo points
  FileNumbers* file_numbers = nullptr;
  std::function<std::string(uint64_t)> path_of;
  // The last mutation that readers see.
  std::function<SequenceNumber()> visible;
  // Before these memtables count as written out, all at once: makes the server's log durable if
  // others have mutations that are older than the last one in these, and says up to which one this
  // has made it durable by now.
  std::function<absl::StatusOr<SequenceNumber>(absl::Span<const ImmutableMemtables>)> sync_log;
  // Before the server's log gives up records because of what was committed to `store`: from the
  // return of OK on, damage to any of that is noticed when it is recovered. Null: there is no need.
  std::function<absl::Status()> attest_commits;
  // Told of files that the tablet's METADATA row does not name any more.
  std::function<void(uint64_t number)> remove_file;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLET_ENVIRONMENT_H_
