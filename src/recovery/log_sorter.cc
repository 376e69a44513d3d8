#include "recovery/log_sorter.h"

#include <functional>
#include <utility>

#include "absl/base/macros.h"

#include "base/start_thread.h"
#include "base/status.h"
#include "base/strings.h"
#include "recovery/sorted_log.h"

namespace bigtable {
namespace {

constexpr uint64_t kMaxPieceSize = uint64_t{4} << 30;

absl::Status CheckOptions(const SortLogOptions& options) {
  if (options.threads == 0) {
    return absl::InvalidArgumentError("threads is 0; sorting a log needs at least 1");
  }
  if (options.piece_size == 0 || options.piece_size > kMaxPieceSize) {
    return absl::InvalidArgumentError(Cat("piece_size of a sorted log is ", options.piece_size,
                                          "; it must be from 1 to ", kMaxPieceSize));
  }
  return absl::OkStatus();
}

bool IsPart(std::string_view part, std::string_view whole) {
  if (part.empty()) return true;
  const std::less_equal<const char*> at_most;
  return at_most(whole.data(), part.data()) &&
         at_most(part.data() + part.size(), whole.data() + whole.size());
}

FileSystem* SortedFileSystem(FileSystem* file_system, const SortLogOptions& options) {
  return options.sorted_file_system == nullptr ? file_system : options.sorted_file_system;
}

// Without the cleanup after an error. No thread is left running when it returns.
absl::StatusOr<SortLogStatistics> Sort(FileSystem* file_system, std::string_view log_directory,
                                       const ReplayOptions& replay_options,
                                       RecordKeyFunction key_of,
                                       const std::string& sorted_directory,
                                       const SortLogOptions& options) {
  LogSorter sorter(SortedFileSystem(file_system, options), sorted_directory, key_of, options);
  const auto add = [&](RecordType type, SequenceNumber sequence, std::string_view payload,
                       SequenceNumber batch) { return sorter.Add(type, sequence, payload, batch); };
  const auto cut = [&](RecordType type, SequenceNumber sequence, std::string_view payload) {
    return options.cutter ? options.cutter(type, sequence, payload, add)
                          : add(type, sequence, payload, 0);
  };
  BT_ASSIGN_OR_RETURN(const LogEnd end, ReplayLog(file_system, log_directory, replay_options, cut));
  return sorter.Finish(end);
}

}  // namespace

absl::StatusOr<SortLogStatistics> SortLog(FileSystem* file_system, std::string_view log_directory,
                                          const ReplayOptions& replay_options,
                                          RecordKeyFunction key_of,
                                          const std::string& sorted_directory,
                                          const SortLogOptions& options) {
  BT_RETURN_IF_ERROR(CheckOptions(options));
  FileSystem* const sorted_files = SortedFileSystem(file_system, options);
  BT_RETURN_IF_ERROR(sorted_files->CreateDirectory(sorted_directory));
  BT_RETURN_IF_ERROR(RemoveSortedLog(sorted_files, sorted_directory));
  auto sorted = Sort(file_system, log_directory, replay_options, key_of, sorted_directory, options);
  // The disk may be full, and the pieces are useless.
  if (!sorted.ok()) (void)RemoveSortedLog(sorted_files, sorted_directory);
  return sorted;
}

LogSorter::LogSorter(FileSystem* file_system, std::string directory, RecordKeyFunction key_of,
                     const SortLogOptions& options)
    : file_system_(file_system),
      directory_(std::move(directory)),
      key_of_(key_of),
      options_(options),
      piece_(std::make_unique<LogPiece>()) {
  piece_->Clear(options_.piece_size);
  for (size_t i = 0; i < options_.threads; ++i) {
    absl::StatusOr<std::thread> thread = StartThread([this] { Work(); });
    if (!thread.ok()) break;  // fewer threads suffice; without any, the adding thread sorts
    threads_.push_back(*std::move(thread));
  }
}

LogSorter::~LogSorter() { StopThreads(); }

absl::Status LogSorter::Add(RecordType type, SequenceNumber sequence, std::string_view payload,
                            SequenceNumber batch) {
  ++statistics_.records_read;
  statistics_.payload_bytes_read += payload.size();
  if (sequence <= last_sequence_) {
    return absl::DataLossError(
        Cat(directory_, ", a sorted log: sequence number ", sequence, " follows ", last_sequence_));
  }
  last_sequence_ = sequence;
  RecordKey key;
  absl::Status status = key_of_(type, payload, &key);
  if (status.ok() && !IsPart(key.row, payload)) {
    status = absl::InvalidArgumentError("the row of its key is not a part of its payload");
  }
  if (status.ok() && batch != 0 &&
      (batch < sequence || batch - sequence > LogPiece::kMaxLeftOfBatch)) {
    status = absl::DataLossError(Cat("its batch ends with the sequence number ", batch));
  }
  if (!status.ok()) {
    return absl::Status(status.code(), ToAbsl(Cat("the record with sequence number ", sequence,
                                                  ": ", ToStd(status.message()))));
  }
  if (!piece_->empty() && piece_->size() + LogPiece::SizeOf(payload) > options_.piece_size) {
    BT_RETURN_IF_ERROR(Submit());
  }
  piece_->Add({.type = type,
               .sequence = sequence,
               .table_id = key.table_id,
               .row = key.row,
               .payload = payload,
               .batch = batch});
  return absl::OkStatus();
}

absl::Status LogSorter::Submit() {
  Job job;
  {
    MutexLock lock(&mutex_);
    // Limits the pieces that wait in memory for a thread.
    while (unfinished_ == options_.threads && failure_.ok()) changed_.Wait(&mutex_);
    BT_RETURN_IF_ERROR(failure_);
    job = {summaries_.size(), std::move(piece_)};
    summaries_.emplace_back();
    ++unfinished_;
    if (!threads_.empty()) jobs_.push_back(std::move(job));
    changed_.SignalAll();
  }
  if (threads_.empty()) Do(std::move(job));
  MutexLock lock(&mutex_);
  if (free_.empty()) {
    piece_ = std::make_unique<LogPiece>();
    piece_->Clear(options_.piece_size);
  } else {
    piece_ = std::move(free_.back());
    free_.pop_back();
  }
  return absl::OkStatus();
}

absl::StatusOr<SortLogStatistics> LogSorter::Finish(const LogEnd& end) {
  if (!piece_->empty()) BT_RETURN_IF_ERROR(Submit());
  StopThreads();  // after the last job
  SortedManifest manifest{.last_sequence = end.last_sequence,
                          .log_records = end.records,
                          .log_segments = end.segments,
                          .clean = end.clean};
  {
    MutexLock lock(&mutex_);
    BT_RETURN_IF_ERROR(failure_);
    ABSL_ASSERT(unfinished_ == 0 && jobs_.empty() && "the threads have written every piece");
    manifest.pieces = std::move(summaries_);
  }
  statistics_.segments_read = end.segments;
  statistics_.pieces = manifest.pieces.size();
  for (const SortedPieceSummary& piece : manifest.pieces) statistics_.bytes_written += piece.size;
  BT_RETURN_IF_ERROR(WriteManifest(manifest));
  return statistics_;
}

absl::Status LogSorter::WriteManifest(const SortedManifest& manifest) {
  const std::string bytes = EncodeSortedManifest(manifest);
  const std::string path = Cat(directory_, "/", kSortedManifestName);
  const std::string temporary = Cat(directory_, "/", kSortedManifestTemporaryName);
  BT_ASSIGN_OR_RETURN(const auto file, file_system_->NewWritableFile(temporary));
  BT_RETURN_IF_ERROR(file->Append(bytes));
  BT_RETURN_IF_ERROR(file->Close());
  statistics_.bytes_written += bytes.size();
  return file_system_->RenameFile(temporary, path);
}

// --- The threads ---

void LogSorter::Work() {
  Job job;
  while (TakeJob(&job)) Do(std::move(job));
}

void LogSorter::Do(Job job) {
  // Pieces are numbered from 1.
  auto written = job.piece->Write(file_system_,
                                  Cat(directory_, "/", SortedPieceName(uint64_t{job.index} + 1)));
  job.piece->Clear(options_.piece_size);
  JobDone(std::move(job), std::move(written));
}

bool LogSorter::TakeJob(Job* job) {
  MutexLock lock(&mutex_);
  while (jobs_.empty() && !stopping_) changed_.Wait(&mutex_);
  if (jobs_.empty()) return false;
  *job = std::move(jobs_.front());
  jobs_.pop_front();
  return true;
}

void LogSorter::JobDone(Job job, absl::StatusOr<SortedPieceSummary> written) {
  MutexLock lock(&mutex_);
  if (written.ok()) {
    summaries_[job.index] = *written;
  } else {
    failure_.Update(written.status());
  }
  free_.push_back(std::move(job.piece));
  ABSL_ASSERT(unfinished_ > 0 && "it was counted when it was submitted");
  --unfinished_;
  changed_.SignalAll();
}

void LogSorter::StopThreads() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace bigtable
