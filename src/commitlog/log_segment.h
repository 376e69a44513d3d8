// One use of a segment file by a log, and the return of the file when it is no longer needed.
//
// The log refers to a segment until its records are released. A memtable, cursor or row view that
// points into the segment's bytes refers to it too. The last thread to drop its reference puts the
// file on a list (SegmentReturns), from which the log's background work takes it for reuse. So the
// bytes of a segment never change while it is referenced.
#ifndef BIGTABLE_COMMITLOG_LOG_SEGMENT_H_
#define BIGTABLE_COMMITLOG_LOG_SEGMENT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/mutex.h"
#include "base/ref_counted.h"
#include "base/sequence.h"
#include "commitlog/log_format.h"

namespace bigtable {

// An open log file and the memory in which its bytes are written: its mapping, or if it has none, a
// buffer of the same size that exists on demand and is written to the file. The memory is charged
// to a budget, at first as that of a spare segment.
class SegmentFile {
 public:
  // `budget` may be null.
  SegmentFile(std::unique_ptr<LogFile> file, std::shared_ptr<MemoryBudget> budget);
  ~SegmentFile();
  SegmentFile(const SegmentFile&) = delete;
  SegmentFile& operator=(const SegmentFile&) = delete;

  LogFile& file() { return *file_; }
  // Null after DropMemory, until NeedMemory. The pointer owns the memory unless it is a mapping.
  const std::shared_ptr<char>& memory() const { return memory_; }
  // ResourceExhausted: there is none.
  absl::Status NeedMemory();
  // Does nothing if the file is mapped.
  void DropMemory();
  void ChargeAs(MemoryBudget::Use use);

 private:
  void Charge(MemoryBudget::Use use, int64_t sign);

  std::unique_ptr<LogFile> file_;
  std::shared_ptr<MemoryBudget> budget_;
  std::shared_ptr<char> memory_;
  MemoryBudget::Use use_ = MemoryBudget::Use::kSpareLog;
};

// Collects segment files that are no longer referenced. Thread-safe; outlives the log as long as
// segments do.
class SegmentReturns : public RefCounted {
 public:
  struct Returned {
    uint64_t number = 0;
    bool reusable = false;
    std::unique_ptr<SegmentFile> file;
  };

  std::vector<Returned> Take();
  bool any() const { return any_.load(std::memory_order_relaxed); }
  // The log is destroyed: files that are returned later are closed.
  void Close();
  // The bytes of all segments in use: live ones, and released ones that are still pinned.
  uint64_t bytes_in_use() const { return bytes_in_use_.load(std::memory_order_relaxed); }

 private:
  friend class LogSegment;

  Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Returned> returned_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> any_{false};
  std::atomic<uint64_t> bytes_in_use_{0};
};

// Thread-safe, except for what is marked as the log's own.
class LogSegment : public RefCounted {
 public:
  uint64_t number() const { return number_; }
  uint64_t size() const { return size_; }
  // The log offset of the file's first byte.
  uint64_t base() const { return LogOffset(number_, 0); }

  // --- The log's own, for the classes of this folder ---

  // Distinguishes the records of this use of the file from older bytes (log_format.h).
  uint64_t salt() const { return salt_; }
  LogFile& file() { return file_->file(); }
  // The memory of the live segments is under the lock of the chain (segment_chain.h); that of a
  // segment which one thread has taken out of the chain is that thread's.
  const std::shared_ptr<char>& memory() { return file_->memory(); }
  absl::Status NeedMemory() { return file_->NeedMemory(); }
  void DropMemory() { file_->DropMemory(); }
  // Marks the segment, which has its memory, as used: its file will be returned.
  void Use();
  // The segment is full: its memory is now charged as kept by memtables and recovery.
  void ChargeAsNeeded();
  // The file is removed instead of reused. On any thread.
  void KeepFromReuse() { reusable_ = false; }

  // The first record's sequence number, 0 if there is no record yet. The appending thread sets it,
  // any thread reads it.
  SequenceNumber first_sequence() const { return first_sequence_.load(std::memory_order_relaxed); }
  void set_first_sequence(SequenceNumber sequence) {
    first_sequence_.store(sequence, std::memory_order_relaxed);
  }

 private:
  friend class SegmentStore;  // makes them

  LogSegment(uint64_t number, uint64_t salt, std::unique_ptr<SegmentFile> file,
             Ref<SegmentReturns> returns);
  ~LogSegment() override;

  const uint64_t number_;
  const uint64_t size_;
  const uint64_t salt_;
  std::unique_ptr<SegmentFile> file_;
  const Ref<SegmentReturns> returns_;
  bool in_use_ = false;  // set once, before other threads see the segment
  std::atomic<bool> reusable_{true};
  std::atomic<SequenceNumber> first_sequence_{0};
};

// A range of records of a segment, and the references that keep its bytes.
struct SegmentPiece {
  Ref<LogSegment> segment;
  std::shared_ptr<const char> memory;
  uint64_t begin = 0;  // in the file
  uint64_t end = 0;
  uint64_t size() const { return end - begin; }
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_LOG_SEGMENT_H_
