#include "commitlog/log_calls.h"

#include <string_view>
#include <utility>

#include "absl/base/macros.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

LogCalls::LogCalls(std::string directory, absl::Duration stall_timeout, SegmentChain* chain,
                   LogAppender* appender)
    : directory_(std::move(directory)), chain_(chain), appender_(appender), times_(stall_timeout) {}

// --- Writing ---

absl::Status LogCalls::Flush() {
  if (failed()) return failure();
  if (!appender_->needs_flush()) return absl::OkStatus();
  const Call call = BeginFlush();
  absl::Status status;
  for (const SegmentPiece& piece : call.pieces) {
    if (!status.ok()) break;
    absl::Duration took;
    const std::string_view bytes(piece.memory.get() + piece.begin, piece.size());
    status = times_.Time([&] { return piece.segment->file().Write(piece.begin, bytes); }, &took);
  }
  return EndFlush(call, std::move(status));
}

LogCalls::Call LogCalls::BeginFlush() {
  MutexLock lock(&chain_->mutex);
  Call call{.turn = 0, .pieces = appender_->Unflushed(), .end = appender_->AppendedEnd()};
  const SegmentPiece& first = call.pieces.front();
  call.turn = turns_.BeginFlush({first.segment->base() + first.begin, call.end});
  return call;
}

absl::Status LogCalls::EndFlush(const Call& call, absl::Status status) {
  MutexLock lock(&chain_->mutex);
  if (EndIfAbandoned(call, status)) {
    return absl::AbortedError(Cat("the log ", directory_, " has continued without this call"));
  }
  server_writer.Assume("the turn of the call is not over");
  ABSL_ASSERT(call.end == appender_->AppendedEnd() && "nothing was appended meanwhile");
  turns_.EndFlush();
  changed_.SignalAll();
  if (!status.ok()) {
    KeepFromReuse(call);
    SetFailure(status);
    return status;
  }
  appender_->MarkFlushed();
  return absl::OkStatus();
}

// --- Syncing ---

absl::Status LogCalls::Sync() {
  if (failed()) return failure();
  const uint64_t target = appender_->end_offset();
  if (chain_->synced() >= target) return absl::OkStatus();
  Call call;
  absl::Status outcome;
  // Repeats if the call was abandoned.
  while (BeginSync(target, &call, &outcome)) {
    absl::Status status;
    absl::Duration took;
    for (const SegmentPiece& piece : call.pieces) {
      if (!status.ok()) break;
      status = times_.Time([&] { return piece.segment->file().Sync(); }, &took);
    }
    EndSync(call, status, took);
  }
  return outcome;
}

bool LogCalls::BeginSync(uint64_t target, Call* call, absl::Status* outcome) {
  MutexLock lock(&chain_->mutex);
  ABSL_ASSERT(target <= appender_->end_offset() && "only what is appended can be synced");
  while (failure_.ok() && chain_->synced() < target && (turns_.syncing() || turns_.switching())) {
    changed_.Wait(&chain_->mutex);
  }
  *outcome = failure_;
  if (!failure_.ok() || chain_->synced() >= target) return false;
  call->end = appender_->end_offset();
  chain_->CollectUnsynced(call->end, &call->pieces);
  call->turn = turns_.BeginSync();
  syncs_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void LogCalls::EndSync(const Call& call, const absl::Status& status, absl::Duration took) {
  MutexLock lock(&chain_->mutex);
  times_.AddSync(took);
  if (EndIfAbandoned(call, status)) return;
  turns_.EndSync();
  changed_.SignalAll();
  if (!status.ok()) {
    KeepFromReuse(call);
    SetFailure(status);
  } else {
    chain_->AdvanceSynced(call.end);
  }
}

bool LogCalls::EndIfAbandoned(const Call& call, const absl::Status& status) {
  if (!turns_.IsAbandoned(call.turn)) return false;
  turns_.EndAbandoned(status);
  changed_.SignalAll();
  if (!status.ok()) KeepFromReuse(call);
  return true;
}

// Done at once: upkeep may release the segments long before StartNewSegment.
void LogCalls::KeepFromReuse(const Call& call) {
  for (const SegmentPiece& piece : call.pieces) piece.segment->KeepFromReuse();
}

// --- The next file ---

absl::StatusOr<bool> LogCalls::Rotate(uint64_t least_size) {
  MutexLock lock(&chain_->mutex);
  ABSL_ASSERT(!turns_.switching() && "the thread in SwitchFile is the appending thread");
  if (!chain_->spare() || chain_->spare()->size() < least_size) return false;
  // All that may find no memory comes first: nothing may follow an end record in its segment.
  BT_RETURN_IF_ERROR(chain_->spare()->NeedMemory());
  appender_->PrepareToRotate();
  chain_->ContinueInSpare(appender_->EndPosition(), appender_->appended());
  appender_->Rotate(chain_->active().get(), chain_->synced());
  return true;
}

// --- Failure ---

absl::Status LogCalls::failure() const {
  MutexLock lock(&chain_->mutex);
  return failure_;
}

void LogCalls::Fail(const absl::Status& status) {
  MutexLock lock(&chain_->mutex);
  SetFailure(status);
}

void LogCalls::SetFailure(const absl::Status& status) {
  ABSL_ASSERT(!status.ok() && "a failure has an error");
  if (failure_.ok()) failure_ = status;
  failed_.store(true, std::memory_order_release);
  changed_.SignalAll();
}

absl::StatusOr<bool> LogCalls::AwaitRestart(const CallLimits& limits) {
  MutexLock lock(&chain_->mutex);
  if (failure_.ok()) return false;
  ABSL_ASSERT(!turns_.flushing() && !turns_.switching() &&
              "they are the appending thread's, as this is");
  while (turns_.syncing()) {  // a failed log starts no new sync
    BT_RETURN_IF_ERROR(limits.Check());
    changed_.WaitFor(&chain_->mutex, limits.MostSleep());
  }
  if (chain_->released() < appender_->last_sequence()) {
    return absl::FailedPreconditionError(
        Cat("the log ", directory_, " failed (", failure_.ToString(), "): records up to ",
            appender_->last_sequence(), " must be flushed and released first; ", chain_->released(),
            " are released"));
  }
  return true;
}

absl::Status LogCalls::Restart() {
  std::vector<Ref<LogSegment>> old;  // dropped outside the lock
  MutexLock lock(&chain_->mutex);
  BT_RETURN_IF_ERROR(chain_->spare()->NeedMemory());
  old = chain_->Restart();
  appender_->Restart(chain_->active().get());
  failure_ = absl::OkStatus();
  failed_.store(false, std::memory_order_release);
  return absl::OkStatus();
}

}  // namespace bigtable
