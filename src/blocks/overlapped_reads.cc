#include "blocks/overlapped_reads.h"

#include <utility>

#include "base/try_allocate.h"
#include "monitoring/thread_calls.h"

namespace bigtable {
namespace {

// A larger block takes longer to be transferred than to be found.
constexpr uint64_t kLargestBlock = 64 << 10;
constexpr uint64_t kMostMemory = 4 << 20;
// All calls together leave most of the budget to the caches.
constexpr uint64_t kPartOfBudget = 8;

}  // namespace

OverlappedReads::OverlappedReads(FileSystem* file_system, std::shared_ptr<MemoryBudget> budget)
    : file_system_(file_system),
      budget_(std::move(budget)),
      charge_(budget_.get(), MemoryBudget::Use::kReads) {}

OverlappedReads::~OverlappedReads() {
  Submit();
  for (const auto& entry : entries_) {
    if (entry->file != 0 && !entry->read.is_done) queue_->Wait(&entry->read);
  }
}

OverlappedReads::Entry* OverlappedReads::Find(const BlockFile& file, size_t i) {
  // They are taken in about the order in which they were begun.
  for (size_t n = 0; n < entries_.size(); ++n) {
    const size_t at = (last_found_ + n) % entries_.size();
    Entry& entry = *entries_[at];
    if (entry.file != file.id() || entry.block != i) continue;
    last_found_ = at;
    return &entry;
  }
  return nullptr;
}

OverlappedReads::Entry* OverlappedReads::FindFree() {
  if (entries_.size() < queue_->most()) {
    return entries_.emplace_back(std::make_unique<Entry>()).get();
  }
  // A row may have been found elsewhere, and its block is not taken then.
  for (size_t n = 0; n < entries_.size(); ++n) {
    next_free_ = (next_free_ + 1) % entries_.size();
    Entry& entry = *entries_[next_free_];
    const bool is_old = begun_ - entry.number > 2 * entries_.size();
    if (entry.file == 0 || (entry.read.is_done && (entry.is_taken || is_old))) return &entry;
  }
  return nullptr;
}

bool OverlappedReads::HasRoom(uint64_t bytes) const {
  return charged_ + bytes <= kMostMemory &&
         budget_->used(MemoryBudget::Use::kReads) + bytes <= budget_->limit() / kPartOfBudget;
}

bool OverlappedReads::Begin(const BlockFile& file, size_t i) {
  if (!has_queue_) return false;
  const uint64_t size = file.StoredSize(i);
  if (size > kLargestBlock) return false;
  if (queue_ == nullptr) {
    queue_ = file_system_->NewReadQueue();
    has_queue_ = queue_ != nullptr;
    if (!has_queue_) return false;
  }
  Entry* const entry = FindFree();
  if (entry == nullptr) return false;
  entry->file = 0;
  const uint64_t memory_size = ReadQueue::Read::MemoryFor(size);
  if (entry->memory_size < memory_size) {
    const uint64_t more = memory_size - entry->memory_size;
    if (!HasRoom(more)) return false;
    auto memory = TryAllocate(memory_size);
    if (memory == nullptr) return false;
    entry->memory = std::move(memory);
    entry->memory_size = memory_size;
    charge_.Set(charged_ += more);
  }
  entry->read = {
      .offset = file.index().handle(i).offset, .size = size, .memory = entry->memory.get()};
  if (!file.file().BeginRead(queue_.get(), &entry->read)) return false;
  entry->file = file.id();
  entry->block = i;
  entry->number = ++begun_;
  entry->is_taken = false;
  // Some at a time: the disk should not wait for the last, and each time is a system call.
  constexpr uint64_t kTogether = 8;
  if (begun_ % kTogether == 0) queue_->Submit();
  return true;
}

void OverlappedReads::Submit() {
  if (queue_ != nullptr) queue_->Submit();
}

const char* OverlappedReads::Take(const BlockFile& file, size_t i) {
  Entry* const entry = Find(file, i);
  if (entry == nullptr) return nullptr;
  if (!entry->read.is_done) {
    const WaitTimer wait;
    queue_->Wait(&entry->read);
  }
  entry->is_taken = true;
  return entry->read.status.ok() ? entry->read.bytes : nullptr;
}

}  // namespace bigtable
