#include "server/calls/call_queues.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "grpc/grpc.h"

namespace bigtable::server {
namespace {

// Threads that wait for requests: with fewer, threads start and end more often, and a request waits
// more often until one has started.
int WaitingForRequests() {
  return std::max(6, static_cast<int>(std::thread::hardware_concurrency()));
}
constexpr int kWaitingForEvents = 4;
// Threads that read changes.
constexpr int kMostForChanges = 8;
// How soon the next event of a stream that is read is likely to be there.
constexpr std::chrono::milliseconds kBusy(5);
// How often idle streams are looked after: less often, the longer nothing happens.
constexpr std::chrono::milliseconds kFirstLook(1);
constexpr std::chrono::milliseconds kLastLook(8);

std::unique_ptr<grpc::CompletionQueue> MakeQueueWithoutPolling() {
  const grpc_completion_queue_attributes attributes = {GRPC_CQ_CURRENT_VERSION, GRPC_CQ_NEXT,
                                                       GRPC_CQ_NON_POLLING, nullptr};
  return std::make_unique<grpc::CompletionQueue>(grpc_completion_queue_create(
      grpc_completion_queue_factory_lookup(&attributes), &attributes, nullptr));
}

}  // namespace

EventQueue::EventQueue(int most_threads)
    : queue_(MakeQueueWithoutPolling()),
      threads_(queue_.get(), kWaitingForEvents, most_threads,
               [this](void** tag, bool* ok) { return Next(tag, ok); }) {}

void EventQueue::Shutdown() {
  gate_.Open();
  // A call that still runs starts operations, which it must not after the end of the queue.
  while (calls_.load() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  queue_->Shutdown();
  threads_.JoinThreads();
}

CallQueues::CallQueues(std::unique_ptr<grpc::ServerCompletionQueue> requests, int most_threads)
    : requests_(std::move(requests)),
      streams_(most_threads),
      unary_calls_(most_threads),
      change_streams_(std::min(most_threads, kMostForChanges)),
      request_threads_(requests_.get(), WaitingForRequests(), most_threads,
                       [this](void** tag, bool* ok) { return requests_->Next(tag, ok); }) {}

CallQueues::~CallQueues() {
  Shutdown();  // a queue must be shut down and drained in any case
}

absl::Status CallQueues::Start() {
  if (absl::Status status = request_threads_.Start(); !status.ok()) return status;
  if (absl::Status status = streams_.Start(); !status.ok()) return status;
  if (absl::Status status = unary_calls_.Start(); !status.ok()) return status;
  return change_streams_.Start();
}

void CallQueues::Shutdown() {
  {
    const std::lock_guard<std::shared_mutex> lock(shutdown_mutex_);
    if (std::exchange(is_shut_down_, true)) return;
    requests_->Shutdown();
  }
  request_threads_.JoinThreads();
  streams_.Shutdown();
  unary_calls_.Shutdown();
  change_streams_.Shutdown();
}

// While streams are read, their events follow one another, and a thread waits for the next one in
// the queue. While all streams are idle, it only looks into the queue now and then: otherwise the
// end of each small read would wake it.
bool EventQueue::Next(void** tag, bool* ok) {
  using grpc::CompletionQueue;
  bool is_first = true;
  for (auto look = kFirstLook;; look = std::min(2 * look, kLastLook)) {
    gate_.Wait();  // without the turn, which a thread that has passed the gate needs
    const std::lock_guard<std::mutex> turn(turn_mutex_);
    const CompletionQueue::NextStatus next =
        queue_->AsyncNext(tag, ok, is_first ? DeadlineIn(kBusy) : PastDeadline());
    if (next != CompletionQueue::TIMEOUT) return next == CompletionQueue::GOT_EVENT;
    is_first = false;
    std::this_thread::sleep_for(look);
  }
}

void EventQueue::RunEnd(const End& end, grpc::CompletionQueue::NextStatus next, void* tag,
                        bool ok) {
  RunsEnd() = true;
  // Two events, and no more: others are for other threads.
  for (int i = 0; next == grpc::CompletionQueue::GOT_EVENT; ++i) {
    Event* const event = static_cast<Event*>(tag);
    // The event of another call may take long. Then another thread is to take those of this one.
    const bool is_foreign = event != end.last && event != end.done;
    if (is_foreign) {
      gate_.Expect();
      gate_.Wake();
    }
    event->Run(ok);
    if (is_foreign) gate_.Forget();
    if (i == 1) break;
    next = queue_->AsyncNext(&tag, &ok, PastDeadline());
  }
  RunsEnd() = false;
}

}  // namespace bigtable::server
