#include "blocks/overlapped_reads.h"

#include <algorithm>
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

OverlappedReads::Entry* OverlappedReads::Find(const BlockFile& file, const BlockHandle& block) {
  // They are taken in about the order in which they were begun.
  for (size_t n = 0; n < entries_.size(); ++n) {
    const size_t at = (last_found_ + n) % entries_.size();
    Entry& entry = *entries_[at];
    if (entry.file != file.id() || entry.offset != block.offset) continue;
    last_found_ = at;
    return &entry;
  }
  return nullptr;
}

bool OverlappedReads::Has(const BlockFile& file, const BlockHandle& block) {
  const Entry* const entry = Find(file, block);
  if (entry != nullptr) Collect(entry);
  return entry != nullptr;
}

void OverlappedReads::Collect(const Entry* entry) {
  if (tickets_ != nullptr) tickets_->emplace_back(entry, entry->number);
}

bool OverlappedReads::AreDone(const Tickets& tickets) {
  return std::all_of(tickets.begin(), tickets.end(),
                     [](const Ticket& ticket) { return ticket.is_done(); });
}

void OverlappedReads::WaitForAny() {
  if (queue_ != nullptr) queue_->WaitForAny();
}

bool OverlappedReads::HasRoom(uint64_t bytes) const {
  const uint64_t used = budget_->used(MemoryBudget::Use::kReads);
  return charged_ + bytes <= kMostMemory && used + bytes <= budget_->limit() / kPartOfBudget;
}

bool OverlappedReads::IsFree(const Entry& entry) const {
  // A row may have been found elsewhere, and its block is not taken then.
  const bool is_old = attempts_ - entry.number > 8 * entries_.size();
  return entry.file == 0 || (entry.read.is_done && (entry.is_taken || is_old));
}

bool OverlappedReads::GiveMemory(Entry* entry, uint64_t size) {
  if (entry->memory_size >= size) return true;
  const uint64_t more = size - entry->memory_size;
  if (!HasRoom(more)) return false;
  auto memory = TryAllocate(size);
  if (memory == nullptr) return false;
  entry->memory = std::move(memory);
  entry->memory_size = size;
  charge_.Set(charged_ += more);
  return true;
}

OverlappedReads::Entry* OverlappedReads::FindFree(uint64_t memory_size) {
  Entry* smaller = nullptr;
  for (size_t n = 0; n < entries_.size(); ++n) {
    next_free_ = (next_free_ + 1) % entries_.size();
    Entry& entry = *entries_[next_free_];
    if (!IsFree(entry)) continue;
    if (entry.memory_size >= memory_size) return &entry;
    smaller = &entry;
  }
  if (entries_.size() < queue_->most()) {
    auto made = std::make_unique<Entry>();
    if (GiveMemory(made.get(), memory_size)) {
      return entries_.emplace_back(std::move(made)).get();
    }
  }
  return smaller != nullptr && GiveMemory(smaller, memory_size) ? smaller : nullptr;
}

bool OverlappedReads::MayBegin(const BlockHandle& block) {
  // There may be a queue again later.
  constexpr uint64_t kAttemptsWithout = 256;
  if (StoredSize(block) > kLargestBlock || ++attempts_ < no_queue_until_) return false;
  if (queue_ != nullptr) return true;
  queue_ = file_system_->NewReadQueue();
  if (queue_ == nullptr) no_queue_until_ = attempts_ + kAttemptsWithout;
  return queue_ != nullptr;
}

bool OverlappedReads::Begin(const BlockFile& file, const BlockHandle& block) {
  if (!MayBegin(block)) return false;
  const uint64_t size = StoredSize(block);
  Entry* const entry = FindFree(ReadQueue::Read::MemoryFor(size));
  if (entry == nullptr) return false;
  entry->file = 0;
  entry->number = attempts_;  // old tickets of the entry are done
  entry->read = {.offset = block.offset, .size = size, .memory = entry->memory.get()};
  if (!file.file().BeginRead(queue_.get(), &entry->read)) return false;
  entry->file = file.id();
  entry->offset = block.offset;
  entry->is_taken = false;
  Collect(entry);
  // Some at a time: the disk should not wait for the last, and each time is a system call.
  constexpr uint64_t kTogether = 8;
  if (++begun_ % kTogether == 0) queue_->Submit();
  return true;
}

void OverlappedReads::Submit() {
  if (queue_ != nullptr) queue_->Submit();
}

const char* OverlappedReads::Take(const BlockFile& file, const BlockHandle& block) {
  Entry* const entry = Find(file, block);
  if (entry == nullptr) return nullptr;
  if (!entry->read.is_done) {
    const WaitTimer wait;
    queue_->Wait(&entry->read);
  }
  entry->is_taken = true;
  return entry->read.status.ok() ? entry->read.bytes : nullptr;
}

}  // namespace bigtable
