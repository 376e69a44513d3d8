#include "lockservice/generation_counter.h"

#include "base/status.h"

namespace bigtable {

absl::Status GenerationCounter::Load() {
  const absl::StatusOr<SmallFile> file = files_->ReadWithGeneration(kFile);
  if (absl::IsNotFound(file.status())) return absl::OkStatus();
  BT_RETURN_IF_ERROR(file.status());
  bound_ = last_ = file->generation;
  return absl::OkStatus();
}

absl::StatusOr<Generation> GenerationCounter::Next() {
  if (last_ == bound_) {
    BT_RETURN_IF_ERROR(files_->Write(kFile, "", bound_ + kReserved));
    bound_ += kReserved;
  }
  return ++last_;
}

}  // namespace bigtable
