// The SSTables of a locality group of a tablet, each with its order among the sorted runs, the
// group's redo point, and the state of its compaction policy: a GroupState whose files are open, or
// are opened at their first use.
//
// Immutable, and part of a version (tablet_version.h). The next GroupFiles is made from this one
// and the change that was committed to METADATA. So reads see the files that METADATA names.
#ifndef BIGTABLE_TABLET_GROUP_FILES_H_
#define BIGTABLE_TABLET_GROUP_FILES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "base/ref_counted.h"
#include "compaction/sorted_run.h"
#include "schema/table_layout.h"
#include "sstable/key_range.h"
#include "sstable/sstable.h"
#include "tablet/tablet_environment.h"
#include "tablet/tablet_state.h"

namespace bigtable {

class GroupFiles final : public RefCounted {
 public:
  struct File {
    uint64_t order = 0;  // as in TabletFile
    Ref<SSTable> table;
    uint64_t share = 0;  // as in TabletFile
  };

  GroupFiles() = default;
  // `tables` are the SSTables of `state.files`, one for each.
  GroupFiles(const GroupState& state, std::vector<Ref<SSTable>> tables);

  const std::vector<File>& files() const { return files_; }
  const RedoPoint& redo() const { return redo_; }
  const std::string& policy_state() const { return policy_state_; }
  GroupState State() const;
  // The size of a file; 0 if the group does not have it.
  uint64_t BytesOf(uint64_t number) const;
  // The orders of the oldest and the newest among these files of the group; at least one.
  struct Orders {
    uint64_t oldest = 0;
    uint64_t newest = 0;
  };
  Orders OrdersOf(const std::vector<Ref<SSTable>>& tables) const;

  // The sorted runs, from new to old: files of the same order, and of adjacent orders if they do
  // not overlap.
  std::vector<SortedRun> MakeRuns() const;

  // The files after a change (ApplyChange). `added`: the SSTables of `change.added` that the group
  // does not have yet.
  Ref<const GroupFiles> After(const TabletChange& change,
                              const std::vector<Ref<SSTable>>& added) const;
  // Only the files that overlap the range, with their shares of it.
  Ref<const GroupFiles> Within(const KeyRange& keys) const;
  // Without files.
  Ref<const GroupFiles> Emptied() const;

 private:
  std::vector<File> files_;
  RedoPoint redo_;
  std::string policy_state_;
};

// The SSTables of `files`, one for each. `is_deferred`: each is opened at its first use. Errors of
// OpenTables; DataLoss if a file is missing.
absl::StatusOr<std::vector<Ref<SSTable>>> OpenSSTables(const TabletEnvironment& environment,
                                                       const GroupLayout& group,
                                                       const std::vector<TabletFile>& files,
                                                       bool is_deferred = false);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_GROUP_FILES_H_
