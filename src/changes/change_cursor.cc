#include "changes/change_cursor.h"

#include <algorithm>
#include <utility>

namespace bigtable {

ChangeCursor::ChangeCursor(const std::vector<const ChangeList*>& lists,
                           const std::vector<Ref<SSTable>>& files, Options options)
    : options_(std::move(options)), last_(options_.after) {
  for (const ChangeList* list : lists) {
    if (list->ascends()) {
      const size_t size = list->size();
      lists_.push_back({list, list->CountThrough(options_.after, size), size});
    } else {
      const std::vector<LoggedChange> some = InOrder(*list, options_.after, options_.through);
      sorted_.insert(sorted_.end(), some.begin(), some.end());
    }
  }
  std::sort(sorted_.begin(), sorted_.end(),
            [](const LoggedChange& a, const LoggedChange& b) { return a.sequence < b.sequence; });
  for (const Ref<SSTable>& file : files) {
    const SSTableInfo& info = file->info();
    if (info.max_sequence <= options_.after || info.min_sequence > options_.through) continue;
    if (info.max_timestamp < options_.since) continue;
    closed_.push_back(file);
  }
  std::sort(closed_.begin(), closed_.end(), [](const Ref<SSTable>& a, const Ref<SSTable>& b) {
    return a->info().min_sequence > b->info().min_sequence;
  });
}

bool ChangeCursor::Fail(const absl::Status& status) {
  status_ = status;
  return false;
}

const LoggedChange* ChangeCursor::Smallest() {
  const LoggedChange* smallest = nullptr;
  const auto look = [&](const LoggedChange& change) {
    if (smallest == nullptr || change.sequence < smallest->sequence) smallest = &change;
  };
  if (next_sorted_ < sorted_.size()) look(sorted_[next_sorted_]);
  for (const ListPart& part : lists_) {
    if (part.next < part.size) look(part.list->at(part.next));
  }
  for (const auto& file : open_) {
    if (file->cursor.valid()) look(file->cursor.change());
  }
  return smallest;
}

bool ChangeCursor::Next() {
  if (!status_.ok()) return false;
  while (true) {
    // What is not after last_ is a change that was in two places, or is the last one itself.
    while (next_sorted_ < sorted_.size() && sorted_[next_sorted_].sequence <= last_) {
      ++next_sorted_;
    }
    for (ListPart& part : lists_) {
      while (part.next < part.size && part.list->at(part.next).sequence <= last_) ++part.next;
    }
    for (const auto& file : open_) {
      while (file->cursor.valid() && file->cursor.change().sequence <= last_) file->cursor.Next();
      if (!file->cursor.status().ok()) return Fail(file->cursor.status());
    }
    std::erase_if(open_, [](const auto& file) { return !file->cursor.valid(); });
    const LoggedChange* smallest = Smallest();
    const bool opens =
        !closed_.empty() &&
        (smallest == nullptr || closed_.back()->info().min_sequence <= smallest->sequence);
    if (opens) {
      open_.push_back(std::make_unique<OpenFile>(closed_.back()));
      closed_.pop_back();
      open_.back()->cursor.SeekAfter(last_);
      if (!open_.back()->cursor.status().ok()) return Fail(open_.back()->cursor.status());
      continue;
    }
    if (smallest == nullptr || smallest->sequence > options_.through) return false;
    last_ = smallest->sequence;
    if (smallest->micros < options_.since || !options_.rows.Contains(smallest->row)) continue;
    change_ = *smallest;
    return true;
  }
}

}  // namespace bigtable
