// Accepts connections, and hands them over, as many as may be open.
//
// A connection beyond that is closed at once: its client hears of it, and tries again after a
// while. While the process has no descriptor left for one, or the network fails, connections wait
// in the queue of the system, and this tries ten times a second: accept would fail again and again
// otherwise.
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
    kNoDescriptor,  // the process, or the system, has none left, or no memory: connections wait
    kNetwork,       // an error of a connection that has not begun, or of the network
  };
  static constexpr std::array<std::string_view, 3> kReasonNames = {
      "too_many_connections", "no_descriptor", "network_error"};
  // Connections that were closed; and how often none could be accepted.
  using Counts = std::array<uint64_t, kReasonNames.size()>;

  // What an error of accept says.
  struct Failure {
    Reason reason;
    bool is_of_connection = false;  // so the next one may be accepted at once
  };
  static Failure FailureOf(int error);

  // What a connection is handed over to: it owns the descriptor, which is non-blocking.
  using HandOver = std::function<void(int descriptor)>;

  // Unavailable: the address (ListeningSockets::Open) cannot be listened on. ResourceExhausted: the
  // system has no thread or descriptor.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Start(const std::string& address, size_t most,
                                                         std::chrono::milliseconds unacknowledged,
                                                         HandOver hand_over);
  // Nothing is handed over any more, and connections are refused by the system.
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  const std::string& address() const { return sockets_->address(); }
  OpenConnections* connections() { return &connections_; }
  Counts counts() const;

 private:
  Acceptor(std::unique_ptr<ListeningSockets> sockets, size_t most, HandOver hand_over);
  void Run();
  bool AcceptSome(int listener);
  void Count(Reason reason);

  const std::unique_ptr<ListeningSockets> sockets_;
  const HandOver hand_over_;
  OpenConnections connections_;
  std::array<std::atomic<uint64_t>, kReasonNames.size()> counts_{};
  std::atomic<bool> ends_{false};
  int wake_ = -1;  // an eventfd: the thread is to look at `ends_`
  std::thread thread_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CONNECTIONS_ACCEPTOR_H_
