#include "server/data/read_rows.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/call_options.h"
#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/table.h"

#include "google/protobuf/arena.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/support/async_stream.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"
#include "server/calls/call_info.h"
#include "server/calls/event.h"
#include "server/convert/errors.h"
#include "server/convert/filter.h"
#include "server/convert/row_chunks.h"
#include "server/convert/row_set.h"
#include "server/convert/status.h"

namespace bigtable::server {
namespace {

constexpr int kAcceptingReads = 16;
// Bytes of a message: of the first, and of later ones, each twice as large as the one before.
constexpr size_t kFirstMessage = 16 << 10;
constexpr size_t kLargestMessage = 512 << 10;
// Bytes of the messages of all streams together, as long as each has at least kFirstMessage.
constexpr size_t kAllMessages = 64 << 20;

}  // namespace

// Deletes itself. The steps of a call follow one another, each on any thread. Only the event that
// the call has ended may run beside them.
class ReadRowsMethod::Call final : public Event {
 public:
  explicit Call(ReadRowsMethod* method) : method_(method) {}
  virtual ~Call() = default;

  void Accept() {
    method_->accepting_.fetch_add(1, std::memory_order_relaxed);
    const bool accepts = method_->threads_->Accept([&](grpc::ServerCompletionQueue* queue) {
      context_.AsyncNotifyWhenDone(&done_);
      method_->service_->RequestReadRows(&context_, &request_bytes_, &writer_, queue, queue, this);
    });
    if (!accepts) delete this;
  }

  void Run(bool ok) override {
    switch (step_) {
      case Step::kAccept: {
        const int others = method_->accepting_.fetch_sub(1, std::memory_order_relaxed) - 1;
        if (!ok) {
          delete this;  // `done_` is not run then
          return;
        }
        if (others == 0) (new Call(method_))->Accept();
        method_->calls_.fetch_add(1, std::memory_order_relaxed);
        events_.store(2, std::memory_order_relaxed);
        Begin();
        return;
      }
      case Step::kWrite:
        if (is_left_) TakeReaderBack();
        if (ok) {
          Continue();
        } else {
          Finish(absl::CancelledError("the client has gone"));
        }
        return;
      case Step::kFinish:
        EventEnded();
        return;
    }
  }

 private:
  enum class Step { kAccept, kWrite, kFinish };

  // The call has ended: for the client, perhaps before we are through.
  class Done final : public Event {
   public:
    explicit Done(Call* call) : call_(call) {}
    void Run(bool) override {
      if (call_->context_.IsCancelled()) call_->cancellation_.Cancel();
      call_->EventEnded();
    }

   private:
    Call* const call_;
  };

  void Begin() {
    absl::Status status = ReadRequest();
    if (status.ok()) status = Open();
    if (status.ok()) {
      Continue();
    } else {
      Finish(status);
    }
  }

  absl::Status ReadRequest() {
    google::protobuf::Arena arena;
    auto* const request = google::protobuf::Arena::CreateMessage<data::ReadRowsRequest>(&arena);
    if (!grpc::SerializationTraits<data::ReadRowsRequest>::Deserialize(&request_bytes_, request)
             .ok()) {
      return Invalid("the request is not a ReadRowsRequest");
    }
    if (!request->authorized_view_name().empty() || !request->materialized_view_name().empty()) {
      return absl::UnimplementedError("this server has no views of tables");
    }
    SERVER_ASSIGN_OR_RETURN(RowSelection selection, ToRowSelection(*request));
    rows_ = std::move(selection.rows);
    options_.row_limit = selection.limit;
    options_.reverse = selection.reversed;
    table_name_ = request->table_name();
    options_.deadline = DeadlineOf(context_);
    options_.cancellation = &cancellation_;
    if (request->request_stats_view() == data::ReadRowsRequest::REQUEST_STATS_FULL) {
      wants_stats_ = true;
      began_ = absl::Now();
    }
    SERVER_ASSIGN_OR_RETURN(filter_, ToFilter(request->filter()));
    SERVER_ASSIGN_OR_RETURN(caller_, method_->authentication_->CallerOf(context_));
    return absl::OkStatus();
  }

  absl::Status Open() {
    SERVER_ASSIGN_OR_RETURN(table_, method_->tables_->Open(table_name_, caller_));
    reader_.emplace(table_->ReadRows(rows_, filter_, options_));
    return absl::OkStatus();
  }

  // Reads the next message and sends it.
  void Continue() {
    chunks_.set_full_size(MessageSize());
    while (!chunks_.is_full()) {
      if (!is_within_row_) {
        if (has_all_rows() || !reader_->Next()) {
          End();
          return;
        }
        ++sent_rows_;
        sent_cells_ += static_cast<int64_t>(reader_->row().cells().size());
      }
      is_within_row_ = !chunks_.Write(reader_->row());
    }
    step_ = Step::kWrite;
    is_left_ = !is_within_row_;  // the rest of a row would be lost
    if (is_left_) paused_ = method_->paused_.Leave(*std::exchange(reader_, std::nullopt));
    writer_.Write(TakeMessage(), this);
  }

