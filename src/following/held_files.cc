#include "following/held_files.h"

#include <utility>

#include "base/status.h"

namespace bigtable {

absl::StatusOr<std::shared_ptr<RandomAccessFile>> HeldFiles::Hold(std::string_view path) {
  {
    MutexLock lock(&mutex_);
    if (const auto found = held_.find(path); found != held_.end()) return found->second;
  }
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> opened =
      files_->NewRandomAccessFile(path, mode_);
  if (absl::IsNotFound(opened.status())) missed_.fetch_add(1, std::memory_order_relaxed);
  BT_RETURN_IF_ERROR(opened.status());
  MutexLock lock(&mutex_);
  return held_.try_emplace(std::string(path), *std::move(opened)).first->second;
}

void HeldFiles::DropUnused() {
  MutexLock lock(&mutex_);
  std::erase_if(held_, [](const auto& file) { return file.second.use_count() == 1; });
}

void HeldFiles::Clear() {
  MutexLock lock(&mutex_);
  held_.clear();
}

size_t HeldFiles::size() const {
  MutexLock lock(&mutex_);
  return held_.size();
}

}  // namespace bigtable
