#include "filesystem/reopened_files.h"

#include <utility>

namespace bigtable {

std::shared_ptr<const Fd> ReopenedFiles::Entry::Find() {
  MutexLock lock(&mutex_);
  // Not stored each time: the cache line would move from thread to thread.
  if (fd_ != nullptr && !is_used_.load(std::memory_order_relaxed)) {
    is_used_.store(true, std::memory_order_relaxed);
  }
  return fd_;
}

void ReopenedFiles::Add(Entry* entry, std::shared_ptr<const Fd> fd, size_t most) {
  MutexLock lock(&mutex_);
  if (entry->slot_ != Entry::kNowhere) return;
  while (entries_.size() >= most) {
    if (hand_ >= entries_.size()) hand_ = 0;
    // An entry that was used gets another round.
    if (entries_[hand_]->is_used_.exchange(false, std::memory_order_relaxed)) {
      ++hand_;
    } else {
      TakeFrom(hand_);
    }
  }
  entry->slot_ = entries_.size();
  entries_.push_back(entry);
  // It takes the position of the removed entry, so it is considered last.
  if (hand_ < entry->slot_) {
    std::swap(entries_[hand_], entries_.back());
    std::swap(entries_[hand_]->slot_, entries_.back()->slot_);
    ++hand_;
  }
  MutexLock entry_lock(&entry->mutex_);
  entry->fd_ = std::move(fd);
}

void ReopenedFiles::Remove(Entry* entry) {
  MutexLock lock(&mutex_);
  if (entry->slot_ != Entry::kNowhere) TakeFrom(entry->slot_);
}

void ReopenedFiles::TakeFrom(size_t slot) {
  Entry* const entry = entries_[slot];
  entries_[slot] = entries_.back();
  entries_[slot]->slot_ = slot;
  entries_.pop_back();
  entry->slot_ = Entry::kNowhere;
  MutexLock entry_lock(&entry->mutex_);
  entry->fd_ = nullptr;  // closed here, or by the thread that still reads
}

size_t ReopenedFiles::size() const {
  MutexLock lock(&mutex_);
  return entries_.size();
}

}  // namespace bigtable
