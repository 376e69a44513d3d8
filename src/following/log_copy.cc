#include "following/log_copy.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "commitlog/log_format.h"
#include "commitlog/segment_reader.h"
#include "metadata/metadata_format.h"
#include "schema/mutation_format.h"

namespace bigtable {
namespace {

absl::Status LookAgain(std::string_view path) {
  return absl::UnavailableError(Cat(path, " is being changed"));
}

}  // namespace

absl::StatusOr<LogCopy::Names> LogCopy::ReadNames(FileSystem* files, const std::string& directory) {
  Names names;
  BT_ASSIGN_OR_RETURN(std::vector<std::string> all, files->ListDirectory(directory));
  for (std::string& name : all) {
    if (name == kLogStateName || name == kRemovedMarker || ParseSegmentName(name).has_value()) {
      names.files.push_back(std::move(name));
    }
  }
  names.has_state = files->FileExists(Cat(directory, "/", kLogStateName));
  if (names.has_state) {
    BT_ASSIGN_OR_RETURN(names.state, ReadLogState(files, directory));
  }
  std::erase_if(names.files, [&](const std::string& name) {
    const std::optional<uint64_t> number = ParseSegmentName(name);
    return number.has_value() && *number < names.state.low;
  });
  return names;
}

void LogCopy::Use(const Names& names) {
  if (names.state.secret != names_.state.secret) {
    segments_.clear();
    current_ = 0;
    last_sequence_ = 0;
  }
  names_ = names;
  segments_.erase(segments_.begin(), segments_.lower_bound(names.state.low));
  if (current_ < names.state.low) current_ = 0;
}

const std::string* LogCopy::Find(uint64_t number) const {
  const auto found = segments_.find(number);
  return found == segments_.end() ? nullptr : &found->second;
}

uint64_t LogCopy::bytes() const {
  uint64_t bytes = 0;
  for (const auto& [_, records] : segments_) bytes += records.capacity();
  return bytes;
}

absl::Status LogCopy::Extend(FileSystem* files, SequenceNumber last, bool* has_more) {
  *has_more = false;
  if (!names_.has_state) return absl::OkStatus();
  if (current_ == 0) current_ = names_.state.low;
  while (true) {
    bool has_ended;
    uint64_t next;
    bool is_limited;
    BT_RETURN_IF_ERROR(
        ExtendSegment(files, current_, last, has_more, &has_ended, &next, &is_limited));
    if (!has_ended) {
      // It may go on in a later segment. Then this one is complete by now: up to its end record, or
      // to where a switch says that the log goes on there.
      BT_ASSIGN_OR_RETURN(const std::optional<Begun> begun, FindBegun(files, current_));
      if (!begun.has_value()) return absl::OkStatus();
      BT_RETURN_IF_ERROR(
          ExtendSegment(files, current_, last, has_more, &has_ended, &next, &is_limited));
      if (!has_ended) {
        const uint64_t end = LogOffset(current_, segments_[current_].size());
        if (!begun->switches_at.has_value() || end < *begun->switches_at) {
          if (is_limited) return absl::OkStatus();
          return LookAgain(Cat(directory_, "/", SegmentName(begun->number)));
        }
        next = begun->number;
      }
    }
    if (next == 0) return absl::OkStatus();  // it is closed
    current_ = next;
  }
}

absl::Status LogCopy::ExtendSegment(FileSystem* files, uint64_t number, SequenceNumber last,
                                    bool* has_more, bool* has_ended, uint64_t* next,
                                    bool* is_limited) {
  *has_ended = false;
  *is_limited = false;
  *next = 0;
  const std::string path = Cat(directory_, "/", SegmentName(number));
  const auto opened =
      SegmentReader::Open(files, path, number, SegmentSalt(names_.state.secret, number),
                          FileSystem::ReadMode::kPositional);
  if (absl::IsNotFound(opened.status())) {
    // Of an empty log, or a segment that is just being made or released.
    return segments_.contains(number) ? LookAgain(path) : absl::OkStatus();
  }
  BT_RETURN_IF_ERROR(opened.status());
  std::string& records = segments_[number];
  SegmentReader::Record record;
  while (true) {
    BT_ASSIGN_OR_RETURN(const bool is_valid, (*opened)->ReadAt(records.size(), &record));
    if (!is_valid) return absl::OkStatus();
    *has_more = true;
    *is_limited = record.header.sequence > last;
    if (*is_limited) return absl::OkStatus();
    // The header is before the payload.
    const char* const begin = record.payload.data() - kRecordHeaderSize;
    records.append(begin, kRecordHeaderSize + record.payload.size());
    records.resize(record.next());
    last_sequence_ = std::max(last_sequence_, record.header.sequence);
    NoteTables(record.header.type, record.header.sequence, record.payload);
    if (record.header.type != static_cast<uint8_t>(RecordType::kEnd)) continue;
    if (record.payload.size() != kEndPayloadSize) return LookAgain(path);
    *has_ended = true;
    *next = LoadFixed64(record.payload.data());
    return absl::OkStatus();
  }
}

absl::StatusOr<std::optional<LogCopy::Begun>> LogCopy::FindBegun(FileSystem* files,
                                                                 uint64_t after) const {
  for (const std::string& name : names_.files) {
    const std::optional<uint64_t> number = ParseSegmentName(name);
    if (!number.has_value() || *number <= after) continue;
    const std::string path = Cat(directory_, "/", name);
    const auto opened =
        SegmentReader::Open(files, path, *number, SegmentSalt(names_.state.secret, *number),
                            FileSystem::ReadMode::kPositional);
    if (absl::IsNotFound(opened.status())) return LookAgain(path);
    BT_RETURN_IF_ERROR(opened.status());
    SegmentReader::Record record;
    BT_ASSIGN_OR_RETURN(const bool is_valid, (*opened)->ReadAt(0, &record));
    if (!is_valid) continue;
    Begun begun{.number = *number};
    BT_ASSIGN_OR_RETURN(begun.switches_at, (*opened)->ReadSwitch());
    return begun;
  }
  return std::nullopt;
}

void LogCopy::NoteTables(uint8_t type, SequenceNumber sequence, std::string_view payload) {
  if (is_of_metadata_) return;
  MutationRecord record;
  switch (static_cast<RecordType>(type)) {
    case RecordType::kMutation:
      is_of_metadata_ =
          ParseMutationRecord(payload, &record) && record.table_id == kMetadataTableId;
      return;
    case RecordType::kBatch: {
      std::vector<MutationRecord> records;
      is_of_metadata_ = ParseBatchRecord(payload, sequence, &records) && !records.empty() &&
                        records.front().table_id == kMetadataTableId;
      return;
    }
    default:
      return;
  }
}

}  // namespace bigtable
