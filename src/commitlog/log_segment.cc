#include "commitlog/log_segment.h"

#include <cstdlib>

#include "absl/base/macros.h"

#include "base/strings.h"
#include "cache/budget_access.h"

namespace bigtable {

SegmentFile::SegmentFile(std::unique_ptr<LogFile> file, std::shared_ptr<MemoryBudget> budget)
    : file_(std::move(file)), budget_(std::move(budget)) {
  if (char* const mapping = file_->mapping(); mapping != nullptr) {
    memory_ = std::shared_ptr<char>(std::shared_ptr<char>(), mapping);
  }
  Charge(use_, 1);
}

SegmentFile::~SegmentFile() { Charge(use_, -1); }

void SegmentFile::Charge(MemoryBudget::Use use, int64_t sign) {
  if (budget_ == nullptr || memory_ == nullptr) return;
  BudgetAccess::Charge(*budget_, use, sign * static_cast<int64_t>(file_->size()));
}

void SegmentFile::ChargeAs(MemoryBudget::Use use) {
  Charge(use, 1);
  Charge(use_, -1);
  use_ = use;
}

absl::Status SegmentFile::NeedMemory() {
  if (memory_ != nullptr) return absl::OkStatus();
  // Zeroed memory; the system allocates a page when it is touched.
  char* const memory = static_cast<char*>(std::calloc(file_->size(), 1));
  if (memory == nullptr) {
    return absl::ResourceExhaustedError(
        Cat("there is no memory for a log segment of ", file_->size(), " bytes"));
  }
  memory_ = std::shared_ptr<char>(memory, std::free);
  Charge(use_, 1);
  return absl::OkStatus();
}

void SegmentFile::DropMemory() {
  if (file_->mapping() != nullptr) return;
  Charge(use_, -1);
  memory_ = nullptr;
}

std::vector<SegmentReturns::Returned> SegmentReturns::Take() {
  MutexLock lock(&mutex_);
  any_ = false;
  return std::exchange(returned_, {});
}

void SegmentReturns::Close() {
  std::vector<Returned> closing;
  MutexLock lock(&mutex_);
  closed_ = true;
  closing.swap(returned_);
}

LogSegment::LogSegment(uint64_t number, uint64_t salt, std::unique_ptr<SegmentFile> file,
                       Ref<SegmentReturns> returns)
    : number_(number),
      size_(file->file().size()),
      salt_(salt),
      file_(std::move(file)),
      returns_(std::move(returns)) {}

void LogSegment::Use() {
  ABSL_ASSERT(memory() != nullptr);
  ABSL_ASSERT(!in_use_ && "a segment is used once");
  in_use_ = true;
  returns_->bytes_in_use_.fetch_add(size_, std::memory_order_relaxed);
}

void LogSegment::ChargeAsNeeded() { file_->ChargeAs(MemoryBudget::Use::kLog); }

LogSegment::~LogSegment() {
  if (!in_use_) return;  // a spare that was dropped: its file no longer has a name
  returns_->bytes_in_use_.fetch_sub(size_, std::memory_order_relaxed);
  file_->DropMemory();
  file_->ChargeAs(MemoryBudget::Use::kSpareLog);
  MutexLock lock(&returns_->mutex_);
  if (returns_->closed_) return;
  returns_->returned_.push_back({number_, reusable_.load(), std::move(file_)});
  returns_->any_ = true;
}

}  // namespace bigtable
