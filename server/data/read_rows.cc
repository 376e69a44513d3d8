#include "server/data/read_rows.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "grpcpp/support/slice.h"

#include "server/calls/call_info.h"
#include "server/convert/errors.h"
#include "server/convert/filter.h"
#include "server/convert/row_set.h"

namespace bigtable::server {
namespace {

// Bytes of a message: of the first, and of later ones, each twice as large as the one before.
constexpr size_t kFirstMessage = 16 << 10;
constexpr size_t kLargestMessage = 512 << 10;
// Bytes of the messages of all streams together, as long as each has at least kFirstMessage.
constexpr size_t kAllMessages = 64 << 20;

}  // namespace

ReadRowsCall::ReadRowsCall(ServedTables* tables, const Authentication* authentication,
                           Streams* streams, RowSampler* sampler, grpc::ServerContext* context,
                           grpc::ServerWriter<grpc::ByteBuffer>* writer)
    : tables_(tables),
      authentication_(authentication),
      streams_(streams),
      sampler_(sampler),
      context_(context),
      writer_(writer),
      chunks_(kFirstMessage),
      message_size_(kFirstMessage) {}

absl::Status ReadRowsCall::Run(const data::ReadRowsRequest& request) {
  SERVER_RETURN_IF_ERROR(Take(request));
  Streams::Running running(streams_, context_, &cancellation_);
  reader_.emplace(table_->ReadRows(rows_, filter_, options_));
  return Stream(&running);
}

absl::Status ReadRowsCall::Take(const data::ReadRowsRequest& request) {
  if (!request.authorized_view_name().empty() || !request.materialized_view_name().empty()) {
    return absl::UnimplementedError("this server has no views of tables");
  }
  SERVER_ASSIGN_OR_RETURN(RowSelection selection, ToRowSelection(request));
  rows_ = std::move(selection.rows);
  options_.row_limit = selection.limit;
  options_.reverse = selection.reversed;
  options_.deadline = DeadlineOf(*context_);
  options_.cancellation = &cancellation_;
  SERVER_ASSIGN_OR_RETURN(filter_, ToFilter(request.filter()));
  if (request.request_stats_view() == data::ReadRowsRequest::REQUEST_STATS_FULL) {
    wants_stats_ = true;
    began_ = absl::Now();
  }
  table_name_ = &request.table_name();
  SERVER_ASSIGN_OR_RETURN(caller_, authentication_->CallerOf(*context_));
  SERVER_ASSIGN_OR_RETURN(table_, tables_->Open(*table_name_, caller_));
  return absl::OkStatus();
}

absl::Status ReadRowsCall::Stream(Streams::Running* running) {
  absl::StatusOr<bool> is_full;
  while ((is_full = Fill()).ok() && *is_full) {
    if (!SendMessage(running)) return absl::CancelledError("the client has gone");
  }
  // A read that found nothing was a read of its first row.
  if (rows_sent_ == 0 && !rows_.ranges().empty()) CountRead(rows_.ranges().front().begin());
  if (wants_stats_ && is_full.ok()) {
    // Two messages one after the other are one with what both have.
    std::string bytes = chunks_.Take();
    Stats().AppendToString(&bytes);
    bytes_sent_ += bytes.size();
    const grpc::Slice slice(bytes);
    writer_->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions());
  } else if (!chunks_.empty()) {
    writer_->WriteLast(TakeMessage(), grpc::WriteOptions());
  }
  return is_full.status();
}

// Reads until the message is full. False: these were the last rows.
absl::StatusOr<bool> ReadRowsCall::Fill() {
  chunks_.set_full_size(NextMessageSize());
  while (!chunks_.is_full()) {
    if (!is_within_row_) {
      if (has_all_rows()) return false;
      if (!reader_->Next()) {
        SERVER_ASSIGN_OR_RETURN(const bool begins_anew, OpenAgain());
        if (!begins_anew) return false;
        continue;
      }
      ++rows_sent_;
      CountRead(reader_->row().key());
      cells_sent_ += static_cast<int64_t>(reader_->row().cells().size());
    }
    is_within_row_ = !chunks_.Write(reader_->row());
  }
  return true;
}

void ReadRowsCall::CountRead(std::string_view row) {
  sampler_->Count(table_->name(), row, RowAccess::kRead);
}

// The reader has no next row. If that is because the table was deleted, and there is a new one of
// its name, reads that. Otherwise returns the reader's error, or false.
absl::StatusOr<bool> ReadRowsCall::OpenAgain() {
  const absl::Status status = reader_->status();
  if (!absl::IsNotFound(status) || rows_sent_ > 0) {
    SERVER_RETURN_IF_ERROR(status);
    return false;
  }
  SERVER_ASSIGN_OR_RETURN(Table* const table, tables_->OpenAgain(*table_name_, caller_));
  if (table == table_) return status;
  table_ = table;
  reader_.emplace(table_->ReadRows(rows_, filter_, options_));
  return true;
}

// Waits until the client can take the message. False: it has gone.
bool ReadRowsCall::SendMessage(Streams::Running* running) {
  // Within a row, the reader has the rest of it.
  std::optional<Streams::Ticket> ticket;
  if (!is_within_row_) ticket = streams_->Leave(*std::exchange(reader_, std::nullopt));
  running->SetWaiting(true);
  const bool is_there = writer_->Write(TakeMessage());
  running->SetWaiting(false);
  if (ticket.has_value()) TakeReaderBack(*ticket);
  return is_there;
}

void ReadRowsCall::TakeReaderBack(Streams::Ticket ticket) {
  Streams::Reader left = streams_->TakeBack(ticket);
  if (left.reader.has_value()) {
    reader_ = std::move(left.reader);
  } else if (!has_all_rows()) {
    ReadOptions options = options_;
    if (options.row_limit > 0) options.row_limit -= rows_sent_;
    reader_.emplace(table_->ResumeRows(left.token, filter_, options));
  }
}

size_t ReadRowsCall::NextMessageSize() {
  const size_t fair = kAllMessages / std::max<size_t>(streams_->running(), 1);
  const size_t next = std::min({2 * message_size_, kLargestMessage, std::max(fair, kFirstMessage)});
  return std::exchange(message_size_, next);
}

// The bytes are not copied.
grpc::ByteBuffer ReadRowsCall::TakeMessage() {
  auto* const bytes = new std::string(chunks_.Take());
  bytes_sent_ += bytes->size();
  const grpc::Slice slice(
      bytes->data(), bytes->size(), [](void* owner) { delete static_cast<std::string*>(owner); },
      bytes);
  return grpc::ByteBuffer(&slice, 1);
}

// What was seen and not returned is not counted.
data::ReadRowsResponse ReadRowsCall::Stats() const {
  data::ReadRowsResponse response;
  auto* const stats = response.mutable_request_stats()->mutable_full_read_stats_view();
  auto* const counts = stats->mutable_read_iteration_stats();
  counts->set_rows_seen_count(rows_sent_);
  counts->set_rows_returned_count(rows_sent_);
  counts->set_cells_seen_count(cells_sent_);
  counts->set_cells_returned_count(cells_sent_);
  const absl::Duration taken = absl::Now() - began_;
  auto* const latency = stats->mutable_request_latency_stats()->mutable_frontend_server_latency();
  latency->set_seconds(absl::ToInt64Seconds(taken));
  latency->set_nanos(
      static_cast<int32_t>(absl::ToInt64Nanoseconds(taken) - latency->seconds() * 1'000'000'000));
  return response;
}

}  // namespace bigtable::server
