#include "server/data/row_handlers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"

#include "bigtable/change_stream.h"
#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/read_modify_write.h"
#include "bigtable/row.h"
#include "bigtable/row_key_sample.h"
#include "bigtable/row_mutation.h"
#include "bigtable/table.h"
#include "bigtable/tablet_info.h"

#include "convert/changes.h"
#include "convert/filter.h"
#include "convert/mutation.h"
#include "convert/read_modify_write.h"
#include "convert/row_message.h"
#include "server/calls/call_info.h"
#include "server/data/key_sections.h"
#include "server/data/spare_mutations.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

WriteOptions WriteOptionsOf(const grpc::ServerContext& context) {
  return {.deadline = DeadlineOf(context)};
}

Timestamp Now() { return Timestamp::FromTime(absl::Now()); }

// A list of mutations that may be empty.
absl::StatusOr<RowMutation> ToChoice(
    const std::string& row, const google::protobuf::RepeatedPtrField<data::Mutation>& mutations,
    std::string_view what) {
  if (mutations.empty()) return RowMutation(row);
  absl::StatusOr<RowMutation> mutation = convert::ToRowMutation(row, mutations, Now());
  if (!mutation.ok()) return Annotate(mutation.status(), what);
  return mutation;
}

absl::Status CheckNoView(std::string_view authorized_view_name) {
  if (authorized_view_name.empty()) return absl::OkStatus();
  return absl::UnimplementedError("this server has no views of tables");
}

// The entries of a MutateRows request. Those that are not well formed are never applied.
class Entries {
 public:
  explicit Entries(const convert::MutateRowsMessage& message) : statuses_(message.entry_count()) {
    const Timestamp now = Now();
    places_.reserve(statuses_.size());
    for (size_t i = 0; i < statuses_.size(); ++i) {
      const size_t place = places_.size();
      RowMutation* const mutation = mutations_.At(place);
      statuses_[i] = message.MutationOf(i, now, mutation);
      mutations_.CheckSize(place);
      if (statuses_[i].ok() && mutation->operation_count() > 0) places_.push_back(i);
    }
  }

  // Returns a status for each entry.
  std::vector<absl::Status> ApplyTo(Table* table, const WriteOptions& options) const {
    std::vector<absl::Status> statuses = statuses_;
    if (places_.empty()) return statuses;
    std::vector<absl::Status> applied = table->ApplyBatch(mutations(), options);
    for (size_t i = 0; i < applied.size(); ++i) statuses[places_[i]] = std::move(applied[i]);
    return statuses;
  }

  // Those that are well formed.
  absl::Span<const RowMutation> mutations() const {
    return absl::MakeConstSpan(mutations_.data(), places_.size());
  }

 private:
  std::vector<absl::Status> statuses_;
  SpareMutations mutations_;
  std::vector<size_t> places_;  // of the mutations among the entries
};

}  // namespace

template <typename Request, typename Use>
absl::Status RowHandlers::WithTable(const grpc::ServerContext& context, const Request& request,
                                    const Use& use) const {
  SERVER_ASSIGN_OR_RETURN(const std::optional<std::string> caller,
                          authentication_->CallerOf(context));
  SERVER_RETURN_IF_ERROR(CheckNoView(request.authorized_view_name()));
  return tables_->With(request.table_name(), caller, use);
}

absl::Status RowHandlers::MutateRow(const grpc::ServerContext& context,
                                    const data::MutateRowRequest& request,
                                    data::MutateRowResponse*) const {
  return WithTable(context, request, [&](Table* table) -> absl::Status {
    SERVER_ASSIGN_OR_RETURN(const RowMutation mutation,
                            convert::ToRowMutation(request.row_key(), request.mutations(), Now()));
    if (mutation.operation_count() == 0) return absl::OkStatus();
    rows_->Count(table->name(), request.row_key(), RowAccess::kWrite);
    return table->Apply(mutation, WriteOptionsOf(context));
  });
}

absl::Status RowHandlers::MutateRows(const grpc::ServerContext& context,
                                     convert::MutateRowsMessage::Pieces request,
                                     convert::ObjectBudget* budget, std::string* table_name,
                                     std::string* response) const {
  SERVER_ASSIGN_OR_RETURN(const std::optional<std::string> caller,
                          authentication_->CallerOf(context));
  SERVER_ASSIGN_OR_RETURN(const convert::MutateRowsMessage message,
                          convert::MutateRowsMessage::Read(request, budget));
  table_name->assign(message.table_name());
  SERVER_RETURN_IF_ERROR(message.CheckCounts());
  SERVER_RETURN_IF_ERROR(CheckNoView(message.authorized_view_name()));
  SERVER_ASSIGN_OR_RETURN(Table * table, tables_->Open(*table_name, caller));
  const Entries entries(message);
  for (const RowMutation& mutation : entries.mutations()) {
    rows_->Count(table->name(), mutation.row(), RowAccess::kWrite);
  }
  std::vector<absl::Status> statuses = entries.ApplyTo(table, WriteOptionsOf(context));
  if (std::any_of(statuses.begin(), statuses.end(), absl::IsNotFound)) {
    // Perhaps not a family: the table may have been deleted and created again.
    SERVER_ASSIGN_OR_RETURN(Table* const now, tables_->OpenAgain(*table_name, caller));
    if (now != table) statuses = entries.ApplyTo(now, WriteOptionsOf(context));
  }
  for (absl::Status& status : statuses) {
    if (!status.ok()) status = errors_->For("MutateRows", status);
  }
  *response = convert::MutateRowsResponseOf(statuses);
  return absl::OkStatus();
}

