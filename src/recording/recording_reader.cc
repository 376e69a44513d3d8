#include <algorithm>
#include <optional>
#include <utility>

#include "bigtable/call_recording.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "recording/recording_format.h"
#include "schema/table_layout.h"

namespace bigtable {

// Holds one block.
class RecordingReader::State {
 public:
  State(std::unique_ptr<RandomAccessFile> file, std::string_view path)
      : path_(path), file_(std::move(file)) {}

  absl::Status Begin();
  bool Next(RecordedCall* call);

  RecordedKeys keys = RecordedKeys::kPlain;
  absl::Time begin;
  std::map<std::string, TableSchema> tables;
  uint64_t lost_calls = 0;
  bool has_end = false;
  absl::Status status;

 private:
  // False at the end of the file.
  absl::StatusOr<bool> ReadBlock();
  // Whether there was a call.
  absl::StatusOr<bool> NextRecord(RecordedCall* call);
  absl::Status ReadTable();
  absl::Status Damaged(std::string_view what) const {
    return absl::DataLossError(Cat(path_, ", block at ", block_begin_, ": ", what));
  }

  const std::string path_;
  const std::unique_ptr<RandomAccessFile> file_;
  uint64_t offset_ = 0;       // of the next block
  uint64_t block_begin_ = 0;  // of this one
  std::string block_;
  Decoder decoder_{""};  // of its records
  std::map<uint64_t, std::string> table_names_;
};

absl::StatusOr<bool> RecordingReader::State::ReadBlock() {
  block_begin_ = offset_;
  const uint64_t left = file_->size() - offset_;
  if (left < kRecordingBlockHeader) return false;
  std::string header(kRecordingBlockHeader, '\0');
  BT_RETURN_IF_ERROR(file_->Read(offset_, header.size(), header.data()));
  const uint64_t size = LoadFixed32(header.data());
  if (size > kMostRecordingBlock) return Damaged(Cat("a length of ", size));
  if (size > left - kRecordingBlockHeader) return false;
  block_.resize(size);
  BT_RETURN_IF_ERROR(file_->Read(offset_ + kRecordingBlockHeader, size, block_.data()));
  if (Checksum(block_, offset_) != LoadFixed64(header.data() + sizeof(uint32_t))) {
    return Damaged("the checksum does not match");
  }
  offset_ += kRecordingBlockHeader + size;
  decoder_ = Decoder(block_);
  return true;
}

absl::Status RecordingReader::State::Begin() {
  absl::StatusOr<bool> read = ReadBlock();
  if (!read.ok() || !*read || decoder_.Byte() != static_cast<uint8_t>(RecordKind::kBegin)) {
    return absl::DataLossError(Cat(path_, " is not a recording of calls"));
  }
  const uint64_t version = decoder_.Varint();
  if (version != kRecordingVersion) {
    return absl::DataLossError(Cat(path_, " has version ", version, " of recordings; this library ",
                                   "reads version ", kRecordingVersion));
  }
  keys = RecordedKeys{decoder_.Byte()};
  begin = absl::FromUnixMicros(static_cast<int64_t>(decoder_.Fixed64()));
  if (decoder_.ok() && decoder_.at_end() && keys <= RecordedKeys::kHashed) return absl::OkStatus();
  return Damaged("a beginning that is not valid");
}

absl::Status RecordingReader::State::ReadTable() {
  const uint64_t number = decoder_.Varint();
  const std::string_view name = decoder_.LengthPrefixed();
  const absl::StatusOr<TableLayout> layout = TableLayout::Decode(decoder_.LengthPrefixed());
  if (!decoder_.ok() || !layout.ok()) return Damaged("a table that is not valid");
  table_names_[number] = name;
  tables.insert_or_assign(std::string(name), layout->ToSchema());
  return absl::OkStatus();
}

absl::StatusOr<bool> RecordingReader::State::NextRecord(RecordedCall* call) {
  const uint8_t kind = decoder_.Byte();
  if (kind >= static_cast<uint8_t>(RecordedCall::Kind::kReadRow) &&
      kind <= static_cast<uint8_t>(RecordedCall::Kind::kDropRowRange)) {
    call->kind = RecordedCall::Kind{kind};
    if (ParseCall(&decoder_, table_names_, call)) return true;
  } else if (kind == static_cast<uint8_t>(RecordKind::kTable)) {
    BT_RETURN_IF_ERROR(ReadTable());
    return false;
  } else if (kind == static_cast<uint8_t>(RecordKind::kLost)) {
    lost_calls += decoder_.Varint();
    if (decoder_.ok()) return false;
  } else if (kind == static_cast<uint8_t>(RecordKind::kEnd)) {
    has_end = decoder_.at_end() && offset_ == file_->size();
    if (has_end) return false;
  }
  return Damaged("a record that is not valid");
}

bool RecordingReader::State::Next(RecordedCall* call) {
  while (status.ok()) {
    absl::StatusOr<bool> found = false;
    if (decoder_.at_end()) {
      found = ReadBlock();
      if (found.ok() && !*found) return false;
      if (found.ok()) continue;
    } else {
      found = NextRecord(call);
      if (found.ok() && *found) return true;
    }
    status = found.status();
  }
  return false;
}

absl::StatusOr<std::unique_ptr<RecordingReader>> RecordingReader::Open(std::string_view path,
                                                                       FileSystem* file_system) {
  if (file_system == nullptr) file_system = FileSystem::Posix();
  BT_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file,
                      file_system->NewRandomAccessFile(path, FileSystem::ReadMode::kPositional));
  auto state = std::make_unique<State>(std::move(file), path);
  BT_RETURN_IF_ERROR(state->Begin());
  return std::unique_ptr<RecordingReader>(new RecordingReader(std::move(state)));
}

RecordingReader::RecordingReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
RecordingReader::~RecordingReader() = default;
RecordedKeys RecordingReader::keys() const { return state_->keys; }
absl::Time RecordingReader::begin() const { return state_->begin; }
bool RecordingReader::Next(RecordedCall* call) { return state_->Next(call); }
const absl::Status& RecordingReader::status() const { return state_->status; }
const std::map<std::string, TableSchema>& RecordingReader::tables() const { return state_->tables; }
uint64_t RecordingReader::lost_calls() const { return state_->lost_calls; }
bool RecordingReader::is_truncated() const { return !state_->has_end; }

}  // namespace bigtable
