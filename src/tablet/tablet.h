// One tablet: a range of a table's rows, served by one tablet server (sections 5.3 and 5.4 of the
// paper).
//
// Threads:
// * Any thread reads: Version() pins the current version, and a CellCursor (read/) reads that.
// * One thread at a time writes: the leader of the server's group commit, or a thread that has its
//   turn in the same queue. It is called the writer here. It alone calls writer(), Rotate, Split,
//   SetLayout and DropMemtables.
// * Background threads flush memtables and merge runs (minor_compaction.h, merging_compaction.h),
//   at most one of each for a locality group at a time. The caller ensures that.
//
// What always holds:
// 1. The versions of a tablet follow one another. Each has everything that was acknowledged before
//    it was published. A version with a new memtable sets the read limit of the version before to
//    the last visible mutation.
// 2. In a locality group the active memtable is newer than the immutable ones, which are ordered
//    from new to old. All memtables are newer than the sorted runs, which are ordered from new to
//    old too.
// 3. An SSTable is in a version only after METADATA names it, and METADATA forgets it before its
//    file is removed. Pinned versions keep its bytes.
//
// Lock order: `mutex_` before the locks of FileEstimates, FileQuarantine and EmptyRows. In a split,
// `mutex_` of the tablet before that of its halves, which no other thread knows yet.
#ifndef BIGTABLE_TABLET_TABLET_H_
#define BIGTABLE_TABLET_TABLET_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/event_listener.h"
#include "bigtable/row_range.h"
#include "bigtable/statistics.h"

#include "base/mutex.h"
#include "base/published.h"
#include "base/sequence.h"
#include "base/thread_roles.h"
#include "monitoring/tablet_counters.h"
#include "schema/table_layout.h"
#include "sstable/key_range.h"
#include "tablet/empty_rows.h"
#include "tablet/file_estimates.h"
#include "tablet/file_quarantine.h"
#include "tablet/group_files.h"
#include "tablet/group_policies.h"
#include "tablet/pending_collection.h"
#include "tablet/tablet_environment.h"
#include "tablet/tablet_state.h"
#include "tablet/tablet_version.h"
#include "tablet/tablet_writer.h"

namespace bigtable {

// What a tablet still accepts: writes, reads, compactions. Each flag but `stopped` is set once.
//
//   stopped     no more writes; reads go on
//   superseded  other tablets, or another server, serve the rows: no more writes and no new reads
//   removed     the table was deleted: no more writes and no new reads, and compactions end early
//
// Any thread may call everything here.
class TabletFlags {
 public:
  TabletFlags() = default;
  TabletFlags(const TabletFlags&) = delete;
  TabletFlags& operator=(const TabletFlags&) = delete;

  // Set in a turn among the writes, so that everything can be flushed before the tablet is served
  // elsewhere. Cleared if it is not served elsewhere after all.
  void SetStopped(bool stopped) {
    ABSL_ASSERT((stopped || !superseded()) && "what is served elsewhere is never written to again");
    stopped_.store(stopped, std::memory_order_release);
  }
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }

  // Set before any other tablet or server can be written to for these rows. So if a reader pins a
  // version, and then finds that the tablet is not superseded, the version was the latest.
  void MarkSuperseded() { superseded_.store(true, std::memory_order_release); }
  bool superseded() const { return superseded_.load(std::memory_order_acquire); }

  void MarkRemoved() { removed_.store(true, std::memory_order_release); }
  bool removed() const { return removed_.load(std::memory_order_acquire); }
  // For a compaction, which looks at it now and then. Lives as long as the tablet.
  const std::atomic<bool>* removed_flag() const { return &removed_; }

  bool ended() const { return removed() || superseded(); }

 private:
  std::atomic<bool> removed_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> superseded_{false};
};

class Tablet : public std::enable_shared_from_this<Tablet> {
 public:
  Tablet(const Tablet&) = delete;
  Tablet& operator=(const Tablet&) = delete;

  // Opens the SSTables of `state`, now or at their first use. Errors of OpenTables; DataLoss if a
  // file is missing.
  static absl::StatusOr<std::unique_ptr<Tablet>> Open(const TabletEnvironment* environment,
                                                      std::shared_ptr<const TableLayout> layout,
                                                      const TabletState& state);

  const TabletId& id() const { return id_; }
  uint64_t table_id() const { return id_.table_id; }
  const RowRange& rows() const { return rows_; }
  const KeyRange& keys() const { return keys_; }  // of the rows
  const TabletEnvironment* environment() const { return environment_; }
  // Pins the current version.
  Pin<TabletVersion> Version() const { return version_.Get(); }
  std::shared_ptr<const TableLayout> Layout() const { return Version()->shared_layout(); }

  // --- Its parts ---

  TabletWriter* writer() { return &writer_; }
  const TabletWriter* writer() const { return &writer_; }
  TabletFlags& flags() { return flags_; }
  const TabletFlags& flags() const { return flags_; }
  const FileEstimates& estimates() const { return estimates_; }
  const FileQuarantine& quarantine() const { return quarantine_; }
  GroupPolicies* policies() { return &policies_; }
  PendingCollection* pending_collection() { return &pending_collection_; }
  const PendingCollection& pending_collection() const { return pending_collection_; }
  TabletCounters* counters() const { return counters_.get(); }

  // --- For the writer ---

