#include "server/data/byte_buffer.h"

#include <utility>

#include "grpcpp/support/slice.h"

namespace bigtable::server {

grpc::ByteBuffer ToByteBuffer(std::string bytes) {
  auto* const owned = new std::string(std::move(bytes));
  const grpc::Slice slice(
      owned->data(), owned->size(), [](void* owner) { delete static_cast<std::string*>(owner); },
      owned);
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace bigtable::server
