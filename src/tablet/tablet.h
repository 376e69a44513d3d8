// One tablet: a range of a table's rows, served by one tablet server (sections 5.3 and 5.4 of the
// paper).
//
// Threads:
// * Anybody reads: Pin() a version, choose the moment, use a CellCursor.
// * One thread at a time writes, which is whoever leads the server's group commit: Apply, Freeze,
//   SetLayout. It is called the writer here.
// * Background threads write memtables out and merge runs: MinorCompaction and Compact, one of each
//   for a locality group at a time. The caller sees to that.
//
// What always holds:
// 1. The versions of a tablet follow one another; each has all that was acknowledged before it was
//    published. A version with a new memtable seals the one before at the last visible mutation.
// 2. Of a locality group, the active memtable is newer than the frozen ones, these from new to old,
//    and all are newer than the runs, these from new to old by their order.
// 3. An SSTable is in a version only after METADATA names it, and METADATA forgets it before its
//    file is removed. Versions that are pinned keep its bytes.
#ifndef BIGTABLE_TABLET_TABLET_H_
#define BIGTABLE_TABLET_TABLET_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/clock.h"
#include "bigtable/event_listener.h"
#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "base/published.h"
#include "base/sequence.h"
#include "cache/scan_cache.h"
#include "compaction/compaction_inputs.h"
#include "compaction/job.h"
#include "compaction/policy.h"
#include "compaction/rate_limiter.h"
#include "monitoring/listener_queue.h"
#include "monitoring/tablet_counters.h"
#include "sstable/open_tables.h"
#include "tablet/file_estimates.h"
#include "tablet/file_numbers.h"
#include "tablet/file_quarantine.h"
#include "tablet/group_files.h"
#include "tablet/key_range.h"
#include "tablet/snapshot_list.h"
#include "tablet/table_layout.h"
#include "tablet/tablet_state.h"
#include "tablet/tablet_version.h"

namespace bigtable {

class Tablet;

// What is to be written out of a locality group: frozen memtables from new to old, up to the
// oldest.
struct FrozenMemtables {
  std::shared_ptr<Tablet> tablet;
  size_t group = 0;
  std::vector<Ref<Memtable>> memtables;
};

// What a tablet needs of the server it is on. Outlives the tablet.
struct TabletEnvironment {
  FileSystem* file_system = nullptr;
  Clock* clock = nullptr;
  std::shared_ptr<MemoryBudget> budget;
  TabletStore* store = nullptr;
  const SnapshotList* snapshots = nullptr;
  ScanCache* scan_cache = nullptr;          // may be null
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
  std::function<absl::StatusOr<SequenceNumber>(absl::Span<const FrozenMemtables>)> sync_log;
  // Before the server's log gives up records because of what was committed to `store`: from the
  // return of OK on, damage to any of that is noticed when it is recovered. Null: there is no need.
  std::function<absl::Status()> attest_commits;
  // Told of files that the tablet's METADATA row does not name any more.
  std::function<void(uint64_t number)> remove_file;
};

// What a compaction did.
struct CompactionOutcome {
  uint64_t bytes_read = 0;  // from SSTables
  uint64_t bytes_written = 0;
  uint64_t files_written = 0;
  uint64_t bytes_moved = 0;        // became a part of another run, untouched
  uint64_t bytes_dropped = 0;      // removed, unread
  std::vector<EventFile> outputs;  // what was written
  // After an error: the number of the input that could not be read, if it was that, or else 0.
  uint64_t unreadable_file = 0;
  // The same: METADATA may have what was to be committed, and takes nothing until that is settled.
  bool is_in_doubt = false;

  void Add(const SSTableInfo& written) {
    bytes_written += written.size;
    ++files_written;
    outputs.push_back({written.file_number, written.size});
  }
};

class Tablet : public std::enable_shared_from_this<Tablet> {
 public:
  Tablet(const Tablet&) = delete;
  Tablet& operator=(const Tablet&) = delete;

  // Has the SSTables of `state` opened, now or at their first use. Errors of OpenTables; DataLoss
  // when one is missing.
  static absl::StatusOr<std::unique_ptr<Tablet>> Open(const TabletEnvironment* environment,
                                                      std::shared_ptr<const TableLayout> layout,
                                                      const TabletState& state);

