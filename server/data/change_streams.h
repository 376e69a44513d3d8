// The change streams that are open: how many there may be, and that they end with the server.
//
// Thread-safe.
#ifndef BIGTABLE_SERVER_DATA_CHANGE_STREAMS_H_
#define BIGTABLE_SERVER_DATA_CHANGE_STREAMS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/calls/call_queues.h"

namespace bigtable::server {

class ChangeStreams {
 public:
  static constexpr std::array<std::string_view, 1> kReasonNames = {"too_many"};
  using Counts = std::array<uint64_t, kReasonNames.size()>;

  // Bytes of changes that a stream may hold while its client does not read, and of the message that
  // is made of them.
  static constexpr size_t kMemoryOfOne = 2 << 20;
  // Each looks for changes many times a second.
  static constexpr size_t kMost = 100;

  // The time in which a stream is open. Its queue is watched meanwhile.
  class Open {
   public:
    Open(ChangeStreams* streams, EventQueue* events) : streams_(*streams), events_(*events) {
      events_.Watch();
    }
    ~Open() {
      events_.Unwatch();
      streams_.open_.fetch_sub(1, std::memory_order_relaxed);
    }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

   private:
    ChangeStreams& streams_;
    EventQueue& events_;
  };

  explicit ChangeStreams(size_t most) : most_(most) {}
  ChangeStreams(const ChangeStreams&) = delete;
  ChangeStreams& operator=(const ChangeStreams&) = delete;

  // True: Open is to be made. False: there are too many, and that is counted.
  bool Enter() {
    if (open_.fetch_add(1, std::memory_order_relaxed) < most_) return true;
    open_.fetch_sub(1, std::memory_order_relaxed);
    refused_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  // The server ends: streams that wait for changes end soon.
  void Close() { is_closed_.store(true, std::memory_order_relaxed); }

  bool is_closed() const { return is_closed_.load(std::memory_order_relaxed); }
  size_t most() const { return most_; }
  size_t open() const { return open_.load(std::memory_order_relaxed); }
  Counts refused() const { return {refused_.load(std::memory_order_relaxed)}; }

 private:
  const size_t most_;
  std::atomic<size_t> open_{0};
  std::atomic<uint64_t> refused_{0};
  std::atomic<bool> is_closed_{false};
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_CHANGE_STREAMS_H_
