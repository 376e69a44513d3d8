// What a tablet needs from its server.
#ifndef BIGTABLE_TABLET_TABLET_ENVIRONMENT_H_
#define BIGTABLE_TABLET_TABLET_ENVIRONMENT_H_

#include <algorithm>
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
#include "bigtable/schema.h"

#include "base/call_limits.h"
#include "base/relaxed.h"
#include "base/sequence.h"
#include "base/shortcuts.h"
#include "cache/scan_cache.h"
#include "compaction/rate_limiter.h"
#include "monitoring/listener_queue.h"
#include "sstable/open_tables.h"
#include "tablet/file_numbers.h"
#include "tablet/immutable_memtables.h"
#include "tablet/shared_files.h"
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
  // The server's; null until something needs it. The tablet's writer uses it, and reads if there is
  // a scan cache: then it is there from the start.
  std::shared_ptr<LastWrites> last_writes;
  RateLimiter* rate_limiter = nullptr;
  ListenerQueue* events = nullptr;  // null: there is no listener
  OpenTables* open_tables = nullptr;
  // A tablet that is loaded opens its SSTables at their first use.
  bool defers_files = false;
  Relaxed<uint64_t> target_file_size = uint64_t{64} << 20;
  // See memtable_size().
  Relaxed<uint64_t> most_memtable_size = uint64_t{64} << 20;

  std::string server;  // its name, for redo points
  FileNumbers* file_numbers = nullptr;
  // Counts the files that tablets write together. Null: each has files of its own.
  SharedFiles* shared_files = nullptr;
  // For changes of tablets of tables with a change stream.
  SequenceSource* sequences = nullptr;
  std::function<std::string(uint64_t)> path_of;
  // Called for each new SSTable before it is committed. Null: not needed.
  std::function<absl::Status(uint64_t number)> on_file_written;
  // The last mutation that readers see.
  std::function<SequenceNumber()> visible;
  // Called before the flush of these memtables, all together, is committed. Syncs the server's log
  // if other memtables have mutations that are older than the last one in these. Returns the
  // sequence number up to which such syncs have made the log durable.
  std::function<absl::StatusOr<SequenceNumber>(absl::Span<const ImmutableMemtables>)> sync_log;
  // Called before the server's log releases records because of commits to `store`. After OK,
  // recovery notices any damage to these commits. The limits end waits for other threads. Null: not
  // needed.
  std::function<absl::Status(const CallLimits&)> attest_commits;
  // Called after a version of the tablet was published. Null: not needed.
  std::function<void()> on_version;
  // Called for each file that the tablet's METADATA row does not name any more.
  std::function<void(uint64_t number)> remove_file;

  // Whether a flush or merge of so many bytes of a group of a tablet writes common files with those
  // of others (background/shared_output.h). Not if they stay for long: their policy merges nothing,
  // or is one of the program, which sees the files of its tablet alone.
  bool SharesFiles(const LocalityGroup& group, uint64_t bytes) const {
    constexpr uint64_t kPartOfFile = 64;
    return shared_files != nullptr && Shortcuts().Has(Shortcut::kSharedFiles) &&
           bytes <= target_file_size / kPartOfFile && group.compaction_policy.empty() &&
           group.compaction != CompactionStyle::kFifo && group.compaction != CompactionStyle::kNone;
  }

  // The bytes at which a memtable is rotated: a quarter of the budget's present limit at most.
  uint64_t memtable_size() const {
    return std::min<uint64_t>(most_memtable_size, budget->limit() / 4);
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLET_ENVIRONMENT_H_