absl::Status RowHandlers::CheckAndMutateRow(const grpc::ServerContext& context,
                                            const data::CheckAndMutateRowRequest& request,
                                            data::CheckAndMutateRowResponse* response) const {
  return WithTable(context, request, [&](Table* table) -> absl::Status {
    if (request.true_mutations().empty() && request.false_mutations().empty()) {
      return Invalid("a CheckAndMutateRow call must have true_mutations or false_mutations");
    }
    SERVER_ASSIGN_OR_RETURN(const Filter predicate, convert::ToFilter(request.predicate_filter()));
    SERVER_ASSIGN_OR_RETURN(
        const RowMutation if_matched,
        ToChoice(request.row_key(), request.true_mutations(), "true_mutations"));
    SERVER_ASSIGN_OR_RETURN(
        const RowMutation if_not,
        ToChoice(request.row_key(), request.false_mutations(), "false_mutations"));
    rows_->Count(table->name(), request.row_key(), RowAccess::kWrite);
    SERVER_ASSIGN_OR_RETURN(const bool has_matched,
                            table->CheckAndMutateRow(request.row_key(), predicate, if_matched,
                                                     if_not, WriteOptionsOf(context)));
    response->set_predicate_matched(has_matched);
    return absl::OkStatus();
  });
}

absl::Status RowHandlers::ReadModifyWriteRow(const grpc::ServerContext& context,
                                             const data::ReadModifyWriteRowRequest& request,
                                             data::ReadModifyWriteRowResponse* response) const {
  return WithTable(context, request, [&](Table* table) -> absl::Status {
    SERVER_ASSIGN_OR_RETURN(const ReadModifyWrite rules,
                            convert::ToReadModifyWrite(request.row_key(), request.rules()));
    rows_->Count(table->name(), request.row_key(), RowAccess::kWrite);
    SERVER_ASSIGN_OR_RETURN(const Row row,
                            table->ReadModifyWriteRow(rules, WriteOptionsOf(context)));
    convert::ToRowMessage(row, response->mutable_row());
    return absl::OkStatus();
  });
}

absl::Status RowHandlers::SampleRowKeys(const grpc::ServerContext& context,
                                        const data::SampleRowKeysRequest& request,
                                        std::vector<data::SampleRowKeysResponse>* responses) const {
  return WithTable(context, request, [&](Table* table) -> absl::Status {
    SERVER_ASSIGN_OR_RETURN(std::vector<RowKeySample> samples,
                            table->SampleRowKeys({.deadline = DeadlineOf(context)}));
    SERVER_ASSIGN_OR_RETURN(const std::vector<TabletInfo> tablets,
                            tables_->database()->ListTablets(table->name()));
    responses->clear();
    for (const RowKeySample& sample : SectionsOf(std::move(samples), tablets)) {
      data::SampleRowKeysResponse& response = responses->emplace_back();
      response.set_row_key(sample.row);
      response.set_offset_bytes(static_cast<int64_t>(sample.offset_bytes));
    }
    return absl::OkStatus();
  });
}

absl::Status RowHandlers::ChangeStreamPartitions(
    const grpc::ServerContext& context,
    const data::GenerateInitialChangeStreamPartitionsRequest& request,
    std::vector<data::GenerateInitialChangeStreamPartitionsResponse>* responses) const {
  SERVER_ASSIGN_OR_RETURN(const std::optional<std::string> caller,
                          authentication_->CallerOf(context));
  return tables_->With(request.table_name(), caller, [&](Table* table) -> absl::Status {
    // Whether there is a stream, and the caller may read it.
    const ChangeStream stream = table->ReadChanges({.deadline = DeadlineOf(context)});
    SERVER_RETURN_IF_ERROR(stream.status());
    SERVER_ASSIGN_OR_RETURN(const std::vector<TabletInfo> tablets,
                            tables_->database()->ListTablets(table->name()));
    responses->clear();
    for (const TabletInfo& tablet : tablets) {
      *responses->emplace_back().mutable_partition() = convert::ToPartition(tablet.rows);
    }
    return absl::OkStatus();
  });
}

// The server has nothing to warm: connections to tablets do not exist, and tables are open.
absl::Status RowHandlers::PingAndWarm(const grpc::ServerContext& context,
                                      const data::PingAndWarmRequest& request,
                                      data::PingAndWarmResponse*) const {
  SERVER_RETURN_IF_ERROR(authentication_->CallerOf(context).status());
  return ParseInstanceName(request.name()).status();
}

}  // namespace bigtable::server
