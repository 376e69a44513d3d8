#include "repair/log_salvage.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "commitlog/log_format.h"
#include "commitlog/log_state.h"
#include "commitlog/segment_reader.h"
#include "repair/read_errors.h"

namespace bigtable {
namespace {

constexpr FileSystem::ReadMode kByPosition = FileSystem::ReadMode::kPositional;

class PastDamage {
 public:
  PastDamage(FileSystem* file_system, const std::string& directory, ReplayCallback callback)
      : file_system_(file_system), directory_(directory), callback_(callback) {}

  absl::StatusOr<SalvagedLog> Run(const absl::Status& refused) {
    const absl::StatusOr<LogState> state = ReadLogState(file_system_, directory_);
    if (!state.ok()) {
      if (!IsDamage(state.status())) return state.status();
      log_.gaps.push_back(
          {.path = directory_,
           .problem = Cat("no record can be verified: ", ToStd(state.status().message()))});
      return std::move(log_);
    }
    log_.last = state->released;
    BT_RETURN_IF_ERROR(OpenSegments(*state));
    for (size_t i = 0; i < segments_.size(); ++i) BT_RETURN_IF_ERROR(ReadSegment(i));
    if (refused.ok()) return std::move(log_);
    // ReplayLog knows that the log was longer.
    if (suspect_.has_value()) {
      AddGap(suspect_->path, std::move(suspect_->problem));
    } else if (log_.gaps.empty()) {
      AddGap(directory_, std::string(ToStd(refused.message())));
    }
    return std::move(log_);
  }

 private:
  struct Segment {
    std::unique_ptr<SegmentReader> reader;
    uint64_t begin = 0;         // of its own records, in the file
    uint64_t end = UINT64_MAX;  // where a later segment continues
  };

  void AddGap(const std::string& path, std::string problem) {
    log_.gaps.push_back({.path = path, .problem = std::move(problem), .after = last_});
    is_open_ = true;
  }

  absl::Status OpenSegments(const LogState& state) {
    BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        file_system_->ListDirectory(directory_));
    std::vector<uint64_t> numbers;
    for (const std::string& name : names) {
      const auto number = ParseSegmentName(name);
      if (number.has_value() && *number >= state.low) numbers.push_back(*number);
    }
    std::sort(numbers.begin(), numbers.end());
    uint64_t expected = state.low;
    for (const uint64_t number : numbers) {
      const std::string path = Cat(directory_, "/", SegmentName(number));
      if (number != expected) {
        AddGap(Cat(directory_, "/", SegmentName(expected)), "the segment is missing");
      }
      expected = number + 1;
      auto opened = SegmentReader::Open(file_system_, path, number,
                                        SegmentSalt(state.secret, number), kByPosition);
      if (opened.ok()) {
        segments_.push_back({.reader = *std::move(opened)});
      } else if (IsDamage(opened.status())) {
        AddGap(path, std::string(ToStd(opened.status().message())));
      } else {
        return opened.status();
      }
    }
    // As ReplayLog does, from the last one back: what a segment repeats is not read before it.
    uint64_t repeated_from = UINT64_MAX;
    for (size_t i = segments_.size(); i-- > 0;) {
      Segment& segment = segments_[i];
      const uint64_t base = LogOffset(segment.reader->number(), 0);
      if (base >= repeated_from) {
        segment.end = 0;
        continue;
      }
      if (repeated_from >> kSegmentShift == segment.reader->number()) {
        segment.end = repeated_from - base;
      }
      const auto from = segment.reader->ReadSwitch();
      if (!from.ok() && !IsDamage(from.status())) return from.status();
      if (!from.ok() || !from->has_value()) continue;
      segment.begin = kSwitchRecordSize;
      repeated_from = **from;
    }
    return absl::OkStatus();
  }

  absl::Status ReadSegment(size_t index) {
    Segment& segment = segments_[index];
    SegmentReader& reader = *segment.reader;
    SegmentReader::Record record;
    for (uint64_t position = segment.begin; position < segment.end; position = record.next()) {
      absl::StatusOr<bool> found = reader.ReadAt(position, &record);
      if (found.ok() && !*found) {
        if (!suspect_.has_value()) {
          suspect_ = {.path = reader.path(),
                      .problem = Cat("no valid record at offset ", position)};
        }
        found = reader.FindFrom(position + 8, &record);
        if (found.ok() && (!*found || record.position >= segment.end)) return absl::OkStatus();
      }
      if (!found.ok()) {
        if (!IsDamage(found.status())) return found.status();
        AddGap(reader.path(), std::string(ToStd(found.status().message())));
        return absl::OkStatus();
      }
      if (record.header.type == static_cast<uint8_t>(RecordType::kEnd)) return absl::OkStatus();
      BT_RETURN_IF_ERROR(Deliver(reader, record));
    }
    return absl::OkStatus();
  }

  absl::Status Deliver(const SegmentReader& reader, const SegmentReader::Record& record) {
    const SequenceNumber sequence = record.header.sequence;
    if (IsLogsOwn(record.header.type) || sequence <= last_) return absl::OkStatus();
    if (suspect_.has_value()) {
      AddGap(suspect_->path, std::move(suspect_->problem));
      suspect_.reset();
    }
    if (is_open_) {
      for (LogGap& gap : log_.gaps) {
        if (gap.before == kMaxSequence) gap.before = sequence;
      }
      is_open_ = false;
    }
    const auto type = static_cast<RecordType>(record.header.type);
    last_ = sequence;
    if (!IsUsers(type)) {
      log_.gaps.push_back(
          {.path = reader.path(),
           .problem = Cat("a record of an unknown type at offset ", record.position),
           .after = sequence - 1,
           .before = sequence + 1});
      return absl::OkStatus();
    }
    log_.last = std::max(log_.last, sequence);
    return callback_(type, sequence, record.payload);
  }

  FileSystem* const file_system_;
  const std::string& directory_;
  const ReplayCallback callback_;
  std::vector<Segment> segments_;
  SalvagedLog log_;
  std::optional<LogGap> suspect_;  // a gap, if any record follows
  SequenceNumber last_ = 0;        // delivered
  bool is_open_ = false;           // a gap does not know its end yet
};

}  // namespace

absl::StatusOr<SalvagedLog> SalvageLog(FileSystem* file_system, const std::string& directory,
                                       SequenceNumber must_reach, bool must_exist,
                                       ReplayCallback callback) {
  const ReplayOptions options = {
      .must_reach = must_reach, .must_exist = must_exist, .read_mode = kByPosition};
  const auto ignore = [](RecordType, SequenceNumber, std::string_view) { return absl::OkStatus(); };
  const absl::StatusOr<LogEnd> whole = ReplayLog(file_system, directory, options, ignore);
  if (!whole.ok() && !IsDamage(whole.status())) return whole.status();
  // It was never begun, or its removal was.
  if (whole.ok() && whole->segments == 0) return SalvagedLog();
  return PastDamage(file_system, directory, callback).Run(whole.status());
}

}  // namespace bigtable
