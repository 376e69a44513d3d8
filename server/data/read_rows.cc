#include "server/data/read_rows.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/time/clock.h"
#include "google/protobuf/arena.h"

#include "convert/filter.h"
#include "convert/row_set.h"
#include "server/calls/call_info.h"
#include "server/data/byte_buffer.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

// Bytes of a message: of the first, and of later ones, each twice as large as the one before.
constexpr size_t kFirstMessage = 16 << 10;
constexpr size_t kLargestMessage = 512 << 10;
// Bytes of the messages of all streams together, as long as each has at least kFirstMessage.
constexpr size_t kAllMessages = 64 << 20;

// A read that waits in the engine keeps its filter, which nothing counts there: only small ones,
// and no regular expressions, which may hold megabytes.
constexpr size_t kLargestWaitingFilter = 512;

bool IsLiteral(std::string_view pattern) {
  return std::all_of(pattern.begin(), pattern.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-'; });
}

bool HasExpression(const data::RowFilter& filter) {
  const auto has_one = [](const auto& filters) {
    return std::any_of(filters.begin(), filters.end(), HasExpression);
  };
  switch (filter.filter_case()) {
    case data::RowFilter::kChain:
      return has_one(filter.chain().filters());
    case data::RowFilter::kInterleave:
      return has_one(filter.interleave().filters());
    case data::RowFilter::kCondition:
      return HasExpression(filter.condition().predicate_filter()) ||
             HasExpression(filter.condition().true_filter()) ||
             HasExpression(filter.condition().false_filter());
    case data::RowFilter::kRowKeyRegexFilter:
      return !IsLiteral(filter.row_key_regex_filter());
    case data::RowFilter::kFamilyNameRegexFilter:
      return !IsLiteral(filter.family_name_regex_filter());
    case data::RowFilter::kColumnQualifierRegexFilter:
      return !IsLiteral(filter.column_qualifier_regex_filter());
    case data::RowFilter::kValueRegexFilter:
      return !IsLiteral(filter.value_regex_filter());
    default:
      return false;
  }
}

bool IsSingleRow(const RowSet& rows) {
  if (rows.ranges().size() != 1) return false;
  const std::string& row = rows.ranges().front().begin();
  return !row.empty() && rows.ranges().front() == RowRange::Single(row);
}

// As how many streams one with these rows counts: the reader has them once more.
size_t WeightOf(const RowSet& rows) {
  size_t bytes = 0;
  for (const RowRange& range : rows.ranges()) {
    bytes += sizeof(RowRange) + range.begin().size() +
             (range.end().has_value() ? range.end()->size() : 0);
  }
  return 1 + 2 * bytes / Streams::kMemoryOfOne;
}

}  // namespace

ReadRowsCall::ReadRowsCall(ServedMethod* method, const ReadRowsParts& parts)
    : ServedCall(method), parts_(parts), chunks_(kFirstMessage), message_size_(kFirstMessage) {}

ServedCall::Step ReadRowsCall::Begin(grpc::ByteBuffer* request) {
  // Before anything is made of the request.
  if (const absl::Status status = CheckRoom(1); !status.ok()) return End(status);
  const absl::StatusOr<Filter> filter = Take(request);
  if (!table_name_.empty()) SetResource(table_name_, filter.ok());
  if (!filter.ok()) return End(filter.status());
  const size_t weight = WeightOf(rows_);
  if (const absl::Status status = CheckRoom(weight); !status.ok()) return End(status);
  running_.emplace(parts_.streams, weight);
  if (may_wait_ && IsSingleRow(rows_)) {
    return BeginRow(rows_.ranges().front().begin(), *filter);
  }
  reader_.emplace(table_->ReadRows(rows_, *filter, options_));
  return Advance();
}

// The row comes at once, or later and on another thread.
ServedCall::Step ReadRowsCall::BeginRow(const std::string& row, const Filter& filter) {
  table_->ReadRowAsync(row, filter, options_, [this, &row](absl::StatusOr<Row> found) {
    trace()->TakeKept(row);
    found_ = std::move(found);
    Wake();
  });
  return WaitForWake();
}

ServedCall::Step ReadRowsCall::TakeRow() {
  absl::StatusOr<Row> found = *std::exchange(found_, std::nullopt);
  if (absl::IsNotFound(found.status())) {
    // There may be a new table of this name: a reader looks, on a thread that may wait.
    begins_reader_ = true;
    return Wait(std::chrono::milliseconds(0));
  }
  if (!found.ok()) return EndWith(found.status());
  if (!found->empty() && !Has(*found)) row_ = *std::move(found);
  return Advance();
}

// Each keeps a message, its rows and its filter, however long its client waits.
absl::Status ReadRowsCall::CheckRoom(size_t weight) const {
  if (parts_.streams->weight() + weight <= parts_.most_streams) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      Cat("there are ", parts_.streams->running(), " open streams, as many as --memory allows",
          weight > 1 ? " beside one of so many keys and ranges" : ""));
}

ServedCall::Step ReadRowsCall::Continue(bool is_there) {
  if (is_there) {
    if (found_.has_value()) return TakeRow();
    if (std::exchange(begins_reader_, false)) {
      reader_.emplace(table_->ReadRows(rows_, MakeFilter(), options_));
    }
    if (ticket_.has_value()) TakeReaderBack();
    return Advance();
  }
  if (ticket_.has_value()) parts_.streams->TakeBack(*std::exchange(ticket_, std::nullopt));
  reader_.reset();
  running_.reset();
  return End(absl::CancelledError("the client has gone"));
}

absl::StatusOr<Filter> ReadRowsCall::Take(grpc::ByteBuffer* bytes) {
  google::protobuf::Arena arena;
  auto* const request = google::protobuf::Arena::CreateMessage<data::ReadRowsRequest>(&arena);
  SERVER_RETURN_IF_ERROR(Parse(bytes, request));
  return Take(*request);
}

