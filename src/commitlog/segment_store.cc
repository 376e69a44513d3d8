#include "commitlog/segment_store.h"

#include <utility>

#include "absl/base/macros.h"

#include "base/status.h"
#include "base/strings.h"
#include "commitlog/log_format.h"

namespace bigtable {

SegmentStore::SegmentStore(FileSystem* file_system, std::string directory, uint64_t secret,
                           uint64_t segment_size, size_t max_free,
                           std::shared_ptr<MemoryBudget> budget, Ref<SegmentReturns> returns)
    : file_system_(file_system),
      directory_(std::move(directory)),
      secret_(secret),
      segment_size_(segment_size),
      max_free_(max_free),
      budget_(std::move(budget)),
      returns_(std::move(returns)) {}

absl::StatusOr<SegmentStore::NamedFile> SegmentStore::GetFile(uint64_t size) {
  NamedFile out;
  if (size == segment_size_ && !free_.empty()) {
    out = std::move(free_.back());
    free_.pop_back();
    reused_.fetch_add(1, std::memory_order_relaxed);
    return out;
  }
  out.path = Cat(directory_, "/", kTemporarySegmentName);
  if (file_system_->FileExists(out.path)) BT_RETURN_IF_ERROR(file_system_->RemoveFile(out.path));
  auto file = file_system_->NewLogFile(out.path, size);
  if (!file.ok()) {
    file_system_->RemoveFile(out.path).IgnoreError();  // a partial file may take space
    return file.status();
  }
  out.file = std::make_unique<SegmentFile>(*std::move(file), budget_);
  created_.fetch_add(1, std::memory_order_relaxed);
  return out;
}

absl::Status SegmentStore::Make(uint64_t number, uint64_t size, Ref<LogSegment>* spare) {
  ABSL_ASSERT((!*spare || (*spare)->number() == number) && "a spare is replaced under its number");
  BT_ASSIGN_OR_RETURN(NamedFile made, GetFile(size));
  *spare = {};  // its file may be replaced from here on
  BT_RETURN_IF_ERROR(
      file_system_->RenameFile(made.path, Cat(directory_, "/", SegmentName(number))));
  BT_RETURN_IF_ERROR(file_system_->SyncDirectory(directory_));
  *spare = Ref<LogSegment>(
      new LogSegment(number, SegmentSalt(secret_, number), std::move(made.file), returns_));
  return absl::OkStatus();
}

absl::Status SegmentStore::Remove(std::string path) {
  absl::Status status = file_system_->RemoveFile(path);
  // An earlier attempt may have removed it and reported an error.
  if (absl::IsNotFound(status)) return absl::OkStatus();
  if (!status.ok()) unremoved_.push_back(std::move(path));
  return status;
}

absl::Status SegmentStore::RemoveNoted() {
  absl::Status status;
  for (std::string& path : std::exchange(unremoved_, {})) status.Update(Remove(std::move(path)));
  return status;
}

absl::Status SegmentStore::TakeBack() {
  absl::Status status = RemoveNoted();
  for (SegmentReturns::Returned& returned : returns_->Take()) {
    std::string path = Cat(directory_, "/", SegmentName(returned.number));
    if (returned.reusable && returned.number >= first_kept_ &&
        returned.file->file().size() == segment_size_ && free_.size() < max_free_) {
      free_.push_back({std::move(path), std::move(returned.file)});
    } else {
      // Until a file can be removed, it only takes space, since its number is below `low`.
      status.Update(Remove(std::move(path)));
    }
  }
  return status;
}

absl::Status SegmentStore::RemoveFree() {
  absl::Status status = RemoveNoted();
  for (NamedFile& free : free_) {
    free.file.reset();
    status.Update(Remove(std::move(free.path)));
  }
  free_.clear();
  return status;
}

}  // namespace bigtable