  const TabletId& id() const { return id_; }
  uint64_t table_id() const { return id_.table_id; }
  const RowRange& rows() const { return rows_; }
  // Pins what the tablet consists of now.
  Pin<TabletVersion> Version() const { return version_.Get(); }
  std::shared_ptr<const TableLayout> Layout() const { return Version()->shared_layout(); }
  // For rows of this tablet, with the id of the version they are read from; may be null.
  ScanCache* scan_cache() const { return environment_->scan_cache; }
  // What it is asked with; not null if the cache is not.
  const LastWrites* last_writes() const { return environment_->last_writes.get(); }
  TabletCounters* counters() const { return counters_.get(); }

  // --- For the writer ---

  // Adds the operations (tablet/mutation_format.h), which are well formed, to the memtables.
  // Families that the layout does not have are passed over. If `owner` is not null the values lie
  // in it and stay there, otherwise they are copied.
  void Apply(std::string_view row, std::string_view operations, SequenceNumber sequence,
             int64_t server_timestamp, const Ref<const RefCounted>& owner);
  // The same for a record of the log, for the groups whose redo point is before it.
  // The mutation may be of a table that had other families then.
  void Replay(std::string_view row, std::string_view operations, SequenceNumber sequence,
              int64_t server_timestamp);
  // A server's timestamp for a mutation that comes now: larger than all before.
  int64_t NextTimestamp();
  // The last one that was given out.
  int64_t last_timestamp() const { return last_timestamp_.load(std::memory_order_relaxed); }

  // Splits the tablet: what it has, two others have from now on, each the rows on its side of
  // `row`, which the right one begins with. Each has those of its frozen memtables and SSTables
  // that have rows of its; what both have they share, the latter until they are compacted. This one
  // takes no more writes, and what has it pinned or pins it sees what it had until now. No
  // background work on it is under way. `last` as in Freeze.
  struct Halves {
    std::shared_ptr<Tablet> left;
    std::shared_ptr<Tablet> right;
  };
  Halves Split(std::string_view row, SequenceNumber last);
  // The tablet takes no more writes, in the turn of the writer, so that everything can be written
  // out before it is served elsewhere; or takes them again, because it is not.
  void SetStopped(bool stopped) { stopped_.store(stopped, std::memory_order_release); }
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  // The rows are served elsewhere from now on: said before anybody can write to them there. Whoever
  // pins a version and then finds that the tablet has not moved may read it, and it was the latest.
  void MarkMoved() { moved_.store(true, std::memory_order_release); }
  bool moved() const { return moved_.load(std::memory_order_acquire); }

  // The table was deleted: the tablet takes no more writes, and compactions of it end early.
  void MarkRemoved() { removed_.store(true, std::memory_order_release); }
  bool removed() const { return removed_.load(std::memory_order_acquire); }
  // The schema that Apply goes by.
  const TableLayout* WriterLayout() const { return layout_.get(); }
  uint64_t ActiveBytes() const;  // in all active memtables
  // Bytes in the active memtable of a group, and the sequence number of its first entry (0: empty).
  uint64_t ActiveBytes(size_t group) const { return active_[group]->bytes(); }
  SequenceNumber ActiveFirstSequence(size_t group) const {
    return active_[group]->first_sequence();
  }
  size_t active_groups() const { return active_.size(); }
  // Replaces the active memtable of a group by an empty one, to be written out. `last` is the last
  // mutation that is complete. Does nothing if the memtable is empty.
  void Freeze(size_t group, SequenceNumber last, FreezeReason reason = FreezeReason::kRequested);
  void FreezeAll(SequenceNumber last) {
    for (size_t group = 0; group < active_.size(); ++group) Freeze(group, last);
  }
  // Lets go of all memtables and SSTables, as far as no reader has them pinned: for a tablet that
  // was removed and is not worked on any more. `last` as in Freeze.
  void Clear(SequenceNumber last);
  // From now on the tablet has this schema. Groups are only ever added.
  void SetLayout(std::shared_ptr<const TableLayout> layout, SequenceNumber last);

