// Where the next record of a commit log goes: the active segment, the position in it, and what was
// appended but is in no file yet.
//
// A mapped segment is its file: a record that is stored in it survives the process at once. The
// bytes of a segment that is not mapped are in memory until the appending thread writes them
// (log_calls.h). Until then, later segments are behind it, mapped or not: no record counts as in
// the log before all earlier ones are.
//
// Threads: one at a time, the appending thread, which has the role server_writer. Other threads
// read the numbers that are marked so. No lock.
//
// Invariants:
//
// 1. Up to end_offset(), the log is complete in its files: after Append, and after MarkFlushed if
//    needs_flush(), it includes the record.
// 2. After every record there is room for an end record in its segment.
// 3. Nothing follows an end record in its segment.
// 4. Bytes before the position of the next record are not changed.
#ifndef BIGTABLE_COMMITLOG_LOG_APPENDER_H_
#define BIGTABLE_COMMITLOG_LOG_APPENDER_H_

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"

#include "base/ref_counted.h"
#include "base/sequence.h"
#include "base/thread_roles.h"
#include "commitlog/log_format.h"
#include "commitlog/log_segment.h"

namespace bigtable {

struct AppendedRecord {
  // The payload in the mapping, valid while the segment is referenced; data() is null if the file
  // system does not map log files.
  std::string_view payload;
  // The segment that contains it; null if payload.data() is. To pin it, make a Ref before
  // ReleaseThrough of the record's sequence number.
  LogSegment* segment = nullptr;
};

class LogAppender {
 public:
  LogAppender() = default;
  LogAppender(const LogAppender&) = delete;
  LogAppender& operator=(const LogAppender&) = delete;

  // --- For any thread ---

  // Whether records were appended that are in no file yet.
  bool needs_flush() const { return needs_flush_.load(std::memory_order_relaxed); }
  // The last record that needs no flush, 0 before the first, and the log offset after it.
  SequenceNumber last_sequence() const { return last_sequence_.load(std::memory_order_acquire); }
  uint64_t end_offset() const { return end_.load(std::memory_order_acquire); }
  // Records that were appended, and their bytes with headers.
  uint64_t records() const { return records_.load(std::memory_order_relaxed); }
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // --- Records. Each states the log offset `synced`, up to which the log is known to be synced ---

  // Whether the active segment has room for a record of this size, and for an end record.
  bool HasRoom(uint64_t record_size) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    return position_ + record_size + kEndRecordSize <= active_->size();
  }
  // Adds a record whose payload is the concatenation of `parts`, of `payload_size` bytes together.
  // There is room for it, and its sequence number is larger than appended(). `out` may be null.
  void Append(RecordType type, SequenceNumber sequence, uint64_t synced, uint64_t payload_size,
              std::span<const std::string_view> parts, AppendedRecord* out)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Adds an end record, after which nothing is appended to the active segment: the log continues in
  // the segment `next_number`, or if that is 0, it is closed.
  void AppendEnd(uint64_t next_number, uint64_t synced)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // The last record's sequence number, in a file or not.
  SequenceNumber appended() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) { return appended_; }

  // --- The next segment, which has its memory ---

  // Call this before Rotate, which allocates nothing then.
  void PrepareToRotate() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    unflushed_pieces_.reserve(unflushed_pieces_.size() + 1);
  }
  // The position in the active segment where Rotate will end it.
  uint64_t EndPosition() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    return position_ + kEndRecordSize;
  }
  // Ends the active segment with an end record, and continues in `next`.
  void Rotate(LogSegment* next, uint64_t synced) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Continues in `copy`, which has everything that was appended and is in no other file, up to
  // `position`, all of it in its file. `first` is its first record's sequence number, 0 if it has
  // none.
  void ContinueInCopy(LogSegment* copy, uint64_t position, SequenceNumber first)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Begins with `first`, in a new log or after a failure. Records that were not flushed are
  // dropped: they are in no file, and no reader sees them.
  void Restart(LogSegment* first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  // --- Files that are not mapped ---

  // What is in no file yet, oldest first.
  std::vector<SegmentPiece> Unflushed() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // The log offset after the last record, in a file or not.
  uint64_t AppendedEnd() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    return active_->base() + position_;
  }
  // All that was appended is in its file.
  void MarkFlushed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

 private:
  void Store(RecordType type, SequenceNumber sequence, uint64_t synced, uint64_t payload_size,
             std::span<const std::string_view> parts, AppendedRecord* out)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // A counter that only one thread adds to and others read: needs no atomic addition.
  static void Add(std::atomic<uint64_t>* counter, uint64_t n) {
    counter->store(counter->load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void SetPosition(uint64_t position) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Records are appended to `segment` from its beginning. Allocates nothing.
  void Activate(LogSegment* segment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  LogSegment* active_ ABSL_GUARDED_BY(server_writer) = nullptr;
  char* memory_ ABSL_GUARDED_BY(server_writer) = nullptr;  // of active_
  bool mapped_ ABSL_GUARDED_BY(server_writer) = false;     // memory_ is active_'s mapping
  // mapped_, and nothing before it has to be flushed.
  bool direct_ ABSL_GUARDED_BY(server_writer) = false;
  uint64_t position_ ABSL_GUARDED_BY(server_writer) = 0;  // of the next record in active_
  // Written up to here in active_, if it is not mapped.
  uint64_t flushed_ ABSL_GUARDED_BY(server_writer) = 0;
  SequenceNumber appended_ ABSL_GUARDED_BY(server_writer) = 0;
  // Of the segments before active_.
  std::vector<SegmentPiece> unflushed_pieces_ ABSL_GUARDED_BY(server_writer);

  // Written by the appending thread.
  std::atomic<bool> needs_flush_{false};
  std::atomic<uint64_t> end_{0};
  std::atomic<SequenceNumber> last_sequence_{0};
  std::atomic<uint64_t> records_{0};
  std::atomic<uint64_t> bytes_{0};
};

inline void LogAppender::Append(RecordType type, SequenceNumber sequence, uint64_t synced,
                                uint64_t payload_size, std::span<const std::string_view> parts,
                                AppendedRecord* out) {
  const uint64_t record_size = RecordSize(payload_size);
  ABSL_ASSERT(HasRoom(record_size) && "the record and an end record fit");
  ABSL_ASSERT(sequence > appended_ && "the log's sequence numbers ascend");
  Store(type, sequence, synced, payload_size, parts, out);
  if (active_->first_sequence() == 0) active_->set_first_sequence(sequence);
  appended_ = sequence;
  if (direct_) [[likely]]
    last_sequence_.store(sequence, std::memory_order_release);
  Add(&records_, 1);
  Add(&bytes_, record_size);
}

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_LOG_APPENDER_H_
