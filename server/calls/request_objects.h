// What a request counts with while it is executed (admission.h): its size, or more if it has many
// small fields. Protocol buffers make an object of each text and each message, of which two bytes
// of a request are enough for one.
//
// Pure functions. Each byte is distrusted.
#ifndef BIGTABLE_SERVER_CALLS_REQUEST_OBJECTS_H_
#define BIGTABLE_SERVER_CALLS_REQUEST_OBJECTS_H_

#include <cstddef>

#include "google/protobuf/descriptor.h"
#include "grpcpp/support/byte_buffer.h"

namespace bigtable::server {

// With so many bytes an object counts: a third of what it takes (RequestLimits::kCopies).
inline constexpr size_t kCountedPerObject = 20;
// Smaller requests count with their size: all threads together cannot have many objects of them.
inline constexpr size_t kLeastCounted = 4 << 10;

// Cost: that of a look at each field, also of fields within messages, if it is not that small.
size_t CountedSize(const grpc::ByteBuffer& request, const google::protobuf::Descriptor& type);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_REQUEST_OBJECTS_H_
