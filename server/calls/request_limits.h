// What requests may take of the server's memory: it follows from --memory.
//
//   largest request          a quarter of --memory, at most 256 MiB and 64 KiB
//   requests on their way    a quarter of --memory, by the size that they are expected to have; and
//                            as much of those that were received and wait for their execution
//   requests being executed  three quarters of --memory, and each counts thrice: as it was
//                            received, parsed, and as mutations
//
// With the database, that is twice --memory; kOther is for everything else. Above that, less what
// may be received until somebody looks, requests on their way are refused (admission.h).
//
// What gRPC takes of a request that may not be received yet is bounded by the windows of its
// connection. With little memory they are 64 KiB, so a larger request needs one more round trip: a
// third more CPU for a batch of 100 KiB. With more memory they grow to some megabytes, and the look
// at the memory of the process keeps the bound.
#ifndef BIGTABLE_SERVER_CALLS_REQUEST_LIMITS_H_
#define BIGTABLE_SERVER_CALLS_REQUEST_LIMITS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace bigtable::server {

struct RequestLimits {
  // Cloud Bigtable's limit of a request, and room for what is around it.
  static constexpr uint64_t kLargest = (256 << 20) + (64 << 10);
  // A request counts as so many times its size while it is executed.
  static constexpr uint64_t kCopies = 3;
  // Memory of the process beside the database and requests: code, threads, connections, buffers.
  static constexpr uint64_t kOther = 128 << 20;
  // Of that, what requests may take until the memory of the process is looked at, with windows that
  // do not grow.
  static constexpr uint64_t kUnseen = 64 << 20;
  // With so much of --memory the windows of connections grow: each to 4 MiB at most. The alarm
  // leaves half of --memory for what is received until somebody looks, here 128 MiB: the windows of
  // 32 connections that are all full at once. With less memory few connections would be enough.
  static constexpr uint64_t kGrowingWindows = 256 << 20;

  explicit RequestLimits(uint64_t memory, int threads)
      : largest(std::min(memory / 4, kLargest)),
        receiving(memory / 4),
        executing(memory / 4 * kCopies),
        windows_grow(memory >= kGrowingWindows),
        unread(std::clamp<uint64_t>(memory >> 10, 64 << 10, 256 << 10)),
        most_waiting(std::clamp<uint64_t>(
            receiving / unread, 8, std::max<uint64_t>(static_cast<uint64_t>(threads) / 2, 8))),
        resident(2 * memory + kOther),
        alarm(resident - (windows_grow ? memory / 2 : kUnseen)) {}

  uint64_t largest;       // bytes of a request
  uint64_t receiving;     // bytes of all requests on their way
  uint64_t executing;     // bytes of all requests being executed, each times kCopies
  bool windows_grow;      // of connections
  uint64_t unread;        // bytes that gRPC is likely to hold of a request that waits
  uint64_t most_waiting;  // calls that wait for room; further ones are refused
  uint64_t resident;      // bytes of the process
  uint64_t alarm;         // bytes of the process with which requests are refused; 0: never
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_REQUEST_LIMITS_H_
