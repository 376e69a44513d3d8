// The files of a policy's pick: which are merged, which move unchanged, and which must be included
// with them.
#ifndef BIGTABLE_COMPACTION_COMPACTION_INPUTS_H_
#define BIGTABLE_COMPACTION_COMPACTION_INPUTS_H_

#include <optional>
#include <string>
#include <vector>

#include "base/ref_counted.h"
#include "compaction/policies.h"
#include "compaction/sorted_run.h"
#include "sstable/key_range.h"
#include "sstable/sstable.h"

namespace bigtable {

struct CompactionInputs {
  // What is merged of them. The others have rows of it; what they have outside stays in their runs.
  KeyRange range{RowRange()};
  // From new to old; each has at least one file.
  std::vector<SortedRun> merged;
  // These share no row with another input and become a part of the output unchanged. In key order.
  // None before TakeMoved.
  std::vector<Ref<SSTable>> moved;
  // Files of the run that the output joins, which are no inputs, but lie between the first and the
  // last of those that are pushed into it. The output has no file across one. In key order.
  std::vector<Ref<SSTable>> between;
  // Removed without being read.
  std::vector<Ref<SSTable>> dropped;
  // No older file has entries of the merged rows, so all that their deletions hide is in the
  // inputs.
  bool is_major = false;
  // The files of the run that the output joins: the oldest of the picked runs. Files whose age is
  // between this run and a newer input share no row with the output, so the output may count as
  // that old.
  std::vector<Ref<SSTable>> target;
};

// `runs` from new to old. Reads no file.
//
// Rows are kept together: files that are pushed take along all files of their run and of the next
// run that share a row with them, directly or through another such file. Their entries could hide
// the others, or be hidden by them.
CompactionInputs ChooseInputs(const std::vector<SortedRun>& runs, const CompactionPick& pick);

// Moves the files that share no row with any other from `merged` to `moved`. May open files.
void TakeMoved(CompactionInputs* inputs);

// An estimate of the part of a file's rows within the range, from 0 to 1, that is also in older
// runs. Some of its keys are looked up in the filters of these runs. Costs some hundred filter
// probes. Rows that a run without filters could have count as present. nullopt if the estimate
// would have to open a file (SSTable::Defer).
std::optional<double> EstimateOverwriting(const SSTable& file, const std::vector<SortedRun>& runs,
                                          size_t first_older,
                                          const KeyRange& keys = KeyRange(RowRange()));

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_COMPACTION_INPUTS_H_
