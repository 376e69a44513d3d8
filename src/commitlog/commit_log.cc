#include "commitlog/commit_log.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/random/random.h"

#include "base/status.h"
#include "base/strings.h"
#include "commitlog/log_directory.h"

namespace bigtable {
namespace {

// A counter that only one thread adds to and others read: needs no atomic addition.
void Add(std::atomic<uint64_t>* counter, uint64_t n) {
  counter->store(counter->load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

// The size of a file that holds one record of `record_size` bytes.
uint64_t SizeFor(uint64_t record_size) {
  return (record_size + kEndRecordSize + 4095) & ~uint64_t{4095};
}

uint64_t RandomSecret() {
  absl::BitGen random;
  return absl::Uniform<uint64_t>(random);
}

}  // namespace

CommitLog::CommitLog(FileSystem* file_system, std::string directory, CommitLogOptions options)
    : file_system_(file_system),
      directory_(std::move(directory)),
      options_(std::move(options)),
      secret_(RandomSecret()),
      returns_(MakeRef<SegmentReturns>()),
      store_(file_system, directory_, secret_, options_.segment_size, options_.max_free_segments,
             options_.budget, returns_),
      state_file_(file_system, directory_) {}

CommitLog::~CommitLog() { returns_->Close(); }

absl::StatusOr<std::unique_ptr<CommitLog>> CommitLog::Create(FileSystem* file_system,
                                                             std::string directory,
                                                             CommitLogOptions options) {
  if (options.segment_size < 16384 || options.segment_size % 4096 != 0) {
    return absl::InvalidArgumentError(Cat("segment_size is ", options.segment_size,
                                          "; it must be a multiple of 4096 and at least 16384"));
  }
  std::unique_ptr<CommitLog> log(
      new CommitLog(file_system, std::move(directory), std::move(options)));
  BT_RETURN_IF_ERROR(log->Start());
  return log;
}

absl::Status CommitLog::Start() {
  server_writer.Assume("the log is new");
  BT_RETURN_IF_ERROR(CreateLogDirectory(file_system_, directory_));
  const LimitedMutexLock prepare(&prepare_mutex_);
  BT_RETURN_IF_ERROR(WriteState({.secret = secret_}));
  Ref<LogSegment> first;
  BT_RETURN_IF_ERROR(store_.Make(1, options_.segment_size, &first));
  BT_RETURN_IF_ERROR(first->NeedMemory());
  MutexLock lock(&mutex_);
  live_.push_back(std::move(first));
  Activate();
  end_ = active_->base();
  synced_ = end_.load();
  return absl::OkStatus();
}

// --- Appending ---

absl::Status CommitLog::CheckAppend(RecordType type, SequenceNumber sequence,
                                    uint64_t payload_size) const {
  if (failed_.load(std::memory_order_acquire)) return failure();
  if (closed_) return absl::FailedPreconditionError(Cat("the log ", directory_, " is closed"));
  if (!IsUsers(type)) {
    return absl::InvalidArgumentError(
        Cat("record type ", static_cast<int>(type), " is not one that a log's user appends"));
  }
  const SequenceNumber last = std::max(appended_, released_.load(std::memory_order_relaxed));
  if (sequence <= last || sequence > kMaxSequence) {
    return absl::InvalidArgumentError(Cat("sequence number ", sequence, " must be above ", last,
                                          ", the last one in the log ", directory_,
                                          ", and at most ", kMaxSequence));
  }
  if (payload_size > kMaxPayloadSize) {
    return absl::InvalidArgumentError(Cat("a record's payload has ", payload_size,
                                          " bytes; at most ", kMaxPayloadSize, " are allowed"));
  }
  return absl::OkStatus();
}

absl::Status CommitLog::Append(RecordType type, SequenceNumber sequence,
                               std::span<const std::string_view> parts, AppendedRecord* out,
                               const CallLimits& limits) {
  uint64_t payload_size = 0;
  for (const std::string_view part : parts) payload_size += part.size();
  BT_RETURN_IF_ERROR(CheckAppend(type, sequence, payload_size));
  const uint64_t record_size = RecordSize(payload_size);
  if (position_ + record_size + kEndRecordSize > active_->size()) [[unlikely]] {
    BT_RETURN_IF_ERROR(NextSegment(record_size, limits));
  }
  ABSL_ASSERT(position_ + record_size + kEndRecordSize <= active_->size() &&
              "the record and an end record fit");
  Store(type, sequence, payload_size, parts, out);
  if (active_->first_sequence_.load(std::memory_order_relaxed) == 0) {
    active_->first_sequence_.store(sequence, std::memory_order_relaxed);
  }
  ABSL_ASSERT(sequence >= appended_ && "the log's sequence numbers ascend");
  appended_ = sequence;
  if (direct_) [[likely]]
    last_sequence_.store(sequence, std::memory_order_release);
  Add(&records_, 1);
  Add(&bytes_, record_size);
  return absl::OkStatus();
}

absl::Status CommitLog::Reserve(uint64_t payload_size, const CallLimits& limits) {
  if (failed_.load(std::memory_order_acquire)) return failure();
  const uint64_t record_size = RecordSize(payload_size);
  if (position_ + record_size + kEndRecordSize <= active_->size()) return absl::OkStatus();
  return NextSegment(record_size, limits);
}

void CommitLog::Store(RecordType type, SequenceNumber sequence, uint64_t payload_size,
                      std::span<const std::string_view> parts, AppendedRecord* out) {
  ABSL_ASSERT(position_ % 8 == 0 && position_ + RecordSize(payload_size) <= active_->size() &&
              "records are aligned, and within their segment");
  char* const at = memory_ + position_;
  char* to = at + kRecordHeaderSize;
  for (const std::string_view part : parts) {
    std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
  FinishRecord(at,
               {.payload_size = static_cast<uint32_t>(payload_size),
                .type = static_cast<uint8_t>(type),
                .sequence = sequence,
                .synced = synced_.load(std::memory_order_relaxed)},
               RecordSeed(active_->salt_, position_));
  if (out != nullptr) {
    *out = {};
    if (mapped_) *out = {.payload = {at + kRecordHeaderSize, payload_size}, .segment = active_};
  }
  SetPosition(position_ + RecordSize(payload_size));
}

void CommitLog::SetPosition(uint64_t position) {
  position_ = position;
  if (direct_) [[likely]] {
    end_.store(active_->base() + position, std::memory_order_release);
  } else {
    unflushed_.store(true, std::memory_order_relaxed);
  }
}

void CommitLog::StoreEnd(uint64_t next_number) {
  char payload[kEndPayloadSize];
  StoreFixed64(payload, next_number);
  const std::string_view part(payload, sizeof payload);
  Store(RecordType::kEnd, appended_, part.size(), {&part, 1}, nullptr);
}

absl::Status CommitLog::NextSegment(uint64_t record_size, const CallLimits& limits) {
  const uint64_t least_size = SizeFor(record_size);
  BT_ASSIGN_OR_RETURN(bool has_switched, SwitchToSpare(least_size));
  if (has_switched) return absl::OkStatus();
  // No spare is ready, or PrepareSpare is making one on another thread: then this waits for it.
  const LimitedMutexLock prepare(&prepare_mutex_, &limits, "the write");
  BT_RETURN_IF_ERROR(prepare.status());
  const absl::Status status = Prepare(std::max(least_size, options_.segment_size));
  BT_ASSIGN_OR_RETURN(has_switched, SwitchToSpare(least_size));
  return has_switched ? absl::OkStatus() : status;
}

absl::StatusOr<bool> CommitLog::SwitchToSpare(uint64_t least_size) {
  MutexLock lock(&mutex_);
  ABSL_ASSERT(!switching_ && "the thread in SwitchFile is the appending thread");
  if (!spare_ || spare_->size() < least_size) return false;
  // All that may find no memory comes first: nothing may follow an end record in its segment.
  BT_RETURN_IF_ERROR(spare_->NeedMemory());
  unflushed_pieces_.reserve(unflushed_pieces_.size() + 1);
  const Ref<LogSegment> ended = live_.back();
  live_.push_back(spare_);
  spare_ = {};
  StoreEnd(live_.back()->number());
  active_->last_sequence_ = appended_;
  active_->end_ = position_;
  if (!mapped_) unflushed_pieces_.push_back({ended, active_->memory(), flushed_, position_});
  Activate();
  return true;
}

void CommitLog::Activate() {
  LogSegment* const segment = live_.back().get();
  ABSL_ASSERT((live_.size() == 1 || segment->number() == live_[live_.size() - 2]->number() + 1) &&
              "segments are numbered without gaps");
  segment->Use();
  if (active_ != nullptr) active_->ChargeAsNeeded();
  // Memory that only the log needs is kept for the last two segments, since a group may span both.
  if (live_.size() > 2) live_[live_.size() - 3]->DropMemory();
  active_ = segment;
  memory_ = segment->memory().get();
  mapped_ = segment->file().mapping() != nullptr;
  direct_ = mapped_ && unflushed_pieces_.empty();
  flushed_ = 0;
  position_ = 0;
  if (direct_) end_.store(segment->base(), std::memory_order_release);
  needed_bytes_ += segment->size();
  needs_upkeep_ = true;
}

absl::Status CommitLog::failure() const {
  MutexLock lock(&mutex_);
  return failure_;
}

void CommitLog::Fail(const absl::Status& status) {
  MutexLock lock(&mutex_);
  SetFailure(status);
}

void CommitLog::SetFailure(const absl::Status& status) {
  ABSL_ASSERT(!status.ok() && "a failure has an error");
  if (failure_.ok()) failure_ = status;
  failed_.store(true, std::memory_order_release);
  changed_.SignalAll();
}

absl::Status CommitLog::StartNewSegment(const CallLimits& limits) {
  const LimitedMutexLock prepare(&prepare_mutex_, &limits, "upkeep of the log");
  BT_RETURN_IF_ERROR(prepare.status());
  LogState state;
  {
    MutexLock lock(&mutex_);
    if (failure_.ok()) return absl::OkStatus();
    ABSL_ASSERT(!flushing_ && !switching_ && "they are the appending thread's, as this is");
    while (syncing_) {  // a failed log starts no new sync
      BT_RETURN_IF_ERROR(limits.Check());
      changed_.WaitFor(&mutex_, limits.MostSleep());
    }
    if (released_ < last_sequence_) {
      return absl::FailedPreconditionError(
          Cat("the log ", directory_, " failed (", failure_.ToString(), "): records up to ",
              last_sequence_.load(), " must be flushed and released first; ", released_.load(),
              " are released"));
    }
    state = State();
  }
  state.low = active_->number() + 1;
  BT_RETURN_IF_ERROR(MakeSpare(options_.segment_size));
  BT_RETURN_IF_ERROR(WriteState(state));
  std::deque<Ref<LogSegment>> old;  // released outside the lock
  MutexLock lock(&mutex_);
  ABSL_ASSERT(spare_->number() == state.low);
  // All that may find no memory comes first: then the log has still failed, as before.
  BT_RETURN_IF_ERROR(spare_->NeedMemory());
  std::deque<Ref<LogSegment>> next{spare_};
  old = live_;
  old.insert(old.end(), retired_.begin(), retired_.end());
  spare_ = {};
  live_.swap(next);
  needed_bytes_ = 0;
  retired_.clear();
  for (const Ref<LogSegment>& segment : old) segment->reusable_ = false;
  // Records that were not flushed are in no file, and no reader sees them.
  unflushed_pieces_.clear();
  unflushed_ = false;
  appended_ = last_sequence_;
  Activate();
  end_ = active_->base();
  synced_ = end_.load();
  failure_ = absl::OkStatus();
  failed_.store(false, std::memory_order_release);
  return absl::OkStatus();
}

// A lock would make a caller wait for I/O; the store's counters are atomic.
CommitLog::Statistics CommitLog::statistics() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
  return {.records = records_.load(std::memory_order_relaxed),
          .bytes = bytes_.load(std::memory_order_relaxed),
          .syncs = syncs_.load(std::memory_order_relaxed),
          .segments_created = store_.created(),
          .segments_reused = store_.reused(),
          .stalls = stalls_.load(std::memory_order_relaxed),
          .switches = switches_.load(std::memory_order_relaxed)};
}

}  // namespace bigtable
