#include "recovery/dead_log.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "commitlog/log_format.h"
#include "filesystem/memory_files.h"

namespace bigtable {
namespace {

absl::Status KeyOf(RecordType type, std::string_view payload, RecordKey* key) {
  MutationRecord record;
  if (type != RecordType::kMutation || !ParseMutationRecord(payload, &record)) {
    return absl::DataLossError("not a mutation");
  }
  // The memtable would take the operations before the unknown one, and drop the others.
  OperationReader operations(record.mutation.operations);
  MutationOperation operation;
  while (operations.Next(&operation)) continue;
  if (!operations.ok()) {
    return absl::FailedPreconditionError(Cat("its mutation of row ", Quoted(record.mutation.row),
                                             " has an operation that this program does not know"));
  }
  *key = {record.table_id, record.mutation.row};
  return absl::OkStatus();
}

// The size of all segments: at least the size of the log's records.
absl::StatusOr<uint64_t> SizeOf(FileSystem* file_system, const std::string& directory) {
  const absl::StatusOr<std::vector<std::string>> names = file_system->ListDirectory(directory);
  if (absl::IsNotFound(names.status())) return 0;
  BT_RETURN_IF_ERROR(names.status());
  uint64_t size = 0;
  for (const std::string& name : *names) {
    if (!ParseSegmentName(name).has_value()) continue;
    BT_ASSIGN_OR_RETURN(const uint64_t bytes, file_system->FileSize(Cat(directory, "/", name)));
    size += bytes;
  }
  return size;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeadLog>> DeadLog::Sort(FileSystem* file_system,
                                                       const std::string& server,
                                                       const std::string& directory,
                                                       const Options& options) {
  std::unique_ptr<DeadLog> dead(new DeadLog(file_system, server, options));
  BT_ASSIGN_OR_RETURN(const uint64_t size, SizeOf(file_system, directory));
  dead->sorted_directory_ = options.sorted_directory;
  if (size <= options.piece_size || options.sorted_directory.empty()) {
    dead->memory_ = std::make_unique<MemoryFiles>();
    dead->file_system_ = dead->memory_.get();
    dead->sorted_directory_ = "/sorted";
  }
  if (dead->memory_ == nullptr) {
    const std::string& sorted = options.sorted_directory;
    BT_RETURN_IF_ERROR(file_system->CreateDirectory(sorted.substr(0, sorted.rfind('/'))));
  }
  SortLogOptions sort;
  sort.piece_size = options.piece_size;
  sort.threads = std::max(1u, std::thread::hardware_concurrency());
  sort.sorted_file_system = dead->file_system_;
  sort.cutter = [&dead](auto&&... arguments) { return dead->Cut(arguments...); };
  BT_ASSIGN_OR_RETURN(dead->statistics_, SortLog(file_system, directory, options.replay, KeyOf,
                                                 dead->sorted_directory_, sort));
  // The pieces were written just now. Damage is noticed when they are read.
  BT_ASSIGN_OR_RETURN(dead->log_,
                      SortedLog::Open(dead->file_system_, dead->sorted_directory_,
                                      {.read_mode = options.replay.read_mode, .verify = false}));
  return dead;
}

absl::Status DeadLog::Cut(RecordType type, SequenceNumber sequence, std::string_view payload,
                          AddRecord add) {
  if (type == RecordType::kMutation) return add(type, sequence, payload, 0);
  std::vector<OtherBatchPart> others;
  const bool is_part = type == RecordType::kBatchPart;
  std::vector<MutationRecord> records;
  if ((is_part && !ParseBatchPart(payload, &others, &payload)) ||
      !ParseBatchRecord(payload, sequence, &records)) {
    return absl::DataLossError(Cat("the record with sequence number ", sequence, ": not a ",
                                   is_part ? "part of a batch" : "batch"));
  }
  SequenceNumber next = sequence - records.size();
  SequenceNumber batch = sequence;
  if (is_part) {
    BatchPart part{.first = next + 1, .last = sequence, .others = {}};
    for (const OtherBatchPart& other : others) {
      part.others.emplace_back(std::string(other.server), other.last);
      batch = std::max(batch, other.last);
    }
    parts_.push_back(std::move(part));
  }
  std::string one;
  for (const MutationRecord& record : records) {
    one.clear();
    AppendMutationHeader(&one, record);
    one += record.mutation.operations;
    BT_RETURN_IF_ERROR(add(RecordType::kMutation, ++next, one, batch));
  }
  return absl::OkStatus();
}

DeadLog::~DeadLog() {
  // The next opening sweeps what cannot be removed here.
  if (memory_ != nullptr) return;
  RemoveSortedLog(file_system_, sorted_directory_).IgnoreError();
  file_system_->RemoveDirectory(sorted_directory_).IgnoreError();
}

absl::Status DeadLog::Read(const RowRange& rows, uint64_t table_id, SequenceNumber after,
                           Callback callback,
                           absl::FunctionRef<absl::Status(SequenceNumber through)> between) const {
  SortedRange range;
  range.table_id = table_id;
  range.first_row = rows.begin();
  if (rows.end().has_value()) range.end_row = *rows.end();
  range.after = after;
  for (size_t piece = 0; piece < log_->pieces(); ++piece) {
    const auto deliver = [&](const SortedRecord& record) -> absl::Status {
      if (!record_.Recovers(record.sequence)) return absl::OkStatus();
      MutationRecord logged;
      if (!ParseMutationRecord(record.payload, &logged)) {
        return absl::DataLossError(Cat("the log of server ", server_, ", sequence number ",
                                       record.sequence, ": not a mutation"));
      }
      logged.batch = record.batch;
      return callback(logged, record.sequence);
    };
    BT_RETURN_IF_ERROR(log_->ReadPiece(piece, range, deliver));
    BT_RETURN_IF_ERROR(between(std::min(log_->LargestIn(piece), record_.last)));
  }
  return absl::OkStatus();
}

}  // namespace bigtable
