// The streams of rows that are under way: what a stream holds of the database is released while its
// client does not read.
//
// A stream that waits until its client takes a message leaves its RowReader here. If it is not back
// in time, the reader is replaced by its resume token. So a slow client holds no snapshot, but one
// message, and the memory of one row if that is larger than a message.
//
// Thread-safe. Cost: an allocation and two locks for each message but the last.
#ifndef BIGTABLE_SERVER_DATA_STREAMS_H_
#define BIGTABLE_SERVER_DATA_STREAMS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "bigtable/table.h"

namespace bigtable::server {

class Streams {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // What an open stream may cost, in bytes: a message of 16 KiB, and its rows and its filter. One
  // whose rows cost more counts as several.
  static constexpr size_t kMemoryOfOne = 32 << 10;

  // The time in which a stream runs, which counts as `weight` streams.
  class Running {
   public:
    Running(Streams* streams, size_t weight) : streams_(*streams), weight_(weight) {
      streams_.running_.fetch_add(1, std::memory_order_relaxed);
      streams_.weight_.fetch_add(weight_, std::memory_order_relaxed);
    }
    ~Running() {
      streams_.running_.fetch_sub(1, std::memory_order_relaxed);
      streams_.weight_.fetch_sub(weight_, std::memory_order_relaxed);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    Streams& streams_;
    const size_t weight_;
  };

  struct Reader {
    std::optional<RowReader> reader;  // null: released
    std::string token;                // for Table::ResumeRows if the reader was released
    Time since;
  };
  using Ticket = std::list<Reader>::iterator;

  // `look_after` is called ten times a second while a stream runs that does not wait for its
  // client. Readers that are not back after `most_wait` are released.
  explicit Streams(std::function<void()> look_after,
                   std::chrono::milliseconds most_wait = std::chrono::seconds(1));
  // No stream runs any more.
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // Each ticket is taken back once.
  Ticket Leave(RowReader reader);
  Reader TakeBack(Ticket ticket);

  // Streams that run, those of them that wait for their clients, and those of these that hold
  // something.
  size_t running() const { return running_.load(std::memory_order_relaxed); }
  // As how many all of them count.
  size_t weight() const { return weight_.load(std::memory_order_relaxed); }
  size_t waiting() const;
  size_t holding() const;

 private:
  void Run();
  std::list<Reader> ReleaseSome();

  const std::function<void()> look_after_;
  const std::chrono::milliseconds most_wait_;
  std::atomic<size_t> running_{0};
  std::atomic<size_t> weight_{0};
  mutable std::mutex mutex_;
  std::condition_variable ends_changed_;
  bool ends_ = false;
  std::list<Reader> held_;  // from old to new
  std::list<Reader> released_;
  std::thread thread_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_STREAMS_H_
