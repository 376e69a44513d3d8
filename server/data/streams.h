// The streams of rows that are under way: what a stream holds of the database is released while its
// client does not read, and one whose call was cancelled stops reading.
//
// A stream that waits until its client takes a message leaves its RowReader here. If it is not back
// in time, the reader is replaced by its resume token. So a slow client holds no memtable, file or
// snapshot, but its thread and one message.
//
// gRPC's synchronous interface does not notify a call that it was cancelled. A thread looks ten
// times a second, at those that have run for a while.
//
// Thread-safe. Cost: two locks for each stream, and an allocation and two locks for each message
// but the last.
#ifndef BIGTABLE_SERVER_DATA_STREAMS_H_
#define BIGTABLE_SERVER_DATA_STREAMS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "grpcpp/server_context.h"

#include "bigtable/call_options.h"
#include "bigtable/table.h"

namespace bigtable::server {

class Streams {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // The time in which a stream runs: it is cancelled when its call is.
  class Running {
   public:
    // All outlive this.
    Running(Streams* streams, grpc::ServerContext* context, Cancellation* cancellation);
    ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    // Whether the stream waits for its client: then it notices by itself that it was cancelled.
    void SetWaiting(bool waits) { waits_.store(waits, std::memory_order_relaxed); }

   private:
    friend class Streams;
    Streams* const streams_;
    grpc::ServerContext* const context_;
    Cancellation* const cancellation_;
    const Time since_;
    std::atomic<bool> waits_{false};
    std::list<Running*>::iterator place_;
  };

  struct Reader {
    std::optional<RowReader> reader;  // null: released
    std::string token;                // for Table::ResumeRows if the reader was released
    Time since;
  };
  using Ticket = std::list<Reader>::iterator;

  // Readers that are not back after `most_wait` are released.
  explicit Streams(std::chrono::milliseconds most_wait = std::chrono::seconds(1));
  // No stream runs any more.
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // Each ticket is taken back once.
  Ticket Leave(RowReader reader);
  Reader TakeBack(Ticket ticket);

  // Streams that run, those of them that wait for their clients, and those of these that hold
  // something.
  size_t running() const;
  size_t waiting() const;
  size_t holding() const;

 private:
  void Run();
  void CancelSome();
  std::list<Reader> ReleaseSome();

  const std::chrono::milliseconds most_wait_;
  mutable std::mutex mutex_;
  std::condition_variable ends_changed_;
  bool ends_ = false;
  std::list<Running*> running_;  // from old to new
  std::list<Reader> held_;       // from old to new
  std::list<Reader> released_;
  std::thread thread_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_STREAMS_H_