  // --- For background work ---

  // Does to the runs of a group what was picked. With `rewrite_all`, and all runs, this is a major
  // compaction: nothing moves unread. Cancelled if the tablet was removed meanwhile. Errors of the
  // limits. Does nothing if that would read a quarantined file: then the runs have changed since,
  // or CheckQuarantine fails.
  absl::Status Compact(size_t group, const CompactionPick& pick, bool rewrite_all,
                       const std::atomic<bool>* cancelled, CompactionOutcome* outcome,
                       const CallLimits& limits = {});
  // What the policy of the group would do now.
  std::optional<CompactionPick> PickCompaction(size_t group) const;
  // Whether that may be something else than when somebody has looked last, and has found nothing:
  // runs or the schema have changed. (Time passes, too: files grow too old.)
  bool MayPickOther() const { return may_pick_other_.load(std::memory_order_acquire); }
  // To be said before looking that nothing is found, and after that if something is.
  void SetMayPickOther(bool may) { may_pick_other_.store(may, std::memory_order_release); }
  // The most runs in a group that has a policy which bounds them, and between those of its runs
  // that are left alone because of a quarantined file.
  size_t MostRuns() const { return most_runs_.load(std::memory_order_relaxed); }

  // From now on compactions leave the file alone. Nothing if the group does not have it any more.
  void Quarantine(size_t group, uint64_t number, const absl::Status& status);
  // OK, or why a file of the group cannot be read.
  absl::Status CheckQuarantine(size_t group) const { return quarantine_.Check(group); }
  // They are tried again.
  void LiftQuarantine();
  void AddQuarantined(std::vector<QuarantinedFile>* files) const;
  // Of a file of a group; 0 if it does not have it.
  uint64_t FileBytes(size_t group, uint64_t number) const;
  EventPlace PlaceOf(size_t group) const { return PlaceOf(*Layout(), group); }

  bool HasFrozen(size_t group) const { return !Version()->groups()[group].frozen.empty(); }
  // The smallest sequence number that is in a memtable and so needed from the log; kMaxSequence if
  // there is none.
  SequenceNumber FirstUnflushed() const;
  // The redo point of a group.
  SequenceNumber FlushedThrough(size_t group) const;

  // What METADATA has of the tablet. No background work on it is under way.
  TabletState State() const;
  // Bytes of its rows on disk: of files that reach beyond them, an estimate.
  uint64_t DiskBytes() const;
  // A row to split the tablet at, that about as many of these bytes are before as behind, cut to
  // `prefix_length` bytes if that is not 0; nothing if that leaves a side without rows.
  std::optional<std::string> MiddleRow(size_t prefix_length) const;
  // Whether files of this tablet have rows that are `other`'s by now, as far as `other` does not
  // have the file in the same place: before the two are merged, such files have to be rewritten.
  bool ReachesInto(const Tablet& other) const;

  // The files of all groups are forgotten: for a table that is deleted. Tells remove_file of each.
  void RemoveFiles();

 private:
  friend class MinorCompaction;

  // Where what is written to a family goes, and where it is counted.
  struct FamilyPlace {
    size_t group;
    FamilyCounters* counters;
  };

  Tablet(const TabletEnvironment* environment, std::shared_ptr<const TableLayout> layout,
         const RowRange& rows);

