// The functions of bigtable/commit_log.h.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bigtable/commit_log.h"

#include "base/catch_thrown.h"
#include "base/status.h"
#include "base/strings.h"
#include "cluster/directory.h"
#include "cluster/server_directory.h"
#include "commitlog/log_format.h"
#include "commitlog/log_state.h"
#include "commitlog/segment_reader.h"
#include "lockservice/small_files.h"
#include "metadata/metadata_format.h"
#include "metadata/root_tablet.h"
#include "recovery/log_replay.h"
#include "schema/mutation_format.h"
#include "schema/table_layout.h"
#include "standalone/sstable_entry.h"

namespace bigtable {
namespace {

// By position: a log of a database that is open may change, and a mapping would change with it.
constexpr FileSystem::ReadMode kReadMode = FileSystem::ReadMode::kPositional;

FileSystem* Or(FileSystem* file_system) {
  return file_system != nullptr ? file_system : FileSystem::Posix();
}

absl::Status CheckDatabase(const DatabaseDirectory& directory, FileSystem* file_system) {
  // Without a root, which may be what is damaged, there may be logs.
  if (SmallFiles(file_system, directory.lock_service()).Exists(RootTablet::kFile) ||
      file_system->FileExists(directory.logs())) {
    return absl::OkStatus();
  }
  return absl::NotFoundError(Cat(directory.path(), ": there is no database here"));
}

// --- Segments ---

// Counts the records from the beginning to the first position without one.
absl::Status CountRecords(SegmentReader* reader, CommitLogSegment* segment) {
  SegmentReader::Record record;
  for (uint64_t position = 0;; position = record.next()) {
    BT_ASSIGN_OR_RETURN(const bool is_valid, reader->ReadAt(position, &record));
    if (!is_valid) {
      if (position == 0) segment->state = CommitLogSegment::State::kSpare;
      return absl::OkStatus();
    }
    if (record.header.type == static_cast<uint8_t>(RecordType::kEnd)) {
      segment->is_full = true;
      return absl::OkStatus();
    }
    if (IsLogsOwn(record.header.type)) continue;
    ++segment->records;
    segment->record_bytes += record.next() - record.position;
    if (segment->first_sequence == 0) segment->first_sequence = record.header.sequence;
    segment->last_sequence = record.header.sequence;
  }
}

absl::StatusOr<CommitLogSegment> ReadSegment(FileSystem* file_system, std::string path,
                                             uint64_t number, const LogState& state) {
  CommitLogSegment segment;
  segment.path = path;
  BT_ASSIGN_OR_RETURN(segment.file_size, file_system->FileSize(path));
  if (number < state.low) {
    segment.state = CommitLogSegment::State::kReusable;
    return segment;
  }
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<SegmentReader> reader,
                      SegmentReader::Open(file_system, std::move(path), number,
                                          SegmentSalt(state.secret, number), kReadMode));
  BT_RETURN_IF_ERROR(CountRecords(reader.get(), &segment));
  // The first one is read in any case.
  if (number == state.low) segment.state = CommitLogSegment::State::kNeeded;
  return segment;
}

absl::StatusOr<std::optional<CommitLogInfo>> ReadLog(FileSystem* file_system,
                                                     const std::string& directory,
                                                     const std::string& server) {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names, file_system->ListDirectory(directory));
  std::vector<uint64_t> numbers;
  for (const std::string& name : names) {
    if (name == kRemovedMarker) return std::nullopt;
    if (const auto number = ParseSegmentName(name)) numbers.push_back(*number);
  }
  CommitLogInfo log{.server = server, .released_sequence = 0, .segments = {}};
  if (numbers.empty()) return log;  // its creation was interrupted
  std::sort(numbers.begin(), numbers.end());
  const absl::StatusOr<LogState> state = ReadLogState(file_system, directory);
  if (absl::IsNotFound(state.status())) {
    return absl::DataLossError(Cat(directory, " has no ", kLogStateName, " of a commit log"));
  }
  BT_RETURN_IF_ERROR(state.status());
  log.released_sequence = state->released;
  for (const uint64_t number : numbers) {
    BT_ASSIGN_OR_RETURN(
        CommitLogSegment segment,
        ReadSegment(file_system, Cat(directory, "/", SegmentName(number)), number, *state));
    log.segments.push_back(std::move(segment));
  }
  return log;
}

// --- Entries ---

// The names of tables by their id. A schema that cannot be read has none.
std::map<uint64_t, std::string> TableNames(FileSystem* file_system,
                                           const DatabaseDirectory& directory) {
  std::map<uint64_t, std::string> names = {{kMetadataTableId, "METADATA"}};
  const SmallFiles files(file_system, directory.lock_service());
  const absl::StatusOr<std::vector<std::string>> tables = files.List("schema");
  if (!tables.ok()) return names;
  for (const std::string& table : *tables) {
    const absl::StatusOr<std::string> bytes = files.Read(Cat("schema/", table));
    if (!bytes.ok()) continue;
    const absl::StatusOr<TableLayout> layout = TableLayout::Decode(*bytes);
    if (layout.ok()) names[layout->table_id] = table;
  }
  return names;
}

