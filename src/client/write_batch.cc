#include "bigtable/write_batch.h"

#include "bigtable/database.h"
#include "bigtable/table.h"

#include "base/status.h"
#include "base/strings.h"
#include "client/batch_call.h"
#include "client/connected_database.h"
#include "client/database_impl.h"
#include "client/observed_write.h"
#include "tablet/mutation_check.h"
#include "tablet/mutation_format.h"

namespace bigtable {

absl::Status WriteBatch::CanApply(const RowMutation& mutation) const {
  BT_RETURN_IF_ERROR(mutation.status());
  if (mutations_.size() == kMaxMutations) {
    return absl::InvalidArgumentError(
        Cat("a batch must have at most ", kMaxMutations, " mutations"));
  }
  if (byte_size() + mutation.byte_size() + kOverhead > kMaxSize) {
    return absl::InvalidArgumentError(Cat("a batch must be at most ", kMaxSize, " bytes"));
  }
  return absl::OkStatus();
}

WriteBatch& WriteBatch::Apply(Table* table, const RowMutation& mutation) {
  if (status_.ok()) status_ = CanApply(mutation);
  if (status_.ok()) Add(table, mutation, 0);
  return *this;
}

void WriteBatch::Add(Table* table, const RowMutation& mutation, uint64_t observers) {
  const EncodedMutation encoded = EncodedMutation::Of(mutation);
  const size_t begin = bytes_.size();
  bytes_ += encoded.row;
  bytes_ += encoded.operations;
  mutations_.push_back(
      {table, begin, encoded.row.size(), bytes_.size(), encoded.takes_server_time, observers});
  has_connected_ |= TableImpl::Of(*table) == nullptr;
}

void WriteBatch::Truncate(size_t i) {
  if (i == mutations_.size()) return;
  bytes_.resize(mutations_[i].begin);
  mutations_.resize(i);
}

void WriteBatch::Clear() {
  bytes_.clear();
  mutations_.clear();
  has_connected_ = false;
  status_ = absl::OkStatus();
}

absl::Status DatabaseImpl::Apply(const WriteBatch& batch, const WriteOptions& options,
                                 const CallLimits& limits, CallSample* sample,
                                 const std::vector<BatchCall::Read>* reads,
                                 SequenceNumber* committed, bool is_paid) {
  const CallGate::Pass pass(&gate);
  if (!pass) return ClosedError();
  BT_RETURN_IF_ERROR(CheckWritable(limits));
  const Durability durability = options.durability.value_or(environment()->live.durability);
  if (durability > Durability::kSync) return TableImpl::DurabilityError(durability);
  BT_RETURN_IF_ERROR(batch.status());
  if (batch.mutation_count() == 0) return absl::OkStatus();
  BatchCall call(this, batch, durability, limits, sample);
  call.SetCommitted(committed);
  if (is_paid) call.SetPaid();
  if (reads != nullptr && !reads->empty()) call.SetReads(*reads);
  return call.Run();
}

// A service applies the mutations of one row together, and no others.
absl::Status Database::ApplyConnected(const WriteBatch& batch, const WriteOptions& options) {
  BT_RETURN_IF_ERROR(batch.status());
  if (batch.mutations_.empty()) return absl::OkStatus();
  const std::string_view bytes = batch.bytes_;
  const WriteBatch::Mutation& first = batch.mutations_.front();
  const std::string_view row = bytes.substr(first.begin, first.row_size);
  std::string operations;
  bool takes_server_time = false;
  for (const WriteBatch::Mutation& mutation : batch.mutations_) {
    if (!connected_->Has(mutation.table)) {
      return absl::InvalidArgumentError(
          Cat("table ", mutation.table->name(), " of the batch is of another database"));
    }
    const std::string_view its_row = bytes.substr(mutation.begin, mutation.row_size);
    if (mutation.table != first.table || its_row != row) {
      return absl::UnimplementedError(
          Cat("a batch of several rows is for an embedded database; the service that this one is "
              "connected to changes one row at a time, and the batch has rows ",
              Quoted(row), " and ", Quoted(its_row)));
    }
    const size_t begin = mutation.begin + mutation.row_size;
    operations += bytes.substr(begin, mutation.end - begin);
    takes_server_time |= mutation.takes_server_time;
  }
  const EncodedMutation all{
      .row = row, .operations = operations, .takes_server_time = takes_server_time};
  return first.table->Apply(all.ToMutation(), options);
}

absl::Status Database::Apply(const WriteBatch& batch, const WriteOptions& options) {
  if (impl_ == nullptr) [[unlikely]]
    return ApplyConnected(batch, options);
  if (batch.has_connected_) [[unlikely]]
    return absl::InvalidArgumentError("a table of the batch is of another database");
  if (batch.mutations_.empty()) return impl_->Apply(batch, options, LimitsOf(options), nullptr);
  // Counted as a call on the table of the first mutation.
  TableMonitor& monitor = TableImpl::Of(*batch.mutations_.front().table)->monitor;
  monitor.counters.Count(CallCounters::Amount::kBatchMutations, batch.mutation_count());
  if (!ObservedWrite::IsObserved(batch)) [[likely]] {
    absl::Status status = ApplyMeasured(&monitor, batch, options);
    if (!IsNotObserved(status)) [[likely]]
      return status;
    for (const WriteBatch::Mutation& mutation : batch.mutations_) {
      TableImpl::Of(*mutation.table)->route->SetObserved(true);
    }
  } else {
    monitor.counters.Count(Call::kApplyBatch);
  }
  // Not measured: observers may make calls, which do not nest.
  absl::Status status = ObservedWrite::Apply(impl_, batch, options);
  if (!status.ok()) monitor.counters.CountError(Call::kApplyBatch);
  return status;
}

absl::Status Database::ApplyMeasured(TableMonitor* monitor, const WriteBatch& batch,
                                     const WriteOptions& options) {
  CallTimer timer(monitor, Call::kApplyBatch, [&](RequestTrace* trace) {
    trace->row = std::string_view(batch.bytes_).substr(0, batch.mutations_.front().row_size);
    trace->mutations = batch.mutation_count();
  });
  absl::Status status = impl_->Apply(batch, options, LimitsOf(options), timer.sample());
  if (!status.ok()) timer.Failed(status);
  return status;
}

}  // namespace bigtable
