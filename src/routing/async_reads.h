// Reads of rows that overlap and that their callers do not wait for. Threads read them, each many
// at a time: it requests the blocks of the rows that it has, and reads the row whose blocks are
// there. So a few threads keep hundreds of reads under way.
//
//   a caller --Add--> queue_ --a reader with room--> fresh --> requested --> untold --> told
//                       |                              |           |           |
//                       `--- if a reader is stuck -----+-----------+-----------+--> others
//
// A read that waits for something else than its blocks holds up the reader, and its other reads.
// So a thread looks after the readers, while there is work: what a reader that has been at the same
// step for kStuck has besides goes to `others`. The reads are not requested again there, so that a
// slow disk does not get each read twice and then twice again.
//
// Invariants:
// * For each read that Add has taken, its caller is told once, by a thread of this object or of
//   `others`, outside of the locks.
// * Threads are started when they are needed, and end with Stop. Without one that can be started,
//   Add takes nothing.
// * A read that is in no list is with one thread, which is at a step with it.
//
// Thread-safe. Lock order: mutex_, then those of a reader or of `others`.
#ifndef BIGTABLE_ROUTING_ASYNC_READS_H_
#define BIGTABLE_ROUTING_ASYNC_READS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

#include "base/mutex.h"
#include "blocks/overlapped_reads.h"
#include "routing/async_pool.h"
#include "routing/async_read.h"

namespace bigtable {

class AsyncReads {
 public:
  // After so long a reader is stuck. Far more than a block takes from a disk that is not.
  static constexpr absl::Duration kStuck = absl::Milliseconds(10);

  // Each thread has up to `window` reads. `others` outlives this object.
  AsyncReads(size_t window, size_t most_threads, AsyncPool* others)
      : window_(window), most_threads_(most_threads), others_(others) {}
  ~AsyncReads();  // Stop
  AsyncReads(const AsyncReads&) = delete;
  AsyncReads& operator=(const AsyncReads&) = delete;

  // As AsyncPool::Add.
  absl::Status Add(AsyncRead&& read, uint64_t most_bytes);
  // Waits until the callers of the reads that this object still has are told, and takes no more.
  // `others` is to be stopped after this. Not to be called by one of these callers.
  void Stop();

 private:
  struct Requested {
    AsyncRead read;
    OverlappedReads::Tickets blocks;
  };
  // What a reader waits for: new reads, what a read needs, or the blocks of any of its reads.
  enum class At { kNothing, kRead, kBlocks };
  struct Reader {
    std::thread thread;
    Mutex mutex;
    std::deque<AsyncRead> fresh ABSL_GUARDED_BY(mutex);
    std::deque<Requested> requested ABSL_GUARDED_BY(mutex);  // in the order of the requests
    std::deque<AsyncRead> untold ABSL_GUARDED_BY(mutex);     // with their results
    At at ABSL_GUARDED_BY(mutex) = At::kNothing;
    uint64_t steps ABSL_GUARDED_BY(mutex) = 0;
    // Blocks were requested for reads that were taken from it.
    bool was_robbed ABSL_GUARDED_BY(mutex) = false;
    // Since when it has been seen at this step.
    uint64_t seen_steps ABSL_GUARDED_BY(mutex) = 0;
    int64_t seen_at ABSL_GUARDED_BY(mutex) = 0;
  };

  // The thread of a reader.
  void Run(Reader* reader);
  // Waits for reads if the reader has none. False: it ends.
  bool TakeFresh(Reader* reader, std::optional<OverlappedReads>* overlapped);
  static void RequestFresh(Reader* reader, std::optional<OverlappedReads>* overlapped);
  // Reads some rows whose blocks are there, and tells their callers. False: there are none.
  static bool ReadSome(Reader* reader, std::optional<OverlappedReads>* overlapped);
  static void WaitForBlocks(Reader* reader, OverlappedReads* overlapped);
  static void SetAt(Reader* reader, At at);
  static size_t CountOf(Reader* reader);
  static bool DropsBlocks(Reader* reader);
  bool HasWaiting();
  absl::Status StartReader() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // The thread that looks after the readers.
  void LookAfter();
  // What the readers that are stuck have besides.
  std::vector<AsyncRead> TakeFromStuck(int64_t now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t window_;
  const size_t most_threads_;
  AsyncPool* const others_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<AsyncRead> queue_ ABSL_GUARDED_BY(mutex_);
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of the queue
  size_t idle_ ABSL_GUARDED_BY(mutex_) = 0;     // readers that have nothing
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<Reader>> readers_ ABSL_GUARDED_BY(mutex_);
  std::thread looks_after_ ABSL_GUARDED_BY(mutex_);
  bool is_looking_ ABSL_GUARDED_BY(mutex_) = false;  // not if nothing was there to do for a second
  CondVar look_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_ASYNC_READS_H_
