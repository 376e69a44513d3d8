#include "compaction/collected_column.h"

#include <algorithm>

namespace bigtable {

void CollectedColumn::EnterColumn(std::string_view key) {
  ABSL_ASSERT(!Has(key) && "a column is entered once");
  const bool same_row = !row_.empty() && key.starts_with(row_);
  const size_t row_size = same_row ? row_.size() : RowPrefixSize(key);
  const std::string_view family = FamilyOf(key, row_size);
  if (!same_row) {
    row_.assign(key.substr(0, row_size));
    deletions_.EnterRow();
  }
  if (!same_row || family != family_name_) {
    deletions_.EnterFamily(kGroup);
    family_ = retention_.Find(family);
    counts_versions_ = family_ != nullptr && family_->counts_versions();
  }
  prefix_.assign(ColumnPrefix(key));
  family_name_ = std::string_view(prefix_).substr(row_size, family.size());
  deletions_.EnterColumn();
  in_timestamp_ = false;
}

EntryVersion CollectedColumn::HiderOf(EntryVersion version) {
  const EntryVersion deletion = deletions_.FirstAfter(version, timestamp_);
  return newer_ > version ? std::min(deletion, newer_) : deletion;
}

}  // namespace bigtable
