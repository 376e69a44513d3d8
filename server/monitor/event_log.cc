#include "server/monitor/event_log.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"

#include "server/text/errors.h"

namespace bigtable::server {
namespace {

std::string_view NameOfRotation(RotationReason reason) {
  switch (reason) {
    case RotationReason::kRequested:
      return "requested";
    case RotationReason::kFull:
      return "full";
    case RotationReason::kLogLength:
      return "the log is long";
    case RotationReason::kMemory:
      return "the memory budget";
    case RotationReason::kTogether:
      return "flushed with another";
  }
  return "";
}

std::string_view NameOfCompaction(const CompactionEvent& event) {
  switch (event.reason) {
    case CompactionReason::kMerge:
      return event.is_major ? "merge of all runs" : "merge";
    case CompactionReason::kPush:
      return "push to the next run";
    case CompactionReason::kDrop:
      return "drop of expired files";
    case CompactionReason::kMajor:
      return "major, requested";
  }
  return "";
}

// The cells that a snapshot has kept from their compaction filter.
std::string Unfiltered(const CompactionEvent& event) {
  return event.cells_unfiltered == 0 ? ""
                                     : Cat(", ", event.cells_unfiltered, " cells not filtered");
}

std::string Files(size_t count) { return Cat(count, count == 1 ? " file" : " files"); }

std::string FilesOf(const CompactionEvent& event) {
  std::string text;
  if (!event.inputs.empty()) text += Cat(", ", Files(event.inputs.size()), " read");
  if (!event.moved.empty()) text += Cat(", ", Files(event.moved.size()), " moved");
  if (!event.dropped.empty()) text += Cat(", ", Files(event.dropped.size()), " dropped");
  return text;
}

std::string WithStatus(std::string what, const absl::Status& status) {
  return status.ok() ? what : Cat(what, ": ", std::string(status.message()));
}

bool IsSame(const EventLocation& a, const EventLocation& b) {
  return a.server == b.server && a.table == b.table && a.locality_group == b.locality_group &&
         a.end_row == b.end_row;
}

}  // namespace

std::string_view NameOf(EventLog::Kind kind) {
  switch (kind) {
    case EventLog::Kind::kFlush:
      return "flush";
    case EventLog::Kind::kCompaction:
      return "compaction";
    case EventLog::Kind::kMemtable:
      return "memtable";
    case EventLog::Kind::kStall:
      return "stall";
    case EventLog::Kind::kTablet:
      return "tablet";
    case EventLog::Kind::kTable:
      return "table";
    case EventLog::Kind::kError:
      return "error";
  }
  return "";
}

std::string_view NameOf(StallReason reason) {
  switch (reason) {
    case StallReason::kNone:
      return "none";
    case StallReason::kMemory:
      return "memory";
    case StallReason::kSortedRuns:
      return "sorted runs";
  }
  return "";
}

std::vector<EventLog::Entry> EventLog::Last(size_t most) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t count = std::min(most, entries_.size());
  return {entries_.rbegin(), entries_.rbegin() + static_cast<ptrdiff_t>(count)};
}

std::vector<EventLog::Running> EventLog::RunningNow() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return running_;
}

uint64_t EventLog::flushes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return flushes_;
}

uint64_t EventLog::compactions() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return compactions_;
}

void EventLog::Add(Entry entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entry.number = ++numbers_;
  entries_.push_back(std::move(entry));
  if (entries_.size() > kKept) entries_.pop_front();
}

void EventLog::Begin(Running running) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++(running.kind == Kind::kFlush ? flushes_ : compactions_);
  running_.push_back(std::move(running));
}

void EventLog::End(Entry entry) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(running_.begin(), running_.end(), [&](const Running& running) {
      return running.kind == entry.kind && IsSame(running.location, entry.location);
    });
    if (found != running_.end()) running_.erase(found);
  }
  Add(std::move(entry));
}

void EventLog::OnTableCreated(const TableEvent& event) {
  Add({.time = event.time,
       .kind = Kind::kTable,
       .location = {.table = event.table},
       .what = "created"});
}

void EventLog::OnTableChanged(const TableEvent& event) {
  Add({.time = event.time,
       .kind = Kind::kTable,
       .location = {.table = event.table},
       .what = "changed"});
}

void EventLog::OnTableDeleted(const TableEvent& event) {
  Add({.time = event.time,
       .kind = Kind::kTable,
       .location = {.table = event.table},
       .what = "deleted"});
}

void EventLog::OnTabletSplit(const TabletEvent& event) {
  Add({.time = event.time,
       .kind = Kind::kTablet,
       .location = {.server = event.server, .table = event.table},
       .what = Cat("split at ", Quoted(event.row))});
}

