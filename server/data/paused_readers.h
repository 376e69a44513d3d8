// Streams whose client does not read for a while: what they hold of the database is released.
//
// A stream that waits until its client takes a message leaves its RowReader here. If it is not back
// in time, the reader is replaced by its resume token. So a slow client holds no memtable, file or
// snapshot, and a stream of any length costs one message and some hundred bytes while it waits.
//
// Thread-safe. Cost: an allocation and two locks for each message of a stream but the last.
#ifndef BIGTABLE_SERVER_DATA_PAUSED_READERS_H_
#define BIGTABLE_SERVER_DATA_PAUSED_READERS_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "bigtable/table.h"

namespace bigtable::server {

class PausedReaders {
 public:
  struct Entry {
    std::optional<RowReader> reader;  // null: released
    std::string token;                // for Table::ResumeRows if the reader was released
    std::chrono::steady_clock::time_point since;
  };
  using Ticket = std::list<Entry>::iterator;

  // Readers that are not back after `most_wait` are released.
  explicit PausedReaders(std::chrono::milliseconds most_wait = std::chrono::seconds(1));
  // No reader is here.
  ~PausedReaders();
  PausedReaders(const PausedReaders&) = delete;
  PausedReaders& operator=(const PausedReaders&) = delete;

  // Each ticket is taken back once.
  Ticket Leave(RowReader reader);
  Entry TakeBack(Ticket ticket);

  // For tests and statistics: streams that wait, and how many of them hold something.
  size_t waiting() const;
  size_t holding() const;

 private:
  void Run();

  const std::chrono::milliseconds most_wait_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::list<Entry> held_;  // from old to new
  std::list<Entry> released_;
  std::thread thread_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_PAUSED_READERS_H_
