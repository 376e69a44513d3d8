// How long clients may let their connections wait.
#ifndef BIGTABLE_SERVER_CONNECTIONS_CONNECTION_TIMES_H_
#define BIGTABLE_SERVER_CONNECTIONS_CONNECTION_TIMES_H_

#include <chrono>

namespace bigtable::server {

// A connection that is lost, or whose client sends nothing, has a place that another may lack. But
// a client may lose packets for a while. TCP sends one again after 0.2 seconds, and then each time
// after twice as long: six times in 13 seconds. So 20 seconds, as gRPC's own timeout of a ping, are
// enough for clients that lose all packets for ten seconds, and as short as that allows.
inline constexpr std::chrono::milliseconds kMostClientSilence = std::chrono::seconds(20);

struct ConnectionTimes {
  // Until TLS and HTTP/2 have begun.
  std::chrono::milliseconds handshake = kMostClientSilence;
  // Without an acknowledgement of what was sent: also while there is no room to send a ping.
  std::chrono::milliseconds unacknowledged = kMostClientSilence;
  // After so long without anything a client is sent a ping; and until it has answered that. A
  // minute: a ping now and then costs nothing, and firewalls forget connections only after several.
  std::chrono::milliseconds ping_after = std::chrono::minutes(1);
  std::chrono::milliseconds ping = kMostClientSilence;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CONNECTIONS_CONNECTION_TIMES_H_
