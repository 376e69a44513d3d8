#include "routing/async_reads.h"

#include <algorithm>
#include <utility>

#include "base/start_thread.h"
#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "routing/table_impl.h"

namespace bigtable {
namespace {

// Some at a time, where there are many: each time is a request to the disk, and an interrupt.
constexpr size_t kTogether = 16;
// So many rows are read before their callers are told, and the reader looks for new ones. A caller
// that sleeps is woken once for all of them, which costs more than to read one.
constexpr size_t kReadsInTurn = 8;
constexpr uint64_t kBytesInTurn = 64 << 10;

}  // namespace

AsyncReads::~AsyncReads() { Stop(); }

absl::Status AsyncReads::Add(AsyncRead&& read, uint64_t most_bytes) {
  MutexLock lock(&mutex_);
  if (is_stopped_) return absl::FailedPreconditionError("the database is closed");
  const uint64_t bytes = read.bytes();
  // Those that were taken from readers wait there.
  if (const AsyncPool::Waiting others = others_->waiting();
      bytes_ + others.bytes + bytes > most_bytes) {
    return absl::ResourceExhaustedError(Cat("asynchronous reads of ", queue_.size() + others.reads,
                                            " rows wait already, and take ", bytes_ + others.bytes,
                                            " bytes; more than ", most_bytes, " may not"));
  }
  // One thread is enough for what it can keep under way.
  const bool is_behind = queue_.size() + 1 >= window_ * (idle_ + 1);
  if (readers_.empty() || (is_behind && readers_.size() < most_threads_)) {
    const absl::Status started = StartReader();
    if (readers_.empty()) return absl::UnavailableError(started.message());
  }
  bytes_ += bytes;
  queue_.push_back(std::move(read));
  if (idle_ > 0) changed_.Signal();
  if (!std::exchange(is_looking_, true)) look_.Signal();
  return absl::OkStatus();
}

absl::Status AsyncReads::StartReader() {
  auto reader = std::make_unique<Reader>();
  BT_ASSIGN_OR_RETURN(reader->thread, StartThread([this, of = reader.get()] { Run(of); }));
  readers_.push_back(std::move(reader));
  // Without it, the reads of a reader that is stuck wait for it.
  if (!looks_after_.joinable()) {
    absl::StatusOr<std::thread> thread = StartThread([this] { LookAfter(); });
    if (thread.ok()) looks_after_ = *std::move(thread);
  }
  return absl::OkStatus();
}

void AsyncReads::Stop() {
  std::vector<Reader*> readers;
  {
    MutexLock lock(&mutex_);
    is_stopped_ = true;
    for (const auto& reader : readers_) readers.push_back(reader.get());
    changed_.SignalAll();
  }
  for (Reader* const reader : readers) reader->thread.join();
  std::thread looks_after;
  {
    MutexLock lock(&mutex_);
    readers_.clear();
    looks_after.swap(looks_after_);
    look_.SignalAll();
  }
  if (looks_after.joinable()) looks_after.join();
  // What nobody could take from a reader that was stuck, and has ended since.
  MutexLock lock(&mutex_);
  while (!queue_.empty()) {
    AsyncRead read = std::move(queue_.front());
    queue_.pop_front();
    bytes_ -= read.bytes();
    if (!read.result.has_value())
      read.result = absl::FailedPreconditionError("the database is closed");
    mutex_.Unlock();
    read.Tell();
    mutex_.Lock();
  }
}

// --- A reader ---

void AsyncReads::Run(Reader* reader) {
  std::optional<OverlappedReads> overlapped;
  while (TakeFresh(reader, &overlapped)) {
    RequestFresh(reader, &overlapped);
    if (!ReadSome(reader, &overlapped) && overlapped.has_value()) {
      WaitForBlocks(reader, &*overlapped);
    }
  }
}

size_t AsyncReads::CountOf(Reader* reader) {
  MutexLock lock(&reader->mutex);
  return reader->fresh.size() + reader->requested.size();
}

bool AsyncReads::HasWaiting() {
  MutexLock lock(&mutex_);
  return !queue_.empty();
}

bool AsyncReads::DropsBlocks(Reader* reader) {
  MutexLock lock(&reader->mutex);
  return reader->requested.empty() && std::exchange(reader->was_robbed, false);
}

bool AsyncReads::TakeFresh(Reader* reader, std::optional<OverlappedReads>* overlapped) {
  // It has memory, and a queue of the file system.
  if (overlapped->has_value() && (DropsBlocks(reader) || (CountOf(reader) == 0 && !HasWaiting()))) {
    overlapped->reset();
  }
  MutexLock lock(&mutex_);
  size_t count = CountOf(reader);
  if (count == 0 && queue_.empty()) SetAt(reader, At::kNothing);
  while (count == 0 && queue_.empty()) {
    if (is_stopped_) return false;
    ++idle_;
    changed_.Wait(&mutex_);
    --idle_;
  }
  const bool is_due = queue_.size() >= kTogether || count <= window_ / 2;
  MutexLock of_reader(&reader->mutex);
  for (; is_due && !queue_.empty() && count < window_; ++count) {
    bytes_ -= queue_.front().bytes();
    reader->fresh.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return true;
}

void AsyncReads::SetAt(Reader* reader, At at) {
  MutexLock lock(&reader->mutex);
  reader->at = at;
  ++reader->steps;
}

void AsyncReads::RequestFresh(Reader* reader, std::optional<OverlappedReads>* overlapped) {
  bool has_requested = false;
  while (true) {
    std::optional<Requested> requested;
    {
      MutexLock lock(&reader->mutex);
      if (reader->fresh.empty()) break;
      requested.emplace(Requested{.read = std::move(reader->fresh.front()), .blocks = {}});
      reader->fresh.pop_front();
      reader->at = At::kRead;
      ++reader->steps;
    }
    // One that was taken from a reader, and found no thread elsewhere, may have its result.
    if (!requested->read.result.has_value()) {
      requested->read.table->RequestAsync(requested->read, overlapped, &requested->blocks);
      has_requested = true;
    }
    MutexLock lock(&reader->mutex);
    reader->requested.push_back(*std::move(requested));
  }
  if (has_requested && overlapped->has_value()) (*overlapped)->Submit();
}

bool AsyncReads::ReadSome(Reader* reader, std::optional<OverlappedReads>* overlapped) {
  uint64_t bytes = 0;
  size_t count = 0;
  for (; count < kReadsInTurn && bytes < kBytesInTurn; ++count) {
    std::optional<AsyncRead> read;
    {
      MutexLock lock(&reader->mutex);
      const auto ready =
          std::find_if(reader->requested.begin(), reader->requested.end(),
                       [](const Requested& one) { return OverlappedReads::AreDone(one.blocks); });
      if (ready == reader->requested.end()) break;
      read.emplace(std::move(ready->read));
      reader->requested.erase(ready);
      reader->at = At::kRead;
      ++reader->steps;
    }
    bytes += read->Read(overlapped->has_value() ? &**overlapped : nullptr);
    MutexLock lock(&reader->mutex);
    reader->untold.push_back(*std::move(read));
  }
  while (true) {
    std::optional<AsyncRead> read;
    {
      MutexLock lock(&reader->mutex);
      if (reader->untold.empty()) return count > 0;
      read.emplace(std::move(reader->untold.front()));
      reader->untold.pop_front();
      ++reader->steps;
    }
    read->Tell();
  }
}

void AsyncReads::WaitForBlocks(Reader* reader, OverlappedReads* overlapped) {
  SetAt(reader, At::kBlocks);
  overlapped->WaitForAny();
  SetAt(reader, At::kRead);
}

// --- Readers that are stuck ---

void AsyncReads::LookAfter() {
  int64_t busy_at = NowNanos();
  while (true) {
    std::vector<AsyncRead> taken;
    {
      MutexLock lock(&mutex_);
      if (is_stopped_ && readers_.empty()) return;
      const int64_t now = NowNanos();
      if (!queue_.empty() || idle_ < readers_.size()) busy_at = now;
      is_looking_ = absl::Nanoseconds(now - busy_at) < absl::Seconds(1);
      look_.WaitFor(&mutex_, is_looking_ ? kStuck / 2 : absl::InfiniteDuration());
      taken = TakeFromStuck(NowNanos());
    }
    for (AsyncRead& read : taken) {
      // Without a bound: they were taken when there was room.
      if (others_->Add(std::move(read), UINT64_MAX).ok()) continue;
      // It was not taken then: there is no thread. It waits for a reader after all.
      MutexLock lock(&mutex_);
      bytes_ += read.bytes();              // NOLINT(bugprone-use-after-move)
      queue_.push_front(std::move(read));  // NOLINT(bugprone-use-after-move)
      changed_.Signal();
    }
  }
}

std::vector<AsyncRead> AsyncReads::TakeFromStuck(int64_t now) {
  std::vector<AsyncRead> taken;
  size_t stuck = 0;
  for (const auto& reader : readers_) {
    MutexLock lock(&reader->mutex);
    if (reader->steps != reader->seen_steps) {
      reader->seen_steps = reader->steps;
      reader->seen_at = now;
    }
    if (reader->at == At::kNothing || absl::Nanoseconds(now - reader->seen_at) < kStuck) continue;
    ++stuck;
    // Elsewhere its rows would wait for the same disk.
    if (reader->at == At::kBlocks) continue;
    for (AsyncRead& read : reader->untold) taken.push_back(std::move(read));
    for (AsyncRead& read : reader->fresh) taken.push_back(std::move(read));
    for (Requested& requested : reader->requested) taken.push_back(std::move(requested.read));
    reader->was_robbed |= !reader->requested.empty();
    reader->untold.clear();
    reader->fresh.clear();
    reader->requested.clear();
  }
  if (queue_.empty() || stuck < readers_.size()) return taken;
  if (!is_stopped_ && readers_.size() < most_threads_ && StartReader().ok()) return taken;
  for (AsyncRead& read : queue_) taken.push_back(std::move(read));
  queue_.clear();
  bytes_ = 0;
  return taken;
}

}  // namespace bigtable
