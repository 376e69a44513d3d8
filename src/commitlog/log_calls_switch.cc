// LogCalls' switch to the other file when a call on the active one stalls. StallTimeout and
// PlanSwitch may run on waiting threads; the rest runs on the thread that took over, which is the
// appending thread.
#include <algorithm>
#include <utility>

#include "absl/base/macros.h"

#include "commitlog/log_calls.h"
#include "commitlog/log_format.h"

namespace bigtable {

absl::Duration LogCalls::StallTimeout(absl::Duration running) const {
  const absl::Duration most = times_.StallTimeout();
  if (running < most) return most - running;
  MutexLock lock(&chain_->mutex);
  SwitchPlan plan;
  return PlanSwitch(&plan) ? absl::ZeroDuration() : std::max(most / 4, absl::Milliseconds(1));
}

absl::Status LogCalls::SwitchFile() {
  SwitchPlan plan;
  Ref<LogSegment> to = BeginSwitch(&plan);
  if (!to) {
    MutexLock lock(&chain_->mutex);
    while (turns_.flushing()) changed_.Wait(&chain_->mutex);
    return failure_;
  }
  SwitchWriter writer(std::move(plan), std::move(to), &times_);
  if (const absl::Status status = writer.WriteCopies(); !status.ok()) return GoOnInSlowFile();
  if (const absl::Status status = writer.WriteSwitchRecord(appender_->appended()); !status.ok()) {
    return FailSwitch(status);
  }
  EndSwitch(writer);
  return absl::OkStatus();
}

// Reads only guarded and atomic fields: if a waiting thread calls it, the appending thread may be
// running.
bool LogCalls::PlanSwitch(SwitchPlan* plan) const {
  if (!failure_.ok() || !turns_.CanSwitch() || !chain_->spare()) return false;
  if (appender_->needs_flush() ? !turns_.flushing() : !turns_.syncing()) return false;
  const uint64_t size = chain_->spare()->size();
  const uint64_t end = turns_.flushing() ? turns_.flushed_range().end : appender_->end_offset();
  uint64_t bytes = 0;
  plan->synced = plan->from = chain_->synced();
  // At most half a segment, so that there is room to continue while the next spare is made.
  if (chain_->Collect(plan->from, end, &plan->pieces, &bytes) &&
      kSwitchRecordSize + bytes <= size / 2) {
    return true;
  }
  if (!turns_.flushing() || turns_.syncing()) return false;
  // What is written already survives the process, and will be synced in its present file.
  plan->from = turns_.flushed_range().begin;
  return chain_->Collect(plan->from, end, &plan->pieces, &bytes) &&
         kSwitchRecordSize + bytes + kEndRecordSize <= size;
}

Ref<LogSegment> LogCalls::BeginSwitch(SwitchPlan* plan) {
  MutexLock lock(&chain_->mutex);
  if (!PlanSwitch(plan)) return {};
  // From here on the results of running calls are ignored.
  turns_.BeginSwitch();
  return chain_->TakeSpareToCopy();
}

void LogCalls::EndSwitch(const SwitchWriter& writer) {
  MutexLock lock(&chain_->mutex);
  chain_->ContinueInCopy(writer.to(), writer.from(), appender_->appended());
  appender_->ContinueInCopy(writer.to().get(), writer.end(), writer.first_sequence());
  switches_.fetch_add(1, std::memory_order_relaxed);
  turns_.EndSwitch();
  changed_.SignalAll();
}

// It is unknown in which of the two files recovery would continue.
absl::Status LogCalls::FailSwitch(const absl::Status& status) {
  MutexLock lock(&chain_->mutex);
  turns_.EndSwitch();
  chain_->GiveUpCopy();
  SetFailure(status);
  return status;
}

// The other file could not be written. It holds valid records of this log without a switch record
// before them, so it must not be used: upkeep replaces it.
absl::Status LogCalls::GoOnInSlowFile() {
  {
    MutexLock lock(&chain_->mutex);
    ABSL_ASSERT(turns_.switching() && "a switch was begun");
    chain_->GiveUpCopy();
    while (turns_.abandoned() > 0) changed_.Wait(&chain_->mutex);
    turns_.EndSwitch();
    changed_.SignalAll();
    if (!turns_.stalled_status().ok()) SetFailure(turns_.stalled_status());
  }
  return Flush();
}

}  // namespace bigtable
