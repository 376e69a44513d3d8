// The entries of a tablet's rows in the runs that a compaction merges, in key order.
#ifndef BIGTABLE_BACKGROUND_MERGE_INPUT_H_
#define BIGTABLE_BACKGROUND_MERGE_INPUT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/entry_cursor.h"
#include "compaction/clipped_cursor.h"
#include "compaction/cursor_pool.h"
#include "compaction/merging_cursor.h"
#include "compaction/sorted_run.h"

namespace bigtable {

// One thread at a time.
class MergeInput {
 public:
  // `runs` outlive it. The keys [begin, end); an empty end is none.
  MergeInput(const std::vector<SortedRun>& runs, std::string begin, std::string end)
      : clipped_(&merged_, std::move(begin), std::move(end)) {
    for (const SortedRun& run : runs) {
      cursors_.push_back(pool_.Make<RunCursor>(&run, ReadSettings{.fill_cache = false}));
      merged_.Add(cursors_.back());
    }
  }

  EntryCursor* cursor() { return &clipped_; }
  // The number of a file that could not be read; 0: there is none.
  uint64_t UnreadableFile() const {
    uint64_t number = 0;
    for (const RunCursor* cursor : cursors_) {
      if (!cursor->status().ok()) number = cursor->file()->info().file_number;
    }
    return number;
  }

 private:
  CursorPool pool_;
  MergingCursor merged_;
  std::vector<RunCursor*> cursors_;
  ClippedCursor clipped_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_MERGE_INPUT_H_