  bool has_all_rows() const { return options_.row_limit > 0 && sent_rows_ == options_.row_limit; }

  // The bytes are not copied.
  grpc::ByteBuffer TakeMessage(bool with_stats = false) {
    auto* const bytes = new std::string(chunks_.Take());
    if (with_stats) Stats().AppendToString(bytes);  // one message after another is both merged
    const grpc::Slice slice(
        bytes->data(), bytes->size(), [](void* data) { delete static_cast<std::string*>(data); },
        bytes);
    return grpc::ByteBuffer(&slice, 1);
  }

  // What was seen beyond what was sent is not counted.
  data::ReadRowsResponse Stats() const {
    data::ReadRowsResponse response;
    auto* const stats = response.mutable_request_stats()->mutable_full_read_stats_view();
    auto* const counts = stats->mutable_read_iteration_stats();
    counts->set_rows_seen_count(sent_rows_);
    counts->set_rows_returned_count(sent_rows_);
    counts->set_cells_seen_count(sent_cells_);
    counts->set_cells_returned_count(sent_cells_);
    const absl::Duration taken = absl::Now() - began_;
    auto* const latency = stats->mutable_request_latency_stats()->mutable_frontend_server_latency();
    latency->set_seconds(absl::ToInt64Seconds(taken));
    latency->set_nanos(static_cast<int32_t>(
        absl::ToInt64Nanoseconds(taken - absl::Seconds(absl::ToInt64Seconds(taken)))));
    return response;
  }

  size_t MessageSize() {
    const size_t fair = kAllMessages / std::max<size_t>(method_->calls(), 1);
    return std::exchange(message_size_, std::min({2 * message_size_, kLargestMessage,
                                                  std::max(fair, kFirstMessage)}));
  }

  void TakeReaderBack() {
    PausedReaders::Entry entry = method_->paused_.TakeBack(paused_);
    if (entry.reader.has_value()) {
      reader_ = *std::move(entry.reader);
      return;
    }
    ReadOptions options = options_;
    if (has_all_rows()) return;
    if (options_.row_limit > 0) options.row_limit -= sent_rows_;
    reader_.emplace(table_->ResumeRows(entry.token, filter_, options));
  }

  // No more rows, or an error.
  void End() {
    absl::Status status = has_all_rows() ? absl::OkStatus() : reader_->status();
    if (absl::IsNotFound(status) && sent_rows_ == 0 && !opened_again_) {
      // The table that was opened before may have been deleted and created again.
      opened_again_ = true;
      const absl::StatusOr<Table*> table = method_->tables_->OpenAgain(table_name_, caller_);
      if (table.ok() && *table != table_) {
        table_ = *table;
        reader_.emplace(table_->ReadRows(rows_, filter_, options_));
        Continue();
        return;
      }
      if (!table.ok()) status = table.status();
    }
    Finish(status);
  }

  void Finish(const absl::Status& status) {
    reader_.reset();
    step_ = Step::kFinish;
    const bool has_stats = wants_stats_ && status.ok();
    if (chunks_.empty() && !has_stats) {
      writer_.Finish(ToGrpcStatus(status), this);
    } else {
      writer_.WriteAndFinish(TakeMessage(has_stats), grpc::WriteOptions(), ToGrpcStatus(status),
                             this);
    }
  }

  // The last of the two events that every call has at its end takes the next call.
  void EventEnded() {
    if (events_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    method_->calls_.fetch_sub(1, std::memory_order_relaxed);
    if (method_->accepting_.load(std::memory_order_relaxed) < kAcceptingReads) {
      (new Call(method_))->Accept();
    }
    delete this;
  }

  ReadRowsMethod* const method_;
  Done done_{this};
  grpc::ServerContext context_;
  grpc::ByteBuffer request_bytes_;
  grpc::ServerAsyncWriter<grpc::ByteBuffer> writer_{&context_};
  std::atomic<int> events_{0};  // that are to come: the end of our steps, and `done_`
  Step step_ = Step::kAccept;

  Cancellation cancellation_;
  std::string table_name_;
  std::optional<std::string> caller_;
  Filter filter_;
  RowSet rows_;
  ReadOptions options_;
  bool wants_stats_ = false;
  absl::Time began_;  // only if it wants them

  Table* table_ = nullptr;
  bool opened_again_ = false;
  std::optional<RowReader> reader_;  // not while the client takes a message
  bool is_within_row_ = false;       // the rest of the reader's row is for the next message
  PausedReaders::Ticket paused_;
  bool is_left_ = false;  // the reader, with that ticket
  RowChunks chunks_{kFirstMessage};
  size_t message_size_ = kFirstMessage;
  int64_t sent_rows_ = 0;
  int64_t sent_cells_ = 0;
};

void ReadRowsMethod::Start() {
  for (int i = 0; i < kAcceptingReads; ++i) (new Call(this))->Accept();
}

}  // namespace bigtable::server
