#include "server/monitor/admin_calls.h"

#include <cstddef>
#include <string_view>

#include "google/protobuf/message.h"
#include "grpcpp/support/interceptor.h"

namespace bigtable::server {
namespace {

using grpc::experimental::InterceptionHookPoints;

size_t SizeOf(const void* message) {
  return message == nullptr
             ? 0
             : static_cast<const google::protobuf::Message*>(message)->ByteSizeLong();
}

// One call. Its hooks are called one after another.
class AdminCall final : public grpc::experimental::Interceptor {
 public:
  explicit AdminCall(CallCounters* counters) : timer_({counters, Method::kAdmin}) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE)) {
      request_bytes_ = SizeOf(methods->GetRecvMessage());
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      response_bytes_ = SizeOf(methods->GetSendMessage());
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      timer_.End(methods->GetSendStatus().error_code(), request_bytes_, response_bytes_);
    }
    methods->Proceed();
  }

 private:
  const CallTimer timer_;
  size_t request_bytes_ = 0;
  size_t response_bytes_ = 0;
};

class AdminCalls final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit AdminCalls(CallCounters* counters) : counters_(counters) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    const std::string_view method = info->method();
    const bool is_counted =
        method.starts_with("/google.bigtable.admin.") || method.starts_with("/google.longrunning.");
    return is_counted ? new AdminCall(counters_) : nullptr;
  }

 private:
  CallCounters* const counters_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> CountAdminCalls(
    CallCounters* counters) {
  return std::make_unique<AdminCalls>(counters);
}

}  // namespace bigtable::server
