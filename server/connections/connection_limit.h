// How many connections to gRPC's address may be open at a time.
#ifndef BIGTABLE_SERVER_CONNECTIONS_CONNECTION_LIMIT_H_
#define BIGTABLE_SERVER_CONNECTIONS_CONNECTION_LIMIT_H_

#include <cstddef>
#include <cstdint>

namespace bigtable::server {

// What an idle connection may cost; it was measured to take 32 KiB.
inline constexpr uint64_t kMemoryOfAConnection = 64 << 10;

// The smaller of two numbers: `wanted`, or without it (0) one for each kMemoryOfAConnection of
// `memory`, and at least 256; and what the limit of the process's descriptors leaves when the
// database has half of them for its SSTables, and logs and the rest of the server theirs. At
// least 16.
size_t MostConnections(uint64_t wanted, uint64_t memory);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CONNECTIONS_CONNECTION_LIMIT_H_
