// Messages that are written and read as bytes.
#ifndef BIGTABLE_SERVER_DATA_BYTE_BUFFER_H_
#define BIGTABLE_SERVER_DATA_BYTE_BUFFER_H_

#include <string>

#include "grpcpp/support/byte_buffer.h"

namespace bigtable::server {

// The bytes are not copied.
grpc::ByteBuffer ToByteBuffer(std::string bytes);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_BYTE_BUFFER_H_
