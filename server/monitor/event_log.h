// The engine's last events, and the flushes and compactions that are running.
//
// Thread-safe. Memory: the last kKept events, and an entry for each compaction that is running.
#ifndef BIGTABLE_SERVER_MONITOR_EVENT_LOG_H_
#define BIGTABLE_SERVER_MONITOR_EVENT_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/event_listener.h"

namespace bigtable::server {

class EventLog final : public EventListener {
 public:
  static constexpr size_t kKept = 200;

  enum class Kind : uint8_t { kFlush, kCompaction, kMemtable, kStall, kTablet, kTable, kError };

  // What there is to say of an event; the rest is empty.
  struct Entry {
    uint64_t number = 0;  // 1, 2, ...
    absl::Time time;
    Kind kind = Kind::kFlush;
    EventLocation location;
    std::string what;  // in words
    bool is_failure = false;
    uint64_t bytes_read = 0;
    uint64_t bytes_written = 0;
    absl::Duration duration;  // of what has ended
  };
  // A flush or a compaction.
  struct Running {
    absl::Time since;
    Kind kind = Kind::kFlush;
    EventLocation location;
    std::string what;
    uint64_t bytes = 0;  // of its inputs
  };

  std::vector<Entry> Last(size_t most) const;  // from new to old
  std::vector<Running> RunningNow() const;     // from old to new
  // The servers that refuse writes until the database is resumed, and why. They may have ended
  // since.
  std::map<std::string, std::string> StoppedServers() const;
  // Flushes and compactions that have begun since the database was opened.
  uint64_t flushes() const;
  uint64_t compactions() const;

  void OnTableCreated(const TableEvent& event) override;
  void OnTableChanged(const TableEvent& event) override;
  void OnTableDeleted(const TableEvent& event) override;
  void OnTabletSplit(const TabletEvent& event) override;
  void OnTabletsMerged(const TabletEvent& event) override;
  void OnTabletMoved(const TabletEvent& event) override;
  void OnServerLost(const ServerEvent& event) override;
  void OnServerReplaced(const ServerEvent& event) override;
  void OnMemtableRotated(const MemtableRotatedEvent& event) override;
  void OnMinorCompactionBegan(const MinorCompactionEvent& event) override;
  void OnMinorCompactionEnded(const MinorCompactionEvent& event) override;
  void OnCompactionBegan(const CompactionEvent& event) override;
  void OnCompactionEnded(const CompactionEvent& event) override;
  void OnFileQuarantined(const QuarantineEvent& event) override;
  void OnStallChanged(const StallEvent& event) override;
  void OnBackgroundError(const BackgroundErrorEvent& event) override;
  void OnResumed(const DatabaseEvent& event) override;

 private:
  void Add(Entry entry);
  void Begin(Running running);
  void End(Entry entry);

  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  std::vector<Running> running_;
  std::map<std::string, std::string> stopped_;
  uint64_t numbers_ = 0;
  uint64_t flushes_ = 0;
  uint64_t compactions_ = 0;
};

// "flush", "compaction", ...
std::string_view NameOf(EventLog::Kind kind);
// "memory", "sorted runs", or "none".
std::string_view NameOf(StallReason reason);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_MONITOR_EVENT_LOG_H_
