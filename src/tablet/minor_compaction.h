// A minor compaction: immutable memtables of the tablets of one server become SSTables, all
// together or none (section 5.4 of the paper).
//
//   write and sync all SSTables and their directory -> sync the log, if it is needed -> METADATA
//   has them -> publish
//
// Why together. If the machine dies, the log may end before mutations that are in SSTables by then.
// Whatever is older than these must not be lost: it has to be in SSTables, too, or in a part of the
// log that is durable. Memtables of different tablets and groups have mutations of the same time;
// if they were written out one after the other, each would have to sync the log for the sake of
// those that are still in memory. A sync of the log writes all its bytes to the disk, and makes its
// pages clean, so that every store into a segment that is used again faults. Committed together,
// memtables that were rotated at one moment need nothing of the log.
#ifndef BIGTABLE_TABLET_MINOR_COMPACTION_H_
#define BIGTABLE_TABLET_MINOR_COMPACTION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/event_listener.h"

#include "base/steady_time.h"
#include "tablet/tablet.h"
#include "tablet/tablet_compaction.h"

namespace bigtable {

// Used by one thread, once. Of each locality group, it is the only minor compaction at a time.
class MinorCompaction {
 public:
  struct Part {
    ImmutableMemtables immutable;  // let go of as soon as they are written out
    CompactionOutcome outcome;
    // Cancelled: the tablet was removed, or another part has failed before this one was begun.
    absl::Status status = absl::CancelledError("not begun");
    int64_t nanos = 0;  // that it took, with what it waited for the others' commit

    // Whether cells dated more than a day ahead were written into a group in which a rule counts
    // versions: they may hide later writes (bigtable/timestamp.h).
    bool HasFutureCells() const;

   private:
    friend class MinorCompaction;
    absl::Time now;  // TimeBeforeLayout
    std::shared_ptr<const TableLayout> layout;
    RedoPoint redo;
    std::vector<SSTableInfo> written;
    std::vector<Ref<SSTable>> opened;
    SteadyTime began;  // of the event
    MinorCompactionEvent event;
  };

  // `environment` is that of all the tablets.
  MinorCompaction(const TabletEnvironment* environment, std::vector<ImmutableMemtables> immutable);

  // Does all of it. After an error nothing of what was not committed has happened, and those
  // memtables are still immutable; or else it is_in_doubt, because METADATA did not say whether it
  // took a change: then the next opening shows. Tablets that are removed meanwhile are left out.
  absl::Status Run();
  bool is_in_doubt() const { return is_in_doubt_; }
  // What became of what.
  const std::vector<Part>& parts() const { return parts_; }

 private:
  absl::Status WriteOut(Part* part) const;
  // The SSTables, whose directory is not synced. Cancelled if the tablet was removed meanwhile.
  static absl::StatusOr<std::vector<SSTableInfo>> Write(const Part& part);
  absl::Status SyncDirectoryFor(absl::Span<Part* const> parts) const;
  // Commits these at once, and publishes them. After an error their files are removed, unless
  // METADATA may have heard of them. Refused: these are too many, and nothing has happened.
  absl::Status Commit(absl::Span<Part* const> parts, bool* is_refused);
  absl::Status SyncLogFor(absl::Span<Part* const> parts) const;
  static std::vector<TabletStep> StepsOf(absl::Span<Part* const> parts);
  void RemoveOutput(absl::Span<Part* const> parts) const;
  void End(absl::Span<Part* const> parts, const absl::Status& status) const;

  const TabletEnvironment* const environment_;
  std::vector<Part> parts_;
  bool is_in_doubt_ = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_MINOR_COMPACTION_H_
