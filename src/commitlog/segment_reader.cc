#include "commitlog/segment_reader.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"

#include "base/status.h"
#include "base/strings.h"
#include "base/try_allocate.h"

namespace bigtable {
namespace {

constexpr uint64_t kWindow = uint64_t{256} << 10;

}  // namespace

SegmentReader::SegmentReader(std::string path, uint64_t number, uint64_t salt,
                             std::unique_ptr<RandomAccessFile> file)
    : path_(std::move(path)), number_(number), salt_(salt), file_(std::move(file)) {}

absl::StatusOr<std::unique_ptr<SegmentReader>> SegmentReader::Open(FileSystem* file_system,
                                                                   std::string path,
                                                                   uint64_t number, uint64_t salt,
                                                                   FileSystem::ReadMode mode) {
  BT_ASSIGN_OR_RETURN(auto file, file_system->NewRandomAccessFile(path, mode));
  return std::unique_ptr<SegmentReader>(
      new SegmentReader(std::move(path), number, salt, std::move(file)));
}

absl::Status SegmentReader::Load(uint64_t position, uint64_t n, const char** bytes) {
  const uint64_t end = position + n;
  ABSL_ASSERT(end <= file_->size() && "the caller has checked sizes that come from the file");
  if (const char* mapping = file_->mapping(); mapping != nullptr) {
    if (end > populated_) {
      const uint64_t to = std::min(std::max(end, populated_ + kWindow), file_->size());
      // Also starts reading what follows, to overlap it with the work on this part.
      file_->WillNeed(populated_, std::min(to + 4 * kWindow, file_->size()) - populated_);
      BT_RETURN_IF_ERROR(file_->Populate(populated_, to - populated_));
      populated_ = to;
    }
    *bytes = mapping + position;
    return absl::OkStatus();
  }
  if (position < window_start_ || end > window_start_ + window_.size()) {
    const uint64_t size = std::max(n, std::min(kWindow, file_->size() - position));
    if (!TryResize(&window_, size)) return NoMemoryFor(path_, "a record", size);
    window_start_ = position;
    const absl::Status status = file_->Read(position, size, window_.data());
    if (!status.ok()) {
      window_.clear();
      return status;
    }
  }
  *bytes = window_.data() + (position - window_start_);
  return absl::OkStatus();
}

absl::StatusOr<bool> SegmentReader::ReadAt(uint64_t position, Record* record) {
  if (position + kRecordHeaderSize > file_->size()) return false;
  const uint64_t seed = RecordSeed(salt_, position);
  const char* at;
  BT_RETURN_IF_ERROR(Load(position, kRecordHeaderSize, &at));
  if (!DecodeRecordHeader(at, seed, &record->header)) return false;
  const uint64_t size = kRecordHeaderSize + uint64_t{record->header.payload_size};
  if (position + size > file_->size()) return false;
  BT_RETURN_IF_ERROR(Load(position, size, &at));
  if (!IsRecordIntact(at, record->header, seed)) return false;
  record->position = position;
  record->payload = {at + kRecordHeaderSize, record->header.payload_size};
  return true;
}

absl::StatusOr<std::optional<uint64_t>> SegmentReader::ReadSwitch() {
  if (file_->size() < kSwitchRecordSize) return std::nullopt;
  Record record;
  const char* at;
  BT_RETURN_IF_ERROR(Load(0, kSwitchRecordSize, &at));
  // Only the header at first: another record may be large.
  if (!DecodeRecordHeader(at, RecordSeed(salt_, 0), &record.header) ||
      record.header.type != static_cast<uint8_t>(RecordType::kSwitch)) {
    return std::nullopt;
  }
  BT_ASSIGN_OR_RETURN(const bool valid, ReadAt(0, &record));
  if (!valid) return std::nullopt;
  if (record.payload.size() != kSwitchPayloadSize ||
      LoadFixed64(record.payload.data()) >= LogOffset(number_, 0)) {
    return absl::DataLossError(
        Cat(path_, " at offset 0: the switch record is not valid for this segment"));
  }
  return LoadFixed64(record.payload.data());
}

absl::StatusOr<bool> SegmentReader::FindFrom(uint64_t position, Record* record) {
  RecordHeader header;
  while (position + kRecordHeaderSize <= file_->size()) {
    // A window at a time; its last positions, whose headers end after it, begin the next one.
    const uint64_t n = std::min(kWindow, file_->size() - position);
    const char* at;
    BT_RETURN_IF_ERROR(Load(position, n, &at));
    uint64_t i = 0;
    while (i + kRecordHeaderSize <= n &&
           !DecodeRecordHeader(at + i, RecordSeed(salt_, position + i), &header)) {
      i += 8;
    }
    position += i;
    if (i + kRecordHeaderSize > n) continue;
    BT_ASSIGN_OR_RETURN(const bool is_found, ReadAt(position, record));
    if (is_found) return true;
    position += 8;
  }
  return false;
}

}  // namespace bigtable