// Delivers the operations of records.
class EntryReader {
 public:
  EntryReader(std::string_view server, std::map<uint64_t, std::string> tables,
              absl::FunctionRef<absl::Status(const CommitLogEntry&)> callback)
      : server_(server), tables_(std::move(tables)), callback_(callback) {}

  absl::Status Read(RecordType type, SequenceNumber sequence, std::string_view payload) {
    std::vector<MutationRecord> mutations(1);
    std::vector<OtherBatchPart> others;
    const bool is_one = type == RecordType::kMutation;
    if (type == RecordType::kBatchPart && !ParseBatchPart(payload, &others, &payload)) {
      return Malformed(sequence);
    }
    if (is_one ? !ParseMutationRecord(payload, &mutations[0])
               : !ParseBatchRecord(payload, sequence, &mutations)) {
      return Malformed(sequence);
    }
    SequenceNumber next = sequence - mutations.size();
    for (const MutationRecord& mutation : mutations) {
      BT_RETURN_IF_ERROR(ReadMutation(mutation, ++next));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Malformed(SequenceNumber sequence) const {
    return absl::DataLossError(Cat("the record with sequence number ", sequence,
                                   " in the log of server ", server_, " is not a mutation"));
  }

  absl::Status ReadMutation(const MutationRecord& mutation, SequenceNumber sequence) {
    CommitLogEntry logged{.table_id = mutation.table_id, .table = {}, .entry = {}};
    const auto table = tables_.find(mutation.table_id);
    if (table != tables_.end()) logged.table = table->second;
    OperationReader operations(mutation.mutation.operations);
    MutationOperation operation;
    for (uint32_t ordinal = 0; operations.Next(&operation); ++ordinal) {
      const int64_t timestamp =
          operation.takes_server_time() ? mutation.server_timestamp : operation.timestamp;
      logged.entry = {.kind = KindOfEntry(operation.kind),
                      .row = mutation.mutation.row,
                      .family = operation.family,
                      .qualifier = operation.qualifier,
                      .timestamp = Timestamp(timestamp),
                      .sequence = sequence,
                      .ordinal = ordinal,
                      .value = operation.value};
      BT_RETURN_IF_ERROR(
          CatchThrownStatus("the callback of ReadCommitLog", [&] { return callback_(logged); }));
    }
    return operations.ok() ? absl::OkStatus() : Malformed(sequence);
  }

  const std::string_view server_;
  const std::map<uint64_t, std::string> tables_;
  const absl::FunctionRef<absl::Status(const CommitLogEntry&)> callback_;
};

}  // namespace

absl::StatusOr<std::vector<CommitLogInfo>> ListCommitLogs(std::string_view database,
                                                          FileSystem* file_system) {
  file_system = Or(file_system);
  const DatabaseDirectory directory(database);
  BT_RETURN_IF_ERROR(CheckDatabase(directory, file_system));
  BT_ASSIGN_OR_RETURN(std::vector<std::string> servers,
                      file_system->ListDirectory(directory.logs()));
  std::erase_if(servers, [](const std::string& name) {
    return !ServerDirectory::NumberOf(name).has_value();
  });
  std::sort(servers.begin(), servers.end(), [](const std::string& a, const std::string& b) {
    return ServerDirectory::NumberOf(a) < ServerDirectory::NumberOf(b);
  });
  std::vector<CommitLogInfo> logs;
  for (const std::string& server : servers) {
    BT_ASSIGN_OR_RETURN(std::optional<CommitLogInfo> log,
                        ReadLog(file_system, directory.log_of(server), server));
    if (log.has_value()) logs.push_back(*std::move(log));
  }
  return logs;
}

absl::Status ReadCommitLog(std::string_view database, std::string_view server,
                           absl::FunctionRef<absl::Status(const CommitLogEntry&)> callback,
                           FileSystem* file_system) {
  file_system = Or(file_system);
  const DatabaseDirectory directory(database);
  BT_RETURN_IF_ERROR(CheckDatabase(directory, file_system));
  // Another name could lead out of the directory.
  if (!ServerDirectory::NumberOf(server).has_value() ||
      !file_system->FileExists(directory.log_of(server))) {
    return absl::NotFoundError(
        Cat(directory.path(), ": there is no log of a server ", Quoted(server)));
  }
  EntryReader reader(server, TableNames(file_system, directory), callback);
  const auto read = [&](RecordType type, SequenceNumber sequence, std::string_view payload) {
    return reader.Read(type, sequence, payload);
  };
  const ReplayOptions options = {.must_exist = false, .read_mode = kReadMode};
  return ReplayLog(file_system, directory.log_of(server), options, read).status();
}

}  // namespace bigtable
