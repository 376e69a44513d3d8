// gRPC's reflection service, grpc.reflection.v1alpha.ServerReflection: which services the server
// has, and the descriptors of their messages, for tools such as grpcurl.
#ifndef BIGTABLE_SERVER_GRPC_SERVICES_REFLECTION_SERVICE_H_
#define BIGTABLE_SERVER_GRPC_SERVICES_REFLECTION_SERVICE_H_

#include <string>
#include <vector>

#include "server/calls/admission.h"
#include "server/grpc_services/small_call.h"

namespace bigtable::server {

// Immutable. Outlives the server of gRPC.
class ReflectionService final : public SmallCallService {
 public:
  static constexpr const char* kName = "grpc.reflection.v1alpha.ServerReflection";

  // `services`: the names of those that the server has, without this one. Descriptors are those
  // that the program has. `admission` outlives this.
  ReflectionService(Admission* admission, std::vector<std::string> services);

 private:
  class Call;

  std::vector<std::string> services_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_GRPC_SERVICES_REFLECTION_SERVICE_H_
