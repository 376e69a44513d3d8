// The methods of the data API, and their calls, on completion queues.
//
// A call is accepted without its request, and receives it when there is memory for it
// (calls/admission.h). Then it is a sequence of steps. The first takes the request, a later one
// continues after a message. Each ends with the next message, or with the end of the call. A step
// may block, as the engine does. A call that waits for its client, to send the rest of the request
// or to take a message, for some time, or for the engine to wake it, has no thread.
//
// Messages are bytes (convert/row_chunks.h). To the client, a unary call is a stream of one
// message.
//
// As Cloud Bigtable's, responses begin with the metadata "server-timing: gfet4t7; dur=N", the
// milliseconds until the first message or the end, and end with a trailer (response_params.h).
// Clients make metrics of both.
#ifndef BIGTABLE_SERVER_DATA_SERVED_CALL_H_
#define BIGTABLE_SERVER_DATA_SERVED_CALL_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message_lite.h"
#include "grpcpp/alarm.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/async_stream.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/status.h"

#include "bigtable/call_options.h"

#include "server/calls/admission.h"
#include "server/calls/call_queues.h"
#include "server/calls/client_errors.h"
#include "server/calls/event.h"
#include "server/data/response_params.h"
#include "server/monitor/call_counters.h"
#include "server/monitor/call_trace.h"
#include "server/monitor/slow_requests.h"

namespace bigtable::server {

class ServedCall;

// Thread-safe. Outlives its calls: until the queues were shut down.
class ServedMethod {
 public:
  // To gRPC both directions are streams: otherwise it receives the request before it is asked to.
  using Writer = grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;
  // The service's RequestAsyncBidiStreaming, of this method.
  using Accept = std::function<void(grpc::ServerContext* context, Writer* writer,
                                    grpc::CompletionQueue* events,
                                    grpc::ServerCompletionQueue* requests, void* tag)>;
  using Create = std::function<std::unique_ptr<ServedCall>(ServedMethod* method)>;

  // The pointers outlive this. `events` is one of the queues' own. `name` is kept. `request_type`:
  // of the objects that are made of a request (calls/request_objects.h); null if it is read in
  // another way. At most `most_accepting` calls wait for a request.
  ServedMethod(CallQueues* queues, EventQueue* events, Admission* admission,
               ResponseParams* response_params, ClientErrors* errors, MethodCounters counters,
               SlowRequests* slow_requests, std::string_view name,
               const google::protobuf::Descriptor* request_type, int most_accepting, Accept accept,
               Create create)
      : queues_(queues),
        events_(events),
        admission_(admission),
        response_params_(response_params),
        errors_(errors),
        counters_(counters),
        slow_requests_(slow_requests),
        name_(name),
        request_type_(request_type),
        most_accepting_(most_accepting),
        accept_(std::move(accept)),
        create_(std::move(create)) {}
  ServedMethod(const ServedMethod&) = delete;
  ServedMethod& operator=(const ServedMethod&) = delete;

  // Begins to take calls. The server has started.
  void Start();

 private:
  friend class ServedCall;
  void AcceptCall();

  CallQueues* const queues_;
  EventQueue* const events_;
  Admission* const admission_;
  ResponseParams* const response_params_;
  ClientErrors* const errors_;
  const MethodCounters counters_;
  SlowRequests* const slow_requests_;
  const std::string_view name_;  // in the log
  const google::protobuf::Descriptor* const request_type_;
  const int most_accepting_;
  const Accept accept_;
  const Create create_;
  std::atomic<int> accepting_{0};  // calls that wait for a request
};

// One call. It deletes itself. The steps follow one another, each on any thread.
class ServedCall : private Event, private AdmittedCall {
 public:
  explicit ServedCall(ServedMethod* method) : method_(method) {}
  ~ServedCall() override = default;
  ServedCall(const ServedCall&) = delete;
  ServedCall& operator=(const ServedCall&) = delete;

