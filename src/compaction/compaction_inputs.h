// What a pick of a policy means for the files: which are merged, which move as they are, and what
// has to go with them.
#ifndef BIGTABLE_COMPACTION_COMPACTION_INPUTS_H_
#define BIGTABLE_COMPACTION_COMPACTION_INPUTS_H_

#include <optional>
#include <string>
#include <vector>

#include "base/ref_counted.h"
#include "compaction/policy.h"
#include "compaction/sorted_run.h"
#include "sstable/sstable.h"

namespace bigtable {

struct CompactionInputs {
  // From new to old; each has at least one file.
  std::vector<SortedRun> merged;
  // These share no row with another input: they become a part of the output untouched. In key
  // order.
  std::vector<Ref<SSTable>> moved;
  // Removed, unread.
  std::vector<Ref<SSTable>> dropped;
  // No older file has anything of the rows that are merged: what their deletions hide is all here.
  bool is_major = false;
  // The run of which the output becomes a part, as it was: the oldest of those that were picked.
  // What stands between it and a newer input in age shares no row with the output, so that the
  // output may count as that old.
  std::vector<Ref<SSTable>> target;
};

// `runs` from new to old. With `rewrite_all` nothing is moved.
//
// Rows are kept together: of a row that is in a file which takes part, everything takes part that
// is in the picked runs and could be hidden by it, or hide it from being dropped in a later one.
CompactionInputs ChooseInputs(const std::vector<SortedRun>& runs, const CompactionPick& pick,
                              bool rewrite_all);

// An estimate of which part of a file's rows, from 0 to 1, is also in older runs: some of its keys
// are looked up in their filters. Costs some hundred filter probes; rows that runs without filters
// could have count as there. Nothing if that would open a file (SSTable::Defer).
std::optional<double> EstimateOverwriting(const SSTable& file, const std::vector<SortedRun>& runs,
                                          size_t first_older);

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_COMPACTION_INPUTS_H_
