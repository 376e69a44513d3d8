// The entries of a compaction's inputs that have to be written to its output: the input less what
// no read can see any more. This is where deletions take effect on disk and where garbage is
// collected. One thread at a time; forward only.
//
// A merging compaction does not see what is in older runs, so all deletions stay. A major one sees
// everything there is, and deletions go with what they hide. In both, an entry that is hidden goes
// if no snapshot sees it. Hidden means that a later entry deletes it or overwrites it.
//
// MaxVersions counts cells even if they were deleted later, so there its answer must not change
// when they go:
// * A merging compaction turns hidden cells into shadows, which have no value, so that the count
//   and the order of events can still be told. Cells with too many newer versions go if nothing in
//   the column was deleted: then the versions that stay are enough to tell that they are gone.
//   (For MaxVersions(1) an overwritten cell needs no shadow: the overwriting one counts as well.)
// * A major compaction plays the column's history through up to its horizon (the oldest snapshot,
//   or the present). Cells that live then stay; of the others, those that count against one that
//   stays leave a ghost: a deletion that says that a cell was here until then. Against the i-th
//   newest of them n - i can count, or it would be gone: that is n * (n - 1) / 2 ghosts at most,
//   and never more than timestamps at which a cell was deleted. (Which timestamps these are
//   matters: one that is written again counts no second time. So a number for each cell would not
//   do.)
//
// What a major compaction keeps of the time before its horizon is seen by everybody, and nothing
// older is left that it could hide. So when it was written does not matter any more, unless ghosts
// are to be counted against it: its version becomes the smallest that its family has, which takes
// less space, since all are the same.
//
// Where the rule of a family was another one before (past_rules.h), what came before the change is
// judged by that one. A merging compaction keeps what this needs: shadows if any of the rules
// counts versions, and it drops only what the present rule ends by what came after the last change.
// A major compaction plays the column through with all rules whose time has come; a change's has
// not, as long as something older than the change may be in a memtable or in a newer run
// (Retention::complete_through). Then the versions of what stays are brought behind the last change
// that is over, so that the past rules have no say in them any more.
#ifndef BIGTABLE_COMPACTION_COLLECTING_CURSOR_H_
#define BIGTABLE_COMPACTION_COLLECTING_CURSOR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "base/entry_cursor.h"
#include "base/entry_key.h"
#include "compaction/column_history.h"
#include "compaction/deletion_tracker.h"
#include "compaction/retention.h"

namespace bigtable {

class CollectingCursor {
 public:
  // Called with the bytes of input that were read since the last time, whether or not anything came
  // of them, and with none in between: an error ends the cursor.
  using Pay = std::function<absl::Status(uint64_t bytes)>;

  // `input` and `retention` outlive this. With `major`, input is all that the locality group has.
  CollectingCursor(EntryCursor* input, const Retention* retention, bool major, Pay pay = nullptr);

  void SeekToFirst();
  // Requires valid().
  void Next();

  bool valid() const { return valid_; }
  // Of the input, or what `pay` has returned.
  const absl::Status& status() const { return paid_.ok() ? input_->status() : paid_; }
  // What to write, until the cursor moves.
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  enum class Verdict { kKeep, kShadow, kDrop };

  // Goes on from where the input stands to the first entry that is to be written.
  void Find();
  // For the input's entry, which is done with. False: `pay` does not let it go on.
  bool PayForEntry();
  bool PayFor(uint64_t bytes);
  Verdict Judge(std::string_view key, EntryKind kind, EntryVersion version);
  // These look at the input's entry, which is of the kind that they name.
  void EnterRow(std::string_view key, size_t row_size);
  void EnterColumn(std::string_view key);
  void EnterTimestamp(int64_t timestamp);
  Verdict JudgeWide(EntryKind kind, EntryVersion version);
  Verdict JudgeTimestamped(std::string_view key, EntryKind kind, EntryVersion version);
  // JudgeTimestamped for the two ways to keep versions.
  Verdict JudgeSimple(EntryKind kind, EntryVersion version, bool hidden);
  Verdict JudgeMerging(EntryKind kind, EntryVersion version, bool hidden);
  // For what a major compaction finds at or before its horizon, in a column with MaxVersions.
  // May move the input away and back: views of its key do not stay.
  Verdict JudgeResolved(EntryKind kind, EntryVersion version);

  // The first later entry that hides what was written at `version` and at the current timestamp;
  // kNever: there is none.
  EntryVersion HiderOf(EntryVersion version) const;
  bool IsHiddenFromAll(EntryVersion version, EntryVersion hider) const;
  // Whether the rule lets go a cell in a column in which nothing was deleted.
  bool HasEnoughNewer(EntryVersion version) const;
  void CountNewer(EntryVersion version);
  // Reads the whole column ahead, plays its history, and returns the input to where it stood.
  bool PlayColumn();
  // Those of the lives that leave a ghost: what has died after `since` and counts against a cell
  // that lives.
  void FindGhosts(EntryVersion since);
  // Makes the key of a cell that stays for everybody.
  void Settle(EntryVersion version);

  EntryCursor* const input_;
  const Retention* const retention_;
  const bool major_;
  const SequenceNumber horizon_;
  const Pay pay_;
  absl::Status paid_;
  uint64_t unpaid_ = 0;
  bool keeps_versions_ = false;  // some family counts them

  // Where the input stands.
  std::string row_;            // row prefix
  std::string column_prefix_;  // of the current column
  const RetainedFamily* family_ = nullptr;
  bool counts_versions_ = false;  // family_ does
  std::string_view family_name_;  // in column_prefix_
  bool in_timestamp_ = false;
  int64_t timestamp_ = 0;

  DeletionTracker deletions_;
  // The entry before this one at the same timestamp: the one that hides it first.
  EntryVersion newer_at_timestamp_;
  EntryKind newer_kind_ = EntryKind::kCell;

  // Of the current column, for MaxVersions.
  bool saw_deletion_ = false;               // or what is left of a deleted or overwritten cell
  std::vector<EntryVersion> newer_births_;  // of cells at newer timestamps: the n latest, a heap
  bool counted_timestamp_ = false;          // the current timestamp is among them
  // For a major compaction, at or before the horizon:
  bool resolved_timestamp_ = false;  // the current timestamp's last entry up to there was seen
  int64_t living_ = 0;               // cells that live then, seen so far
  bool played_ = false;              // history_ and ghosts_ are of the current column
  ColumnHistory history_;
  std::vector<ColumnHistory::Life> ghosts_;  // oldest timestamp first

  bool valid_ = false;
  std::string_view key_;
  std::string_view value_;
  std::string made_key_;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_COLLECTING_CURSOR_H_
