#include "serving/data_path.h"

#include <algorithm>

#include "absl/base/macros.h"

#include "base/status.h"
#include "schema/mutation_check.h"

namespace bigtable {

bool DataPath::Apply(WriteRequest* write) const {
  ABSL_ASSERT(write->statuses.size() == write->mutations.size() &&
              "there is a status for each mutation");
  Admitted admitted;
  if (!Authorize(*write, &admitted)) return true;
  uint64_t bytes = 0;
  for (size_t i = 0; i < write->statuses.size(); ++i) {
    if (write->statuses[i].ok()) bytes += write->mutations[i].size();
  }
  if (const absl::Status s = Admit(bytes, write->limits, &admitted); !s.ok()) [[unlikely]] {
    std::fill(write->statuses.begin(), write->statuses.end(), s);
    return true;
  }
  if (!Check(write, &admitted)) return true;
  if (writes_ == Writes::kInMemory) [[unlikely]] {
    for (size_t i = 0; i < write->statuses.size(); ++i) {
      if (!write->statuses[i].ok()) continue;
      server_->writer().ApplyInMemory(write->tablet, write->mutations[i]);
    }
    return true;
  }
  if (write->unchanged_since != kUnconditional) [[unlikely]] {
    if (const absl::Status tracked = server_->TrackWrites(write->limits); !tracked.ok()) {
      for (absl::Status& status : write->statuses) status.Update(tracked);
      return true;
    }
  }
  const bool is_applied = server_->writer().Apply(*write);
  if (!is_applied) [[unlikely]]
    ForgetTakenStorage();
  return is_applied;
}

bool DataPath::Authorize(const WriteRequest& write, Admitted* admitted) const {
  if (write.caller.has_value()) [[unlikely]] {
    AccessCheck& access = admitted->access.emplace(access_, *write.caller, write.limits);
    // A caller without permission for any of this must not delay other writers.
    if (!access.CheckWrites(*write.tablet->Layout(), write.mutations, write.statuses)) {
      return false;
    }
  }
  // Not in Check, which has pinned a version.
  if (quotas_ != nullptr && quotas_->limits_storage()) [[unlikely]]
    quotas_->RefreshStorage();
  return true;
}

bool DataPath::Check(WriteRequest* write, Admitted* admitted) const {
  const absl::Span<absl::Status> statuses = write->statuses;
  admitted->version = write->tablet->Version();
  const TableLayout& layout = admitted->version->layout();
  write->layout = &layout;
  SharedErrors errors;
  for (size_t i = 0; i < statuses.size(); ++i) {
    if (statuses[i].ok()) statuses[i] = errors.Share(CheckMutation(layout, write->mutations[i]));
  }
  if (admitted->access.has_value()) [[unlikely]]
    admitted->access->CheckWrites(layout, write->mutations, statuses);
  if (quotas_ != nullptr && quotas_->limits_storage()) [[unlikely]] {
    for (size_t i = 0; i < statuses.size(); ++i) {
      if (statuses[i].ok()) {
        statuses[i] = errors.Share(quotas_->TakeStorage(layout, write->mutations[i].operations));
      }
    }
  }
  if (!write->is_batch) return true;
  const auto failed = std::find_if(statuses.begin(), statuses.end(),
                                   [](const absl::Status& status) { return !status.ok(); });
  if (failed == statuses.end()) return true;
  std::fill(statuses.begin(), statuses.end(), absl::Status(*failed));
  return false;
}

absl::Status DataPath::CheckReadOf(std::string_view caller, const TableLayout& layout,
                                   const FilterNode* filter, const CallLimits& limits) const {
  return AccessCheck(access_, caller, limits).CheckRead(layout, filter);
}

absl::Status DataPath::CheckWrite(const TableLayout& layout, const EncodedMutation& mutation,
                                  const Caller& caller, const CallLimits& limits) const {
  absl::Status status = CheckMutation(layout, mutation);
  if (status.ok() && caller.has_value()) {
    AccessCheck(access_, *caller, limits)
        .CheckWrites(layout, absl::MakeConstSpan(&mutation, 1), absl::MakeSpan(&status, 1));
  }
  return status;
}

absl::Status DataPath::CheckRowDeletion(const TableLayout& layout, const Caller& caller,
                                        const CallLimits& limits) const {
  if (!caller.has_value()) return absl::OkStatus();
  std::string operations;
  AppendOperation(&operations, MutationOperation::DeleteRow());
  const EncodedMutation deletion{.row = "", .operations = operations};
  absl::Status status;
  AccessCheck(access_, *caller, limits)
      .CheckWrites(layout, absl::MakeConstSpan(&deletion, 1), absl::MakeSpan(&status, 1));
  return status;
}

}  // namespace bigtable