  // Replaces the active memtable of a group by an empty one, so that the old one can be flushed.
  // `last` is the visible sequence number. Does nothing if the memtable is empty.
  void Rotate(size_t group, SequenceNumber last, RotationReason reason = RotationReason::kRequested)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void RotateAll(SequenceNumber last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Splits the tablet into two that have the rows before `row`, and from `row` on. Each half has
  // the immutable memtables and SSTables that overlap its key range; what both have is shared, the
  // SSTables until they are compacted. This tablet is superseded. Readers that pin one of its
  // versions see its contents as they were before. Not while background work on the tablet is under
  // way. `last` as in Rotate.
  struct Halves {
    std::shared_ptr<Tablet> left;
    std::shared_ptr<Tablet> right;
  };
  Halves Split(std::string_view row, SequenceNumber last)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Sets the schema. Groups are only ever added. `last` as in Rotate.
  void SetLayout(std::shared_ptr<const TableLayout> layout, SequenceNumber last)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Drops the references to all memtables, except those of pinned versions: for a removed tablet
  // that no work is under way on. `last` as in Rotate.
  void DropMemtables(SequenceNumber last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  // --- For background work ---

  // Publishes a change of a group that was committed to METADATA. `added`: the SSTables that the
  // change adds and the group does not have yet. After a flush they hold the `flushed` oldest of
  // the immutable memtables, which the next version does not have any more. `changes_rows`: reads
  // may return other rows than before, so cached rows must not be used any more.
  void PublishChange(size_t group, const TabletChange& change,
                     const std::vector<Ref<SSTable>>& added, size_t flushed = 0,
                     bool changes_rows = false);
  // The same for the files of changes. Published before the flush of the memtables that have noted
  // them: until then a reader finds a change in both, and takes it once.
  void PublishChangeFiles(const TabletChange& change, const std::vector<Ref<SSTable>>& added);
  // Whether PickCompaction (background/compaction_picker.h) may find something that it did not find
  // the last time: runs or the schema have changed since. (Files grow too old without that.)
  bool MayPickOther() const { return may_pick_other_.load(std::memory_order_acquire); }
  // Cleared before a call of PickCompaction, and set after it if it has found something.
  void SetMayPickOther(bool may) { may_pick_other_.store(may, std::memory_order_release); }
  // When a policy of the tablet wants to be asked even if nothing changes (CompactionPick::kWait),
  // as NowNanos; 0: never. Under the lock of the background work.
  int64_t pick_again_at() const { return pick_again_at_; }
  void SetPickAgainAt(int64_t at) { pick_again_at_ = at; }
  // The largest number of runs in a group whose policy bounds them. A run with a quarantined file
  // divides the runs of its group, and each part is counted alone.
  size_t MostRuns() const { return most_runs_.load(std::memory_order_relaxed); }

  // The same as DropMemtables for the SSTables.
  void DropFiles();

  // Compactions leave the file alone from here on. Does nothing if the group has it no more.
  void Quarantine(size_t group, uint64_t number, const absl::Status& status);
  // Compactions try all files again.
  void LiftQuarantine();

  bool HasImmutable(size_t group) const { return !Version()->groups()[group].immutable.empty(); }
  // The redo point of a group.
  SequenceNumber FlushedThrough(size_t group) const;

  // The state that METADATA has of the tablet. Not while background work on it is under way.
  TabletState State() const;
  // Bytes of its rows on disk; an estimate for files that reach beyond the rows.
  uint64_t DiskBytes() const;

 private:
  Tablet(const TabletEnvironment* environment, std::shared_ptr<const TableLayout> layout,
         const RowRange& rows);

  // Publishes a version with these groups; `read_limit` is a new one if memtables have changed.
  void Publish(std::shared_ptr<const TableLayout> layout, std::vector<GroupVersion> groups,
               Ref<ReadLimit> read_limit, Ref<const GroupFiles> change_files,
               bool changes_rows = false) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  size_t MostRunsOf(const TableLayout& layout, const std::vector<GroupVersion>& groups) const;
  // The quarantine has changed.
  void OnQuarantineChanged() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Its keys are expected to share the prefix of all keys in `known`.
  Ref<Memtable> NewMemtable(const GroupVersion& known) const;
  uint64_t NewScanCacheId() const;
  // Has the estimates know the shares of these files.
  void NoteShares(const GroupFiles& files);
  std::unique_ptr<Tablet> MakeHalf(const RowRange& rows) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer, mutex_);

  const TabletEnvironment* const environment_;
  const RowRange rows_;
  const TabletId id_;
  const Ref<TabletCounters> counters_ = MakeRef<TabletCounters>();
  const KeyRange keys_;
  const Ref<EmptyRows> empty_rows_ = MakeRef<EmptyRows>();

  TabletWriter writer_;
  TabletFlags flags_;

  // Of the current version.
  std::atomic<size_t> most_runs_{0};
  std::atomic<bool> may_pick_other_{true};
  int64_t pick_again_at_ = 0;

  FileEstimates estimates_{&keys_};
  FileQuarantine quarantine_;
  GroupPolicies policies_;
  PendingCollection pending_collection_;

  mutable Mutex mutex_;  // held briefly, while a version is replaced
  Published<TabletVersion> version_;
};

// The names of a group of the tablet, for events. `layout` is one that the tablet has had.
EventLocation LocationOf(const Tablet& tablet, const TableLayout& layout, size_t group);

// Appends the quarantined files of the tablet, for statistics.
void AddQuarantined(const Tablet& tablet, std::vector<QuarantinedFile>* files);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLET_H_
