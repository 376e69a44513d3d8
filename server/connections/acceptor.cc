#include "server/connections/acceptor.h"

#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "server/calls/start_thread.h"

namespace bigtable::server {
namespace {

// While nothing can be accepted.
constexpr int kPauseMillis = 100;
// Connections that are accepted before the others' sockets are looked at.
constexpr int kAtOnce = 64;

// Whether the client of a connection has gone already, of which gRPC would complain.
bool HasEnded(int connection) {
  sockaddr_storage peer;
  socklen_t size = sizeof(peer);
  return getpeername(connection, reinterpret_cast<sockaddr*>(&peer), &size) != 0;
}

}  // namespace

Acceptor::Acceptor(std::unique_ptr<ListeningSockets> sockets, size_t most, HandOver hand_over)
    : sockets_(std::move(sockets)),
      hand_over_(std::move(hand_over)),
      connections_(most),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Start(const std::string& address, size_t most,
                                                          std::chrono::milliseconds unacknowledged,
                                                          HandOver hand_over) {
  SERVER_ASSIGN_OR_RETURN(std::unique_ptr<ListeningSockets> sockets,
                          ListeningSockets::Open(address, unacknowledged));
  std::unique_ptr<Acceptor> acceptor(new Acceptor(std::move(sockets), most, std::move(hand_over)));
  if (acceptor->wake_ < 0) {
    return absl::ResourceExhaustedError("the process has no descriptor to accept connections");
  }
  SERVER_RETURN_IF_ERROR(StartThread(
      "to accept connections", [self = acceptor.get()] { self->Run(); }, &acceptor->thread_));
  return acceptor;
}

Acceptor::~Acceptor() {
  ends_ = true;
  if (thread_.joinable()) {
    eventfd_write(wake_, 1);
    thread_.join();
  }
  if (wake_ >= 0) close(wake_);
}

Acceptor::Counts Acceptor::counts() const {
  Counts counts;
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = counts_[i].load();
  return counts;
}

void Acceptor::Count(Reason reason) { counts_[static_cast<size_t>(reason)].fetch_add(1); }

void Acceptor::Run() {
  std::vector<pollfd> waits = {{.fd = wake_, .events = POLLIN, .revents = 0}};
  for (const int listener : sockets_->descriptors()) {
    waits.push_back({.fd = listener, .events = POLLIN, .revents = 0});
  }
  bool may_accept = true;
  while (!ends_.load()) {
    poll(waits.data(), may_accept ? waits.size() : 1, may_accept ? -1 : kPauseMillis);
    // After a pause all sockets are tried: accept does not block.
    const bool is_retry = !std::exchange(may_accept, true);
    for (size_t i = 1; i < waits.size() && !ends_.load(); ++i) {
      if (is_retry || waits[i].revents != 0) may_accept &= AcceptSome(waits[i].fd);
    }
  }
}

// accept also fails with errors of the network that a connection has met before it was accepted.
Acceptor::Failure Acceptor::FailureOf(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return {Reason::kNoDescriptor};
    case ECONNABORTED:
    case EPROTO:
    case EPERM:  // a firewall's
      return {Reason::kNetwork, /*is_of_connection=*/true};
    default:
      return {Reason::kNetwork};
  }
}

// False: no connection can be accepted for a while.
bool Acceptor::AcceptSome(int listener) {
  for (int i = 0; i < kAtOnce && !ends_.load(); ++i) {
    const int accepted = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (accepted >= 0) {
      if (HasEnded(accepted)) {
        close(accepted);
      } else if (connections_.Add(accepted)) {
        hand_over_(accepted);
      } else {
        close(accepted);
        Count(Reason::kTooMany);
      }
      continue;
    }
    if (errno == EAGAIN) return true;
    if (errno == EINTR) continue;
    const Failure failure = FailureOf(errno);
    Count(failure.reason);
    if (!failure.is_of_connection) return false;
  }
  return true;
}

}  // namespace bigtable::server
