#include "client/batch_call.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>

#include "absl/types/span.h"

#include "base/status.h"
#include "base/strings.h"
#include "rpc/move_wait.h"

namespace bigtable {

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
                      .takes_server_time = mutation.takes_server_time}});
  }
}

absl::Status BatchCall::Run() {
  for (const Target& target : targets_) {
    if (target.table->database.get() == database_) continue;
    return absl::InvalidArgumentError(
        Cat("table ", target.table->name, " of the batch is of another database"));
  }
  for (MoveWait wait;;) {
    std::optional<size_t> look_up = Locate();
    if (!look_up.has_value()) {
      const absl::Status status = Try(&look_up);
      if (!look_up.has_value()) return status;
    }
    const Target& target = targets_[*look_up];
    BT_RETURN_IF_ERROR(target.table->LookAgain(target.mutation.row, &wait, limits_));
  }
}

std::optional<size_t> BatchCall::Locate() {
  for (size_t i = 0; i < targets_.size(); ++i) {
    Target& target = targets_[i];
    const ServedTable& tablets = *target.table->route->Get();
    target.served = &tablets.tablets()[tablets.Find(target.mutation.row)];
    if (!target.served->is_known()) return i;
  }
  return std::nullopt;
}

absl::Status BatchCall::Try(std::optional<size_t>* superseded) {
  const bool is_remote = std::any_of(targets_.begin(), targets_.end(), [](const Target& target) {
    return target.served->tablet == nullptr;
  });
  if (is_remote) {
    return absl::UnimplementedError("a batch cannot be applied to tablets that messages reach");
  }
  const bool is_one = std::all_of(targets_.begin(), targets_.end(), [&](const Target& target) {
    return target.served->tablet == targets_.front().served->tablet;
  });
  if (is_one) {
    bool one_superseded;
    const absl::Status status = ApplyToOne(&one_superseded);
    if (one_superseded) *superseded = 0;
    return status;
  }
  const std::vector<std::unique_ptr<Share>> shares = MakeShares();
  for (const auto& share : shares) {
    const DataPath* const path = share->first->served->path;
    if (!path->Admit(share->Write(*this), absl::MakeSpan(share->statuses), &share->admitted)) {
      return share->statuses.front();
    }
  }
  // Pinned after all waits.
  std::map<const Tablet*, const TableLayout*> layouts;
  for (const auto& share : shares) {
    const ServedTablet& served = *share->first->served;
    if (!served.path->Check(share->Write(*this), absl::MakeSpan(share->statuses),
                            &share->admitted)) {
      return share->statuses.front();
    }
    layouts[served.tablet.get()] = &share->admitted.version->layout();
  }
  std::vector<BatchWriter::Mutation> mutations;
  mutations.reserve(targets_.size());
  for (const Target& target : targets_) {
    Tablet* const tablet = target.served->tablet.get();
    mutations.push_back(
        {&target.served->server->writer(), tablet, layouts[tablet], target.mutation});
  }
  return database_->environment()->batch_writer->Apply(
      {.mutations = mutations, .durability = durability_, .limits = limits_}, superseded);
}

absl::Status BatchCall::ApplyToOne(bool* superseded) const {
  const ServedTablet& served = *targets_.front().served;
  std::vector<EncodedMutation> mutations;
  mutations.reserve(targets_.size());
  for (const Target& target : targets_) mutations.push_back(target.mutation);
  std::vector<absl::Status> statuses(targets_.size());
  Share share{.first = &targets_.front()};
  DataPath::Write write = share.Write(*this);
  write.mutations = mutations;
  *superseded = !served.path->Apply(write, absl::MakeSpan(statuses));
  // After an error all have it.
  return std::move(statuses.front());
}

std::vector<std::unique_ptr<BatchCall::Share>> BatchCall::MakeShares() const {
  std::vector<std::unique_ptr<Share>> shares;
  std::map<const Tablet*, Share*> by_tablet;
  for (const Target& target : targets_) {
    Share*& share = by_tablet[target.served->tablet.get()];
    if (share == nullptr) {
      shares.push_back(std::make_unique<Share>());
      share = shares.back().get();
      share->first = &target;
    }
    share->mutations.push_back(target.mutation);
  }
  for (const auto& share : shares) share->statuses.resize(share->mutations.size());
  return shares;
}

DataPath::Write BatchCall::Share::Write(const BatchCall& call) const {
  return {.tablet = first->served->tablet.get(),
          .mutations = mutations,
          .is_batch = true,
          .durability = call.durability_,
          .limits = call.limits_,
          .caller = first->table->caller,
          .sample = call.sample_};
}

}  // namespace bigtable
