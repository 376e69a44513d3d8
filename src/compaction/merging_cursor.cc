#include "compaction/merging_cursor.h"

#include <string>
#include <utility>

namespace bigtable {

void MergingCursor::Seek(std::string_view target) {
  for (EntryCursor* child : children_) child->Seek(target);
  Rebuild();
}

void MergingCursor::SeekForward(std::string_view target) {
  if (!forward_) return Seek(target);
  for (EntryCursor* child : heap_) {
    if (child->key() < target) child->Seek(target);
  }
  Rebuild();
}

void MergingCursor::Clear() {
  children_.clear();
  heap_.clear();
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

void MergingCursor::Next() {
  if (!forward_) {
    // The others stand before the shown entry: bring them behind it.
    const std::string key(key_);
    Seek(key);
    if (!valid_) return;
  }
  EntryCursor* const top = heap_[0];
  top->Next();
  if (!top->valid()) [[unlikely]] {
    if (!top->status().ok()) return Fail(top->status());
    heap_[0] = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) {
      valid_ = false;
      return;
    }
  }
  if (heap_.size() > 1) SiftDown(0);
  Show(heap_[0]);
}

void MergingCursor::Rebuild() {
  forward_ = true;
  heap_.clear();
  valid_ = false;
  for (EntryCursor* child : children_) {
    if (child->valid()) {
      heap_.push_back(child);
    } else if (!child->status().ok()) {
      return Fail(child->status());
    }
  }
  if (heap_.empty()) return;
  for (size_t i = heap_.size() / 2; i-- > 0;) SiftDown(i);
  Show(heap_[0]);
}

void MergingCursor::ShowLargest() {
  forward_ = false;
  valid_ = false;
  const EntryCursor* largest = nullptr;
  for (const EntryCursor* child : children_) {
    if (!child->valid()) {
      if (!child->status().ok()) return Fail(child->status());
    } else if (largest == nullptr || child->key() > largest->key()) {
      largest = child;
    }
  }
  if (largest != nullptr) Show(largest);
}

void MergingCursor::Show(const EntryCursor* child) {
  key_ = child->key();
  value_ = child->value();
  value_owner_ = child->value_owner();
  valid_ = true;
}

void MergingCursor::SiftDown(size_t i) {
  EntryCursor* const sinking = heap_[i];
  while (true) {
    size_t smaller = 2 * i + 1;
    if (smaller >= heap_.size()) break;
    if (smaller + 1 < heap_.size() && heap_[smaller + 1]->key() < heap_[smaller]->key()) ++smaller;
    if (sinking->key() < heap_[smaller]->key()) break;
    heap_[i] = heap_[smaller];
    i = smaller;
  }
  heap_[i] = sinking;
}

}  // namespace bigtable
