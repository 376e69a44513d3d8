// The part of a compaction's commit that says, in the change stream of the table, that the
// compaction has collected garbage (TableChange::Kind::kGarbageCollection). METADATA takes it
// together with the files, so it is there exactly if these are.
#ifndef BIGTABLE_BACKGROUND_COLLECTION_NOTE_H_
#define BIGTABLE_BACKGROUND_COLLECTION_NOTE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "schema/table_layout.h"
#include "tablet/tablet.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// The families of a group from which compactions remove cells by a rule, present or past.
std::vector<std::string> CollectedFamilies(const TableLayout& layout, uint32_t group_id);

// From before the collection has a number until it is published or has failed. Used by one thread,
// once. Readers of changes wait meanwhile (tablet/pending_collection.h).
class CollectionNote {
 public:
  // `tablet` outlives this.
  explicit CollectionNote(Tablet* tablet) ABSL_NO_THREAD_SAFETY_ANALYSIS : tablet_(tablet) {
    tablet_->pending_collection()->Begin();
  }
  ~CollectionNote() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    tablet_->pending_collection()->End(is_in_doubt_);
  }
  CollectionNote(const CollectionNote&) = delete;
  CollectionNote& operator=(const CollectionNote&) = delete;

  // Once: takes the number. The step is to be committed together with that of the files.
  // DataLoss: the state of the tablet's changes cannot be read.
  absl::StatusOr<TabletStep> TakeStep(std::vector<std::string> families, absl::Time collected_at);
  // METADATA may or may not have taken the step.
  void LeaveInDoubt() { is_in_doubt_ = true; }

 private:
  Tablet* const tablet_;
  bool is_in_doubt_ = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_COLLECTION_NOTE_H_
