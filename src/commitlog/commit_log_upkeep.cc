// CommitLog's background work: released segments, and preparing the next segment.
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/base/macros.h"

#include "base/status.h"
#include "commitlog/commit_log.h"

namespace bigtable {

void CommitLog::ReleaseThrough(SequenceNumber sequence) {
  MutexLock lock(&mutex_);
  // The same number again releases a segment that has been ended since: StartNextSegment.
  if (sequence < released_) return;
  released_ = sequence;
  while (live_.size() > 1 && live_.front()->last_sequence_ <= sequence) {
    needed_bytes_ -= live_.front()->size();
    retired_.push_back(std::move(live_.front()));
    live_.pop_front();
    needs_upkeep_ = true;
  }
  ABSL_ASSERT(std::accumulate(live_.begin(), live_.end(), uint64_t{0},
                              [](uint64_t sum, const Ref<LogSegment>& segment) {
                                return sum + segment->size();
                              }) == needed_bytes_ &&
              "the live segments are what is needed");
}

SequenceNumber CommitLog::OldestNeeded() const {
  MutexLock lock(&mutex_);
  if (last_sequence_ <= released_) return 0;
  for (const Ref<LogSegment>& segment : live_) {
    const SequenceNumber first = segment->first_sequence_.load(std::memory_order_relaxed);
    if (first != 0) return first;
  }
  return 0;
}

absl::Status CommitLog::PrepareSpare(const CallLimits& limits) {
  const LimitedMutexLock prepare(&prepare_mutex_, &limits, "upkeep of the log");
  BT_RETURN_IF_ERROR(prepare.status());
  return Prepare(options_.segment_size);
}

absl::Status CommitLog::RemoveFreeSegments(const CallLimits& limits) {
  const LimitedMutexLock prepare(&prepare_mutex_, &limits, "upkeep of the log");
  BT_RETURN_IF_ERROR(prepare.status());
  return store_.RemoveFree();
}

absl::StatusOr<bool> CommitLog::PrepareFreshSpare(const CallLimits& limits) {
  const LimitedMutexLock prepare(&prepare_mutex_, &limits, "upkeep of the log");
  BT_RETURN_IF_ERROR(prepare.status());
  Ref<LogSegment> spare;  // its file may be an old one
  uint64_t number;
  {
    MutexLock lock(&mutex_);
    if (copying_) return false;
    number = BeginMaking(&spare);
  }
  store_.KeepNoneBelow(number);
  absl::Status status = store_.TakeBack();
  status.Update(store_.RemoveFree());
  status.Update(store_.Make(number, options_.segment_size, &spare));
  if (!status.ok()) needs_upkeep_ = true;
  EndMaking(std::move(spare));
  BT_RETURN_IF_ERROR(status);
  return true;
}

absl::Status CommitLog::StartNextSegment() {
  if (failed_.load(std::memory_order_acquire)) return failure();
  BT_RETURN_IF_ERROR(NextSegment(0, {}));
  return NeedsFlush() ? Flush() : absl::OkStatus();
}

absl::Status CommitLog::Prepare(uint64_t least_size) {
  needs_upkeep_ = false;
  // In this order: on a full disk the spare is made of a released file.
  absl::Status status = PersistReleased();
  status.Update(store_.TakeBack());
  status.Update(MakeSpare(least_size));
  if (!status.ok()) needs_upkeep_ = true;
  return status;
}

LogState CommitLog::State() const {
  return {.secret = secret_,
          .low = live_.front()->number(),
          .released = released_,
          .synced = synced_offset()};
}

absl::Status CommitLog::WriteState(const LogState& state) {
  ABSL_ASSERT(state.released >= persisted_state_.released &&
              state.synced >= persisted_state_.synced &&
              "neither what is released nor what is synced moves back");
  BT_RETURN_IF_ERROR(state_file_.Write(state));
  persisted_state_ = state;
  return absl::OkStatus();
}

bool CommitLog::ReleasesSegment(SequenceNumber sequence) const {
  MutexLock lock(&mutex_);
  return live_.size() > 1 && live_.front()->last_sequence_ <= sequence;
}

absl::Status CommitLog::Attest(const CallLimits& limits) {
  const LimitedMutexLock prepare(&prepare_mutex_, &limits, "upkeep of the log");
  BT_RETURN_IF_ERROR(prepare.status());
  LogState state = persisted_state_;
  state.synced = synced_offset();
  // This releases nothing more: that takes an attestation of another log first.
  return state.synced > persisted_state_.synced ? WriteState(state) : absl::OkStatus();
}

absl::Status CommitLog::PersistReleased() {
  LogState state;
  size_t retired;
  {
    MutexLock lock(&mutex_);
    retired = retired_.size();
    if (retired == 0) return absl::OkStatus();
    state = State();
  }
  BT_RETURN_IF_ERROR(WriteState(state));
  std::vector<Ref<LogSegment>> forgotten;  // released outside the lock
  MutexLock lock(&mutex_);
  ABSL_ASSERT(retired <= retired_.size() && "nothing else takes released segments");
  for (; retired > 0; --retired) {
    forgotten.push_back(std::move(retired_.front()));
    retired_.pop_front();
  }
  return absl::OkStatus();
}

absl::Status CommitLog::MakeSpare(uint64_t least_size) {
  Ref<LogSegment> spare;
  uint64_t number;
  {
    MutexLock lock(&mutex_);
    // The end of the switch requests upkeep.
    if (copying_ || (spare_ && spare_->size() >= least_size)) return absl::OkStatus();
    number = BeginMaking(&spare);
  }
  const absl::Status status = store_.Make(number, least_size, &spare);
  EndMaking(std::move(spare));
  return status;
}

uint64_t CommitLog::BeginMaking(Ref<LogSegment>* spare) {
  ABSL_ASSERT(!copying_ && "a switch has taken the number");
  *spare = std::exchange(spare_, {});
  return live_.back()->number() + 1;
}

void CommitLog::EndMaking(Ref<LogSegment> spare) {
  MutexLock lock(&mutex_);
  ABSL_ASSERT(!spare_ && !copying_ && "one thread at a time makes segments");
  ABSL_ASSERT((!spare || spare->number() == live_.back()->number() + 1) &&
              "the log did not continue without a spare");
  spare_ = std::move(spare);
}

}  // namespace bigtable
