// A method with one request and one response, and its calls.
//
// Each call is an object that gRPC fills with the next request. A thread of the queue runs the
// handler and sends the response; then the object takes another request. So a call costs two events
// and, once a few objects are there, allocates only what its messages need.
#ifndef BIGTABLE_SERVER_CALLS_UNARY_CALL_H_
#define BIGTABLE_SERVER_CALLS_UNARY_CALL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "google/protobuf/arena.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/async_unary_call.h"
#include "server/calls/call_threads.h"
#include "server/calls/event.h"

namespace bigtable::server {

// How many calls of a method wait for a request. When several requests arrive at once, all but
// these wait until one that waits has been replaced.
inline constexpr int kAcceptingCalls = 8;

// Must outlive its calls: until the queue has been shut down.
template <typename Request, typename Response>
class UnaryMethod {
 public:
  using Responder = grpc::ServerAsyncResponseWriter<Response>;
  // The service's Request<Method>.
  using Accept =
      std::function<void(grpc::ServerContext* context, Request* request, Responder* responder,
                         grpc::ServerCompletionQueue* queue, void* tag)>;
  // Runs the call. Any thread.
  using Handle = std::function<grpc::Status(grpc::ServerContext* context, const Request& request,
                                            Response* response)>;

  UnaryMethod(CallThreads* threads, Accept accept, Handle handle)
      : threads_(threads), accept_(std::move(accept)), handle_(std::move(handle)) {}
  UnaryMethod(const UnaryMethod&) = delete;
  UnaryMethod& operator=(const UnaryMethod&) = delete;

  // Begins to take calls. The server has started.
  void Start() {
    for (int i = 0; i < kAcceptingCalls; ++i) (new Call(this))->Accept();
  }

 private:
  // Deletes itself.
  class Call final : public Event {
   public:
    explicit Call(UnaryMethod* method) : method_(method) {}
    virtual ~Call() = default;

    void Accept() {
      is_accepting_ = true;
      method_->accepting_.fetch_add(1, std::memory_order_relaxed);
      context_.emplace();
      responder_.emplace(&*context_);
      request_ = google::protobuf::Arena::CreateMessage<Request>(&arena_);
      response_ = google::protobuf::Arena::CreateMessage<Response>(&arena_);
      const bool accepts = method_->threads_->Accept([&](grpc::ServerCompletionQueue* queue) {
        method_->accept_(&*context_, request_, &*responder_, queue, this);
      });
      if (!accepts) delete this;
    }

    void Run(bool ok) override {
      if (is_accepting_) {
        is_accepting_ = false;
        const int others = method_->accepting_.fetch_sub(1, std::memory_order_relaxed) - 1;
        if (!ok) {
          delete this;
          return;
        }
        if (others == 0) (new Call(method_))->Accept();
        const grpc::Status status = method_->handle_(&*context_, *request_, response_);
        if (status.ok()) {
          responder_->Finish(*response_, status, this);
        } else {
          responder_->FinishWithError(status, this);
        }
        return;
      }
      if (method_->accepting_.load(std::memory_order_relaxed) >= kAcceptingCalls) {
        delete this;
        return;
      }
      responder_.reset();
      context_.reset();
      arena_.Reset();
      Accept();
    }

   private:
    UnaryMethod* const method_;
    bool is_accepting_ = false;
    alignas(std::max_align_t) std::array<char, 2048> first_block_;
    google::protobuf::Arena arena_{first_block_.data(), first_block_.size()};
    std::optional<grpc::ServerContext> context_;
    std::optional<Responder> responder_;
    Request* request_ = nullptr;
    Response* response_ = nullptr;
  };

  CallThreads* const threads_;
  const Accept accept_;
  const Handle handle_;
  std::atomic<int> accepting_{0};
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_UNARY_CALL_H_
