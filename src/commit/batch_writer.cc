#include "commit/batch_writer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/time/time.h"
#include "absl/types/span.h"

#include "base/steady_time.h"

namespace bigtable {

// A caller's batch in the queue.
struct BatchWriter::Queued final : GroupCommit::Request {
  explicit Queued(const BatchRequest& request) : write(request) {
    for (const BatchMutation& mutation : request.mutations) bytes += mutation.mutation.size();
  }

  BatchCommit::Write write;
  bool is_stalled = false;  // its group could not have its turns
};

BatchWriter::BatchWriter(SequenceSource* sequences, VoidBatches* void_batches,
                         BatchLogSync* unsynced)
    : leader_(&shared_), queue_([this](Group group) { CommitGroup(group); }) {
  shared_.sequences = sequences;
  shared_.void_batches = void_batches;
  shared_.unsynced = unsynced;
}

BatchWriter::~BatchWriter() = default;

absl::Status BatchWriter::Apply(const BatchRequest& request, std::optional<size_t>* superseded) {
  Queued queued(request);
  CallLimits in_queue = request.limits;
  in_queue.deadline = std::min(in_queue.deadline, Deadline::In(StallTimeout()));
  const absl::Status left = queue_.Commit(&queued, in_queue, "the batch");
  if (!left.ok() || queued.is_stalled) CommitAlone(&queued.write);
  *superseded = queued.write.superseded;
  return std::move(queued.write.status);
}

absl::Duration BatchWriter::StallTimeout() const {
  const absl::Duration recent = absl::Nanoseconds(recent_.load(std::memory_order_relaxed));
  return std::clamp(8 * recent, kLeastStallTimeout, kMostStallTimeout);
}

void BatchWriter::CommitGroup(Group group) {
  std::array<BatchCommit::Write*, GroupCommit::kMaxGroupRequests> writes;
  // Its batches have waited for it already, and may have other servers.
  CallLimits limits{.deadline = Deadline::In(StallTimeout())};
  for (size_t i = 0; i < group.size(); ++i) {
    writes[i] = &static_cast<Queued*>(group[i])->write;
    limits.deadline = std::min(limits.deadline, writes[i]->request.limits.deadline);
  }
  const SteadyTime begin = SteadyTime::Now();
  batch_leader.Assume("the queue commits one group at a time, and no thread takes over here");
  const bool is_committed =
      leader_.Run(absl::MakeConstSpan(writes.data(), group.size()), limits, StallTimeout());
  const int64_t recent = recent_.load(std::memory_order_relaxed);
  // One stall says little of the next group.
  const int64_t took = std::min(absl::ToInt64Nanoseconds(SteadyTime::Now() - begin),
                                2 * recent + absl::ToInt64Nanoseconds(kLeastStallTimeout));
  recent_.store(recent + (took - recent) / 8, std::memory_order_relaxed);
  if (is_committed) return;
  for (GroupCommit::Request* const request : group) {
    static_cast<Queued*>(request)->is_stalled = true;
  }
}

void BatchWriter::CommitAlone(BatchCommit::Write* write) {
  write->status = write->request.limits.Check("the batch");
  if (!write->status.ok()) return;
  const CallLimits& limits = write->request.limits;
  BatchCommit alone(&shared_);
  // The timeout grows, so that a server which is only slow gives it a turn in the end.
  for (absl::Duration stall_timeout = StallTimeout();
       !alone.Run(absl::MakeConstSpan(&write, 1), limits, stall_timeout); stall_timeout *= 2) {
    write->status = limits.Check("the batch");
    if (!write->status.ok()) return;
    alone.awaited()->WaitForWrites(limits).IgnoreError();
  }
}

}  // namespace bigtable