  // The SSTables of `files`, one for each. `is_deferred`: opened at their first use.
  absl::StatusOr<std::vector<Ref<SSTable>>> OpenFiles(const GroupLayout& group,
                                                      const std::vector<TabletFile>& files,
                                                      bool is_deferred = false) const;
  // Opens those files of a group that are not open yet, if its policy looks into them when another
  // one comes, so that it finds them open where nobody must wait for a file. What cannot be opened
  // is an error of whoever reads it.
  void OpenForPolicy(size_t group) const;
  // The time for what takes the layout next and drops what its rules let go. In this order: a rule
  // is changed at a time that is read when the tablet has been told (Master::ChangeRules), so what
  // has expired by now has expired by the next change of a rule, too.
  absl::Time TimeBeforeLayout() const { return environment_->clock->Now(); }
  CompactionJob MakeJob(const TableLayout& layout, size_t group, bool major, absl::Time now) const;
  // Up to where the inputs, which were picked from the run `first_run` on, have everything of their
  // rows; `visible` was so before the version was pinned.
  static SequenceNumber CompleteThrough(const GroupVersion& group, const CompactionInputs& inputs,
                                        size_t first_run, SequenceNumber visible);
  // The runs of a group, for its policy.
  GroupSummary Summarize(const TabletVersion& version, size_t group, absl::Time now) const;
  // Makes durable what a compaction wrote, opens it, and commits and publishes `change`, which
  // names it. What was written is removed again unless METADATA may have it: then the outcome is in
  // doubt.
  absl::Status CommitOutput(const TableLayout& layout, size_t group,
                            const std::vector<SSTableInfo>& written, uint64_t order,
                            TabletChange change, CompactionOutcome* outcome);
  // Of a minor compaction: writes SSTables, whose directory it does not sync. Cancelled if the
  // tablet was removed meanwhile.
  absl::StatusOr<std::vector<SSTableInfo>> WriteMemtables(
      const TableLayout& layout, size_t group, const std::vector<Ref<Memtable>>& memtables,
      absl::Time now) const;
  // A change of the group that METADATA has taken, in the next version. `added`: the SSTables that
  // it adds and the group does not have yet; they hold what is in the `flushed` oldest of the
  // frozen memtables.
  void PublishChange(size_t group, const TabletChange& change,
                     const std::vector<Ref<SSTable>>& added, size_t flushed = 0);
  // Does what was chosen: writes, commits and publishes.
  absl::Status RunCompaction(const TableLayout& layout, size_t group,
                             const CompactionInputs& inputs, SequenceNumber complete_through,
                             absl::Time now, const std::atomic<bool>* cancelled,
                             CompactionOutcome* outcome, const CallLimits& limits);
  EventPlace PlaceOf(const TableLayout& layout, size_t group) const;
  void RemoveWritten(const std::vector<SSTableInfo>& written) const;
  // Publishes a version with these groups; `seal` is a new one if memtables changed.
  void Publish(std::shared_ptr<const TableLayout> layout, std::vector<GroupVersion> groups,
               Ref<VersionSeal> seal) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FindPlaces();
  size_t MostRunsOf(const TableLayout& layout, const std::vector<GroupVersion>& groups) const;
  // The quarantine has changed.
  void NoteQuarantine() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Insert(std::string_view row, std::string_view operations, SequenceNumber sequence,
              int64_t server_timestamp, const Ref<const RefCounted>& owner, bool replay);
  void Add(size_t group, SequenceNumber sequence, std::string_view value,
           const Ref<const RefCounted>& owner);
  // Its keys are expected to begin as all those in `known` do.
  Ref<Memtable> NewMemtable(const GroupVersion& known) const;
  uint64_t NewScanCacheId() const;
  std::unique_ptr<Tablet> MakeHalf(const RowRange& rows) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const TabletEnvironment* const environment_;
  const RowRange rows_;
  const TabletId id_;
  const Ref<TabletCounters> counters_ = MakeRef<TabletCounters>();
  const KeyRange keys_;  // of the rows

  // The writer's own.
  std::shared_ptr<const TableLayout> layout_;  // of the current version
  std::vector<Memtable*> active_;              // the same
  std::vector<FamilyPlace> places_;            // of the layout's families
  std::vector<SequenceNumber> replay_after_;   // redo points as they were when it was opened
  std::string key_;
  std::atomic<int64_t> last_timestamp_{0};
  std::atomic<bool> removed_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> moved_{false};

  // Of the current version.
  std::atomic<size_t> most_runs_{0};
  std::atomic<bool> may_pick_other_{true};

  FileEstimates estimates_{&keys_};
  FileQuarantine quarantine_;

  mutable Mutex mutex_;  // held while a version is replaced, and shortly
  Published<TabletVersion> version_;
};

// What is frozen of a tablet.
std::vector<FrozenMemtables> FrozenOf(const std::shared_ptr<Tablet>& tablet);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLET_H_
