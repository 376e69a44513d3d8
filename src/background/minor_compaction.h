// A minor compaction, or flush: immutable memtables of the tablets of one server become SSTables,
// all of them or none (section 5.4 of the paper).
//
//   write the SSTables, and a file of the changes -> sync them and their directory -> sync the log,
//   if needed -> commit to METADATA -> publish
//
// Why together. If the machine dies, the log may end before mutations that are in SSTables by then.
// All mutations that are older than these must be durable: in SSTables too, or in a synced part of
// the log. The sequence numbers of memtables of different tablets and groups overlap. If they were
// flushed one after the other, each flush would have to sync the log, for the mutations that are
// still in memory. A sync writes all bytes of the log to the disk and makes its pages clean, so
// that every store into a reused segment faults. Memtables that were rotated at the same sequence
// number and are committed together do not need the log.
//
// The small memtables of a locality group of a table are written into common files, tablet after
// tablet (shared_output.h).
#ifndef BIGTABLE_BACKGROUND_MINOR_COMPACTION_H_
#define BIGTABLE_BACKGROUND_MINOR_COMPACTION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/event_listener.h"

#include "background/tablet_compaction.h"
#include "base/steady_time.h"
#include "tablet/tablet.h"

namespace bigtable {

// Used by one thread, once. A locality group has one minor compaction at a time.
class MinorCompaction {
 public:
  struct GroupFlush {
    ImmutableMemtables immutable;  // the references are dropped once they are flushed
    CompactionOutcome outcome;
    // Cancelled: the tablet was removed, or another part has failed before this one began.
    absl::Status status = absl::CancelledError("not begun");
    // Of its policy, which could not say what the flush was to write.
    absl::Status policy_error = {};
    int64_t nanos = 0;  // how long it took, including the wait for the common commit

    // Whether it has cells with timestamps more than a day ahead, in a group in which a rule counts
    // versions. Such cells may hide later writes (bigtable/timestamp.h).
    bool HasFutureCells() const;

   private:
    friend class MinorCompaction;
    // NOLINTBEGIN(readability-identifier-naming): members of a struct
    absl::Time now;  // TimeBeforeLayout
    std::shared_ptr<const TableLayout> layout;
    RedoPoint redo;
    std::vector<TabletFile> written;
    std::vector<Ref<SSTable>> opened;
    std::vector<TabletFile> changes_written;  // one file, or none
    std::vector<Ref<SSTable>> changes_opened;
    SteadyTime began;  // of the event
    MinorCompactionEvent event;
    // NOLINTEND(readability-identifier-naming)
  };

  // All the tablets have this environment. `on_commit` gets each part that METADATA has taken
  // before its SSTables are published, so that whoever waits for the flush finds it counted.
  MinorCompaction(const TabletEnvironment* environment, std::vector<ImmutableMemtables> immutable,
                  std::function<void(const GroupFlush&)> on_commit = nullptr);

  // Flushes them. After an error, memtables whose files were not committed are still immutable, and
  // their files are removed; unless it is_in_doubt(): then METADATA may or may not have taken a
  // change, which the next opening shows. Tablets that are removed meanwhile are skipped.
  absl::Status Run();
  bool is_in_doubt() const { return is_in_doubt_; }
  // The outcome of each.
  const std::vector<GroupFlush>& parts() const { return parts_; }

 private:
  // The parts that are written together are in one set, in the order of their rows.
  using Set = std::vector<GroupFlush*>;
  std::vector<Set> SetsToWrite();
  bool SharesFiles(const GroupFlush& part) const;
  // After an error, nothing of the set is left. Cancelled if a tablet is removed meanwhile.
  absl::Status WriteOut(const Set& set) const;
  // Writes the SSTables; their directory is not synced.
  absl::Status Write(const Set& set) const;
  // The last sequence number in their memtables: the order of their files.
  static SequenceNumber LastOf(const Set& set);
  // Whether all that the group has in other memtables has larger sequence numbers.
  static bool HasOnlyNewer(const GroupFlush& part, SequenceNumber than);
  static CompactionJob MakeJob(GroupFlush* part);
  static int64_t OldestDeletion(const Set& set);
  // What is written for a part besides.
  absl::Status Complete(GroupFlush* part) const;
  absl::Status SyncDirectoryFor(absl::Span<GroupFlush* const> parts) const;
  // Commits these together, and publishes them. After an error their files are removed, unless
  // METADATA may name them. Refused: these are too many for one commit, and nothing was committed.
  absl::Status Commit(absl::Span<GroupFlush* const> parts, bool* is_refused);
  absl::Status SyncLogFor(absl::Span<GroupFlush* const> parts) const;
  // The changes that the memtables of the first group have noted, in a file of their own.
  absl::Status WriteChanges(GroupFlush* part) const;
  static TabletChange ChangeOf(const GroupFlush& part);
  // What the tablet's group of changes gets.
  static TabletChange ChangeFilesOf(const GroupFlush& part);
  static std::vector<TabletStep> StepsOf(absl::Span<GroupFlush* const> parts);
  void RemoveOutput(absl::Span<GroupFlush* const> parts) const;
  void End(absl::Span<GroupFlush* const> parts, const absl::Status& status) const;

  const TabletEnvironment* const environment_;
  const std::function<void(const GroupFlush&)> on_commit_;
  std::vector<GroupFlush> parts_;
  bool is_in_doubt_ = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_MINOR_COMPACTION_H_
