// Receives the events of the engine: flushes and other compactions, stalls, errors, changes of
// tables and tablets, and lost servers. See DatabaseOptions::event_listener.
#ifndef BIGTABLE_EVENT_LISTENER_H_
#define BIGTABLE_EVENT_LISTENER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/export.h"
#include "bigtable/statistics.h"

namespace bigtable {

// An SSTable: its number, which is its name in the directory, and its size.
struct EventFile {
  uint64_t number = 0;
  uint64_t bytes = 0;

  friend bool operator==(const EventFile&, const EventFile&) = default;
};

// Where an event happened. The server name is empty while the database is being opened. The table
// may be "METADATA".
struct EventLocation {
  std::string server;
  std::string table;
  std::string locality_group;
  std::optional<std::string> end_row;  // of the tablet; none: it is the last of the table
};

// Why a memtable was rotated.
enum class RotationReason : uint8_t {
  kRequested,  // Flush, Compact, Resume, opening, closing
  kFull,       // DatabaseOptions::memtable_size
  kLogLength,  // to shorten the log
  kMemory,     // the memory budget required it
  kTogether,   // another memtable of the server was rotated; both are flushed together
};

// A memtable was rotated: it takes no more writes, and will be flushed.
struct MemtableRotatedEvent {
  absl::Time time;
  EventLocation location;
  RotationReason reason = RotationReason::kRequested;
  uint64_t bytes = 0;  // with the log bytes that it points into
};

// A minor compaction. The second group of fields is set only in the event of its end. A file that
// several tablets have written together is an output of each, with its whole size; bytes_written
// has what is the tablet's. The same holds for a CompactionEvent.
struct MinorCompactionEvent {
  absl::Time time;
  EventLocation location;
  uint64_t memtables = 0;

  absl::Duration duration;
  absl::Status status;
  std::vector<EventFile> outputs;
  uint64_t bytes_written = 0;
};

enum class CompactionReason : uint8_t {
  kMerge,  // runs, or files of one run, by the locality group's policy
  kPush,   // a file one run down, by the policy
  kDrop,   // everything in the files had expired
  kMajor,  // Database::Compact
};

// Any other compaction. The second group of fields is set only in the event of its end.
struct CompactionEvent {
  absl::Time time;
  EventLocation location;
  CompactionReason reason = CompactionReason::kMerge;
  std::string policy_reason = {};  // CompactionPick::reason
  bool is_major = false;           // includes the oldest run, so it drops deletions
  std::vector<EventFile> inputs;   // read, and then removed, unless another tablet shares them
  std::vector<EventFile> moved;    // to another run, untouched
  std::vector<EventFile> dropped;  // removed, unread

  absl::Duration duration;
  // Cancelled: ended by CancelCompactions, by Close, because the table was deleted, or because the
  // compaction of another tablet that was made with it has failed.
  absl::Status status;
  std::vector<EventFile> outputs;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t cells_unfiltered = 0;  // as in CompactionStatistics
};

// A segment of a tablet server's commit log. Segments are numbered from 1.
struct LogSegmentEvent {
  absl::Time time;
  std::string server;
  uint64_t number = 0;
};

// Writes to a server stall, the reason is another, or the stall has ended: then `now` is kNone.
struct StallEvent {
  absl::Time time;
  std::string server;
  StallReason before = StallReason::kNone;
  StallReason now = StallReason::kNone;
  absl::Duration delay;   // as DatabaseStatistics::write_delay
  absl::Duration lasted;  // since the stall began
};

// An SSTable that a compaction could not read, and that compactions leave alone until it is
// retried: see QuarantinedFile in bigtable/statistics.h.
struct QuarantineEvent {
  absl::Time time;
  EventLocation location;
  EventFile file;
  absl::Status status;  // why; names the file
};

// An error that lasts until Database::Resume: the commit log of a server failed, METADATA did not
// report whether it took a change, or a schema could not be restored. All other background failures
// are retried automatically (FailingWork in bigtable/statistics.h), and are reported as the status
// of the compaction that ended.
struct BackgroundErrorEvent {
  enum class Stops : uint8_t { kWrites, kCompactions };

