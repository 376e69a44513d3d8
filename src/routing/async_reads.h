// Reads of rows that their callers do not wait for (Table::ReadRowAsync). Threads read them, each
// many at a time: it begins the reads of the blocks of all rows that it has, and then reads the
// rows one after the other. So a few threads keep hundreds of reads under way. Reads of which
// nothing can be begun before are made by threads that have one each.
//
//   a caller --Add--> queue_ --a thread takes what it has room for--> requested --read--> done
//
// Invariants:
// * For each read that Add has taken, `done` is called once, by one of the threads, outside of the
//   lock.
// * Threads are started when they are needed, and end with Stop. Without one that can be started,
//   Add takes nothing.
//
// Thread-safe.
#ifndef BIGTABLE_ROUTING_ASYNC_READS_H_
#define BIGTABLE_ROUTING_ASYNC_READS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row.h"

#include "base/mutex.h"

namespace bigtable {

class TableImpl;

class AsyncReads {
 public:
  struct Read {
    std::shared_ptr<TableImpl> table;
    std::string row;
    Filter filter;
    ReadOptions options;
    absl::AnyInvocable<void(absl::StatusOr<Row>)> done;
  };

  // Each thread has up to `window` reads.
  AsyncReads(size_t window, size_t most_threads) : window_(window), most_threads_(most_threads) {}
  ~AsyncReads();  // Stop
  AsyncReads(const AsyncReads&) = delete;
  AsyncReads& operator=(const AsyncReads&) = delete;

  // Takes the read, unless it returns an error. ResourceExhausted: those that wait have more than
  // `most_bytes`, or no thread can be started. FailedPrecondition: it was stopped.
  absl::Status Add(Read&& read, uint64_t most_bytes);
  // Waits until `done` was called for all that were taken, and takes no more. Not to be called by a
  // `done`.
  void Stop();

 private:
  static uint64_t BytesOf(const Read& read) { return sizeof(Read) + read.row.size(); }

  bool HasWaiting();
  void Run();

  const size_t window_;
  const size_t most_threads_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Read> queue_ ABSL_GUARDED_BY(mutex_);
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of the queue
  size_t idle_ ABSL_GUARDED_BY(mutex_) = 0;     // threads that wait
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_ASYNC_READS_H_