void EventLog::OnTabletsMerged(const TabletEvent& event) {
  Add({.time = event.time,
       .kind = Kind::kTablet,
       .location = {.server = event.server, .table = event.table},
       .what = Cat("merged at ", Quoted(event.row))});
}

void EventLog::OnTabletMoved(const TabletEvent& event) {
  Add({.time = event.time,
       .kind = Kind::kTablet,
       .location = {.server = event.server, .table = event.table},
       .what = Cat("moved from ", event.previous_server, ", from row ", Quoted(event.row))});
}

void EventLog::OnServerLost(const ServerEvent& event) {
  Add({.time = event.time,
       .kind = Kind::kError,
       .location = {.server = event.server},
       .what = "the tablet server lost its lock",
       .is_failure = true});
}

void EventLog::OnServerReplaced(const ServerEvent& event) {
  Add({.time = event.time,
       .kind = Kind::kTablet,
       .location = {.server = event.server},
       .what = "other servers serve its tablets"});
}

void EventLog::OnMemtableRotated(const MemtableRotatedEvent& event) {
  Add({.time = event.time,
       .kind = Kind::kMemtable,
       .location = event.location,
       .what = Cat("rotated: ", NameOfRotation(event.reason)),
       .bytes_read = event.bytes});
}

void EventLog::OnMinorCompactionBegan(const MinorCompactionEvent& event) {
  Begin({.since = event.time,
         .kind = Kind::kFlush,
         .location = event.location,
         .what = Cat(event.memtables, event.memtables == 1 ? " memtable" : " memtables")});
}

void EventLog::OnMinorCompactionEnded(const MinorCompactionEvent& event) {
  End({.time = event.time,
       .kind = Kind::kFlush,
       .location = event.location,
       .what = WithStatus(Cat(event.memtables, event.memtables == 1 ? " memtable" : " memtables",
                              " to ", Files(event.outputs.size())),
                          event.status),
       .is_failure = !event.status.ok(),
       .bytes_written = event.bytes_written,
       .duration = event.duration});
}

void EventLog::OnCompactionBegan(const CompactionEvent& event) {
  uint64_t bytes = 0;
  for (const EventFile& file : event.inputs) bytes += file.bytes;
  Begin({.since = event.time,
         .kind = Kind::kCompaction,
         .location = event.location,
         .what = Cat(NameOfCompaction(event), FilesOf(event)),
         .bytes = bytes});
}

void EventLog::OnCompactionEnded(const CompactionEvent& event) {
  const bool is_cancelled = absl::IsCancelled(event.status);
  End({.time = event.time,
       .kind = Kind::kCompaction,
       .location = event.location,
       .what = WithStatus(Cat(NameOfCompaction(event), FilesOf(event), ", ",
                              Files(event.outputs.size()), " written", Unfiltered(event)),
                          event.status),
       .is_failure = !event.status.ok() && !is_cancelled,
       .bytes_read = event.bytes_read,
       .bytes_written = event.bytes_written,
       .duration = event.duration});
}

void EventLog::OnFileQuarantined(const QuarantineEvent& event) {
  Add({.time = event.time,
       .kind = Kind::kError,
       .location = event.location,
       .what = Cat("a file is left alone: ", std::string(event.status.message())),
       .is_failure = true});
}

void EventLog::OnStallChanged(const StallEvent& event) {
  const bool is_over = event.now == StallReason::kNone;
  Add({.time = event.time,
       .kind = Kind::kStall,
       .location = {.server = event.server},
       .what = is_over ? Cat("writers go on; they waited for ", NameOf(event.before))
                       : Cat("writers are slowed: ", NameOf(event.now), ", ",
                             absl::FormatDuration(absl::Trunc(event.delay, absl::Microseconds(1))),
                             " a write")});
}

void EventLog::OnBackgroundError(const BackgroundErrorEvent& event) {
  const std::string why(event.status.message());
  const bool stops_writes = event.stops == BackgroundErrorEvent::Stops::kWrites;
  if (stops_writes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_.emplace(event.server, why);
  }
  Add({.time = event.time,
       .kind = Kind::kError,
       .location = {.server = event.server},
       .what = Cat(stops_writes ? "writes are refused: " : "compactions stop: ", why),
       .is_failure = true});
}

void EventLog::OnResumed(const DatabaseEvent& event) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_.clear();
  }
  Add({.time = event.time, .kind = Kind::kError, .what = "resumed"});
}

std::map<std::string, std::string> EventLog::StoppedServers() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stopped_;
}

}  // namespace bigtable::server
