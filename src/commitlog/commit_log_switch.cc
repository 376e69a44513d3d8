// CommitLog's switch to the other file when a call on the active one stalls. StallTimeout and
// PlanSwitch may run on waiting threads; the rest runs on the thread that took over, which is the
// appending thread.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/macros.h"

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "commitlog/commit_log.h"

namespace bigtable {

absl::Duration CommitLog::StallTimeout(absl::Duration running) const {
  const absl::Duration most = LongestStallTimeout();
  if (running < most) return most - running;
  MutexLock lock(&mutex_);
  Switch plan;
  return PlanSwitch(&plan) ? absl::ZeroDuration() : std::max(most / 4, absl::Milliseconds(1));
}

absl::Status CommitLog::SwitchFile() {
  Switch plan;
  if (!BeginSwitch(&plan)) {
    MutexLock lock(&mutex_);
    while (flushing_) changed_.Wait(&mutex_);
    return failure_;
  }
  if (const absl::Status status = Repeat(&plan); !status.ok()) return GoOnInSlowFile();
  if (absl::Status status = WriteSwitchRecord(plan); !status.ok()) {
    // It is unknown in which of the two files recovery would continue.
    MutexLock lock(&mutex_);
    switching_ = copying_ = false;
    needs_upkeep_ = true;
    SetFailure(status);
    return status;
  }
  EndSwitch(plan);
  return absl::OkStatus();
}

// --- Planning ---

// Reads only guarded and atomic fields: if a waiting thread calls it, the appending thread may be
// running.
bool CommitLog::PlanSwitch(Switch* plan) const {
  if (!failure_.ok() || switching_ || abandoned_ > 0 || !spare_) return false;
  if (NeedsFlush() ? !flushing_ : !syncing_) return false;
  uint64_t bytes = 0;
  plan->from = synced_offset();
  // At most half a segment, so that there is room to continue while the next spare is made.
  if (Collect(plan->from, &plan->pieces, &bytes) &&
      kSwitchRecordSize + bytes <= spare_->size() / 2) {
    return true;
  }
  // What is written already survives the process, and will be synced in its present file.
  plan->from = flushing_from_;
  return flushing_ && !syncing_ && Collect(plan->from, &plan->pieces, &bytes) &&
         kSwitchRecordSize + bytes + kEndRecordSize <= spare_->size();
}

bool CommitLog::Collect(uint64_t from, std::vector<Piece>* pieces, uint64_t* bytes) const {
  pieces->clear();
  *bytes = 0;
  const uint64_t log_end = flushing_ ? flushing_end_ : end_offset();
  for (const Ref<LogSegment>& segment : live_) {
    const uint64_t base = segment->base();
    const uint64_t begin = std::max(from, base) - base;
    const uint64_t end = segment->end_ == LogSegment::kOpen ? log_end - base : segment->end_;
    if (begin >= end) continue;
    if (segment->memory() == nullptr) return false;
    pieces->push_back({segment, segment->memory(), begin, end});
    *bytes += end - begin;
  }
  return true;
}

bool CommitLog::BeginSwitch(Switch* plan) {
  MutexLock lock(&mutex_);
  if (!PlanSwitch(plan)) return false;
  plan->to = std::exchange(spare_, {});
  // From here on the results of running calls are ignored.
  ++turn_;
  abandoned_ = int{flushing_} + int{syncing_};
  stalled_status_ = absl::OkStatus();
  flushing_ = false;
  syncing_ = false;
  switching_ = copying_ = true;
  return true;
}

// --- Switching ---

// Copies the records at risk, after the space for the switch record.
absl::Status CommitLog::Repeat(Switch* plan) {
  BT_RETURN_IF_ERROR(plan->to->NeedMemory());
  plan->end = kSwitchRecordSize;
  for (const Piece& piece : plan->pieces) BT_RETURN_IF_ERROR(CopyRecords(piece, plan));
  if (plan->to->file().mapping() != nullptr || plan->end == kSwitchRecordSize) {
    return absl::OkStatus();
  }
  absl::Duration took;
  const std::string_view copies(plan->to->memory().get() + kSwitchRecordSize,
                                plan->end - kSwitchRecordSize);
  return Timed([&] { return plan->to->file().Write(kSwitchRecordSize, copies); }, &took);
}

absl::Status CommitLog::CopyRecords(const Piece& piece, Switch* plan) {
  RecordHeader header;
  for (uint64_t position = piece.begin; position < piece.end;
       position += RecordSize(header.payload_size)) {
    const char* const at = piece.memory.get() + position;
    if (!DecodeRecordHeader(at, RecordSeed(piece.segment->salt_, position), &header)) {
      return absl::InternalError(
          Cat(directory_, ": no record in memory at ", position, " of a log file"));
    }
    if (IsLogsOwn(header.type)) continue;
    char* const copy = plan->to->memory().get() + plan->end;
    std::memcpy(copy + kRecordHeaderSize, at + kRecordHeaderSize, header.payload_size);
    const uint64_t size = RecordSize(header.payload_size);
    ABSL_ASSERT(plan->end + size + kEndRecordSize <= plan->to->size() && "the plan has counted it");
    header.synced = synced_offset();
    FinishRecord(copy, header, RecordSeed(plan->to->salt_, plan->end));
    if (plan->first_sequence == 0) plan->first_sequence = header.sequence;
    plan->end += size;
  }
  return absl::OkStatus();
}

absl::Status CommitLog::WriteSwitchRecord(const Switch& plan) {
  char* const at = plan.to->memory().get();
  StoreFixed64(at + kRecordHeaderSize, plan.from);
  FinishRecord(at,
               {.payload_size = kSwitchPayloadSize,
                .type = static_cast<uint8_t>(RecordType::kSwitch),
                .sequence = appended_,
                .synced = synced_offset()},
               RecordSeed(plan.to->salt_, 0));
  if (plan.to->file().mapping() != nullptr) return absl::OkStatus();
  absl::Duration took;
  return Timed([&] { return plan.to->file().Write(0, {at, kSwitchRecordSize}); }, &took);
}

void CommitLog::EndSwitch(const Switch& plan) {
  MutexLock lock(&mutex_);
  for (const auto* list : {&retired_, &live_}) {
    for (const Ref<LogSegment>& segment : *list) {
      const uint64_t base = segment->base();
      segment->end_ = std::min(segment->end_, std::max(plan.from, base) - base);
    }
  }
  active_->last_sequence_ = appended_;
  unflushed_pieces_.clear();
  ABSL_ASSERT(copying_ && !spare_ && plan.to->number() == live_.back()->number() + 1);
  live_.push_back(plan.to);
  Activate();
  active_->first_sequence_ = plan.first_sequence;
  position_ = plan.end;
  flushed_ = plan.end;
  end_.store(active_->base() + plan.end, std::memory_order_release);
  last_sequence_.store(appended_, std::memory_order_release);
  unflushed_.store(false, std::memory_order_relaxed);
  switches_.fetch_add(1, std::memory_order_relaxed);
  switching_ = copying_ = false;
  changed_.SignalAll();
}

// The other file could not be written. It holds valid records of this log without a switch record
// before them, so it must not be used: upkeep replaces it.
absl::Status CommitLog::GoOnInSlowFile() {
  {
    MutexLock lock(&mutex_);
    ABSL_ASSERT(switching_ && copying_ && "a switch was begun");
    copying_ = false;
    needs_upkeep_ = true;
    while (abandoned_ > 0) changed_.Wait(&mutex_);
    switching_ = false;
    changed_.SignalAll();
    if (!stalled_status_.ok()) SetFailure(stalled_status_);
  }
  return Flush();
}

}  // namespace bigtable
