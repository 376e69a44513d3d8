#include "transaction/batch_call.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/types/span.h"

#include "backend/option_limits.h"
#include "backend/write_checks.h"
#include "base/status.h"
#include "base/strings.h"
#include "rpc/move_wait.h"

namespace bigtable {

absl::Status BatchCall::Apply(DatabaseImpl* database, const WriteBatch& batch,
                              const WriteOptions& options, const CallLimits& limits,
                              CallSample* sample, const std::vector<TransactionRead>* reads,
                              SequenceNumber* committed, bool is_paid) {
  const CallGate::Pass pass(&database->gate);
  if (!pass) return database->ClosedError();
  BT_RETURN_IF_ERROR(database->CheckWritable(limits));
  const Durability durability = options.durability.value_or(database->parts.live->durability);
  if (durability > Durability::kSync) return DurabilityError(durability);
  BT_RETURN_IF_ERROR(batch.status());
  if (batch.mutation_count() == 0) return absl::OkStatus();
  BatchCall call(database, batch, durability, limits, sample);
  call.SetCommitted(committed);
  if (is_paid) call.SetPaid();
  if (reads != nullptr && !reads->empty()) call.SetReads(*reads);
  return call.Run();
}

BatchCall::BatchCall(DatabaseImpl* database, const WriteBatch& batch, Durability durability,
                     const CallLimits& limits, CallSample* sample)
    : database_(database), durability_(durability), limits_(limits), sample_(sample) {
  targets_.reserve(batch.mutations_.size());
  const std::string_view bytes = batch.bytes_;
  for (const WriteBatch::Mutation& mutation : batch.mutations_) {
    const size_t operations = mutation.begin + mutation.row_size;
    targets_.push_back(
        {.table = TableImpl::Of(*mutation.table),
         .mutation = {.row = bytes.substr(mutation.begin, mutation.row_size),
                      .operations = bytes.substr(operations, mutation.end - operations),
                      .takes_server_time = mutation.takes_server_time,
                      .observers = mutation.observers}});
  }
}

absl::Status BatchCall::Run() {
  for (const Target& target : targets_) {
    if (target.table->database.get() == database_) continue;
    return absl::InvalidArgumentError(
        Cat("table ", target.table->name(), " of the batch is of another database"));
  }
  QuotaControl& quotas = *database_->parts.quotas;
  if (quotas.limits_rates() && !is_paid_) [[unlikely]] {
    std::vector<QuotaControl::Demand> demands;
    demands.reserve(targets_.size());
    for (const Target& target : targets_) {
      demands.push_back(target.table->DemandOf(1, target.mutation.size()));
    }
    BT_RETURN_IF_ERROR(quotas.Take(demands));
  }
  for (MoveWait wait;;) {
    std::optional<Missing> missing = Locate();
    if (!missing.has_value()) missing = LocateReads();
    if (!missing.has_value()) {
      const absl::Status status = Try(&missing);
      if (!missing.has_value()) return status;
    }
    BT_RETURN_IF_ERROR(missing->table->Relocate(missing->row, &wait, limits_));
  }
}

std::optional<BatchCall::Missing> BatchCall::Locate() {
  for (Target& target : targets_) {
    const ServedTable& tablets = *target.table->route->Get();
    target.served = &tablets.tablets()[tablets.Find(target.mutation.row)];
    if (!target.served->is_known()) {
      return Missing{target.table, std::string(target.mutation.row)};
    }
  }
  return std::nullopt;
}

std::optional<BatchCall::Missing> BatchCall::LocateReads() {
  located_.clear();
  located_tables_.clear();
  if (reads_ == nullptr) return std::nullopt;
  for (const Read& read : *reads_) {
    const ServedTable& table = *read.table->route->Get();
    for (size_t i = table.Find(read.rows.begin());
         i < table.tablets().size() &&
         (!read.rows.end().has_value() || table.BeginOf(i) < *read.rows.end());
         ++i) {
      const ServedTablet& served = table.tablets()[i];
      if (served.tablet == nullptr) {
        return Missing{read.table, std::string(std::max(table.BeginOf(i),
                                                        std::string_view(read.rows.begin())))};
      }
      located_.push_back({served.path->writer(), served.tablet.get(), &read.rows, read.since});
      located_tables_.push_back(read.table);
    }
  }
  return std::nullopt;
}

absl::Status BatchCall::Try(std::optional<Missing>* superseded) {
  const bool is_remote = std::any_of(targets_.begin(), targets_.end(), [](const Target& target) {
    return target.served->tablet == nullptr;
  });
  if (is_remote) {
    return absl::UnimplementedError("a batch cannot be applied to tablets that messages reach");
  }
  const bool is_one = std::all_of(targets_.begin(), targets_.end(), [&](const Target& target) {
    return target.served->tablet == targets_.front().served->tablet &&
           target.table->caller == targets_.front().table->caller;
  });
  if (!is_one || reads_ != nullptr) return ApplyToAll(superseded);
  bool one_superseded;
  const absl::Status status = ApplyToOne(&one_superseded);
  if (one_superseded) {
    *superseded = Missing{targets_[0].table, std::string(targets_[0].mutation.row)};
  }
  return status;
}

absl::Status BatchCall::ApplyToAll(std::optional<Missing>* superseded) {
  const std::vector<std::unique_ptr<TabletShare>> shares = MakeTabletShares();
  // Of each server, in an order that all batches have: the share that keeps the admission.
  std::map<const DataPath*, std::pair<TabletShare*, uint64_t>> of_servers;
  for (const auto& share : shares) {
    if (!share->path->Authorize(share->write, &share->admitted)) return share->statuses.front();
    auto& [first, bytes] = of_servers.try_emplace(share->path, share.get(), 0).first->second;
    for (const EncodedMutation& mutation : share->mutations) bytes += mutation.size();
  }
  for (const auto& [path, of_server] : of_servers) {
    BT_RETURN_IF_ERROR(path->Admit(of_server.second, limits_, &of_server.first->admitted));
  }
  // Pinned after all waits.
  for (const auto& share : shares) {
    if (!share->path->Check(&share->write, &share->admitted)) return share->statuses.front();
  }
  std::vector<BatchMutation> mutations;
  mutations.reserve(targets_.size());
  for (const Target& target : targets_) {
    mutations.push_back({target.served->path->writer(), target.served->tablet.get(),
                         target.share->write.layout, target.mutation});
  }
  std::optional<size_t> index;
  const absl::Status status = database_->parts.batch_writer->Apply({.mutations = mutations,
                                                                    .reads = located_,
                                                                    .durability = durability_,
                                                                    .limits = limits_,
                                                                    .committed = committed_},
                                                                   &index);
  if (!index.has_value()) return status;
  for (const auto& share : shares) share->path->ForgetTakenStorage();
  if (*index < targets_.size()) {
    *superseded = Missing{targets_[*index].table, std::string(targets_[*index].mutation.row)};
  } else {
    const size_t i = *index - targets_.size();
    *superseded = Missing{located_tables_[i],
                          std::max(located_[i].tablet->rows().begin(), located_[i].rows->begin())};
  }
  return absl::OkStatus();
}

absl::Status BatchCall::ApplyToOne(bool* superseded) const {
  const ServedTablet& served = *targets_.front().served;
  std::vector<EncodedMutation> mutations;
  mutations.reserve(targets_.size());
  for (const Target& target : targets_) mutations.push_back(target.mutation);
  std::vector<absl::Status> statuses(targets_.size());
  WriteRequest write = MakeWrite(targets_.front(), mutations, absl::MakeSpan(statuses));
  *superseded = !served.path->Apply(&write);
  // After an error all have it.
  return std::move(statuses.front());
}

std::vector<std::unique_ptr<BatchCall::TabletShare>> BatchCall::MakeTabletShares() {
  std::vector<std::unique_ptr<TabletShare>> shares;
  std::map<std::pair<const Tablet*, Caller>, TabletShare*> by_tablet;
  for (Target& target : targets_) {
    TabletShare*& share = by_tablet[{target.served->tablet.get(), target.table->caller}];
    if (share == nullptr) {
      shares.push_back(std::make_unique<TabletShare>());
      share = shares.back().get();
      share->path = target.served->path;
      share->write = MakeWrite(target, {}, {});
    }
    share->mutations.push_back(target.mutation);
    target.share = share;
  }
  for (const auto& share : shares) {
    share->statuses.resize(share->mutations.size());
    share->write.mutations = share->mutations;
    share->write.statuses = absl::MakeSpan(share->statuses);
  }
  return shares;
}

WriteRequest BatchCall::MakeWrite(const Target& target, absl::Span<const EncodedMutation> mutations,
                                  absl::Span<absl::Status> statuses) const {
  return {.tablet = target.served->tablet.get(),
          .mutations = mutations,
          .statuses = statuses,
          .is_batch = true,
          .durability = durability_,
          .limits = limits_,
          .caller = target.table->caller,
          .sample = sample_,
          .committed = committed_};
}

}  // namespace bigtable
