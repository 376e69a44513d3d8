#include "server/grpc_services/health_service.h"

#include <functional>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

#include "convert/status.h"

namespace bigtable::server {

class HealthService::Check final : public SmallCall {
 public:
  explicit Check(HealthService* service) : SmallCall(service->admission_), service_(*service) {}

 private:
  void Begin(const grpc::ByteBuffer& bytes) override {
    grpc::health::v1::HealthCheckRequest request;
    if (const absl::Status status = Parse(bytes, &request); !status.ok()) {
      return Finish(convert::ToGrpcStatus(status));
    }
    Response response;
    {
      const std::lock_guard<std::mutex> lock(service_.mutex_);
      response.set_status(service_.StatusOf(request.service()));
    }
    if (response.status() == Response::SERVICE_UNKNOWN) {
      return Finish(grpc::Status(grpc::StatusCode::NOT_FOUND, "no service of this name is known"));
    }
    response_ = Serialize(response);
    StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status());
  }

  HealthService& service_;
  grpc::ByteBuffer response_;
};

// What it has is under the service's mutex, which OnDone takes too: so a watch that the service
// knows has not ended.
class HealthService::Watch final : public SmallCall {
 public:
  explicit Watch(HealthService* service) : SmallCall(service->admission_), service_(*service) {}

  // Sends the status if the client does not have it, and ends the call if the service is closed.
  void Update() {
    if (is_finished_ || is_sending_) return;
    const ServingStatus status = service_.StatusOf(name_);
    if (!has_sent_ || status != sent_) {
      Response response;
      response.set_status(status);
      response_ = Serialize(response);
      sent_ = status;
      has_sent_ = is_sending_ = true;
      StartWrite(&response_);
    } else if (service_.is_closed_) {
      End(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server ends"));
    }
  }

 private:
  void Begin(const grpc::ByteBuffer& bytes) override {
    grpc::health::v1::HealthCheckRequest request;
    if (const absl::Status status = Parse(bytes, &request); !status.ok()) {
      return Finish(convert::ToGrpcStatus(status));
    }
    const std::lock_guard<std::mutex> lock(service_.mutex_);
    name_ = request.service();
    service_.watches_.insert(this);
    Update();
  }
  void OnWriteDone(bool ok) override {
    const std::lock_guard<std::mutex> lock(service_.mutex_);
    is_sending_ = false;
    if (ok) return Update();
    End(grpc::Status(grpc::StatusCode::CANCELLED, "the client has gone"));
  }
  // A call that receives its request hears it from that, and one that begins to send from that.
  void OnCancel() override {
    const std::lock_guard<std::mutex> lock(service_.mutex_);
    if (service_.watches_.contains(this)) {
      End(grpc::Status(grpc::StatusCode::CANCELLED, "the call was cancelled"));
    }
  }
  void OnDone() override {
    {
      const std::lock_guard<std::mutex> lock(service_.mutex_);
      service_.watches_.erase(this);
    }
    SmallCall::OnDone();
  }
  void End(const grpc::Status& status) {
    if (is_finished_) return;
    is_finished_ = true;
    Finish(status);
  }

  HealthService& service_;
  std::string name_;
  bool has_sent_ = false;
  bool is_sending_ = false;
  bool is_finished_ = false;
  ServingStatus sent_ = Response::UNKNOWN;
  grpc::ByteBuffer response_;
};

HealthService::HealthService(Admission* admission) : admission_(admission) {
  Add("/grpc.health.v1.Health/Check", [this] { return new Check(this); });
  Add("/grpc.health.v1.Health/Watch", [this] { return new Watch(this); });
}

void HealthService::Set(std::string_view name, bool is_served) {
  const std::lock_guard<std::mutex> lock(mutex_);
  served_[std::string(name)] = is_served;
  for (Watch* const watch : watches_) watch->Update();
}

void HealthService::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_closed_ = true;
  for (Watch* const watch : watches_) watch->Update();
}

HealthService::ServingStatus HealthService::StatusOf(const std::string& name) const {
  const auto found = served_.find(name);
  if (found == served_.end()) return Response::SERVICE_UNKNOWN;
  return found->second && !is_closed_ ? Response::SERVING : Response::NOT_SERVING;
}

}  // namespace bigtable::server
