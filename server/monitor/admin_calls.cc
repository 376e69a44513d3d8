#include "server/monitor/admin_calls.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/message.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/support/interceptor.h"

#include "server/convert/errors.h"

namespace bigtable::server {
namespace {

using grpc::experimental::InterceptionHookPoints;

size_t SizeOf(const void* message) {
  return message == nullptr
             ? 0
             : static_cast<const google::protobuf::Message*>(message)->ByteSizeLong();
}

// Whether a call of this method is there to change something.
bool ChangesSomething(std::string_view method) {
  const std::string_view name = method.substr(method.rfind('/') + 1);
  for (const std::string_view prefix : {"Get", "List", "Check", "GenerateConsistency", "Wait"}) {
    if (name.starts_with(prefix)) return false;
  }
  return true;
}

// As the client of the method sees it.
grpc::Status ForClient(std::string_view method, const grpc::Status& status, ClientErrors* errors) {
  if (status.ok()) return status;
  if (status.error_message().empty()) {  // gRPC's own error, which has no text
    return grpc::Status(status.error_code(),
                        Cat("the bytes of the request are no request of ", method));
  }
  const absl::Status full(static_cast<absl::StatusCode>(static_cast<int>(status.error_code())),
                          status.error_message());
  const absl::Status shortened = errors->For(method, full);
  if (shortened == full) return status;
  // The details, if there are any, have the message too.
  google::rpc::Status details;
  std::string bytes;
  if (!status.error_details().empty() && details.ParseFromString(status.error_details())) {
    details.set_message(std::string(shortened.message()));
    bytes = details.SerializeAsString();
  }
  return grpc::Status(status.error_code(), std::string(shortened.message()), bytes);
}

// One call. Its hooks are called one after another.
class AdminCall final : public grpc::experimental::Interceptor {
 public:
  AdminCall(CallCounters* counters, const Authentication* authentication, ClientErrors* errors,
            JsonLog* log, grpc::experimental::ServerRpcInfo* info)
      : timer_({counters, Method::kAdmin}),
        authentication_(authentication),
        errors_(errors),
        log_(ChangesSomething(info->method()) ? log : nullptr),
        info_(info) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE)) {
      request_bytes_ = SizeOf(methods->GetRecvMessage());
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      response_bytes_ = SizeOf(methods->GetSendMessage());
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      const grpc::Status status = methods->GetSendStatus();
      timer_.End(status.error_code(), request_bytes_, response_bytes_);
      if (log_ != nullptr) Log(status);
      if (!status.ok()) methods->ModifySendStatus(ForClient(info_->method(), status, errors_));
    }
    methods->Proceed();
  }

 private:
  void Log(const grpc::Status& status) const {
    const absl::StatusOr<std::optional<std::string>> caller =
        authentication_->CallerOf(*info_->server_context());
    log_->Write(status.ok() ? LogSeverity::kInfo : LogSeverity::kWarning, "admin call",
                {{"method", info_->method()},
                 {"caller", caller.ok() ? caller->value_or("") : ""},
                 {"peer", info_->server_context()->peer()},
                 {"code", absl::StatusCodeToString(static_cast<absl::StatusCode>(
                              static_cast<int>(status.error_code())))},
                 {"error", status.error_message()}},
                absl::FromChrono(std::chrono::steady_clock::now() - began_));
  }

  const CallTimer timer_;
  const Authentication* const authentication_;
  ClientErrors* const errors_;
  JsonLog* const log_;  // null: not logged
  grpc::experimental::ServerRpcInfo* const info_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  size_t request_bytes_ = 0;
  size_t response_bytes_ = 0;
};

class AdminCalls final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  AdminCalls(CallCounters* counters, const Authentication* authentication, ClientErrors* errors,
             JsonLog* log)
      : counters_(counters), authentication_(authentication), errors_(errors), log_(log) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    const std::string_view method = info->method();
    const bool is_counted = method.starts_with("/google.bigtable.admin.") ||
                            method.starts_with("/google.longrunning.") ||
                            method.starts_with("/bigtable.server.");
    return is_counted ? new AdminCall(counters_, authentication_, errors_, log_, info) : nullptr;
  }

 private:
  CallCounters* const counters_;
  const Authentication* const authentication_;
  ClientErrors* const errors_;
  JsonLog* const log_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> WatchAdminCalls(
    CallCounters* counters, const Authentication* authentication, ClientErrors* errors,
    JsonLog* log) {
  return std::make_unique<AdminCalls>(counters, authentication, errors, log);
}

}  // namespace bigtable::server
