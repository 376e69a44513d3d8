// A method with one request and a list of responses that are all known before the first is sent,
// and its calls. Otherwise as unary_call.h.
#ifndef BIGTABLE_SERVER_CALLS_LIST_CALL_H_
#define BIGTABLE_SERVER_CALLS_LIST_CALL_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "grpcpp/completion_queue.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/async_stream.h"
#include "server/calls/call_threads.h"
#include "server/calls/event.h"
#include "server/calls/unary_call.h"

namespace bigtable::server {

// Must outlive its calls: until the queue has been shut down.
template <typename Request, typename Response>
class ListMethod {
 public:
  using Writer = grpc::ServerAsyncWriter<Response>;
  // The service's Request<Method>.
  using Accept = std::function<void(grpc::ServerContext* context, Request* request, Writer* writer,
                                    grpc::ServerCompletionQueue* queue, void* tag)>;
  // Runs the call. Any thread. After an error nothing is sent but the error.
  using Handle = std::function<grpc::Status(grpc::ServerContext* context, const Request& request,
                                            std::vector<Response>* responses)>;

  ListMethod(CallThreads* threads, Accept accept, Handle handle)
      : threads_(threads), accept_(std::move(accept)), handle_(std::move(handle)) {}
  ListMethod(const ListMethod&) = delete;
  ListMethod& operator=(const ListMethod&) = delete;

  // Begins to take calls. The server has started.
  void Start() {
    for (int i = 0; i < kAcceptingCalls; ++i) (new Call(this))->Accept();
  }

 private:
  // Deletes itself.
  class Call final : public Event {
   public:
    explicit Call(ListMethod* method) : method_(method) {}
    virtual ~Call() = default;

    void Accept() {
      method_->accepting_.fetch_add(1, std::memory_order_relaxed);
      const bool accepts = method_->threads_->Accept([&](grpc::ServerCompletionQueue* queue) {
        method_->accept_(&context_, &request_, &writer_, queue, this);
      });
      if (!accepts) delete this;
    }

    void Run(bool ok) override {
      switch (step_) {
        case Step::kAccept: {
          const int others = method_->accepting_.fetch_sub(1, std::memory_order_relaxed) - 1;
          if (!ok) {
            delete this;
            return;
          }
          if (others == 0) (new Call(method_))->Accept();
          const grpc::Status status = method_->handle_(&context_, request_, &responses_);
          if (!status.ok()) responses_.clear();
          Send(status);
          return;
        }
        case Step::kWrite:
          if (!ok) sent_ = responses_.size();  // the client has gone
          Send(grpc::Status::OK);
          return;
        case Step::kFinish:
          if (method_->accepting_.load(std::memory_order_relaxed) < kAcceptingCalls) {
            (new Call(method_))->Accept();
          }
          delete this;
          return;
      }
    }

   private:
    enum class Step { kAccept, kWrite, kFinish };

    // The next response, or the end.
    void Send(const grpc::Status& status) {
      const size_t left = responses_.size() - sent_;
      step_ = left > 1 ? Step::kWrite : Step::kFinish;
      if (left == 0) {
        writer_.Finish(status, this);
      } else if (left == 1) {
        writer_.WriteAndFinish(responses_[sent_++], grpc::WriteOptions(), status, this);
      } else {
        writer_.Write(responses_[sent_++], this);
      }
    }

    ListMethod* const method_;
    Step step_ = Step::kAccept;
    grpc::ServerContext context_;
    Request request_;
    Writer writer_{&context_};
    std::vector<Response> responses_;
    size_t sent_ = 0;
  };

  CallThreads* const threads_;
  const Accept accept_;
  const Handle handle_;
  std::atomic<int> accepting_{0};
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_LIST_CALL_H_
