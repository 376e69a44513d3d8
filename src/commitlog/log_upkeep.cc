#include "commitlog/log_upkeep.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/base/macros.h"

#include "base/mutex.h"
#include "base/status.h"

namespace bigtable {

LogUpkeep::LogUpkeep(FileSystem* file_system, const std::string& directory, uint64_t secret,
                     uint64_t segment_size, size_t max_free, std::shared_ptr<MemoryBudget> budget,
                     SegmentChain* chain)
    : secret_(secret),
      segment_size_(segment_size),
      chain_(chain),
      returns_(MakeRef<SegmentReturns>()),
      store_(file_system, directory, secret, segment_size, max_free, std::move(budget), returns_),
      state_file_(file_system, directory) {}

LogUpkeep::~LogUpkeep() { returns_->Close(); }

// --- The spare ---

absl::Status LogUpkeep::PrepareFirst() {
  BT_RETURN_IF_ERROR(WriteState({}));
  return MakeSpare(segment_size_);
}

absl::Status LogUpkeep::Prepare(uint64_t least_size) {
  chain_->set_needs_upkeep(false);
  // In this order: on a full disk the spare is made of a released file.
  absl::Status status = PersistReleased();
  status.Update(store_.TakeBack());
  status.Update(MakeSpare(std::max(least_size, segment_size_)));
  if (!status.ok()) chain_->set_needs_upkeep(true);
  return status;
}

absl::Status LogUpkeep::MakeSpare(uint64_t least_size) {
  Ref<LogSegment> spare;
  uint64_t number;
  {
    MutexLock lock(&chain_->mutex);
    // The end of the switch requests upkeep.
    if (chain_->copying()) return absl::OkStatus();
    if (chain_->spare() && chain_->spare()->size() >= least_size) return absl::OkStatus();
    number = chain_->BeginMaking(&spare);
  }
  const absl::Status status = store_.Make(number, least_size, &spare);
  MutexLock lock(&chain_->mutex);
  chain_->EndMaking(std::move(spare));
  return status;
}

absl::StatusOr<bool> LogUpkeep::MakeFreshSpare() {
  Ref<LogSegment> spare;  // its file may be an old one
  uint64_t number;
  {
    MutexLock lock(&chain_->mutex);
    if (chain_->copying()) return false;
    number = chain_->BeginMaking(&spare);
  }
  store_.KeepNoneBelow(number);
  absl::Status status = store_.TakeBack();
  status.Update(store_.RemoveFree());
  status.Update(store_.Make(number, segment_size_, &spare));
  if (!status.ok()) chain_->set_needs_upkeep(true);
  {
    MutexLock lock(&chain_->mutex);
    chain_->EndMaking(std::move(spare));
  }
  BT_RETURN_IF_ERROR(status);
  return true;
}

// --- STATE ---

absl::Status LogUpkeep::WriteState(LogState state) {
  ABSL_ASSERT(state.released >= persisted_state_.released &&
              state.synced >= persisted_state_.synced &&
              "neither what is released nor what is synced moves back");
  state.secret = secret_;
  BT_RETURN_IF_ERROR(state_file_.Write(state));
  persisted_state_ = state;
  return absl::OkStatus();
}

absl::Status LogUpkeep::PersistReleased() {
  LogState state;
  size_t retired;
  {
    MutexLock lock(&chain_->mutex);
    retired = chain_->retired();
    if (retired == 0) return absl::OkStatus();
    state = chain_->State();
  }
  BT_RETURN_IF_ERROR(WriteState(state));
  std::vector<Ref<LogSegment>> forgotten;  // dropped outside the lock
  MutexLock lock(&chain_->mutex);
  forgotten = chain_->Forget(retired);
  return absl::OkStatus();
}

absl::Status LogUpkeep::Attest() {
  LogState state = persisted_state_;
  state.synced = chain_->synced();
  // This releases nothing more: that takes an attestation of another log first.
  return state.synced > persisted_state_.synced ? WriteState(state) : absl::OkStatus();
}

absl::Status LogUpkeep::PrepareRestart() {
  LogState state;
  {
    MutexLock lock(&chain_->mutex);
    state = chain_->State();
    state.low = chain_->next_number();
  }
  BT_RETURN_IF_ERROR(MakeSpare(segment_size_));
  return WriteState(state);
}

}  // namespace bigtable
