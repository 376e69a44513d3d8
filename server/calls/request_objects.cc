#include "server/calls/request_objects.h"

#include <algorithm>

#include "google/protobuf/io/coded_stream.h"
#include "grpcpp/support/proto_buffer_reader.h"

#include "convert/message_objects.h"

namespace bigtable::server {

size_t CountedSize(const grpc::ByteBuffer& request, const google::protobuf::Descriptor& type) {
  const size_t size = request.Length();
  if (size < kLeastCounted) return size;
  grpc::ByteBuffer bytes = request;  // of the same memory
  grpc::ProtoBufferReader reader(&bytes);
  google::protobuf::io::CodedInputStream stream(&reader);
  return std::max(size, kCountedPerObject * convert::CountObjects(type, &stream));
}

}  // namespace bigtable::server
