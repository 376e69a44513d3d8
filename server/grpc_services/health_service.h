// gRPC's health service, grpc.health.v1.Health: whether parts of the server are served. What is
// healthy, health.h decides.
#ifndef BIGTABLE_SERVER_GRPC_SERVICES_HEALTH_SERVICE_H_
#define BIGTABLE_SERVER_GRPC_SERVICES_HEALTH_SERVICE_H_

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "grpc/health/v1/health.pb.h"
#include "server/calls/admission.h"
#include "server/grpc_services/small_call.h"

namespace bigtable::server {

// Thread-safe. Outlives the server of gRPC.
class HealthService final : public SmallCallService {
 public:
  // Outlives this.
  explicit HealthService(Admission* admission);

  // Clients that watch the name hear of it.
  void Set(std::string_view name, bool is_served);
  // From now on nothing is served. Clients that watch hear of it, and their calls end.
  void Close();

 private:
  using Response = grpc::health::v1::HealthCheckResponse;
  using ServingStatus = Response::ServingStatus;
  class Check;
  class Watch;

  // Under the mutex. SERVICE_UNKNOWN: Set was never called with the name.
  ServingStatus StatusOf(const std::string& name) const;

  Admission* const admission_;
  std::mutex mutex_;
  std::map<std::string, bool, std::less<>> served_;
  bool is_closed_ = false;
  std::set<Watch*> watches_;  // that have received their request
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_GRPC_SERVICES_HEALTH_SERVICE_H_
