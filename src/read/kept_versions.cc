#include "read/kept_versions.h"

#include "absl/base/macros.h"

namespace bigtable {

bool KeptVersions::JudgeByHistory(int64_t timestamp, EntryVersion version) {
  ABSL_ASSERT(played_ && "the history was played");
  const ColumnHistory::Life* const life = history_->FindLife(timestamp);
  if (life == nullptr || life->birth != version || !life->is_visible()) return false;
  if (life->counts()) ++alive_;
  return true;
}

bool KeptVersions::NeedsHistory(const FamilyLayout& family, SequenceNumber written) const {
  const PastRules& past = family.past;
  if (saw_dead_) {
    return family.most_versions() != kAllVersions || written < past.versions_changed();
  }
  if (alive_ == 0 || past.versions.empty()) return false;
  const bool is_by_count = family.collects_by_count();
  return written < past.LoosenedBefore(is_by_count ? family.most_versions() : kAllVersions);
}

ColumnHistory* KeptVersions::NewHistory() {
  ABSL_ASSERT(!played_ && "a column is played once");
  if (history_ == nullptr) history_ = std::make_unique<ColumnHistory>();
  history_->Clear();
  return history_.get();
}

}  // namespace bigtable