 protected:
  // How a step ends. Only Send, Wait, WaitForWake and End return it, and after them the step
  // does nothing more.
  enum class Step { kSends, kWaits, kEnds };
  virtual Step Begin(grpc::ByteBuffer* request) = 0;
  // The client has taken the message, or has gone; or the time has passed, or the call was woken,
  // and then `is_there` is true. Only after Send, Wait and WaitForWake.
  virtual Step Continue(bool is_there);

  // INTERNAL, as gRPC's own servers: the bytes are no such message. They are released.
  static absl::Status Parse(grpc::ByteBuffer* bytes, google::protobuf::MessageLite* request);
  static grpc::ByteBuffer Serialize(const google::protobuf::MessageLite& response);

  // The table or the instance that the request names: the call's trailer says which cluster has
  // served it. At most once, before the end. `exists`: the call has found it.
  void SetResource(std::string_view name, bool exists);
  // The cluster that the trailer names, of a resource that exists; "default" if there is none.
  std::string ClusterOf(std::string_view name) const;
  Step Send(const grpc::ByteBuffer& message);
  // Continues after this time, and is a few milliseconds late.
  Step Wait(std::chrono::milliseconds time);
  // Continues once Wake was called, perhaps before this: at once then, and otherwise on the thread
  // that wakes it. Wake is called once for each of these.
  Step WaitForWake();
  void Wake();
  // With a last message, if there is one.
  Step End(const absl::Status& status, std::optional<grpc::ByteBuffer> last = std::nullopt);

  Admission* admission() const { return method_->admission_; }
  // The queue that has the call's events.
  EventQueue* events() const { return method_->events_; }
  CallTrace* trace() { return &trace_; }
  const grpc::ServerContext& context() const { return context_; }
  grpc::ServerContext* mutable_context() { return &context_; }
  // Cancelled when the call is: by the client, because it has gone, or by its deadline.
  const Cancellation* cancellation() const { return &cancellation_; }

 private:
  friend class ServedMethod;
  enum class State { kAccepting, kSending, kWaiting, kEnding };

  // The request is there, or will never be.
  class Receiving final : public Event {
   public:
    explicit Receiving(ServedCall* call) : call_(call) {}
    void Run(bool ok) override;

   private:
    ServedCall* const call_;
  };

  // The call has ended: for the client, perhaps before the steps have.
  class Done final : public Event {
   public:
    explicit Done(ServedCall* call) : call_(call) {}
    void Run(bool ok) override;

   private:
    ServedCall* const call_;
  };

  void Run(bool ok) override;
  void Accepted();
  void Receive();
  void Execute(bool has_request);
  absl::Status Admit(size_t* counted);
  template <typename Function>
  Step RunStep(const Function& step);
  void EndUnexecuted(const absl::Status& status);
  void Refuse(const absl::Status& status) override;
  void AddTiming();
  void Finish();
  void FinishForOthers();
  void StartFinish();
  void ThreadEnds();
  void PartEnded();

  ServedMethod* const method_;
  Receiving receiving_{this};
  Done done_{this};
  // What is to end: the last operation, the call for the client (`done_`), the thread that has
  // started the operation, the thread that has begun to receive, and `receiving_`, which ends after
  // the call if that was refused.
  std::atomic<int> parts_{5};
  bool is_late_ = false;  // the thread did not see the end of the others
  State state_ = State::kAccepting;

  grpc::ServerContext context_;
  grpc::ByteBuffer request_;
  ServedMethod::Writer writer_{&context_};
  std::optional<CallTimer> timer_;
  CallTrace trace_;
  Cancellation cancellation_;
  std::optional<grpc::Alarm> alarm_;  // of a call that has waited
  enum class Waking : uint8_t { kNeither, kWaits, kWoken };
  std::atomic<Waking> waking_{Waking::kNeither};
  size_t request_size_ = 0;
  size_t bytes_sent_ = 0;
  bool has_timing_ = false;

  // How it ends.
  std::optional<grpc::ByteBuffer> last_;
  grpc::Status status_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_SERVED_CALL_H_
