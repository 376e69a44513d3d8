// A call of one of gRPC's own services, health and reflection, whose requests are small.
//
// gRPC would receive the request of a unary method before it asks anybody, and count it nowhere. So
// to gRPC all methods are streams, whose requests are received when they are asked for, and the
// admission of calls (calls/admission.h) refuses these while they receive as it does others: if the
// process becomes too large. They wait for nothing: whether the server is healthy is asked while it
// has no memory, too. And they may not stay: no request in five seconds ends the call.
//
// gRPC's threads run the calls, so they must not block.
#ifndef BIGTABLE_SERVER_GRPC_SERVICES_SMALL_CALL_H_
#define BIGTABLE_SERVER_GRPC_SERVICES_SMALL_CALL_H_

#include <cstddef>
#include <functional>
#include <mutex>

#include "absl/status/status.h"
#include "google/protobuf/message_lite.h"
#include "grpcpp/impl/service_type.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"

#include "server/calls/admission.h"

namespace bigtable::server {

// It deletes itself when it has ended. gRPC calls the methods whose names begin with On one after
// the other, but for OnCancel.
class SmallCall : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                  private AdmittedCall {
 public:
  // Bytes of a request, also of a compressed one when it is decompressed. The names in it are far
  // shorter.
  static constexpr size_t kMostRequestBytes = 4 << 10;

  explicit SmallCall(Admission* admission) : admission_(*admission) {}
  SmallCall(const SmallCall&) = delete;
  SmallCall& operator=(const SmallCall&) = delete;

  // Begins to receive a request. To be called after the constructor, and by methods that gRPC
  // calls while the call does not receive.
  void Receive();

 protected:
  ~SmallCall() override = default;

  // The request is there. To be ended by Finish, now or later, unless Receive is called again.
  virtual void Begin(const grpc::ByteBuffer& request) = 0;
  // There is no request, or no further one: the client has ended its part of the call, or has gone.
  // By default, the call ends with CANCELLED.
  virtual void NoRequest();

  void OnDone() override { delete this; }

  // INTERNAL: the bytes are no such message.
  static absl::Status Parse(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* request);
  static grpc::ByteBuffer Serialize(const google::protobuf::MessageLite& response);

 private:
  void OnReadDone(bool ok) final;
  void Refuse(const absl::Status& status) final;
  absl::Status Check();

  Admission& admission_;
  grpc::ByteBuffer request_;
  std::mutex mutex_;
  bool is_refused_ = false;
};

// A service whose methods are such calls. Set up by one thread.
class SmallCallService : public grpc::Service {
 public:
  SmallCallService(const SmallCallService&) = delete;
  SmallCallService& operator=(const SmallCallService&) = delete;
  ~SmallCallService() override = default;

 protected:
  SmallCallService() = default;
  // `name` is "/package.Service/Method". `create` makes a call that has not begun to receive.
  void Add(const char* name, std::function<SmallCall*()> create);

 private:
  int methods_ = 0;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_GRPC_SERVICES_SMALL_CALL_H_
