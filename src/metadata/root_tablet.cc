#include "metadata/root_tablet.h"

#include "base/status.h"
#include "base/strings.h"
#include "metadata/metadata_format.h"

namespace bigtable {

absl::Status RootTablet::Create() {
  MutexLock lock(&mutex_);
  state_ = {};
  return files_->Write(kFile, EncodeTabletState(state_));
}

absl::Status RootTablet::Load() {
  BT_ASSIGN_OR_RETURN(const std::string bytes, files_->Read(kFile));
  absl::StatusOr<TabletState> state = DecodeTabletState(bytes);
  if (!state.ok()) {
    return absl::Status(state.status().code(),
                        Cat("the root tablet's file: ", ToStd(state.status().message())));
  }
  MutexLock lock(&mutex_);
  state_ = *std::move(state);
  return absl::OkStatus();
}

TabletState RootTablet::state() const {
  MutexLock lock(&mutex_);
  return state_;
}

absl::Status RootTablet::Commit(absl::Span<const TabletStep> steps) {
  MutexLock lock(&mutex_);
  TabletState next = state_;
  for (const TabletStep& step : steps) ApplyChange(step.change, &next);
  absl::Status written = files_->Write(kFile, EncodeTabletState(next));
  if (!written.ok()) {
    perhaps_.push_back(std::move(next));
    return written;
  }
  state_ = std::move(next);
  perhaps_.clear();
  return absl::OkStatus();
}

void RootTablet::AddFiles(std::set<uint64_t>* numbers) const {
  const auto add = [&](const TabletState& state) {
    for (const auto& [id, group] : state.groups) {
      for (const TabletFile& file : group.files) numbers->insert(file.info.file_number);
    }
  };
  MutexLock lock(&mutex_);
  add(state_);
  for (const TabletState& state : perhaps_) add(state);
}

}  // namespace bigtable
