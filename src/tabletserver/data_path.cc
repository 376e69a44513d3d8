#include "tabletserver/data_path.h"

#include <algorithm>

#include "tablet/mutation_check.h"

namespace bigtable {

bool DataPath::Apply(const Write& write, absl::Span<absl::Status> statuses) const {
  std::optional<AccessCheck> access;
  if (write.caller.has_value()) [[unlikely]] {
    access.emplace(access_, *write.caller);
    // A caller without permission for any of this must not delay other writers.
    if (!access->CheckWrites(*write.tablet->Layout(), write.mutations, statuses)) return true;
  }
  WriteController::Admission admission;
  if (write_controller_ != nullptr) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < statuses.size(); ++i) {
      if (statuses[i].ok()) bytes += write.mutations[i].size();
    }
    const absl::Status admitted = write_controller_->Admit(bytes, write.limits, &admission);
    if (!admitted.ok()) {
      std::fill(statuses.begin(), statuses.end(), admitted);
      return true;
    }
  }
  // Pinned after the wait, so that it does not keep a memtable that the wait is for.
  const Pin<TabletVersion> version = write.tablet->Version();
  for (size_t i = 0; i < statuses.size(); ++i) {
    if (statuses[i].ok()) statuses[i] = CheckMutation(version->layout(), write.mutations[i]);
  }
  if (access.has_value()) [[unlikely]]
    access->CheckWrites(version->layout(), write.mutations, statuses);
  if (write.is_batch) {
    const auto failed = std::find_if(statuses.begin(), statuses.end(),
                                     [](const absl::Status& status) { return !status.ok(); });
    if (failed != statuses.end()) {
      std::fill(statuses.begin(), statuses.end(), absl::Status(*failed));
      return true;
    }
  }
  if (writes_ == Writes::kInMemory) [[unlikely]] {
    for (size_t i = 0; i < statuses.size(); ++i) {
      if (statuses[i].ok()) server_->writer().ApplyInMemory(write.tablet, write.mutations[i]);
    }
    return true;
  }
  if (write.unchanged_since != kUnconditional) [[unlikely]]
    server_->TrackWrites();
  return server_->writer().Apply({.tablet = write.tablet,
                                  .layout = &version->layout(),
                                  .mutations = write.mutations,
                                  .is_batch = write.is_batch,
                                  .unchanged_since = write.unchanged_since,
                                  .durability = write.durability,
                                  .limits = write.limits,
                                  .sample = write.sample},
                                 statuses);
}

absl::Status DataPath::CheckReadOf(std::string_view caller, const TableLayout& layout,
                                   const FilterNode* filter) const {
  return AccessCheck(access_, caller).CheckRead(layout, filter);
}

absl::Status DataPath::CheckRowDeletion(const TableLayout& layout, const Caller& caller) const {
  if (!caller.has_value()) return absl::OkStatus();
  std::string operations;
  AppendOperation(&operations, MutationOperation::DeleteRow());
  const EncodedMutation deletion{.row = "", .operations = operations};
  absl::Status status;
  AccessCheck(access_, *caller)
      .CheckWrites(layout, absl::MakeConstSpan(&deletion, 1), absl::MakeSpan(&status, 1));
  return status;
}

}  // namespace bigtable
