#include "routing/async_reads.h"

#include <optional>
#include <utility>

#include "base/start_thread.h"
#include "base/strings.h"
#include "blocks/overlapped_reads.h"
#include "routing/table_impl.h"

namespace bigtable {
namespace {

constexpr size_t kTogether = 16;

}  // namespace

AsyncReads::~AsyncReads() { Stop(); }

absl::Status AsyncReads::Add(Read&& read, uint64_t most_bytes) {
  MutexLock lock(&mutex_);
  if (is_stopped_) return absl::FailedPreconditionError("the database is closed");
  const uint64_t bytes = BytesOf(read);
  if (bytes_ + bytes > most_bytes) {
    return absl::ResourceExhaustedError(Cat("asynchronous reads of ", queue_.size(),
                                            " rows wait already, and take ", bytes_,
                                            " bytes; more than ", most_bytes, " may not"));
  }
  // One thread is enough for what it can keep under way.
  const bool is_behind = queue_.size() + 1 >= window_ * (idle_ + 1);
  if (threads_.empty() || (is_behind && threads_.size() < most_threads_)) {
    absl::StatusOr<std::thread> thread = StartThread([this] { Run(); });
    if (thread.ok()) {
      threads_.push_back(*std::move(thread));
    } else if (threads_.empty()) {
      return thread.status();
    }
  }
  bytes_ += bytes;
  queue_.push_back(std::move(read));
  if (idle_ > 0) changed_.Signal();
  return absl::OkStatus();
}

bool AsyncReads::HasWaiting() {
  MutexLock lock(&mutex_);
  return !queue_.empty();
}

void AsyncReads::Stop() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(&mutex_);
    is_stopped_ = true;
    threads.swap(threads_);
    changed_.SignalAll();
  }
  for (std::thread& thread : threads) thread.join();
}

// The reads of the window have been requested, and are in the order in which they came.
void AsyncReads::Run() {
  std::deque<Read> window;
  std::deque<Read> fresh;
  std::optional<OverlappedReads> overlapped;
  while (true) {
    // It has memory, and a queue of the file system.
    if (window.empty() && !HasWaiting()) overlapped.reset();
    {
      MutexLock lock(&mutex_);
      while (queue_.empty() && window.empty() && !is_stopped_) {
        ++idle_;
        changed_.Wait(&mutex_);
        --idle_;
      }
      if (queue_.empty() && window.empty()) return;
      // Some at a time, where there are many: each time is a request to the disk, and an interrupt.
      const bool is_due = queue_.size() >= kTogether || window.size() <= window_ / 2;
      while (is_due && !queue_.empty() && window.size() + fresh.size() < window_) {
        bytes_ -= BytesOf(queue_.front());
        fresh.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
    }
    if (!fresh.empty()) {
      for (Read& read : fresh) {
        if (window_ > 1) read.table->RequestAsync(read, &overlapped);
        window.push_back(std::move(read));
      }
      fresh.clear();
      if (overlapped.has_value()) overlapped->Submit();
    }
    Read read = std::move(window.front());
    window.pop_front();
    read.done(read.table->ReadCounted(read.row, read.filter, read.options,
                                      overlapped.has_value() ? &*overlapped : nullptr));
  }
}

}  // namespace bigtable
