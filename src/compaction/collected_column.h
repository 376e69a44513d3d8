// Where a compaction is in its input, and what hides an entry there: the part that the judgement of
// entries without counted versions, of those with (unresolved_versions.h, resolved_versions.h), of
// contributions and of filters share. One thread at a time.
//
// Entries come in the order of their keys. EnterColumn is called with the key of each, and
// EnterTimestamp with its timestamp if it has one, before anything is asked about it. Then it is
// added: as a deletion (deletions()), or as a write at its timestamp (AddWrite).
//
// Invariants:
// * family() is the family of prefix(), or null if the compaction drops what is in that family.
// * deletions() has the deletions of the row, the family and the column that came before. These are
//   all that cover the entry, because deletions that are wider than a cell come before what they
//   hide.
// * At a timestamp, entries come from the last write to the first. So the write before this entry
//   is the first that has hidden it. Contributions and marks hide nothing, and are no such writes.
//
// A compaction resolves an entry if it is a major one, so that nothing older is elsewhere, and if
// the entry is not after the horizon, so that it looks the same to all reads that may still come.
#ifndef BIGTABLE_COMPACTION_COLLECTED_COLUMN_H_
#define BIGTABLE_COMPACTION_COLLECTED_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/base/macros.h"

#include "base/compare.h"
#include "base/entry_key.h"
#include "base/entry_kind.h"
#include "base/sequence.h"
#include "retention/deletion_tracker.h"
#include "retention/retention.h"

namespace bigtable {

class CollectedColumn {
 public:
  // All inputs of a compaction are of the same locality group.
  static constexpr uint32_t kGroup = 0;
  static constexpr EntryVersion kNever = DeletionTracker::kNever;

  // `retention` outlives this.
  CollectedColumn(const Retention* retention, bool major)
      : retention_(*retention), major_(major), horizon_(retention->horizon()) {}
  CollectedColumn(const CollectedColumn&) = delete;
  CollectedColumn& operator=(const CollectedColumn&) = delete;

  const Retention& retention() const { return retention_; }
  SequenceNumber horizon() const { return horizon_; }
  bool Resolves(EntryVersion version) const { return major_ && version.sequence <= horizon_; }

  // Whether an entry with this key is in the current column.
  bool Has(std::string_view key) const {
    return key.size() == prefix_.size() + kTrailerSize && BeginsWith(key, prefix_);
  }
  // Makes the column of the key current. Requires !Has(key).
  void EnterColumn(std::string_view key);
  // False: the timestamp is the current one already.
  bool EnterTimestamp(int64_t timestamp) {
    if (in_timestamp_ && timestamp == timestamp_) return false;
    in_timestamp_ = true;
    timestamp_ = timestamp;
    newer_ = {};
    return true;
  }
  // The entry at the timestamp is done.
  void AddWrite(EntryKind kind, EntryVersion version) {
    ABSL_ASSERT(in_timestamp_ && HasTimestamp(kind) && "the timestamp was entered");
    if (IsContribution(kind) || kind == EntryKind::kCountedOut) return;
    newer_ = version;
    newer_kind_ = kind;
  }

  // The key of the column, without a trailer, and its row's part of it.
  const std::string& prefix() const { return prefix_; }
  std::string_view row_prefix() const { return row_; }
  // Null: entries of the family are dropped.
  const RetainedFamily* family() const { return family_; }
  // Whether family() counts versions, or has counted them.
  bool counts_versions() const { return counts_versions_; }
  int64_t timestamp() const { return timestamp_; }
  DeletionTracker& deletions() { return deletions_; }

  // Whether the entry before, at the same timestamp, is a write; its version, or EntryVersion().
  EntryVersion newer() const { return newer_; }
  bool is_overwritten() const {
    return newer_ != EntryVersion{} && newer_kind_ == EntryKind::kCell;
  }
  // The first later entry that hides an entry with `version` at the current timestamp; kNever if
  // there is none.
  EntryVersion HiderOf(EntryVersion version);
  // Whether no read sees an entry that `hider` hides. Without it: that HiderOf hides.
  bool IsHiddenFromAll(EntryVersion version, EntryVersion hider) const {
    return hider != kNever && !retention_.SeenBetween(version.sequence, hider.sequence);
  }
  bool IsHiddenFromAll(EntryVersion version) { return IsHiddenFromAll(version, HiderOf(version)); }

 private:
  const Retention& retention_;
  const bool major_;
  const SequenceNumber horizon_;

  std::string row_;
  std::string prefix_;
  const RetainedFamily* family_ = nullptr;
  bool counts_versions_ = false;
  std::string_view family_name_;  // in prefix_
  DeletionTracker deletions_;

  bool in_timestamp_ = false;
  int64_t timestamp_ = 0;
  // The write before this entry at the timestamp.
  EntryVersion newer_;
  EntryKind newer_kind_ = EntryKind::kCell;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_COLLECTED_COLUMN_H_
