// Which cells of a column MaxVersions keeps, as a read meets them, from new to old. One thread at a
// time; reusable.
//
// As long as nothing was deleted in the column, the rule takes the first cells, and a rule of
// several steps of the others those that are not too old. If a cell follows a deleted one, the
// column's history is replayed (column_history.h). The same happens if a cell was written before
// the rule was loosened (past_rules.h), unless it is the first of its column, which every rule
// keeps.
//
// Invariants:
// * alive_ is the number of cells of the column that were met and kept, and count against all that
//   follow, which have older timestamps too.
// * saw_dead_ is true once anything else was met that may have counted against an older cell; or
//   from the beginning if nothing may be counted (Shortcut::kCountVersions is off).
// * If played_, history_ is that of the whole column, and decides alone.
#ifndef BIGTABLE_READ_KEPT_VERSIONS_H_
#define BIGTABLE_READ_KEPT_VERSIONS_H_

#include <cstdint>
#include <memory>

#include "absl/base/macros.h"
#include "absl/time/time.h"

#include "base/sequence.h"
#include "retention/column_history.h"
#include "schema/table_layout.h"

namespace bigtable {

class KeptVersions {
 public:
  enum class Answer { kKept, kCollected, kAllOlderCollected, kAsHistorySays };

  explicit KeptVersions(bool may_count) : may_count_(may_count) {}

  void EnterColumn() {
    alive_ = 0;
    saw_dead_ = !may_count_;
    played_ = false;
  }
  // The same, at a cell that is the first entry of the column.
  void EnterAtCell() {
    EnterColumn();
    alive_ = 1;
  }
  void AddDead() { saw_dead_ = true; }

  // For the last write at its timestamp, of a family that counts versions: whether it is a cell
  // that is not deleted (`alive`), and that the rule keeps and has always kept since `written`.
  // kAsHistorySays: JudgeByHistory answers, once the column is played.
  Answer Judge(const FamilyLayout& family, absl::Time now, int64_t timestamp,
               SequenceNumber written, bool alive) {
    ABSL_ASSERT(family.counts_versions() && "the family has a rule to count by");
    if (alive_ >= family.fewest_versions() &&
        (family.collects_by_count() || timestamp < MinTimestamp(family.gc, now, alive_))) {
      return Answer::kAllOlderCollected;
    }
    if (!alive) {
      saw_dead_ = true;
      return Answer::kCollected;
    }
    if (played_ || NeedsHistory(family, written)) return Answer::kAsHistorySays;
    ++alive_;
    return Answer::kKept;
  }
  // The same for the cell with this version. Requires is_played().
  bool JudgeByHistory(int64_t timestamp, EntryVersion version);

  // Whether the history of the column was played. If not, it is played by filling NewHistory(),
  // playing it, and SetPlayed().
  bool is_played() const { return played_; }
  ColumnHistory* NewHistory();
  void SetPlayed() { played_ = true; }
  // Of a column that was played: the life at the timestamp; null if it was not.
  const ColumnHistory::Life* LifeAt(int64_t timestamp) const {
    return played_ ? history_->FindLife(timestamp) : nullptr;
  }

 private:
  // Whether the newer cells of the column do not suffice to decide if a cell is kept.
  bool NeedsHistory(const FamilyLayout& family, SequenceNumber written) const;

  const bool may_count_;
  bool saw_dead_ = false;
  bool played_ = false;
  int64_t alive_ = 0;
  std::unique_ptr<ColumnHistory> history_;  // few reads need it
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_KEPT_VERSIONS_H_
