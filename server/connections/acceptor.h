// Accepts connections, and hands them over, as many as may be open.
//
// A connection beyond that is closed at once: its client hears of it, and tries again after a
// while. While the process has no descriptor left for one, connections wait in the queue of the
// system, and this looks for one ten times a second: accept would fail again and again otherwise.
#ifndef BIGTABLE_SERVER_CONNECTIONS_ACCEPTOR_H_
#define BIGTABLE_SERVER_CONNECTIONS_ACCEPTOR_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "server/connections/listening_sockets.h"
#include "server/connections/open_connections.h"

namespace bigtable::server {

// A thread, which ends with the object. Thread-safe.
class Acceptor {
 public:
  enum class Reason {
    kTooMany,       // connections: it was closed
    kNoDescriptor,  // the process, or the system, has none left: connections wait
  };
  static constexpr std::array<std::string_view, 2> kReasonNames = {"too_many_connections",
                                                                   "no_descriptor"};
  // Connections that were closed; and how often none could be accepted.
  using Counts = std::array<uint64_t, kReasonNames.size()>;

  // What a connection is handed over to: it owns the descriptor, which is non-blocking.
  using HandOver = std::function<void(int descriptor)>;

  // `report` is called by the thread with the counts since its last call: at the first, and then
  // every ten seconds while they grow. Unavailable: the address (ListeningSockets::Open) cannot be
  // listened on. ResourceExhausted: the system has no thread or descriptor.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Start(const std::string& address, size_t most,
                                                         HandOver hand_over,
                                                         std::function<void(const Counts&)> report);
  // Nothing is handed over any more, and connections are refused by the system.
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  const std::string& address() const { return sockets_->address(); }
  OpenConnections* connections() { return &connections_; }
  Counts counts() const;

 private:
  using Time = std::chrono::steady_clock::time_point;

  Acceptor(std::unique_ptr<ListeningSockets> sockets, size_t most, HandOver hand_over,
           std::function<void(const Counts&)> report);
  void Run();
  bool AcceptSome(int listener);
  void Count(Reason reason);
  void ReportSome();

  const std::unique_ptr<ListeningSockets> sockets_;
  const HandOver hand_over_;
  const std::function<void(const Counts&)> report_;
  OpenConnections connections_;
  std::array<std::atomic<uint64_t>, kReasonNames.size()> counts_{};
  std::atomic<bool> ends_{false};
  int wake_ = -1;  // an eventfd: the thread is to look at `ends_`

  // The thread's.
  Counts reported_{};
  Time last_report_{};
  std::thread thread_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CONNECTIONS_ACCEPTOR_H_
