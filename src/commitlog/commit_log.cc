#include "commitlog/commit_log.h"

#include <algorithm>
#include <utility>

#include "absl/random/random.h"

#include "base/limited_mutex.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/strings.h"
#include "commitlog/log_directory.h"

namespace bigtable {
namespace {

// The size of a file that holds one record of `record_size` bytes.
uint64_t SizeFor(uint64_t record_size) {
  return (record_size + kEndRecordSize + 4095) & ~uint64_t{4095};
}

uint64_t RandomSecret() {
  absl::BitGen random;
  return absl::Uniform<uint64_t>(random);
}

constexpr std::string_view kUpkeep = "upkeep of the log";  // waits for this end within limits

}  // namespace

CommitLog::CommitLog(FileSystem* file_system, std::string directory, CommitLogOptions options)
    : directory_(std::move(directory)),
      calls_(directory_, options.stall_timeout, &chain_, &appender_),
      upkeep_(file_system, directory_, RandomSecret(), options.segment_size,
              options.max_free_segments, std::move(options.budget), &chain_) {}

CommitLog::~CommitLog() = default;

absl::StatusOr<std::unique_ptr<CommitLog>> CommitLog::Create(FileSystem* file_system,
                                                             std::string directory,
                                                             CommitLogOptions options) {
  if (options.segment_size < 16384 || options.segment_size % 4096 != 0) {
    return absl::InvalidArgumentError(Cat("segment_size is ", options.segment_size,
                                          "; it must be a multiple of 4096 and at least 16384"));
  }
  std::unique_ptr<CommitLog> log(
      new CommitLog(file_system, std::move(directory), std::move(options)));
  BT_RETURN_IF_ERROR(CreateLogDirectory(file_system, log->directory()));
  BT_RETURN_IF_ERROR(log->Start());
  return log;
}

absl::Status CommitLog::Start() {
  server_writer.Assume("the log is new");
  const LimitedMutexLock prepare(upkeep_.mutex());
  BT_RETURN_IF_ERROR(upkeep_.PrepareFirst());
  return calls_.Restart();
}

// --- Appending ---

absl::Status CommitLog::CheckAppend(RecordType type, SequenceNumber sequence,
                                    uint64_t payload_size) const {
  if (failed()) return calls_.failure();
  if (closed_) return absl::FailedPreconditionError(Cat("the log ", directory_, " is closed"));
  if (!IsUsers(type)) {
    return absl::InvalidArgumentError(
        Cat("record type ", static_cast<int>(type), " is not one that a log's user appends"));
  }
  const SequenceNumber last = std::max(appender_.appended(), chain_.released());
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
  if (!appender_.HasRoom(record_size)) [[unlikely]] {
    BT_RETURN_IF_ERROR(NextSegment(record_size, limits));
  }
  appender_.Append(type, sequence, chain_.synced(), payload_size, parts, out);
  return absl::OkStatus();
}

absl::Status CommitLog::Reserve(uint64_t payload_size, const CallLimits& limits) {
  if (failed()) return calls_.failure();
  const uint64_t record_size = RecordSize(payload_size);
  return appender_.HasRoom(record_size) ? absl::OkStatus() : NextSegment(record_size, limits);
}

absl::Status CommitLog::NextSegment(uint64_t record_size, const CallLimits& limits) {
  const uint64_t least_size = SizeFor(record_size);
  BT_ASSIGN_OR_RETURN(bool has_rotated, calls_.Rotate(least_size));
  if (has_rotated) return absl::OkStatus();
  // No spare is ready, or PrepareSpare is making one on another thread: then this waits for it.
  const LimitedMutexLock prepare(upkeep_.mutex(), &limits, "the write");
  BT_RETURN_IF_ERROR(prepare.status());
  const absl::Status status = upkeep_.Prepare(least_size);
  BT_ASSIGN_OR_RETURN(has_rotated, calls_.Rotate(least_size));
  return has_rotated ? absl::OkStatus() : status;
}

absl::Status CommitLog::StartNextSegment() {
  if (failed()) return calls_.failure();
  BT_RETURN_IF_ERROR(NextSegment(0, {}));
  return NeedsFlush() ? Flush() : absl::OkStatus();
}

absl::Status CommitLog::StartNewSegment(const CallLimits& limits) {
  const LimitedMutexLock prepare(upkeep_.mutex(), &limits, kUpkeep);
  BT_RETURN_IF_ERROR(prepare.status());
  BT_ASSIGN_OR_RETURN(const bool has_failed, calls_.AwaitRestart(limits));
  if (!has_failed) return absl::OkStatus();
  BT_RETURN_IF_ERROR(upkeep_.PrepareRestart());
  return calls_.Restart();
}

absl::Status CommitLog::Close() {
  if (closed_) return calls_.failure();
  BT_RETURN_IF_ERROR(Flush());
  BT_RETURN_IF_ERROR(Sync());
  appender_.AppendEnd(0, chain_.synced());
  closed_ = true;
  BT_RETURN_IF_ERROR(Flush());
  return Sync();
}

// --- What is needed ---

void CommitLog::ReleaseThrough(SequenceNumber sequence) {
  MutexLock lock(&chain_.mutex);
  chain_.ReleaseThrough(sequence);
}

bool CommitLog::ReleasesSegment(SequenceNumber sequence) const {
  MutexLock lock(&chain_.mutex);
  return chain_.ReleasesSegment(sequence);
}

SequenceNumber CommitLog::OldestNeeded() const {
  MutexLock lock(&chain_.mutex);
  return last_sequence() <= chain_.released() ? 0 : chain_.FirstSequence();
}

// --- Upkeep ---

absl::Status CommitLog::PrepareSpare(const CallLimits& limits) {
  const LimitedMutexLock prepare(upkeep_.mutex(), &limits, kUpkeep);
  BT_RETURN_IF_ERROR(prepare.status());
  return upkeep_.Prepare(0);
}

absl::Status CommitLog::RemoveFreeSegments(const CallLimits& limits) {
  const LimitedMutexLock prepare(upkeep_.mutex(), &limits, kUpkeep);
  BT_RETURN_IF_ERROR(prepare.status());
  return upkeep_.RemoveFree();
}

absl::StatusOr<bool> CommitLog::PrepareFreshSpare(const CallLimits& limits) {
  const LimitedMutexLock prepare(upkeep_.mutex(), &limits, kUpkeep);
  BT_RETURN_IF_ERROR(prepare.status());
  return upkeep_.MakeFreshSpare();
}

absl::Status CommitLog::Attest(const CallLimits& limits) {
  const LimitedMutexLock prepare(upkeep_.mutex(), &limits, kUpkeep);
  BT_RETURN_IF_ERROR(prepare.status());
  return upkeep_.Attest();
}

CommitLog::Statistics CommitLog::statistics() const {
  return {.records = appender_.records(),
          .bytes = appender_.bytes(),
          .syncs = calls_.syncs(),
          .segments_created = upkeep_.created(),
          .segments_reused = upkeep_.reused(),
          .stalls = calls_.stalls(),
          .switches = calls_.switches()};
}

}  // namespace bigtable
