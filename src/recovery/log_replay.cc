#include "recovery/log_replay.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "commitlog/log_state.h"
#include "commitlog/segment_reader.h"

namespace bigtable {
namespace {

absl::Status LossAt(std::string_view path, uint64_t position, std::string_view what) {
  return absl::DataLossError(Cat(path, " at offset ", position, ": ", what));
}

// One replay, from the list of files to the result.
class Replay {
 public:
  Replay(FileSystem* file_system, std::string_view directory, const ReplayOptions& options,
         ReplayCallback callback)
      : file_system_(file_system), directory_(directory), options_(options), callback_(callback) {}

  absl::StatusOr<LogEnd> Run();

 private:
  // A segment to be read, up to where a later segment repeats it.
  struct SegmentStretch {
    size_t index = 0;
    bool begins_with_switch = false;
    std::optional<uint64_t> end;  // in the file; none: up to the end record
  };

  absl::Status OpenSegments(const std::vector<uint64_t>& numbers);
  // Determines which parts of the segments form the log, after switches.
  absl::StatusOr<std::vector<SegmentStretch>> FindStretches();
  absl::Status Read();
  // Reads the stretch to its end, its end record or its first invalid position, which becomes bad_.
  absl::Status ReadStretch(const SegmentStretch& stretch);
  absl::Status Deliver(const SegmentReader& segment, const SegmentReader::Record& record);
  absl::Status CheckEnd(size_t index, const SegmentReader::Record& record);
  // Whether any record, or STATE, shows that the log was synced beyond the invalid position.
  absl::Status CheckBadPosition(size_t index);
  absl::Status Disprove(const SegmentReader& bad, std::string_view witness, uint64_t position,
                        uint64_t synced) const;
  std::string Path(uint64_t number) const { return Cat(directory_, "/", SegmentName(number)); }

  FileSystem* const file_system_;
  const std::string_view directory_;
  const ReplayOptions& options_;
  const ReplayCallback callback_;

