#include "recovery/void_batches.h"

#include <string>

#include "absl/base/macros.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

absl::Status VoidBatches::Load() {
  const absl::StatusOr<LockServiceFile> file = session_->Read(kFile);
  if (absl::IsNotFound(file.status())) return absl::OkStatus();
  BT_RETURN_IF_ERROR(file.status());
  const LimitedMutexLock lock(&mutex_);
  for (const auto line : absl::StrSplit(file->contents, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> numbers = absl::StrSplit(line, ' ');
    Batch batch;
    if (numbers.size() != 2 || !absl::SimpleAtoi(numbers[0], &batch.first) ||
        !absl::SimpleAtoi(numbers[1], &batch.last) || batch.first > batch.last) {
      return absl::DataLossError(Cat("the file ", kFile, " has unknown contents"));
    }
    batches_.push_back(batch);
  }
  return absl::OkStatus();
}

std::vector<VoidBatches::Batch> VoidBatches::All() const {
  const LimitedMutexLock lock(&mutex_);
  return batches_;
}

absl::Status VoidBatches::Add(const Batch& batch) {
  ABSL_ASSERT(batch.first <= batch.last && "a batch has a mutation");
  const LimitedMutexLock lock(&mutex_);
  batches_.push_back(batch);
  is_pending_ = true;
  return Write();
}

absl::Status VoidBatches::WritePending(const CallLimits& limits) {
  const LimitedMutexLock lock(&mutex_, &limits, "the call");
  BT_RETURN_IF_ERROR(lock.status());
  return is_pending_ ? Write(limits) : absl::OkStatus();
}

absl::Status VoidBatches::Write(const CallLimits& limits) {
  std::string contents;
  for (const Batch& batch : batches_) contents += Cat(batch.first, " ", batch.last, "\n");
  const absl::Status written = session_->Write(kFile, contents, kAnyGeneration, limits).status();
  if (written.ok()) is_pending_ = false;
  return Annotate(written, Cat("the file ", kFile));
}

absl::Status VoidBatches::Clear() {
  const LimitedMutexLock lock(&mutex_);
  if (batches_.empty()) return absl::OkStatus();
  const absl::Status removed = session_->Remove(kFile);
  if (!absl::IsNotFound(removed)) BT_RETURN_IF_ERROR(removed);
  batches_.clear();
  return absl::OkStatus();
}

}  // namespace bigtable
