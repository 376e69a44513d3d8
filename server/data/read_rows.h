// ReadRows: a stream of rows, in messages of chunks.
//
// One message of a stream is on its way at a time, so a client that does not read holds one message
// of its own, and the stream holds nothing else of the database after a second (paused_readers.h).
// Messages grow from 16 KiB to 512 KiB while the client keeps up; with many streams they stay
// smaller. A read of a few rows is one message and takes one thread from its request to its end.
// A call that is cancelled, or whose deadline has passed, stops reading.
#ifndef BIGTABLE_SERVER_DATA_READ_ROWS_H_
#define BIGTABLE_SERVER_DATA_READ_ROWS_H_

#include <atomic>
#include <cstddef>

#include "server/calls/authentication.h"
#include "server/calls/call_threads.h"
#include "server/data/async_service.h"
#include "server/data/paused_readers.h"
#include "server/data/served_tables.h"

namespace bigtable::server {

class ReadRowsMethod {
 public:
  // All outlive this, and this outlives its calls: until the queue has been shut down.
  ReadRowsMethod(CallThreads* threads, AsyncDataService* service, ServedTables* tables,
                 const Authentication* authentication)
      : threads_(threads), service_(service), tables_(tables), authentication_(authentication) {}
  ReadRowsMethod(const ReadRowsMethod&) = delete;
  ReadRowsMethod& operator=(const ReadRowsMethod&) = delete;

  // Begins to take calls. The server has started.
  void Start();

  // Calls that are under way.
  size_t calls() const { return calls_.load(std::memory_order_relaxed); }
  const PausedReaders& paused() const { return paused_; }

 private:
  class Call;

  CallThreads* const threads_;
  AsyncDataService* const service_;
  ServedTables* const tables_;
  const Authentication* const authentication_;
  PausedReaders paused_;
  std::atomic<int> accepting_{0};
  std::atomic<size_t> calls_{0};
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_READ_ROWS_H_
