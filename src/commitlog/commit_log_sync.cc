// CommitLog's calls on its files: writing, if they are not mapped, and syncing. An abandoned call
// (commit_log_switch.cc) changes nothing when it returns.
#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/macros.h"

#include "base/status.h"
#include "base/strings.h"
#include "commitlog/commit_log.h"

namespace bigtable {
namespace {

// A call stalls if it takes this many times longer than usual.
constexpr int kUsualSyncs = 8;
// The number of syncs in the moving average.
constexpr int kRemembered = 16;

}  // namespace

absl::Status CommitLog::Timed(absl::FunctionRef<absl::Status()> call, absl::Duration* took) {
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status = call();
  const absl::Duration duration = absl::FromChrono(std::chrono::steady_clock::now() - start);
  if (duration >= options_.stall_timeout) stalls_.fetch_add(1, std::memory_order_relaxed);
  *took += duration;
  return status;
}

// --- Writing ---

absl::Status CommitLog::Flush() {
  if (failed_.load(std::memory_order_acquire)) return failure();
  if (!NeedsFlush()) return absl::OkStatus();
  const Call call = BeginFlush();
  absl::Status status;
  for (const Piece& piece : call.pieces) {
    if (!status.ok()) break;
    absl::Duration took;
    const std::string_view bytes(piece.memory.get() + piece.begin, piece.size());
    status = Timed([&] { return piece.segment->file().Write(piece.begin, bytes); }, &took);
  }
  return EndFlush(call, std::move(status));
}

CommitLog::Call CommitLog::BeginFlush() {
  MutexLock lock(&mutex_);
  ABSL_ASSERT(!flushing_ && !switching_ && "only the appending thread flushes");
  Call call{.turn = turn_, .pieces = unflushed_pieces_, .end = active_->base() + position_};
  if (!mapped_) call.pieces.push_back({live_.back(), active_->memory(), flushed_, position_});
  flushing_ = true;
  flushing_from_ = call.pieces.front().segment->base() + call.pieces.front().begin;
  flushing_end_ = call.end;
  return call;
}

absl::Status CommitLog::EndFlush(const Call& call, absl::Status status) {
  MutexLock lock(&mutex_);
  if (call.turn != turn_) {
    EndAbandoned(call, status);
    return absl::AbortedError(Cat("the log ", directory_, " has continued without this call"));
  }
  server_writer.Assume("the turn of the call is not over");
  ABSL_ASSERT(call.end == active_->base() + position_ && "nothing was appended meanwhile");
  flushing_ = false;
  changed_.SignalAll();
  if (!status.ok()) {
    KeepFromReuse(call);
    SetFailure(status);
    return status;
  }
  unflushed_pieces_.clear();
  flushed_ = position_;
  direct_ = mapped_;
  end_.store(call.end, std::memory_order_release);
  last_sequence_.store(appended_, std::memory_order_release);
  unflushed_.store(false, std::memory_order_relaxed);
  return absl::OkStatus();
}

// --- Syncing ---

absl::Status CommitLog::Sync() {
  if (failed_.load(std::memory_order_acquire)) return failure();
  const uint64_t target = end_offset();
  if (synced_offset() >= target) return absl::OkStatus();
  Call call;
  absl::Status outcome;
  // Repeats if the call was abandoned.
  while (BeginSync(target, &call, &outcome)) {
    absl::Status status;
    absl::Duration took;
    for (const Piece& piece : call.pieces) {
      if (!status.ok()) break;
      status = Timed([&] { return piece.segment->file().Sync(); }, &took);
    }
    EndSync(call, status, took);
  }
  return outcome;
}

bool CommitLog::BeginSync(uint64_t target, Call* call, absl::Status* outcome) {
  MutexLock lock(&mutex_);
  ABSL_ASSERT(target <= end_offset() && "only what is appended can be synced");
  while (failure_.ok() && synced_offset() < target && (syncing_ || switching_)) {
    changed_.Wait(&mutex_);
  }
  *outcome = failure_;
  const uint64_t synced = synced_offset();
  if (!failure_.ok() || synced >= target) return false;
  *call = {.turn = turn_, .pieces = {}, .end = end_offset()};
  for (const auto* list : {&retired_, &live_}) {
    for (const Ref<LogSegment>& segment : *list) {
      const uint64_t end =
          segment->end_ == LogSegment::kOpen ? call->end : segment->base() + segment->end_;
      if (end > std::max(synced, segment->base())) call->pieces.push_back({segment, nullptr});
    }
  }
  ABSL_ASSERT(!syncing_ && !switching_ && "within a turn there is one sync at a time");
  syncing_ = true;
  syncs_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void CommitLog::EndSync(const Call& call, const absl::Status& status, absl::Duration took) {
  MutexLock lock(&mutex_);
  // The average counts a stalled call as the longest tolerated duration, so that it takes several
  // stalls to raise it much.
  const int64_t usual = usual_sync_.load(std::memory_order_relaxed);
  const int64_t counted = absl::ToInt64Nanoseconds(std::min(took, LongestStallTimeout()));
  usual_sync_.store(usual + (counted - usual) / kRemembered, std::memory_order_relaxed);
  if (call.turn != turn_) {
    EndAbandoned(call, status);
    return;
  }
  syncing_ = false;
  changed_.SignalAll();
  if (!status.ok()) {
    KeepFromReuse(call);
    SetFailure(status);
  } else {
    ABSL_ASSERT(call.end >= synced_offset() && "what is synced stays synced");
    synced_.store(call.end, std::memory_order_release);
  }
}

void CommitLog::EndAbandoned(const Call& call, const absl::Status& status) {
  ABSL_ASSERT(abandoned_ > 0 && "an abandoned call ends once");
  --abandoned_;
  stalled_status_.Update(status);
  changed_.SignalAll();
  if (!status.ok()) KeepFromReuse(call);
}

// Done at once: upkeep may release the segments long before StartNewSegment.
void CommitLog::KeepFromReuse(const Call& call) {
  for (const Piece& piece : call.pieces) piece.segment->reusable_ = false;
}

absl::Duration CommitLog::LongestStallTimeout() const {
  return std::max(options_.stall_timeout,
                  kUsualSyncs * absl::Nanoseconds(usual_sync_.load(std::memory_order_relaxed)));
}

absl::Status CommitLog::Close() {
  if (closed_) return failure();
  BT_RETURN_IF_ERROR(Flush());
  BT_RETURN_IF_ERROR(Sync());
  StoreEnd(0);
  closed_ = true;
  BT_RETURN_IF_ERROR(Flush());
  return Sync();
}

}  // namespace bigtable
