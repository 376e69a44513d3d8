// Learns what the engine does beside answering calls: minor and other compactions, stalls, errors,
// changes of tables and tablets, servers that are lost. See DatabaseOptions::event_listener.
#ifndef BIGTABLE_EVENT_LISTENER_H_
#define BIGTABLE_EVENT_LISTENER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/statistics.h"

namespace bigtable {

// An SSTable: its number, which is its name in the directory, and bytes.
struct EventFile {
  uint64_t number = 0;
  uint64_t bytes = 0;

  friend bool operator==(const EventFile&, const EventFile&) = default;
};

// Where something happened. The server has no name as long as the database is being opened; the
// table may be "METADATA".
struct EventLocation {
  std::string server;
  std::string table;
  std::string locality_group;
  std::optional<std::string> end_row;  // of the tablet; none: it is the table's last
};

// Why a memtable was rotated, to be written out.
enum class RotationReason : uint8_t {
  kRequested,  // Flush, Compact, Resume, opening, closing
  kFull,       // DatabaseOptions::memtable_size
  kLogLength,  // the log can be shortened by it
  kMemory,     // the memory budget asked for it
  kTogether,   // another one of the server was rotated, and both are written out together
};

struct MemtableRotatedEvent {
  absl::Time time;
  EventLocation location;
  RotationReason reason = RotationReason::kRequested;
  uint64_t bytes = 0;  // with the log bytes that it points into
};

// A minor compaction. The second part is of its end only.
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
  kMerge,  // runs, by the locality group's policy
  kPush,   // a file one run down, by the policy
  kDrop,   // everything in the files had expired
  kMajor,  // Database::Compact
};

// Any other compaction. The second part is of its end only.
struct CompactionEvent {
  absl::Time time;
  EventLocation location;
  CompactionReason reason = CompactionReason::kMerge;
  bool is_major = false;           // includes the oldest run, so that what is deleted goes
  std::vector<EventFile> inputs;   // read, and then removed
  std::vector<EventFile> moved;    // to another run, untouched
  std::vector<EventFile> dropped;  // removed, unread

  absl::Duration duration;
  // Cancelled: given up, because of CancelCompactions, Close, or the table's deletion.
  absl::Status status;
  std::vector<EventFile> outputs;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
};

// A segment of a tablet server's commit log. Segments are numbered from 1 on.
struct LogSegmentEvent {
  absl::Time time;
  std::string server;
  uint64_t number = 0;
};

// Writers to a server are slowed from now on, or for another reason, or (`now` is kNone) no more. A
// stall that nobody writes into is noticed when somebody does; its end within half a second.
struct StallEvent {
  absl::Time time;
  std::string server;
  StallReason before = StallReason::kNone;
  StallReason now = StallReason::kNone;
  absl::Duration delay;  // as DatabaseStatistics::write_delay
};

// An SSTable that a compaction could not read, and that compactions leave alone from now on: see
// QuarantinedFile in bigtable/statistics.h.
struct QuarantineEvent {
  absl::Time time;
  EventLocation location;
  EventFile file;
  absl::Status status;  // why: names the file
};

// An error that goes on until Database::Resume: the commit log of a server has failed, or METADATA
// did not say whether it took a change, or a schema could not be brought back. Whatever else fails
// in the background is tried again by itself (FailingWork in bigtable/statistics.h), and is heard
// of as the status of the compaction that has ended.
struct BackgroundErrorEvent {
  enum class Stops : uint8_t { kWrites, kCompactions };

  absl::Time time;
  std::string server;
  Stops stops = Stops::kWrites;  // of this server; kCompactions of all
  absl::Status status;
};

struct TableEvent {
  absl::Time time;
  std::string table;
};

// A change of tablets (section 5.2 of the paper). The table may be "METADATA".
struct TabletEvent {
  absl::Time time;
  std::string table;
  // Where the tablet was split in two, or two have become one; of one that was moved its first row.
  std::string row;
  std::string server;           // that has it now
  std::string previous_server;  // of a move: that had it before
};

// A tablet server, METADATA's among them, has lost its lock (section 5.2).
struct ServerEvent {
  absl::Time time;
  std::string server;
};

struct DatabaseEvent {
  absl::Time time;
  std::string path;
  absl::Status status;  // of closing
};

// Derive from it and override what is of interest.
//
// The database calls from a thread of its own that does nothing else: one event after another, in
// the order in which they happened, never two at once, and soon after they happened, not while. No
// lock of the engine is held and nothing waits for a listener to return, except Close and the
// destructor: they return when everything was delivered. Events that a slow listener has not got to
// are kept in memory.
//
// So a listener may call the database: Statistics, Resume, and whatever else, except Close and the
// destructor. What waits for background work keeps later events waiting.
class EventListener {
 public:
  virtual ~EventListener() = default;

  // The first event, but for the minor compactions by which an opening writes out what it
  // recovered; and the last.
  virtual void OnDatabaseOpened(const DatabaseEvent& /*event*/) {}
  virtual void OnDatabaseClosed(const DatabaseEvent& /*event*/) {}

  // The change is durable. Of a change of families or locality groups the schema is to be asked
  // for.
  virtual void OnTableCreated(const TableEvent& /*event*/) {}
  virtual void OnTableChanged(const TableEvent& /*event*/) {}
  virtual void OnTableDeleted(const TableEvent& /*event*/) {}

  // The change is durable, and the tablets are served. By themselves or by request.
  virtual void OnTabletSplit(const TabletEvent& /*event*/) {}
  virtual void OnTabletsMerged(const TabletEvent& /*event*/) {}
  virtual void OnTabletMoved(const TabletEvent& /*event*/) {}

  // The server will never serve again; calls to its tablets wait.
  virtual void OnServerLost(const ServerEvent& /*event*/) {}
  // After that: other servers have all of its tablets, with everything that it had acknowledged.
  virtual void OnServerReplaced(const ServerEvent& /*event*/) {}

  virtual void OnMemtableRotated(const MemtableRotatedEvent& /*event*/) {}
  // Of each that has begun the end follows.
  virtual void OnMinorCompactionBegan(const MinorCompactionEvent& /*event*/) {}
  virtual void OnMinorCompactionEnded(const MinorCompactionEvent& /*event*/) {}
  virtual void OnCompactionBegan(const CompactionEvent& /*event*/) {}
  virtual void OnCompactionEnded(const CompactionEvent& /*event*/) {}
  virtual void OnFileQuarantined(const QuarantineEvent& /*event*/) {}

  // Writes go to this segment from now on; the one before was sealed, and the event of that comes
  // first, or it was given up because the log had failed, or left because a call on it stalled.
  virtual void OnLogSegmentCreated(const LogSegmentEvent& /*event*/) {}
  // The segment is full, or the log ends with it: nothing is written to it any more. It is needed
  // as long as a memtable is.
  virtual void OnLogSegmentEnded(const LogSegmentEvent& /*event*/) {}

  virtual void OnStallChanged(const StallEvent& /*event*/) {}
  virtual void OnBackgroundError(const BackgroundErrorEvent& /*event*/) {}
  // Database::Resume has succeeded.
  virtual void OnResumed(const DatabaseEvent& /*event*/) {}
};

}  // namespace bigtable

#endif  // BIGTABLE_EVENT_LISTENER_H_
