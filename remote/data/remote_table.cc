#include "remote/data/remote_table.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "backend/option_limits.h"
#include "base/status.h"
#include "base/strings.h"
#include "convert/filter.h"
#include "convert/mutation.h"
#include "convert/read_modify_write.h"
#include "convert/row_message.h"
#include "remote/calls/attempt.h"
#include "remote/calls/retries.h"
#include "remote/data/row_stream.h"

namespace bigtable::remote {
namespace {

namespace v2 = google::bigtable::v2;

// The error of a call that is not made again: after some of them it is not known what happened.
absl::Status OutcomeOf(const absl::Status& status) {
  if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status) &&
      !absl::IsCancelled(status)) {
    return status;
  }
  absl::Status unknown(
      status.code(), Cat(ToStd(status.message()), "; whether the operation was done is not known"));
  return unknown;
}

// The prefix that all rows of the range, and no others, begin with. Null: there is none.
std::optional<std::string> PrefixOf(const RowRange& rows) {
  if (rows == RowRange::Prefix(rows.begin())) return rows.begin();
  return std::nullopt;
}

}  // namespace

absl::Status RemoteTable::Apply(const RowMutation& mutation, const WriteOptions& options) {
  const CallLimits limits = LimitsOf(options);
  v2::MutateRowRequest request;
  request.set_table_name(name_);
  request.set_app_profile_id(connection_->options().app_profile);
  request.set_row_key(std::string(mutation.row()));
  BT_RETURN_IF_ERROR(
      convert::AppendMutations(mutation, connection_->Now(), request.mutable_mutations()));
  const auto attempt = [&] {
    v2::MutateRowResponse response;
    return CallOnce(
        connection_.get(), limits, "table_name", name_,
        [&](grpc::ClientContext* context, grpc::CompletionQueue* queue) {
          return connection_->data()->PrepareAsyncMutateRow(context, request, queue);
        },
        &response);
  };
  if (!convert::IsIdempotent(request.mutations())) return OutcomeOf(attempt());
  return WithRetries(connection_.get(), limits, attempt);
}

void RemoteTable::ApplyBatch(absl::Span<const RowMutation> mutations, const WriteOptions& options,
                             absl::Span<absl::Status> statuses) {
  const CallLimits limits = LimitsOf(options);
  BatchWriter(connection_.get(), outstanding_.get(), &name_, &limits).Apply(mutations, statuses);
}

absl::StatusOr<bool> RemoteTable::CheckAndMutateRow(std::string_view row, const Filter& predicate,
                                                    const RowMutation& if_matched,
                                                    const RowMutation& if_not,
                                                    const WriteOptions& options) {
  const CallLimits limits = LimitsOf(options);
  v2::CheckAndMutateRowRequest request;
  request.set_table_name(name_);
  request.set_app_profile_id(connection_->options().app_profile);
  request.set_row_key(std::string(row));
  *request.mutable_predicate_filter() = convert::ToProto(predicate);
  const Timestamp now = connection_->Now();
  BT_RETURN_IF_ERROR(convert::AppendMutations(if_matched, now, request.mutable_true_mutations()));
  BT_RETURN_IF_ERROR(convert::AppendMutations(if_not, now, request.mutable_false_mutations()));
  v2::CheckAndMutateRowResponse response;
  BT_RETURN_IF_ERROR(OutcomeOf(CallOnce(
      connection_.get(), limits, "table_name", name_,
      [&](grpc::ClientContext* context, grpc::CompletionQueue* queue) {
        return connection_->data()->PrepareAsyncCheckAndMutateRow(context, request, queue);
      },
      &response)));
  return response.predicate_matched();
}

absl::StatusOr<Row> RemoteTable::ReadModifyWriteRow(const ReadModifyWrite& rules,
                                                    const WriteOptions& options) {
  if (rules.max_value_size() < RowMutation::kMaxValueSize) {
    return absl::UnimplementedError(
        "ReadModifyWrite::SetMaxValueSize: the Bigtable API has the service's own limit alone");
  }
  const CallLimits limits = LimitsOf(options);
  v2::ReadModifyWriteRowRequest request;
  request.set_table_name(name_);
  request.set_app_profile_id(connection_->options().app_profile);
  request.set_row_key(std::string(rules.row()));
  convert::AppendRules(rules, request.mutable_rules());
  v2::ReadModifyWriteRowResponse response;
  BT_RETURN_IF_ERROR(OutcomeOf(CallOnce(
      connection_.get(), limits, "table_name", name_,
      [&](grpc::ClientContext* context, grpc::CompletionQueue* queue) {
        return connection_->data()->PrepareAsyncReadModifyWriteRow(context, request, queue);
      },
      &response)));
  if (response.row().key() != rules.row()) {
    return absl::InternalError(Cat("the server's answer has row ", Quoted(response.row().key()),
                                   ", and should have row ", Quoted(rules.row())));
  }
  return convert::ToRow(response.row());
}

std::unique_ptr<RowStream> RemoteTable::ReadRows(std::vector<RowRange> ranges, const Filter& filter,
                                                 const ReadOptions& options) {
  return std::make_unique<RemoteRows>(connection_, name_, std::move(ranges), filter, options);
}

absl::Status RemoteTable::DropRowRange(const RowRange& rows, const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  google::bigtable::admin::v2::DropRowRangeRequest request;
  request.set_name(name_);
  const std::optional<std::string> prefix = PrefixOf(rows);
  if (!prefix.has_value()) {
    return absl::UnimplementedError(
        "the Bigtable API drops the rows of a prefix, or all rows, and no other range");
  }
  if (prefix->empty()) {
    request.set_delete_all_data_from_table(true);
  } else {
    request.set_row_key_prefix(*prefix);
  }
  return WithRetries(connection_.get(), limits, [&] {
    google::protobuf::Empty response;
    return CallOnce(
        connection_.get(), limits, "name", name_,
        [&](grpc::ClientContext* context, grpc::CompletionQueue* queue) {
          return connection_->admin()->PrepareAsyncDropRowRange(context, request, queue);
        },
        &response);
  });
}

absl::StatusOr<std::vector<RowKeySample>> RemoteTable::SampleRowKeys(const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  v2::SampleRowKeysRequest request;
  request.set_table_name(name_);
  request.set_app_profile_id(connection_->options().app_profile);
  std::vector<RowKeySample> samples;
  const auto sample = [&]() -> absl::Status {
    samples.clear();
    Attempt attempt(connection_.get(), &limits);
    BT_RETURN_IF_ERROR(attempt.Prepare("table_name", name_));
    const auto reader =
        connection_->data()->PrepareAsyncSampleRowKeys(attempt.context(), request, attempt.queue());
    reader->StartCall(&attempt);
    (void)attempt.Wait();
    v2::SampleRowKeysResponse response;
    reader->Read(&response, &attempt);
    while (attempt.Wait()) {
      const auto offset = static_cast<uint64_t>(std::max<int64_t>(response.offset_bytes(), 0));
      samples.push_back({response.row_key(), offset});
      response.Clear();
      reader->Read(&response, &attempt);
    }
    grpc::Status status;
    reader->Finish(&status, &attempt);
    (void)attempt.Wait();
    return attempt.ResultOf(status);
  };
  BT_RETURN_IF_ERROR(WithRetries(connection_.get(), limits, sample));
  // The last one is the end of the table, also where a server leaves it out.
  if (samples.empty() || !samples.back().row.empty()) {
    samples.push_back({"", samples.empty() ? 0 : samples.back().offset_bytes});
  }
  return samples;
}

}  // namespace bigtable::remote
