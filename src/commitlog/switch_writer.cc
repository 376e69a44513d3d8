#include "commitlog/switch_writer.h"

#include <cstring>

#include "absl/base/macros.h"
#include "absl/time/time.h"

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

absl::Status SwitchWriter::WriteCopies() {
  BT_RETURN_IF_ERROR(to_->NeedMemory());
  for (const SegmentPiece& piece : plan_.pieces) BT_RETURN_IF_ERROR(CopyRecords(piece));
  return end_ == kSwitchRecordSize ? absl::OkStatus()
                                   : Write(kSwitchRecordSize, end_ - kSwitchRecordSize);
}

absl::Status SwitchWriter::CopyRecords(const SegmentPiece& piece) {
  RecordHeader header;
  for (uint64_t position = piece.begin; position < piece.end;
       position += RecordSize(header.payload_size)) {
    const char* const at = piece.memory.get() + position;
    if (!DecodeRecordHeader(at, RecordSeed(piece.segment->salt(), position), &header)) {
      return absl::InternalError(Cat("no record in memory at ", position, " of the log file ",
                                     SegmentName(piece.segment->number())));
    }
    if (IsLogsOwn(header.type)) continue;
    char* const copy = to_->memory().get() + end_;
    std::memcpy(copy + kRecordHeaderSize, at + kRecordHeaderSize, header.payload_size);
    const uint64_t size = RecordSize(header.payload_size);
    ABSL_ASSERT(end_ + size + kEndRecordSize <= to_->size() && "the plan has counted it");
    header.synced = plan_.synced;
    FinishRecord(copy, header, RecordSeed(to_->salt(), end_));
    if (first_ == 0) first_ = header.sequence;
    end_ += size;
  }
  return absl::OkStatus();
}

absl::Status SwitchWriter::WriteSwitchRecord(SequenceNumber last) {
  char* const at = to_->memory().get();
  StoreFixed64(at + kRecordHeaderSize, plan_.from);
  FinishRecord(at,
               {.payload_size = kSwitchPayloadSize,
                .type = static_cast<uint8_t>(RecordType::kSwitch),
                .sequence = last,
                .synced = plan_.synced},
               RecordSeed(to_->salt(), 0));
  return Write(0, kSwitchRecordSize);
}

absl::Status SwitchWriter::Write(uint64_t position, uint64_t size) {
  if (to_->file().mapping() != nullptr) return absl::OkStatus();
  absl::Duration took;
  const std::string_view bytes(to_->memory().get() + position, size);
  return times_->Time([&] { return to_->file().Write(position, bytes); }, &took);
}

}  // namespace bigtable
