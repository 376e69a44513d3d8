#include "server/data/streams.h"

#include <algorithm>
#include <utility>

namespace bigtable::server {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kInterval(100);

}  // namespace

Streams::Streams(std::function<void()> look_after, std::chrono::milliseconds most_wait)
    : look_after_(std::move(look_after)), most_wait_(most_wait), thread_([this] { Run(); }) {}

Streams::~Streams() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  ends_changed_.notify_one();
  thread_.join();
}

Streams::Ticket Streams::Leave(RowReader reader) {
  std::list<Reader> entry;
  entry.push_back({std::move(reader), {}, steady_clock::now()});
  const Ticket ticket = entry.begin();
  const std::lock_guard<std::mutex> lock(mutex_);
  held_.splice(held_.end(), entry);
  return ticket;
}

Streams::Reader Streams::TakeBack(Ticket ticket) {
  std::list<Reader> entry;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    entry.splice(entry.begin(), ticket->reader.has_value() ? held_ : released_, ticket);
  }
  return std::move(entry.front());
}

size_t Streams::waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return held_.size() + released_.size();
}

size_t Streams::holding() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return held_.size();
}

void Streams::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto interval = std::min(kInterval, most_wait_ / 2);
  while (!ends_changed_.wait_for(lock, interval, [this] { return ends_; })) {
    if (running() > held_.size() + released_.size()) look_after_();
    std::list<Reader> old = ReleaseSome();
    if (old.empty()) continue;
    lock.unlock();
    old.clear();
    lock.lock();
  }
}

// Returns the readers, for the caller to destroy.
std::list<Streams::Reader> Streams::ReleaseSome() {
  std::list<Reader> old;
  const Time limit = steady_clock::now() - most_wait_;
  while (!held_.empty() && held_.front().since <= limit) {
    Reader& entry = held_.front();
    entry.token = entry.reader->ResumeToken();
    old.push_back({std::move(entry.reader), {}, {}});
    entry.reader.reset();
    released_.splice(released_.end(), held_, held_.begin());
  }
  return old;
}

}  // namespace bigtable::server
