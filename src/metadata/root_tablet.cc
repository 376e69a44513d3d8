#include "metadata/root_tablet.h"

#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

absl::Status RootTablet::Create() {
  MutexLock lock(&mutex_);
  root_ = {};
  root_.tablet.rows = RootRows();
  return files_->Write(kFile, EncodeRoot(root_));
}

absl::Status RootTablet::Load() {
  BT_ASSIGN_OR_RETURN(const SmallFile file, files_->ReadWithGeneration(kFile));
  absl::StatusOr<RootState> root = DecodeRoot(file.contents);
  if (!root.ok()) {
    return absl::Status(root.status().code(),
                        Cat("the root tablet's file: ", ToStd(root.status().message())));
  }
  MutexLock lock(&mutex_);
  root_ = *std::move(root);
  damage_ = file.damage;
  return absl::OkStatus();
}

absl::Status RootTablet::damage() const {
  MutexLock lock(&mutex_);
  return damage_;
}

TabletState RootTablet::state() const {
  MutexLock lock(&mutex_);
  return root_.tablet;
}

std::string RootTablet::server() const {
  MutexLock lock(&mutex_);
  return root_.server;
}

absl::Status RootTablet::SetServer(std::string_view server, bool only_here) {
  MutexLock lock(&mutex_);
  RootState next = root_;
  next.server = server;
  if (!only_here) return Write(std::move(next));
  root_ = std::move(next);
  return absl::OkStatus();
}

absl::Status RootTablet::Commit(absl::Span<const TabletStep> steps) {
  MutexLock lock(&mutex_);
  RootState next = root_;
  for (const TabletStep& step : steps) ApplyChange(step.change, &next.tablet);
  return Write(std::move(next));
}

absl::Status RootTablet::Write(RootState next) {
  absl::Status written = files_->Write(kFile, EncodeRoot(next));
  if (!written.ok()) {
    perhaps_.push_back(std::move(next.tablet));
    return written;
  }
  root_ = std::move(next);
  perhaps_.clear();
  return absl::OkStatus();
}

void RootTablet::AddFiles(std::set<uint64_t>* numbers) const {
  MutexLock lock(&mutex_);
  root_.tablet.AddFiles(numbers);
  for (const TabletState& state : perhaps_) state.AddFiles(numbers);
}

}  // namespace bigtable
