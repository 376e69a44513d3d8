#include "read/rows_to_read.h"

#include <utility>

#include "absl/base/macros.h"

#include "base/entry_key.h"

namespace bigtable {

void RowsToRead::SetRange(const RowRange& range, bool reverse) {
  is_reverse_ = reverse;
  if (!range.begin().empty()) AppendRowPrefix(&begin_, range.begin());
  if (range.end().has_value()) AppendRowPrefix(&end_, *range.end());
}

bool RowsToRead::StartPrevious(MergingCursor* input) {
  ABSL_ASSERT(is_reverse_ && "rows are read from the last to the first");
  if (!reverse_row_.empty()) {
    input->SeekBefore(reverse_row_.view());
  } else if (end_.empty()) {
    input->SeekToLast();
  } else {
    input->SeekBefore(end_.view());
  }
  behind_row_ = absl::OkStatus();
  has_left_ = false;
  if (!input->valid() || input->key() < begin_.view()) return false;
  reverse_row_.assign(input->key().substr(0, RowPrefixSize(input->key())));
  input->Seek(reverse_row_.view());
  return true;
}

std::string_view RowsToRead::RowToFinish(const MergingCursor& input) const {
  if (is_reverse_) return reverse_row_.view();
  if (is_single_) return begin_.view();
  const std::string_view key = input.SmallestKey();
  if (key.empty() || IsAtEnd(key)) return {};
  return key.substr(0, RowPrefixSize(key));
}

bool RowsToRead::LeaveFailed(std::string_view row_prefix, MergingCursor* input) {
  absl::Status failure = input->status();
  ABSL_ASSERT(!failure.ok() && "the input has failed");
  if (row_prefix.empty() || !input->LeaveFailed(row_prefix)) return false;
  behind_row_ = std::move(failure);
  if (!is_reverse_ && !is_single_) end_.assign(PrefixSuccessor(row_prefix));
  return true;
}

}  // namespace bigtable