// Returns the filter.
absl::StatusOr<Filter> ReadRowsCall::Take(const data::ReadRowsRequest& request) {
  if (!request.authorized_view_name().empty() || !request.materialized_view_name().empty()) {
    return absl::UnimplementedError("this server has no views of tables");
  }
  SERVER_ASSIGN_OR_RETURN(convert::RowSelection selection, convert::ToRowSelection(request));
  rows_ = std::move(selection.rows);
  options_.row_limit = selection.limit;
  options_.reverse = selection.reversed;
  options_.deadline = DeadlineOf(context());
  options_.cancellation = cancellation();
  SERVER_ASSIGN_OR_RETURN(Filter filter, convert::ToFilter(request.filter()));
  filter_ = request.filter().SerializeAsString();
  may_wait_ = filter_.size() <= kLargestWaitingFilter && !HasExpression(request.filter());
  if (request.request_stats_view() == data::ReadRowsRequest::REQUEST_STATS_FULL) {
    wants_stats_ = true;
    began_ = absl::Now();
  }
  table_name_ = request.table_name();
  SERVER_ASSIGN_OR_RETURN(caller_, parts_.authentication->CallerOf(context()));
  // The engine has no more than 64 reads of tables with a caller under way, and this server has
  // more threads.
  may_wait_ = may_wait_ && !caller_.has_value();
  SERVER_ASSIGN_OR_RETURN(table_, parts_.tables->Open(table_name_, caller_));
  return filter;
}

// The filter that Take has returned, once more.
Filter ReadRowsCall::MakeFilter() const {
  data::RowFilter filter;
  filter.ParseFromString(filter_);
  return *convert::ToFilter(filter);
}

// Reads the next message and sends it, or ends.
ServedCall::Step ReadRowsCall::Advance() {
  const absl::StatusOr<bool> is_full = Fill();
  if (is_full.ok() && *is_full) {
    LeaveReader();
    return Send(TakeMessage());
  }
  return EndWith(is_full.status());
}

ServedCall::Step ReadRowsCall::EndWith(const absl::Status& status) {
  // A read that found nothing was a read of its first row.
  if (rows_sent_ == 0 && !rows_.ranges().empty()) CountRead(rows_.ranges().front().begin());
  reader_.reset();
  running_.reset();
  const bool with_stats = wants_stats_ && status.ok();
  if (chunks_.empty() && !with_stats) return End(status);
  return End(status, TakeMessage(with_stats));
}

// Reads until the message is full. False: these were the last rows.
absl::StatusOr<bool> ReadRowsCall::Fill() {
  chunks_.set_full_size(NextMessageSize());
  while (!chunks_.is_full()) {
    if (!row_.has_value()) {
      if (!reader_.has_value() || has_all_rows()) return false;
      if (!reader_->Next()) {
        SERVER_ASSIGN_OR_RETURN(const bool begins_anew, OpenAgain());
        if (!begins_anew) return false;
        continue;
      }
      if (!Has(reader_->row())) row_ = reader_->TakeRow();
    } else if (chunks_.Write(*row_)) {
      row_.reset();
    }
  }
  return true;
}

// Whether the message takes the whole row; otherwise its rest is to be kept.
bool ReadRowsCall::Has(const Row& row) {
  ++rows_sent_;
  CountRead(row.key());
  cells_sent_ += static_cast<int64_t>(row.cells().size());
  return chunks_.Write(row);
}

void ReadRowsCall::CountRead(std::string_view row) {
  parts_.sampler->Count(table_->name(), row, RowAccess::kRead);
}

// The reader has no next row. If that is because the table was deleted, and there is a new one of
// its name, reads that. Otherwise returns the reader's error, or false.
absl::StatusOr<bool> ReadRowsCall::OpenAgain() {
  const absl::Status status = reader_->status();
  if (!absl::IsNotFound(status) || rows_sent_ > 0) {
    SERVER_RETURN_IF_ERROR(status);
    return false;
  }
  SERVER_ASSIGN_OR_RETURN(Table* const table, parts_.tables->OpenAgain(table_name_, caller_));
  if (table == table_) return status;
  table_ = table;
  reader_.emplace(table_->ReadRows(rows_, MakeFilter(), options_));
  return true;
}

// Until the client has taken a message. Within a row, the rest of it stays here. There is no reader
// within the last row that the limit allows, if it was released before.
void ReadRowsCall::LeaveReader() {
  if (reader_.has_value()) ticket_ = parts_.streams->Leave(*std::exchange(reader_, std::nullopt));
}

void ReadRowsCall::TakeReaderBack() {
  Streams::Reader left = parts_.streams->TakeBack(*std::exchange(ticket_, std::nullopt));
  if (left.reader.has_value()) {
    reader_ = std::move(left.reader);
  } else if (!has_all_rows()) {
    ReadOptions options = options_;
    if (options.row_limit > 0) options.row_limit -= rows_sent_;
    trace()->BeginsAgain();
    reader_.emplace(table_->ResumeRows(left.token, MakeFilter(), options));
  }
}

size_t ReadRowsCall::NextMessageSize() {
  const size_t fair = kAllMessages / std::max<size_t>(parts_.streams->running(), 1);
  const size_t next = std::min({2 * message_size_, kLargestMessage, std::max(fair, kFirstMessage)});
  return std::exchange(message_size_, next);
}

grpc::ByteBuffer ReadRowsCall::TakeMessage(bool with_stats) {
  std::string bytes = chunks_.Take();
  // Two messages one after the other are one with what both have.
  if (with_stats) Stats().AppendToString(&bytes);
  return ToByteBuffer(std::move(bytes));
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
