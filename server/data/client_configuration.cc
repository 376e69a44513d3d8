#include "server/data/client_configuration.h"

#include <string>

#include "absl/status/status.h"
#include "google/bigtable/v2/bigtable.pb.h"

#include "server/data/byte_buffer.h"

namespace bigtable::server {
namespace {

// A ClientConfiguration:
//
//   12 00   session_configuration (2), empty: its session_load is 0
//   18 01   stop_polling (3): true
constexpr char kConfiguration[] = {0x12, 0x00, 0x18, 0x01};

}  // namespace

ServedCall::Step ClientConfigurationCall::Begin(grpc::ByteBuffer* bytes) {
  // A GetClientConfigurationRequest has the same fields: the name of an instance (1), and an app
  // profile (2).
  data::PingAndWarmRequest request;
  data::PingAndWarmResponse nothing;
  absl::Status status = Parse(bytes, &request);
  if (status.ok()) status = handlers_->PingAndWarm(context(), request, &nothing);
  SetResource(request.name(), status.ok());
  if (!status.ok()) return End(status);
  return End(status, ToByteBuffer(std::string(kConfiguration, sizeof(kConfiguration))));
}

}  // namespace bigtable::server
