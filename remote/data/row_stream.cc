#include "remote/data/row_stream.h"

#include <utility>

#include "backend/option_limits.h"
#include "base/status.h"
#include "base/strings.h"
#include "convert/filter.h"
#include "convert/row_set.h"
#include "rows/resume_token.h"

namespace bigtable::remote {

RemoteRows::RemoteRows(std::shared_ptr<Connection> connection, const std::string& table,
                       std::vector<RowRange> ranges, const Filter& filter,
                       const ReadOptions& options)
    : connection_(std::move(connection)),
      limits_(LimitsOf(options)),
      reverse_(options.reverse),
      row_limit_(options.row_limit),
      retries_(connection_.get(), &limits_),
      ranges_(std::move(ranges)) {
  request_.set_table_name(table);
  request_.set_app_profile_id(connection_->options().app_profile);
  *request_.mutable_filter() = convert::ToProto(filter);
  request_.set_reversed(reverse_);
  begun_ = Begin();
}

RemoteRows::~RemoteRows() { Abandon(); }

absl::StatusOr<bool> RemoteRows::Next(Row* row) {
  absl::Status status = std::exchange(begun_, absl::OkStatus());
  while (true) {
    // Rows that have come already are returned too only within the limits.
    BT_RETURN_IF_ERROR(limits_.Check());
    BT_RETURN_IF_ERROR(connection_->CheckOpen());
    if (status.ok()) {
      absl::StatusOr<bool> next = NextOfStream(row);
      if (next.ok()) return next;
      status = next.status();
    }
    if (is_broken_ || !IsPassing(status)) return status;
    // The time for retries begins anew with each row.
    if (std::exchange(rows_at_error_, rows_) != rows_) retries_.Restart();
    Forget();
    Abandon();
    if (ranges_.empty()) return false;
    BT_RETURN_IF_ERROR(retries_.Pause(status));
    status = Begin();
  }
}

absl::Status RemoteRows::Begin() {
  stream_ = std::make_unique<Stream>(connection_.get(), &limits_, &ranges_, reverse_);
  *request_.mutable_rows() = convert::ToProto(ranges_);
  if (row_limit_ > 0) request_.set_rows_limit(row_limit_ - rows_);
  const absl::Status prepared = stream_->attempt.Prepare("table_name", request_.table_name());
  if (!prepared.ok()) {
    stream_ = nullptr;
    return prepared;
  }
  stream_->reader = connection_->data()->PrepareAsyncReadRows(stream_->attempt.context(), request_,
                                                              stream_->attempt.queue());
  stream_->reader->StartCall(stream_.get());
  // A failure shows in the status.
  (void)stream_->attempt.Wait();
  stream_->reader->Read(&stream_->response, stream_.get());
  stream_->is_reading = true;
  return absl::OkStatus();
}

void RemoteRows::Abandon() {
  if (stream_ == nullptr) return;
  if (stream_->reader != nullptr) {
    stream_->attempt.context()->TryCancel();
    if (stream_->is_reading) (void)stream_->attempt.Wait();
    grpc::Status status;
    stream_->reader->Finish(&status, stream_.get());
    (void)stream_->attempt.Wait();
  }
  stream_ = nullptr;
}

absl::StatusOr<bool> RemoteRows::NextOfStream(Row* row) {
  if (row_limit_ > 0 && rows_ == row_limit_) return false;
  while (true) {
    while (stream_->next_chunk < stream_->response.chunks_size() && !stream_->is_reading) {
      const absl::StatusOr<bool> has_row =
          stream_->merger.Add(stream_->response.mutable_chunks(stream_->next_chunk++), row);
      if (!has_row.ok()) return Broken(has_row.status());
      if (!*has_row) continue;
      ++rows_;
      return true;
    }
    if (!stream_->is_reading) {
      if (!stream_->response.last_scanned_row_key().empty()) {
        const absl::Status scanned =
            stream_->merger.AddLastScanned(stream_->response.last_scanned_row_key());
        if (!scanned.ok()) return Broken(scanned);
      }
      stream_->response.Clear();
      stream_->reader->Read(&stream_->response, stream_.get());
      stream_->is_reading = true;
    }
    if (ReadResponse()) continue;
    BT_RETURN_IF_ERROR(Finish());
    if (const absl::Status ended = stream_->merger.End(); !ended.ok()) return Broken(ended);
    stream_ = nullptr;
    return false;
  }
}

absl::Status RemoteRows::Broken(const absl::Status& error) {
  is_broken_ = true;
  return error;
}

bool RemoteRows::ReadResponse() {
  stream_->next_chunk = 0;
  const bool has_response = stream_->attempt.Wait();
  stream_->is_reading = false;
  return has_response;
}

absl::Status RemoteRows::Finish() {
  grpc::Status status;
  stream_->reader->Finish(&status, stream_.get());
  (void)stream_->attempt.Wait();
  stream_->reader = nullptr;
  return stream_->attempt.ResultOf(status);
}

void RemoteRows::Forget() {
  if (stream_ == nullptr) return;
  const std::string last = stream_->merger.last_row();
  if (!last.empty()) ranges_ = RangesLeft(ranges_, last, true, reverse_);
}

}  // namespace bigtable::remote
