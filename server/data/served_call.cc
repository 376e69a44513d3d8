#include "server/data/served_call.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/bigtable/v2/response_params.pb.h"
#include "grpcpp/impl/codegen/proto_utils.h"

#include "convert/status.h"
#include "server/calls/call_info.h"
#include "server/calls/deadline.h"
#include "server/calls/gzip.h"
#include "server/calls/request_objects.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

using Traits = grpc::SerializationTraits<google::protobuf::MessageLite>;

}  // namespace

void ServedMethod::Start() {
  for (int i = 0; i < most_accepting_; ++i) AcceptCall();
}

void ServedMethod::AcceptCall() {
  std::unique_ptr<ServedCall> call = create_(this);
  accepting_.fetch_add(1, std::memory_order_relaxed);
  queues_->Accept([&](grpc::ServerCompletionQueue* requests) {
    ServedCall* const accepting = call.release();  // which may end before this returns
    accepting->context_.AsyncNotifyWhenDone(&accepting->done_);
    accept_(&accepting->context_, &accepting->writer_, events_->queue(), requests,
            static_cast<Event*>(accepting));
  });
}

void ServedCall::Run(bool ok) {
  switch (state_) {
    case State::kAccepting:
      if (ok) {
        Accepted();
      } else {
        delete this;  // the server ends; `done_` is not run
      }
      break;
    case State::kSending:
      method_->events_->Sent();
      trace_.IsSent();
      if (RunStep([&] { return Continue(ok); }) == Step::kEnds) Finish();
      break;
    case State::kWaiting:
      method_->events_->Sent();
      if (RunStep([&] { return Continue(true); }) == Step::kEnds) Finish();
      break;
    case State::kEnding:
      PartEnded();
      break;
  }
}

void ServedCall::Accepted() {
  method_->events_->CallBegins();
  if (method_->accepting_.fetch_sub(1, std::memory_order_relaxed) == 1) method_->AcceptCall();
  const absl::Status status =
      method_->admission_->BeginToReceive(this, [this] { return TimeLeft(context_); });
  if (status.ok()) return Receive();
  parts_.fetch_sub(2, std::memory_order_relaxed);
  EndUnexecuted(status);
  Finish();
}

void ServedCall::Receive() {
  bool has_request = false;
  const bool is_there = method_->events_->Receive(
      &receiving_, &has_request,
      [this] { writer_.Read(&request_, static_cast<Event*>(&receiving_)); },
      [this] {
        method_->admission_->StillReceives(this);
        PartEnded();  // another thread may have received it, and ended the call
      });
  if (!is_there) return;
  parts_.fetch_sub(2, std::memory_order_relaxed);  // of five, so some are left
  Execute(has_request);
}

void ServedCall::Receiving::Run(bool ok) {
  call_->method_->events_->Sent();
  if (!call_->method_->admission_->Received(call_, call_->request_.Length())) {
    return call_->PartEnded();
  }
  call_->parts_.fetch_sub(1, std::memory_order_relaxed);  // the others cannot have ended
  call_->Execute(ok);
}

void ServedCall::Execute(bool has_request) {
  Admission* const admission = method_->admission_;
  if (!has_request) {
    admission->Leave(this);
    EndUnexecuted(absl::CancelledError("the client has gone, or has sent no request"));
    return Finish();
  }
  size_t counted = 0;
  const absl::Status status = Admit(&counted);
  if (!status.ok()) {
    request_.Clear();
    EndUnexecuted(status);
    return Finish();
  }
  timer_.emplace(method_->counters_);
  request_size_ = request_.Length();
  trace_.Begins(timer_->began(), admission_time());
  const Step step = RunStep([&] { return Begin(&request_); });
  admission->EndExecution(counted);
  if (step == Step::kEnds) Finish();
}

// `*counted` is what EndExecution is to be called with after OK.
absl::Status ServedCall::Admit(size_t* counted) {
  Admission* const admission = method_->admission_;
  const auto begin = [&](size_t bytes) {
    *counted = bytes;
    return admission->BeginExecution(this, bytes, [this] { return TimeLeft(context_); });
  };
  const google::protobuf::Descriptor* const type = method_->request_type_;
  const auto counted_size = [&] {
    return type == nullptr ? request_.Length() : CountedSize(request_, *type);
  };
  const std::optional<uint64_t> unpacked = GzipSize(&request_);
  if (!unpacked.has_value()) return begin(counted_size());
  // What it is when it is decompressed counts, and is not made before it may be. Nobody waits for
  // room for a size that cannot be true.
  if (*unpacked > request_.Length() * kMostGzipRatio) {
    admission->Leave(this);
    return DamagedGzipError();
  }
  SERVER_RETURN_IF_ERROR(begin(std::max<size_t>(*unpacked, request_.Length())));
  if (absl::Status status = Gunzip(*unpacked, &request_); !status.ok()) {
    admission->EndExecution(*counted);
    return status;
  }
  const size_t more = std::max(*counted, counted_size());
  if (absl::Status status = admission->CountMore(*counted, more); !status.ok()) {
    admission->EndExecution(*counted);
    return status;
  }
  *counted = more;
  return absl::OkStatus();
}

// After the step another thread may run the next one.
template <typename Function>
ServedCall::Step ServedCall::RunStep(const Function& step) {
  const CallTrace::Step current(&trace_);
  return step();
}

