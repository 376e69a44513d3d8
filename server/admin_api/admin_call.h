// A call of an admin service, of operations or of the engine: a ServedCall that runs a method of
// the service, counts as Method::kAdmin, and is logged if it is there to change something.
#ifndef BIGTABLE_SERVER_ADMIN_API_ADMIN_CALL_H_
#define BIGTABLE_SERVER_ADMIN_API_ADMIN_CALL_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string_view>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/protobuf/arena.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/status.h"

#include "convert/status.h"
#include "server/calls/authentication.h"
#include "server/data/served_call.h"
#include "server/monitor/json_log.h"

namespace bigtable::server {

// Thread-safe. Logs calls that have changed something, or were refused.
class AdminLog {
 public:
  // Both outlive this; `log` may be null.
  AdminLog(const Authentication* authentication, JsonLog* log)
      : authentication_(authentication), log_(log) {}

  // `method` is "/package.Service/Method".
  void Write(std::string_view method, const grpc::ServerContext& context,
             const absl::Status& status, std::chrono::nanoseconds taken) const;

 private:
  const Authentication* const authentication_;
  JsonLog* const log_;
};

// Admin calls that run at a time with so many threads for requests. They wait for one another, as
// they change the catalogue, and for the disk, so more of them end no sooner, and each has a thread
// and the messages of its call. Of few threads an eighth leaves the others to the data API.
inline constexpr int kMostAdminCalls = 64;
inline int MostAdminCalls(int threads) { return std::clamp(threads / 8, 1, kMostAdminCalls); }

// Keeps threads for other calls: so many admin calls run at a time. Further ones are refused.
// Thread-safe.
class AdminTurns {
 public:
  explicit AdminTurns(int most) : most_(most) {}

  bool Enter() {
    if (running_.fetch_add(1) < most_) return true;
    Leave();
    return false;
  }
  void Leave() { running_.fetch_sub(1); }

 private:
  const int most_;
  std::atomic<int> running_{0};
};

template <typename Service, typename Request, typename Response>
class AdminCall final : public ServedCall {
 public:
  using Handler = grpc::Status (Service::*)(grpc::ServerContext*, const Request*, Response*);

  // All outlive the call.
  AdminCall(ServedMethod* method, const char* name, Service* service, Handler handler,
            AdminTurns* turns, const AdminLog* log)
      : ServedCall(method),
        name_(name),
        service_(service),
        handler_(handler),
        turns_(*turns),
        log_(log) {}

 private:
  Step Begin(grpc::ByteBuffer* bytes) override {
    if (!turns_.Enter()) {
      bytes->Clear();
      return End(
          convert::UnavailableFor(absl::Seconds(1), "too many admin calls run at this time"));
    }
    const absl::Cleanup leave = [this] { turns_.Leave(); };
    const auto began = std::chrono::steady_clock::now();
    google::protobuf::Arena arena;
    auto* const request = google::protobuf::Arena::CreateMessage<Request>(&arena);
    auto* const response = google::protobuf::Arena::CreateMessage<Response>(&arena);
    absl::Status status = Parse(bytes, request);
    if (status.ok()) {
      status = convert::ToStatus((service_->*handler_)(mutable_context(), request, response));
    }
    log_->Write(name_, context(), status, std::chrono::steady_clock::now() - began);
    return status.ok() ? End(status, Serialize(*response)) : End(status);
  }

  const char* const name_;
  Service* const service_;
  const Handler handler_;
  AdminTurns& turns_;
  const AdminLog* const log_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_API_ADMIN_CALL_H_
