#include "compaction/merging_cursor.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/base/macros.h"

#include "base/compare.h"

namespace bigtable {

void MergingCursor::Seek(std::string_view target) {
  if (children_.size() > 1 && shortcuts_.Has(Shortcut::kRequests)) {
    for (EntryCursor* child : children_) child->Request(target);
  }
  for (EntryCursor* child : children_) child->Seek(target);
  Rebuild();
}

void MergingCursor::SeekForward(std::string_view target) {
  ABSL_ASSERT(valid_ && target >= key_ && "the target is not before the current entry");
  if (!forward_ || !shortcuts_.Has(Shortcut::kMergeForward)) return Seek(target);
  for (EntryCursor* child : order_) {
    if (child->key() < target) child->Seek(target);
  }
  Rebuild();
}

void MergingCursor::Clear() {
  children_.clear();
  order_.clear();
  only_ = nullptr;
  valid_ = false;
  status_ = absl::OkStatus();
}

void MergingCursor::SeekToFirst() {
  for (EntryCursor* child : children_) child->SeekToFirst();
  Rebuild();
}

void MergingCursor::SeekBefore(std::string_view target) {
  for (EntryCursor* child : children_) child->SeekBefore(target);
  ShowLargest();
}

void MergingCursor::SeekToLast() {
  for (EntryCursor* child : children_) child->SeekToLast();
  ShowLargest();
}

void MergingCursor::NextOfMany() {
  ABSL_ASSERT(valid_ && "only a valid cursor moves on");
  if (!forward_) {
    // The others are before the current entry: move them past it.
    const std::string key(key_);
    Seek(key);
    if (!valid_) return;
  }
  EntryCursor* const first = order_[0];
  first->Next();
  if (first->valid()) [[likely]] {
    if (order_.size() > 1) shortcuts_.Has(Shortcut::kMergeInOrder) ? SortIn() : SortAll();
  } else {
    return EndOf(first);
  }
  ABSL_ASSERT((order_.size() < 2 || order_[0]->key() <= order_[1]->key()) &&
              "the first child has the smallest key");
  Show(order_[0]);
}

void MergingCursor::EndOf(const EntryCursor* first) {
  valid_ = false;
  if (!first->status().ok()) return Fail(first->status());
  order_.erase(order_.begin());
  UpdateOnly();
  if (!order_.empty()) Show(order_[0]);
}

void MergingCursor::SortAll() {
  std::sort(order_.begin(), order_.end(),
            [](const EntryCursor* a, const EntryCursor* b) { return Less(a->key(), b->key()); });
}

// Only the first cursor has moved: sorts it into the ordered others.
inline void MergingCursor::SortIn() {
  EntryCursor* const moved = order_[0];
  const std::string_view key = moved->key();
  if (Less(key, order_[1]->key())) return;
  // After the second; binary search among the others.
  size_t low = 1;
  for (size_t high = order_.size() - 1; low < high;) {
    const size_t middle = low + (high - low + 1) / 2;
    if (Less(key, order_[middle]->key())) {
      high = middle - 1;
    } else {
      low = middle;
    }
  }
  for (size_t i = 0; i < low; ++i) order_[i] = order_[i + 1];
  order_[low] = moved;
  ABSL_ASSERT(order_[low - 1]->key() <= key &&
              (low + 1 == order_.size() || key <= order_[low + 1]->key()) &&
              "the moved child is between its neighbours");
}

bool MergingCursor::LeaveFailed(std::string_view row_prefix) {
  for (const EntryCursor* child : children_) {
    if (!child->valid() && !child->status().ok() && !child->FailedBehind(row_prefix)) return false;
  }
  ShowSmallest();
  return true;
}

std::string_view MergingCursor::SmallestKey() const {
  std::string_view smallest;
  for (const EntryCursor* child : children_) {
    if (child->valid() && (smallest.empty() || child->key() < smallest)) smallest = child->key();
  }
  return smallest;
}

void MergingCursor::Rebuild() {
  for (const EntryCursor* child : children_) {
    if (!child->valid() && !child->status().ok()) return Fail(child->status());
  }
  ShowSmallest();
}

void MergingCursor::ShowSmallest() {
  if (!status_.ok()) [[unlikely]] {
    status_ = absl::OkStatus();
  }
  forward_ = true;
  order_.clear();
  only_ = nullptr;
  valid_ = false;
  for (EntryCursor* child : children_) {
    if (child->valid()) order_.push_back(child);
  }
  UpdateOnly();
  if (order_.empty()) return;
  if (order_.size() > 1) SortAll();
  Show(order_[0]);
}

void MergingCursor::ShowLargest() {
  forward_ = false;
  only_ = nullptr;
  valid_ = false;
  const EntryCursor* largest = nullptr;
  for (const EntryCursor* child : children_) {
    if (!child->valid()) {
      if (!child->status().ok()) return Fail(child->status());
    } else if (largest == nullptr || child->key() > largest->key()) {
      largest = child;
    }
  }
  status_ = absl::OkStatus();
  if (largest != nullptr) Show(largest);
}

}  // namespace bigtable