  LogState state_;
  std::vector<std::unique_ptr<SegmentReader>> segments_;
  std::optional<uint64_t> bad_;        // position in the current segment without a valid record
  SequenceNumber last_delivered_ = 0;  // or of an end record
  LogEnd end_;
};

absl::StatusOr<LogEnd> Replay::Run() {
  auto names = file_system_->ListDirectory(directory_);
  if (absl::IsNotFound(names.status())) names = std::vector<std::string>();
  BT_RETURN_IF_ERROR(names.status());
  std::vector<uint64_t> numbers;
  for (const std::string& name : *names) {
    if (name == kRemovedMarker) {
      end_.clean = true;
      return end_;
    }
    if (const auto number = ParseSegmentName(name)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  if (numbers.empty() && !options_.must_exist) return end_;
  auto state = ReadLogState(file_system_, directory_);
  if (absl::IsNotFound(state.status())) {
    return absl::DataLossError(Cat(directory_, " has no ", kLogStateName, " of a commit log"));
  }
  BT_RETURN_IF_ERROR(state.status());
  state_ = *state;
  end_.last_sequence = state_.released;
  BT_RETURN_IF_ERROR(OpenSegments(numbers));
  BT_RETURN_IF_ERROR(Read());
  return end_;
}

// Opens all segments that are needed, before the first record is delivered.
absl::Status Replay::OpenSegments(const std::vector<uint64_t>& numbers) {
  uint64_t expected = state_.low;
  for (const uint64_t number : numbers) {
    if (number < state_.low) continue;
    if (number != expected) break;
    ++expected;
    BT_ASSIGN_OR_RETURN(
        auto segment, SegmentReader::Open(file_system_, Path(number), number,
                                          SegmentSalt(state_.secret, number), options_.read_mode));
    segments_.push_back(std::move(segment));
  }
  if (segments_.empty() || expected <= numbers.back()) {
    return LossAt(Path(expected), 0, "the segment is missing");
  }
  return absl::OkStatus();
}

// Goes backwards, and skips what a switch repeats, including earlier switches in that range.
absl::StatusOr<std::vector<Replay::SegmentStretch>> Replay::FindStretches() {
  std::vector<SegmentStretch> parts;
  uint64_t repeated_from = UINT64_MAX;  // log offset
  for (size_t index = segments_.size(); index-- > 0;) {
    SegmentReader& segment = *segments_[index];
    const uint64_t base = LogOffset(segment.number(), 0);
    if (base >= repeated_from) continue;
    SegmentStretch stretch{.index = index, .begins_with_switch = false, .end = {}};
    if (repeated_from >> kSegmentShift == segment.number()) stretch.end = repeated_from - base;
    BT_ASSIGN_OR_RETURN(const auto from, segment.ReadSwitch());
    if (from.has_value()) {
      stretch.begins_with_switch = true;
      repeated_from = *from;
    }
    parts.push_back(stretch);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

absl::Status Replay::Read() {
  BT_ASSIGN_OR_RETURN(const std::vector<SegmentStretch> parts, FindStretches());
  size_t index = 0;
  for (const SegmentStretch& stretch : parts) {
    index = stretch.index;
    BT_RETURN_IF_ERROR(ReadStretch(stretch));
    if (bad_.has_value() || end_.clean) break;
    if (index + 1 < segments_.size()) segments_[index] = nullptr;  // frees its memory
  }
  if (bad_.has_value()) BT_RETURN_IF_ERROR(CheckBadPosition(index));
  if (end_.last_sequence < options_.must_reach) {
    return LossAt(segments_[index]->path(), end_.offset - LogOffset(segments_[index]->number(), 0),
                  Cat("the log ends with sequence number ", end_.last_sequence, ", but ",
                      options_.must_reach, " is known to have been durable"));
  }
  return absl::OkStatus();
}

absl::Status Replay::ReadStretch(const SegmentStretch& stretch) {
  SegmentReader& segment = *segments_[stretch.index];
  ++end_.segments;
  uint64_t position = stretch.begins_with_switch ? kSwitchRecordSize : 0;
  SegmentReader::Record record;
  while (true) {
    if (stretch.end.has_value() && position >= *stretch.end) {
      if (position == *stretch.end) return absl::OkStatus();
      return LossAt(segment.path(), record.position,
                    "the record does not end at the offset where a later segment continues");
    }
    end_.offset = LogOffset(segment.number(), position);
    BT_ASSIGN_OR_RETURN(const bool valid, segment.ReadAt(position, &record));
    if (!valid) {
      bad_ = position;
      return absl::OkStatus();
    }
    position = record.next();
    if (record.header.type == static_cast<uint8_t>(RecordType::kEnd)) {
      end_.offset = LogOffset(segment.number(), position);
      return CheckEnd(stretch.index, record);
    }
    BT_RETURN_IF_ERROR(Deliver(segment, record));
  }
}

absl::Status Replay::Deliver(const SegmentReader& segment, const SegmentReader::Record& record) {
  const auto type = static_cast<RecordType>(record.header.type);
  const SequenceNumber sequence = record.header.sequence;
  if (!IsUsers(type)) {
    return absl::FailedPreconditionError(Cat(segment.path(), " at offset ", record.position,
                                             ": a record of type ", record.header.type,
                                             ", which this program does not know"));
  }
  if (sequence <= last_delivered_) {
    return LossAt(segment.path(), record.position,
                  Cat("sequence number ", sequence, " follows ", last_delivered_));
  }
  last_delivered_ = sequence;
  BT_RETURN_IF_ERROR(callback_(type, sequence, record.payload));
  ++end_.records;
  end_.last_sequence = std::max(end_.last_sequence, sequence);
  return absl::OkStatus();
}

absl::Status Replay::CheckEnd(size_t index, const SegmentReader::Record& record) {
  const SegmentReader& segment = *segments_[index];
  if (record.payload.size() != kEndPayloadSize ||
      (last_delivered_ > 0 && record.header.sequence != last_delivered_)) {
    return LossAt(segment.path(), record.position, "the end record does not fit the segment");
  }
  last_delivered_ = record.header.sequence;
  const uint64_t next = LoadFixed64(record.payload.data());
  if (next == 0) {
    end_.clean = true;
    return absl::OkStatus();
  }
  if (next != segment.number() + 1 || index + 1 == segments_.size()) {
    return LossAt(Path(next), 0, "the segment is missing, but the end record before it names it");
  }
  return absl::OkStatus();
}

absl::Status Replay::CheckBadPosition(size_t index) {
  const SegmentReader& bad = *segments_[index];
  BT_RETURN_IF_ERROR(Disprove(bad, Cat(directory_, "/", kLogStateName), 0, state_.synced));
  SegmentReader::Record record;
  for (size_t i = index; i < segments_.size(); ++i) {
    SegmentReader& segment = *segments_[i];
    uint64_t position = i == index ? *bad_ + 8 : 0;
    while (true) {
      BT_ASSIGN_OR_RETURN(const bool found, segment.FindFrom(position, &record));
      if (!found) break;
      BT_RETURN_IF_ERROR(Disprove(bad, segment.path(), record.position, record.header.synced));
      position = record.next();
    }
  }
  return absl::OkStatus();
}

absl::Status Replay::Disprove(const SegmentReader& bad, std::string_view witness, uint64_t position,
                              uint64_t synced) const {
  if (synced <= LogOffset(bad.number(), *bad_)) return absl::OkStatus();
  return LossAt(bad.path(), *bad_,
                Cat("no valid record, but ", witness, " at offset ", position,
                    " shows that the log was synced up to ", SegmentName(synced >> kSegmentShift),
                    " at offset ", synced - LogOffset(synced >> kSegmentShift, 0)));
}

}  // namespace

absl::StatusOr<LogEnd> ReplayLog(FileSystem* file_system, std::string_view directory,
                                 const ReplayOptions& options, ReplayCallback callback) {
  return Replay(file_system, directory, options, callback).Run();
}

}  // namespace bigtable
