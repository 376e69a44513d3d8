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
  BT_RETURN_IF_ERROR(files_->Write(kFile, EncodeTabletState(next)));
  state_ = std::move(next);
  return absl::OkStatus();
}

}  // namespace bigtable
