// What the methods of the admin services return to gRPC, and what they get from it.
#ifndef BIGTABLE_SERVER_ADMIN_ANSWERS_H_
#define BIGTABLE_SERVER_ADMIN_ANSWERS_H_

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/empty.pb.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/status.h"

#include "bigtable/call_options.h"

#include "convert/status.h"
#include "server/calls/call_info.h"
#include "server/text/errors.h"

namespace bigtable::server {

// Returns the result as the response, or the error.
template <typename Response>
grpc::Status Answer(absl::StatusOr<Response> result, Response* response) {
  if (!result.ok()) return convert::ToGrpcStatus(result.status());
  *response = *std::move(result);
  return grpc::Status::OK;
}
inline grpc::Status Answer(const absl::Status& result, google::protobuf::Empty*) {
  return convert::ToGrpcStatus(result);
}

// The deadline of the call, for the engine.
inline CallOptions OptionsOf(const grpc::ServerContext& context) {
  return {.deadline = DeadlineOf(context)};
}

// UNIMPLEMENTED: something of Cloud Bigtable that there is not here.
inline grpc::Status NotServed(std::string_view what) {
  return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, Cat("this server has no ", what));
}

// Overrides a method: `result` is an expression of `request`, and of `context` if need be. The
// class has an `authentication_`, of which `check` is a function.
#define SERVER_CHECKED_METHOD(check, method, Request, Response, result)                         \
  grpc::Status method(grpc::ServerContext* context, const Request* request, Response* response) \
      override {                                                                                \
    const absl::Status may = authentication_->check(*context);                                  \
    if (!may.ok()) return convert::ToGrpcStatus(may);                                           \
    return Answer(result, response);                                                            \
  }

// A method for administrators.
#define SERVER_METHOD(method, Request, Response, result) \
  SERVER_CHECKED_METHOD(CheckAdministrator, method, Request, Response, result)

// A method that shows tables or instances, for every caller that is known.
#define SERVER_READ_METHOD(method, Request, Response, result) \
  SERVER_CHECKED_METHOD(CheckCaller, method, Request, Response, result)

// Overrides a method that is not served.
#define SERVER_NOT_SERVED(method, Request, Response, what)                        \
  grpc::Status method(grpc::ServerContext*, const Request*, Response*) override { \
    return NotServed(what);                                                       \
  }

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_ANSWERS_H_
