#include "commit/void_batches.h"

#include "absl/base/macros.h"

#include "base/status.h"

namespace bigtable {

absl::Status VoidBatches::Add(const SequenceRange& batch, const std::vector<std::string>& servers) {
  ABSL_ASSERT(batch.first <= batch.last && "a batch has a mutation");
  const LimitedMutexLock lock(&mutex_);
  for (const std::string& server : servers) pending_.push_back({batch, server});
  return Write({});
}

absl::Status VoidBatches::WritePending(const CallLimits& limits) {
  const LimitedMutexLock lock(&mutex_, &limits, "the call");
  BT_RETURN_IF_ERROR(lock.status());
  return Write(limits);
}

absl::Status VoidBatches::Write(const CallLimits& limits) {
  for (; !pending_.empty(); pending_.pop_back()) {
    const Pending& pending = pending_.back();
    ServerRecord added;
    added.void_batches = {pending.batch};
    // Again if it is there: a write that has failed may have left it without being durable.
    const auto add = [&](ServerRecord* record) {
      record->Add(added);
      return !record->is_done;
    };
    BT_RETURN_IF_ERROR(UpdateServerRecord(session_, pending.server, add, limits));
  }
  return absl::OkStatus();
}

}  // namespace bigtable
