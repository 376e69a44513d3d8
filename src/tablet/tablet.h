// One tablet: a range of a table's rows, served by one tablet server (sections 5.3 and 5.4 of the
// paper).
//
// Threads:
// * Anybody reads: Version() pins what there is now, and a CellCursor (read/) reads that.
// * One thread at a time writes, which is whoever leads the server's group commit: writer(),
//   Rotate, SetLayout. It is called the writer here.
// * Background threads flush memtables and merge runs (minor_compaction.h, merging_compaction.h),
//   one of each for a locality group at a time. The caller sees to that.
//
// What always holds:
// 1. The versions of a tablet follow one another; each has all that was acknowledged before it was
//    published. A version with a new memtable seals the one before at the last visible mutation.
// 2. Of a locality group, the active memtable is newer than the immutable ones, these from new
//    to old, and all are newer than the runs, these from new to old by their order.
// 3. An SSTable is in a version only after METADATA names it, and METADATA forgets it before its
//    file is removed. Versions that are pinned keep its bytes.
#ifndef BIGTABLE_TABLET_TABLET_H_
#define BIGTABLE_TABLET_TABLET_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/event_listener.h"
#include "bigtable/row_range.h"
#include "bigtable/statistics.h"

#include "base/mutex.h"
#include "base/published.h"
#include "base/sequence.h"
#include "monitoring/tablet_counters.h"
#include "tablet/file_estimates.h"
#include "tablet/file_quarantine.h"
#include "tablet/group_files.h"
#include "tablet/key_range.h"
#include "tablet/table_layout.h"
#include "tablet/tablet_environment.h"
#include "tablet/tablet_state.h"
#include "tablet/tablet_version.h"
#include "tablet/tablet_writer.h"

namespace bigtable {

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
  const KeyRange& keys() const { return keys_; }  // of the rows
  const TabletEnvironment* environment() const { return environment_; }
  // Pins what the tablet consists of now.
  Pin<TabletVersion> Version() const { return version_.Get(); }
  std::shared_ptr<const TableLayout> Layout() const { return Version()->shared_layout(); }
  TabletCounters* counters() const { return counters_.get(); }

  // --- For the writer ---

  TabletWriter* writer() { return &writer_; }
  const TabletWriter* writer() const { return &writer_; }
  // As the writer's.
  void Replay(std::string_view row, std::string_view operations, SequenceNumber sequence,
              int64_t server_timestamp) {
    writer_.Replay(row, operations, sequence, server_timestamp);
  }
  uint64_t ActiveBytes() const { return writer_.bytes(); }
  size_t active_groups() const { return writer_.groups(); }

  // Splits the tablet: what it has, two others have from now on, each the rows on its side of
  // `row`, which the right one begins with. Each has those of its immutable memtables and SSTables
  // that have rows of its; what both have they share, the latter until they are compacted. This one
  // takes no more writes, and what has it pinned or pins it sees what it had until now. No
  // background work on it is under way. `last` as in Rotate.
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
  void MarkSuperseded() { superseded_.store(true, std::memory_order_release); }
  bool superseded() const { return superseded_.load(std::memory_order_acquire); }

  // The table was deleted: the tablet takes no more writes, and compactions of it end early.
  void MarkRemoved() { removed_.store(true, std::memory_order_release); }
  bool removed() const { return removed_.load(std::memory_order_acquire); }
  const std::atomic<bool>* removed_flag() const { return &removed_; }
  // Replaces the active memtable of a group by an empty one, to be written out. `last` is the last
  // mutation that is complete. Does nothing if the memtable is empty.
  void Rotate(size_t group, SequenceNumber last,
              RotationReason reason = RotationReason::kRequested);
  void RotateAll(SequenceNumber last) {
    for (size_t group = 0; group < writer_.groups(); ++group) Rotate(group, last);
  }
  // Lets go of all memtables and SSTables, as far as no reader has them pinned: for a tablet that
  // was removed and is not worked on any more. `last` as in Rotate.
  void Clear(SequenceNumber last);
  // From now on the tablet has this schema. Groups are only ever added.
  void SetLayout(std::shared_ptr<const TableLayout> layout, SequenceNumber last);

  // --- For background work ---

  // Publishes a change of a group that was committed to METADATA. `added`: the SSTables that the
  // change adds and the group does not have yet. After a flush they hold what is in the `flushed`
  // oldest of the immutable memtables, which the next version does not have any more.
  void PublishChange(size_t group, const TabletChange& change,
                     const std::vector<Ref<SSTable>>& added, size_t flushed = 0);
  // Whether PickCompaction (tablet/compaction_picker.h) may pick something else than when somebody
  // has looked last, and has found nothing: runs or the schema have changed. (Time passes, too:
  // files grow too old.)
  bool MayPickOther() const { return may_pick_other_.load(std::memory_order_acquire); }
  // To be said before looking that nothing is found, and after that if something is.
  void SetMayPickOther(bool may) { may_pick_other_.store(may, std::memory_order_release); }
  // The most runs in a group that has a policy which bounds them, and between those of its runs
  // that are left alone because of a quarantined file.
  size_t MostRuns() const { return most_runs_.load(std::memory_order_relaxed); }

  // From now on compactions leave the file alone. Nothing if the group does not have it any more.
  void Quarantine(size_t group, uint64_t number, const absl::Status& status);
  // They are tried again.
  void LiftQuarantine();
  const FileQuarantine& quarantine() const { return quarantine_; }
  void AddQuarantined(std::vector<QuarantinedFile>* files) const;
  const FileEstimates& estimates() const { return estimates_; }

  bool HasImmutable(size_t group) const { return !Version()->groups()[group].immutable.empty(); }
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
  Tablet(const TabletEnvironment* environment, std::shared_ptr<const TableLayout> layout,
         const RowRange& rows);

  // Publishes a version with these groups; `seal` is a new one if memtables changed.
  void Publish(std::shared_ptr<const TableLayout> layout, std::vector<GroupVersion> groups,
               Ref<ReadLimit> read_limit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  size_t MostRunsOf(const TableLayout& layout, const std::vector<GroupVersion>& groups) const;
  // The quarantine has changed.
  void NoteQuarantine() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Its keys are expected to begin as all those in `known` do.
  Ref<Memtable> NewMemtable(const GroupVersion& known) const;
  uint64_t NewScanCacheId() const;
  std::unique_ptr<Tablet> MakeHalf(const RowRange& rows) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const TabletEnvironment* const environment_;
  const RowRange rows_;
  const TabletId id_;
  const Ref<TabletCounters> counters_ = MakeRef<TabletCounters>();
  const KeyRange keys_;

  TabletWriter writer_;
  std::atomic<bool> removed_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> superseded_{false};

  // Of the current version.
  std::atomic<size_t> most_runs_{0};
  std::atomic<bool> may_pick_other_{true};

  FileEstimates estimates_{&keys_};
  FileQuarantine quarantine_;

  mutable Mutex mutex_;  // held while a version is replaced, and shortly
  Published<TabletVersion> version_;
};

// The place of a group of the tablet, for events. The layout is one that the tablet has had.
EventLocation LocationOf(const Tablet& tablet, const TableLayout& layout, size_t group);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLET_H_
