// Requests that are compressed by gzip, which gRPC is told to leave as they are: it would
// decompress them before anybody knows how large they become, a megabyte to a gigabyte.
//
// Pure functions.
#ifndef BIGTABLE_SERVER_CALLS_GZIP_H_
#define BIGTABLE_SERVER_CALLS_GZIP_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "grpcpp/support/byte_buffer.h"

namespace bigtable::server {

// Deflate does not make more of a byte.
inline constexpr uint64_t kMostGzipRatio = 1032;

// INTERNAL, as gRPC's.
absl::Status DamagedGzipError();

// The size that the message says to have when it is decompressed; null: it is not compressed. A
// message of protocol buffers never begins as one of gzip: its first byte would be the tag of a
// field of a kind that there is not. The message is not changed.
std::optional<uint64_t> GzipSize(grpc::ByteBuffer* message);

// Replaces the message by what it is when it is decompressed: `size` bytes, as GzipSize has said.
// DamagedGzipError: it is damaged, or has another size. Never takes memory for more than `size`.
absl::Status Gunzip(uint64_t size, grpc::ByteBuffer* message);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_GZIP_H_
