#include "transaction/commit_order.h"

#include <utility>

#include "absl/base/macros.h"

#include "base/catch_thrown.h"
#include "base/status.h"
#include "base/strings.h"
#include "transaction/observers.h"

namespace bigtable {

thread_local bool CommitOrder::is_calling_ = false;

absl::Status CommitOrder::Run(SequenceNumber last, std::vector<Call> calls,
                              const CallLimits& limits,
                              absl::FunctionRef<absl::Status(SequenceNumber*)> commit,
                              absl::FunctionRef<void(const absl::Status&)> report) {
  std::multiset<SequenceNumber>::iterator begun;
  {
    MutexLock lock(&mutex_);
    while (left_bytes_ > most_left_) {
      BT_RETURN_IF_ERROR(limits.Check("the write"));
      changed_.WaitFor(&mutex_, limits.MostSleep());
    }
    begun = begun_.insert(last);
  }
  const auto committed = std::make_shared<Committed>();
  committed->bytes = BytesOf(calls);
  committed->calls = std::move(calls);
  const absl::Status status = commit(&committed->sequence);

  MutexLock lock(&mutex_);
  begun_.erase(begun);
  ABSL_ASSERT(
      (!status.ok() || (committed->sequence > last && !committed_.contains(committed->sequence))) &&
      "a commit has a number of its own, which was assigned after it had begun");
  if (status.ok()) committed_[committed->sequence] = committed;
  changed_.SignalAll();
  while (status.ok() && !committed->is_called) {
    if (const std::shared_ptr<Committed> next = Next()) {
      MakeCalls(next.get(), report);
    } else if (limits.Check().ok()) {
      changed_.WaitFor(&mutex_, limits.MostSleep());
    } else {
      committed->is_left = true;
      left_bytes_ += committed->bytes;
      break;
    }
  }
  MakeLeftCalls(report);
  return status;
}

uint64_t CommitOrder::BytesOf(const std::vector<Call>& calls) {
  uint64_t bytes = sizeof(Committed);
  for (const Call& call : calls) {
    bytes += sizeof(ObservedMutation) + call.mutation->mutation().byte_size() +
             call.mutation->operations().size() * sizeof(ObservedOperation);
  }
  return bytes;
}

std::shared_ptr<CommitOrder::Committed> CommitOrder::Next() const {
  if (has_caller_ || committed_.empty()) return nullptr;
  const auto& [sequence, committed] = *committed_.begin();
  return begun_.empty() || sequence <= *begun_.begin() ? committed : nullptr;
}

void CommitOrder::MakeLeftCalls(absl::FunctionRef<void(const absl::Status&)> report) {
  while (true) {
    // If another thread makes calls, it comes here afterwards.
    const std::shared_ptr<Committed> next = Next();
    if (next == nullptr || !next->is_left) return;
    MakeCalls(next.get(), report);
  }
}

void CommitOrder::MakeCalls(Committed* committed,
                            absl::FunctionRef<void(const absl::Status&)> report) {
  mutex_.AssertHeld();
  ABSL_ASSERT(!has_caller_ && committed_.begin()->second.get() == committed &&
              "one thread makes calls, those of the first commit");
  has_caller_ = true;
  mutex_.Unlock();
  is_calling_ = true;
  for (const Call& call : committed->calls) {
    for (MutationObserver* const observer : call.observers) {
      const absl::Status thrown =
          CatchThrown([&] { return Cat("MutationObserver::After of ", ObserverName(observer)); },
                      [&] { observer->After(*call.mutation, committed->sequence); });
      if (!thrown.ok()) report(thrown);
    }
  }
  is_calling_ = false;
  mutex_.Lock();
  has_caller_ = false;
  committed_.erase(committed->sequence);
  committed->is_called = true;
  ABSL_ASSERT((!committed->is_left || left_bytes_ >= committed->bytes) && "it was counted");
  if (committed->is_left) left_bytes_ -= committed->bytes;
  changed_.SignalAll();
}

}  // namespace bigtable
