#include "commitlog/log_segment.h"

namespace bigtable {

SegmentFile::SegmentFile(std::unique_ptr<LogFile> file, std::shared_ptr<MemoryBudget> budget)
    : file_(std::move(file)), budget_(std::move(budget)) {
  if (file_->mapping() == nullptr) budget_ = nullptr;
  if (budget_ != nullptr) {
    budget_->Charge(use_, static_cast<int64_t>(file_->size()));
  }
}

void SegmentFile::ChargeAs(MemoryBudget::Use use) {
  if (budget_ == nullptr) return;
  budget_->Charge(use, static_cast<int64_t>(file_->size()));
  budget_->Charge(use_, -static_cast<int64_t>(file_->size()));
  use_ = use;
}

SegmentFile::~SegmentFile() {
  if (budget_ != nullptr) {
    budget_->Charge(use_, -static_cast<int64_t>(file_->size()));
  }
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
  in_use_ = true;
  returns_->bytes_in_use_.fetch_add(size_, std::memory_order_relaxed);
}

void LogSegment::ChargeAsNeeded() { file_->ChargeAs(MemoryBudget::Use::kLog); }

LogSegment::~LogSegment() {
  if (!in_use_) return;  // a spare that was dropped: its file has no name any more
  returns_->bytes_in_use_.fetch_sub(size_, std::memory_order_relaxed);
  file_->ChargeAs(MemoryBudget::Use::kSpareLog);
  MutexLock lock(&returns_->mutex_);
  if (returns_->closed_) return;
  returns_->returned_.push_back({number_, reusable_.load(), std::move(file_)});
  returns_->any_ = true;
}

}  // namespace bigtable
