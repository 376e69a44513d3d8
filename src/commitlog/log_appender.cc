#include "commitlog/log_appender.h"

#include <cstring>

#include "absl/base/macros.h"

#include "base/coding.h"

namespace bigtable {
void LogAppender::AppendEnd(uint64_t next_number, uint64_t synced) {
  char payload[kEndPayloadSize];
  StoreFixed64(payload, next_number);
  const std::string_view part(payload, sizeof payload);
  Store(RecordType::kEnd, appended_, synced, part.size(), {&part, 1}, nullptr);
}

void LogAppender::Store(RecordType type, SequenceNumber sequence, uint64_t synced,
                        uint64_t payload_size, std::span<const std::string_view> parts,
                        AppendedRecord* out) {
  ABSL_ASSERT(position_ % 8 == 0 && position_ + RecordSize(payload_size) <= active_->size() &&
              "records are aligned, and within their segment");
  char* const at = memory_ + position_;
  char* to = at + kRecordHeaderSize;
  for (const std::string_view part : parts) {
    std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
  FinishRecord(at,
               {.payload_size = static_cast<uint32_t>(payload_size),
                .type = static_cast<uint8_t>(type),
                .sequence = sequence,
                .synced = synced},
               RecordSeed(active_->salt(), position_));
  if (out != nullptr) {
    *out = {};
    if (mapped_) *out = {.payload = {at + kRecordHeaderSize, payload_size}, .segment = active_};
  }
  SetPosition(position_ + RecordSize(payload_size));
}

void LogAppender::SetPosition(uint64_t position) {
  position_ = position;
  if (direct_) [[likely]] {
    end_.store(active_->base() + position, std::memory_order_release);
  } else {
    needs_flush_.store(true, std::memory_order_relaxed);
  }
}

// --- The next segment ---

void LogAppender::Activate(LogSegment* segment) {
  active_ = segment;
  memory_ = segment->memory().get();
  mapped_ = segment->file().mapping() != nullptr;
  direct_ = mapped_ && unflushed_pieces_.empty();
  flushed_ = 0;
  position_ = 0;
  if (direct_) end_.store(segment->base(), std::memory_order_release);
}

void LogAppender::Rotate(LogSegment* next, uint64_t synced) {
  AppendEnd(next->number(), synced);
  if (!mapped_) {
    ABSL_ASSERT(unflushed_pieces_.size() < unflushed_pieces_.capacity() && "it was prepared");
    unflushed_pieces_.push_back({Ref<LogSegment>(active_), active_->memory(), flushed_, position_});
  }
  Activate(next);
}

void LogAppender::ContinueInCopy(LogSegment* copy, uint64_t position, SequenceNumber first) {
  unflushed_pieces_.clear();
  Activate(copy);
  copy->set_first_sequence(first);
  position_ = position;
  MarkFlushed();
}

void LogAppender::Restart(LogSegment* first) {
  unflushed_pieces_.clear();
  needs_flush_ = false;
  appended_ = last_sequence_;
  Activate(first);
  end_ = first->base();
}

// --- Files that are not mapped ---

std::vector<SegmentPiece> LogAppender::Unflushed() const {
  std::vector<SegmentPiece> pieces = unflushed_pieces_;
  if (!mapped_) {
    pieces.push_back({Ref<LogSegment>(active_), active_->memory(), flushed_, position_});
  }
  return pieces;
}

void LogAppender::MarkFlushed() {
  unflushed_pieces_.clear();
  flushed_ = position_;
  direct_ = mapped_;
  end_.store(AppendedEnd(), std::memory_order_release);
  last_sequence_.store(appended_, std::memory_order_release);
  needs_flush_.store(false, std::memory_order_relaxed);
}

}  // namespace bigtable
