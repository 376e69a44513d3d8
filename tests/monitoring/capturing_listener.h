// An EventListener that records what it receives, and a database with it.
#ifndef BIGTABLE_TESTS_MONITORING_CAPTURING_LISTENER_H_
#define BIGTABLE_TESTS_MONITORING_CAPTURING_LISTENER_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "base/mutex.h"
#include "base/strings.h"
#include "support/database_fixture.h"

namespace bigtable {

// Records the events as text. Leaves out those of the table METADATA.
class CapturingListener final : public EventListener {
 public:
  void OnDatabaseOpened(const DatabaseEvent& e) override { Add(Cat("opened ", e.path)); }
  void OnDatabaseClosed(const DatabaseEvent& e) override {
    Add(Cat("closed ", e.path, " ", e.status.ToString()));
  }
  void OnTableCreated(const TableEvent& e) override { Add(Cat("created ", e.table)); }
  void OnTableChanged(const TableEvent& e) override { Add(Cat("changed ", e.table)); }
  void OnTableDeleted(const TableEvent& e) override { Add(Cat("deleted ", e.table)); }
  void OnTabletSplit(const TabletEvent& e) override { AddTablet("split", e); }
  void OnTabletsMerged(const TabletEvent& e) override { AddTablet("merged", e); }
  void OnTabletMoved(const TabletEvent& e) override { AddTablet("moved", e); }
  void OnServerLost(const ServerEvent& e) override { Add(Cat("lost ", e.server)); }
  void OnServerReplaced(const ServerEvent& e) override { Add(Cat("replaced ", e.server)); }
  void OnMemtableRotated(const MemtableRotatedEvent& e) override {
    if (!IsOfUser(e.location)) return;
    EXPECT_GT(e.bytes, 0u);
    Add(Cat("rotated ", Show(e.location), " ", static_cast<int>(e.reason)));
  }
  void OnMinorCompactionBegan(const MinorCompactionEvent& e) override {
    if (!IsOfUser(e.location)) return;
    EXPECT_TRUE(e.outputs.empty());
    Add(Cat("minor began ", Show(e.location), " of ", e.memtables));
  }
  void OnMinorCompactionEnded(const MinorCompactionEvent& e) override {
    if (!IsOfUser(e.location)) return;
    EXPECT_GT(e.duration, absl::ZeroDuration());
    uint64_t bytes = 0;
    for (const EventFile& file : e.outputs) bytes += file.bytes;
    EXPECT_EQ(bytes, e.bytes_written);
    Add(Cat("minor ended ", Show(e.location), " ", e.outputs.size(), " files ",
            e.status.ToString()));
    MutexLock lock(&mutex_);
    written_.insert(written_.end(), e.outputs.begin(), e.outputs.end());
  }
  void OnCompactionBegan(const CompactionEvent& e) override {
    if (!IsOfUser(e.location)) return;
    Add(Cat("compaction began ", Show(e.location), " reason ", static_cast<int>(e.reason), " of ",
            e.inputs.size(), e.is_major ? " major" : ""));
    MutexLock lock(&mutex_);
    inputs_ = e.inputs;
  }
  void OnCompactionEnded(const CompactionEvent& e) override {
    if (!IsOfUser(e.location)) return;
    EXPECT_GT(e.duration, absl::ZeroDuration());
    Add(Cat("compaction ended ", Show(e.location), " ", e.outputs.size(), " files ",
            e.bytes_read > 0 ? "read " : "", e.status.ToString()));
  }
  void OnLogSegmentCreated(const LogSegmentEvent& e) override { AddSegment("created", e); }
  void OnLogSegmentEnded(const LogSegmentEvent& e) override { AddSegment("ended", e); }
  void OnStallChanged(const StallEvent& e) override {
    EXPECT_FALSE(e.server.empty());
    Add(Cat("stall ", static_cast<int>(e.before), " to ", static_cast<int>(e.now),
            e.delay > absl::ZeroDuration() ? " delayed" : ""));
  }
  void OnBackgroundError(const BackgroundErrorEvent& e) override {
    Add(Cat("error ", static_cast<int>(e.stops), " ", absl::StatusCodeToString(e.status.code())));
    if (on_error) on_error();
  }
  void OnResumed(const DatabaseEvent&) override { Add("resumed"); }

  std::vector<std::string> Take() {
    MutexLock lock(&mutex_);
    return std::exchange(events_, {});
  }
  // Whether there was an event that starts with `prefix`.
  bool Has(std::string_view prefix) {
    MutexLock lock(&mutex_);
    return std::any_of(events_.begin(), events_.end(),
                       [&](const std::string& event) { return event.starts_with(prefix); });
  }
  // Waits for such an event; false if none comes within 10 seconds.
  bool WaitFor(std::string_view prefix) {
    for (int i = 0; i < 2000; ++i) {
      if (Has(prefix)) return true;
      absl::SleepFor(absl::Milliseconds(5));
    }
    return false;
  }
  // The files that minor compactions have written.
  std::vector<EventFile> written() {
    MutexLock lock(&mutex_);
    return written_;
  }
  // The input files of the last compaction.
  std::vector<EventFile> inputs() {
    MutexLock lock(&mutex_);
    return inputs_;
  }
  // The events of log segments by server, those of METADATA left out.
  std::map<std::string, std::vector<std::string>> TakeSegments() {
    MutexLock lock(&mutex_);
    return std::exchange(segments_, {});
  }

  std::function<void()> on_error;

 private:
  static bool IsOfUser(const EventLocation& location) { return location.table != "METADATA"; }
  static std::string Show(const EventLocation& location) {
    return Cat(location.table, location.end_row.has_value() ? Cat("<", *location.end_row) : "", "/",
               location.locality_group);
  }
  void AddTablet(std::string_view what, const TabletEvent& e) {
    EXPECT_GT(e.time, absl::UnixEpoch());
    EXPECT_FALSE(e.server.empty());
    EXPECT_EQ(e.previous_server.empty(), what != "moved");
    EXPECT_NE(e.server, e.previous_server);
    Add(Cat(what, " ", e.table, " ", e.row));
  }
  void AddSegment(std::string_view what, const LogSegmentEvent& e) {
    EXPECT_FALSE(e.server.empty());
    if (!e.server.starts_with("server-")) return;
    MutexLock lock(&mutex_);
    segments_[e.server].push_back(Cat(what, " ", e.number));
  }
  void Add(std::string event) {
    MutexLock lock(&mutex_);
    events_.push_back(std::move(event));
  }

  Mutex mutex_;
  std::vector<std::string> events_ ABSL_GUARDED_BY(mutex_);
  std::vector<EventFile> written_ ABSL_GUARDED_BY(mutex_);
  std::vector<EventFile> inputs_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::vector<std::string>> segments_ ABSL_GUARDED_BY(mutex_);
};

using Events = std::vector<std::string>;

// The events that start with one of the `prefixes`.
inline Events Only(const Events& events, const std::vector<std::string_view>& prefixes) {
  Events chosen;
  for (const std::string& event : events) {
    if (std::any_of(prefixes.begin(), prefixes.end(),
                    [&](std::string_view b) { return event.starts_with(b); })) {
      chosen.push_back(event);
    }
  }
  return chosen;
}

class ListeningDatabaseFixture : public DatabaseFixture {
 protected:
  void TearDown() override { database_.reset(); }  // before the listener
  DatabaseOptions ListeningOptions() {
    DatabaseOptions options = Options();
    options.event_listener = &listener_;
    return options;
  }

  CapturingListener listener_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_MONITORING_CAPTURING_LISTENER_H_