void ServedCall::EndUnexecuted(const absl::Status& status) {
  timer_.emplace(method_->counters_);
  End(status);
}

// While gRPC still receives the request: the operation that reads it ends with the call.
void ServedCall::Refuse(const absl::Status& status) {
  EndUnexecuted(status);
  FinishForOthers();
}

ServedCall::Step ServedCall::Continue(bool) {
  return End(absl::InternalError("a call that sends nothing was continued"));
}

absl::Status ServedCall::Parse(grpc::ByteBuffer* bytes, google::protobuf::MessageLite* request) {
  if (Traits::Deserialize(bytes, request).ok()) return absl::OkStatus();
  return absl::InternalError(Cat("the request is not a ", request->GetTypeName()));
}

grpc::ByteBuffer ServedCall::Serialize(const google::protobuf::MessageLite& response) {
  grpc::ByteBuffer bytes;
  bool is_owned = false;
  Traits::Serialize(response, &bytes, &is_owned);
  return bytes;
}

void ServedCall::SetResource(std::string_view name, bool exists) {
  const std::shared_ptr<const std::string> params = method_->response_params_->Of(name, exists);
  if (params != nullptr) context_.AddTrailingMetadata(kResponseParamsTrailer, *params);
}

std::string ServedCall::ClusterOf(std::string_view name) const {
  const std::shared_ptr<const std::string> params = method_->response_params_->Of(name, true);
  google::bigtable::v2::ResponseParams parsed;
  if (params == nullptr || !parsed.ParseFromString(*params) || parsed.cluster_id().empty()) {
    return "default";
  }
  return parsed.cluster_id();
}

// Before the first message, or the end: they take the metadata along.
void ServedCall::AddTiming() {
  if (std::exchange(has_timing_, true)) return;
  const auto taken = std::chrono::duration_cast<std::chrono::milliseconds>(timer_->elapsed());
  context_.AddInitialMetadata("server-timing", absl::StrCat("gfet4t7; dur=", taken.count()));
}

ServedCall::Step ServedCall::Send(const grpc::ByteBuffer& message) {
  AddTiming();
  state_ = State::kSending;
  bytes_sent_ += message.Length();
  trace_.Sends();
  // Another thread may run the next step before this returns.
  method_->events_->Send([&] { writer_.Write(message, static_cast<Event*>(this)); });
  return Step::kSends;
}

ServedCall::Step ServedCall::Wait(std::chrono::milliseconds time) {
  state_ = State::kWaiting;
  if (!alarm_.has_value()) alarm_.emplace();
  // Another thread may run the next step before this returns.
  method_->events_->Send(
      [&] { alarm_->Set(method_->events_->queue(), DeadlineIn(time), static_cast<Event*>(this)); });
  return Step::kWaits;
}

ServedCall::Step ServedCall::WaitForWake() {
  state_ = State::kWaiting;
  if (waking_.exchange(Waking::kWaits) == Waking::kNeither) {
    return Step::kWaits;  // and another thread may run the next step by now
  }
  waking_ = Waking::kNeither;
  return Continue(true);
}

// The events of the end are for the threads of the queue: this one is the waker's.
void ServedCall::Wake() {
  if (waking_.exchange(Waking::kWoken) == Waking::kNeither) return;
  waking_ = Waking::kNeither;
  // The call may be gone after the step, and the queue waits for its own threads alone.
  EventQueue* const events = method_->events_;
  events->CallBegins();
  if (RunStep([&] { return Continue(true); }) == Step::kEnds) FinishForOthers();
  events->CallEnded();
}

ServedCall::Step ServedCall::End(const absl::Status& status, std::optional<grpc::ByteBuffer> last) {
  AddTiming();
  state_ = State::kEnding;
  status_ = convert::ToGrpcStatus(method_->errors_->For(method_->name_, status));
  if (last.has_value()) bytes_sent_ += last->Length();
  last_ = std::move(last);
  timer_->End(status_.error_code(), request_size_, bytes_sent_);
  if (trace_.is_traced()) method_->slow_requests_->Add(trace_.Finish());
  return Step::kEnds;
}

void ServedCall::Finish() {
  method_->events_->Finish({.last = this, .done = &done_}, [this] { StartFinish(); });
  ThreadEnds();
}

// As Finish, without running events in this thread.
void ServedCall::FinishForOthers() {
  StartFinish();
  ThreadEnds();
}

void ServedCall::StartFinish() {
  if (last_.has_value()) {
    const grpc::ByteBuffer last = *std::exchange(last_, std::nullopt);
    writer_.WriteAndFinish(last, grpc::WriteOptions(), status_, static_cast<Event*>(this));
  } else {
    writer_.Finish(status_, static_cast<Event*>(this));
  }
}

void ServedCall::ThreadEnds() {
  if (parts_.load(std::memory_order_relaxed) > 1) {
    is_late_ = true;
    method_->events_->EndIsLate();
  }
  PartEnded();
}

void ServedCall::Done::Run(bool) {
  if (call_->context_.IsCancelled()) call_->cancellation_.Cancel();
  call_->PartEnded();
}

// The last part of a call takes the next one.
void ServedCall::PartEnded() {
  if (parts_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  ServedMethod* const method = method_;
  if (is_late_) method->events_->LateEnd();
  delete this;
  if (method->accepting_.load(std::memory_order_relaxed) < method->most_accepting_) {
    method->AcceptCall();
  }
  method->events_->CallEnded();
}

}  // namespace bigtable::server