  absl::Time time;
  std::string server;
  Stops stops = Stops::kWrites;  // kWrites: of this server; kCompactions: of all servers
  absl::Status status;
};

// A table was created, changed or deleted.
struct TableEvent {
  absl::Time time;
  std::string table;
};

// A change of tablets (section 5.2 of the paper). The table may be "METADATA".
struct TabletEvent {
  absl::Time time;
  std::string table;
  // The row at which the tablet was split, or at which two were merged; of a moved tablet, its
  // first row.
  std::string row;
  std::string server;           // that serves it now
  std::string previous_server;  // of a move: that served it before
};

// A tablet server lost its lock (section 5.2). It may be one of METADATA's servers.
struct ServerEvent {
  absl::Time time;
  std::string server;
};

// Of the database as a whole.
struct DatabaseEvent {
  absl::Time time;
  std::string path;
  absl::Status status;  // of closing
};

// Derive from it and override the events of interest.
//
// The database calls the listener from a thread of its own: one event at a time, in the order in
// which they happened, soon after they happened. The engine holds no lock during a call, and
// nothing waits for a listener to return except Close and the destructor, which return after all
// events were delivered. Events that a slow listener has not received yet are kept in memory.
//
// So a listener may call any method of the database (Statistics, Resume) except Close and the
// destructor. A call that waits for background work delays later events. What a listener throws is
// logged, and the next event follows.
class BIGTABLE_EXPORT EventListener {
 public:
  virtual ~EventListener() = default;

  // The first event, except for the flushes of recovered data during opening; and the last event.
  virtual void OnDatabaseOpened(const DatabaseEvent& /*event*/) {}
  virtual void OnDatabaseClosed(const DatabaseEvent& /*event*/) {}

  // The change is durable. After a change of families or locality groups, Database::GetSchema
  // returns the new schema.
  virtual void OnTableCreated(const TableEvent& /*event*/) {}
  virtual void OnTableChanged(const TableEvent& /*event*/) {}
  virtual void OnTableDeleted(const TableEvent& /*event*/) {}

  // The change is durable, and the tablets are served. Changes are automatic or by request.
  virtual void OnTabletSplit(const TabletEvent& /*event*/) {}
  virtual void OnTabletsMerged(const TabletEvent& /*event*/) {}
  virtual void OnTabletMoved(const TabletEvent& /*event*/) {}

  // The server will never serve again; calls to its tablets wait.
  virtual void OnServerLost(const ServerEvent& /*event*/) {}
  // Follows OnServerLost: other servers serve all of its tablets, with every write that it
  // acknowledged.
  virtual void OnServerReplaced(const ServerEvent& /*event*/) {}

  // Memtables, the log and writers.
  virtual void OnMemtableRotated(const MemtableRotatedEvent& /*event*/) {}
  // Each event of a beginning is followed by one of its end.
  virtual void OnMinorCompactionBegan(const MinorCompactionEvent& /*event*/) {}
  virtual void OnMinorCompactionEnded(const MinorCompactionEvent& /*event*/) {}
  virtual void OnCompactionBegan(const CompactionEvent& /*event*/) {}
  virtual void OnCompactionEnded(const CompactionEvent& /*event*/) {}
  virtual void OnFileQuarantined(const QuarantineEvent& /*event*/) {}

  // Writes now go to this segment. The segment before it got its end record (OnLogSegmentEnded
  // comes first), or was abandoned because the log failed or a call on it stalled.
  virtual void OnLogSegmentCreated(const LogSegmentEvent& /*event*/) {}
  // The segment is full, or the log ends with it: nothing more is written to it. It is needed as
  // long as a memtable needs it.
  virtual void OnLogSegmentEnded(const LogSegmentEvent& /*event*/) {}

  // Writes of a server stall: they wait for more than a fifth of the time. Then also when the
  // reason is another, and when no write has waited for half a second: the stall has ended.
  virtual void OnStallChanged(const StallEvent& /*event*/) {}
  // Writes are refused from now on, until Database::Resume.
  virtual void OnBackgroundError(const BackgroundErrorEvent& /*event*/) {}
  // Database::Resume has succeeded.
  virtual void OnResumed(const DatabaseEvent& /*event*/) {}
};

}  // namespace bigtable

#endif  // BIGTABLE_EVENT_LISTENER_H_
