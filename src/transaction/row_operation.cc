#include "transaction/row_operation.h"

#include <algorithm>
#include <utility>

#include "absl/types/span.h"

#include "backend/option_limits.h"
#include "backend/write_checks.h"
#include "base/status.h"
#include "base/strings.h"
#include "read/filter_node.h"
#include "routing/remote_calls.h"
#include "rows/row_sink.h"
#include "rpc/row_conflict.h"
#include "schema/mutation_format.h"
#include "serving/row_read.h"
#include "transaction/observed_write.h"

namespace bigtable {

RowOperation::RowOperation(const std::shared_ptr<TransactionDomain>& domain, const TableImpl* table,
                           std::string_view row, const WriteOptions& options, bool is_observed,
                           CallSample* sample)
    : domain_(domain),
      table_(table),
      row_(row),
      limits_(LimitsOf(options)),
      options_(options),
      is_observed_(is_observed),
      durability_(options.durability),
      sample_(sample) {}

absl::Status RowOperation::Begin() {
  const CallGate::Pass pass(&table_->database->gate);
  if (!pass) return table_->database->ClosedError();
  BT_RETURN_IF_ERROR(table_->database->CheckWritable(limits_));
  if (!durability_.has_value()) {
    durability_ = table_->database->parts.live->durability;
  }
  if (*durability_ > Durability::kSync) return DurabilityError(*durability_);
  // Before the first read, so that its sequence number can be compared.
  if (is_observed_) BT_RETURN_IF_ERROR(domain_->TrackWrites(limits_));
  QuotaControl* const quotas = table_->rates();
  return quotas == nullptr ? absl::OkStatus() : quotas->Begin(table_->DemandOf(1, 0));
}

void RowOperation::Charge(uint64_t bytes) const {
  if (QuotaControl* const quotas = table_->rates()) quotas->Charge(table_->DemandOf(0, bytes));
}

absl::StatusOr<Row> RowOperation::Read(const Filter& filter) {
  BT_RETURN_IF_ERROR(table_->CheckRead(filter, {}, limits_));
  RowRead read;
  read.row = row_;
  read.spec.filter = FilterNode::Of(filter);
  read.spec.limits = limits_;
  read.caller = table_->caller;
  read.sample = sample_;
  absl::StatusOr<Row> result = Row();
  RowSink sink(&*result, row_);
  SequenceNumber sequence = 0;
  for (MoveWait wait;;) {
    const ServedTable& tablets = *table_->route->Get();
    const ServedTablet& served = tablets.tablets()[tablets.Find(row_)];
    if (served.tablet != nullptr) [[likely]] {
      bool superseded;
      BT_RETURN_IF_ERROR(ReadRow(*served.path, *served.tablet, &read, &sink, &superseded));
      sequence = read.spec.sequence;
      if (!superseded) break;
      if (served.tablet->flags().removed()) return table_->DeletedError();
    } else if (table_->database->locations.is_remote()) {
      result = ReadRowRemotely(*table_, row_, filter, {}, limits_, &sequence);
      if (!result.ok()) return result;
      break;
    }
    BT_RETURN_IF_ERROR(table_->Relocate(row_, &wait, limits_));
  }
  since_ = std::min(sequence, since_);
  if (table_->rates() != nullptr) [[unlikely]]
    Charge(TableImpl::BytesOf(*result));
  return result;
}

absl::StatusOr<bool> RowOperation::Finish() {
  if (!observed_.has_value()) return true;
  const RowMutation mutation = *std::exchange(observed_, std::nullopt);
  absl::StatusOr<bool> written =
      ObservedWrite::TryOnRow(domain_, *table_, mutation, since_, options_, limits_);
  if (written.ok() && *written) Charge(mutation.byte_size());
  return written;
}

absl::StatusOr<bool> RowOperation::Write(const RowMutation& mutation) {
  if (is_observed_) [[unlikely]] {
    observed_ = mutation;
    return true;
  }
  const absl::Status status = Apply(mutation);
  if (status.ok()) {
    Charge(mutation.byte_size());
    return true;
  }
  if (IsConflict(status)) return false;
  return status;
}

absl::Status RowOperation::Apply(const RowMutation& mutation) {
  BT_RETURN_IF_ERROR(mutation.status());
  absl::Status status;
  const ServedTable& tablets = *table_->route->Get();
  const ServedTablet& served = tablets.tablets()[tablets.Find(row_)];
  if (served.tablet != nullptr) [[likely]] {
    const EncodedMutation encoded = EncodedMutation::Of(mutation);
    WriteRequest write{.tablet = served.tablet.get(),
                       .mutations = {&encoded, 1},
                       .statuses = absl::MakeSpan(&status, 1),
                       .unchanged_since = since_,
                       .durability = *durability_,
                       .limits = limits_,
                       .caller = table_->caller,
                       .sample = sample_};
    if (served.path->Apply(&write)) [[likely]]
      return status;
  }
  table_->ApplyByTablets(absl::MakeConstSpan(&mutation, 1), *durability_, since_, limits_, sample_,
                         absl::MakeSpan(&status, 1));
  return status;
}

absl::Status RowOperation::Pause() {
  table_->monitor.counters.Count(CallCounters::Amount::kRowRetries, 1);
  constexpr int kTriesWithoutPause = 4;
  if (++failed_tries_ <= kTriesWithoutPause) return limits_.Check();
  return pauses_.Wait(limits_);
}

}  // namespace bigtable
