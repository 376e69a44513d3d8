#include "server/data/paused_readers.h"

#include <chrono>
#include <utility>
#include <vector>

namespace bigtable::server {

PausedReaders::PausedReaders(std::chrono::milliseconds most_wait)
    : most_wait_(most_wait), thread_([this] { Run(); }) {}

PausedReaders::~PausedReaders() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

PausedReaders::Ticket PausedReaders::Leave(RowReader reader) {
  std::list<Entry> entry;
  entry.push_back({std::move(reader), {}, std::chrono::steady_clock::now()});
  const Ticket ticket = entry.begin();
  bool is_first;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_first = held_.empty();
    held_.splice(held_.end(), entry);
  }
  if (is_first) changed_.notify_one();
  return ticket;
}

PausedReaders::Entry PausedReaders::TakeBack(Ticket ticket) {
  std::list<Entry> entry;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    entry.splice(entry.begin(), ticket->reader.has_value() ? held_ : released_, ticket);
  }
  return std::move(entry.front());
}

size_t PausedReaders::waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return held_.size() + released_.size();
}

size_t PausedReaders::holding() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return held_.size();
}

// Looks twice in the time that readers may stay, and sleeps while there are none.
void PausedReaders::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ends_) {
    changed_.wait(lock, [this] { return ends_ || !held_.empty(); });
    changed_.wait_for(lock, most_wait_ / 2, [this] { return ends_; });
    const auto limit = std::chrono::steady_clock::now() - most_wait_;
    std::vector<RowReader> old;  // destroyed without the lock
    while (!held_.empty() && held_.front().since <= limit) {
      Entry& entry = held_.front();
      entry.token = entry.reader->ResumeToken();
      old.push_back(*std::move(entry.reader));
      entry.reader.reset();
      released_.splice(released_.end(), held_, held_.begin());
    }
    if (old.empty()) continue;
    lock.unlock();
    old.clear();
    lock.lock();
  }
}

}  // namespace bigtable::server
