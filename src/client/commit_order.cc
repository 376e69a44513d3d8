#include "client/commit_order.h"

#include "base/catch_thrown.h"
#include "base/status.h"
#include "base/strings.h"
#include "client/observers.h"

namespace bigtable {

thread_local bool CommitOrder::is_calling_ = false;

absl::Status CommitOrder::Run(SequenceNumber last, const std::vector<Call>& calls,
                              absl::FunctionRef<absl::Status(SequenceNumber*)> commit,
                              absl::FunctionRef<void(const absl::Status&)> report) {
  std::multiset<SequenceNumber>::iterator begun;
  {
    MutexLock lock(&mutex_);
    begun = begun_.insert(last);
  }
  Committed committed{.calls = &calls, .sequence = 0};
  const absl::Status status = commit(&committed.sequence);

  MutexLock lock(&mutex_);
  begun_.erase(begun);
  if (status.ok()) committed_[committed.sequence] = &committed;
  changed_.SignalAll();
  while (status.ok() && !committed.is_called) {
    if (Committed* const next = Next()) {
      MakeCalls(next, report);
    } else {
      changed_.Wait(&mutex_);
    }
  }
  return status;
}

CommitOrder::Committed* CommitOrder::Next() const {
  if (has_caller_ || committed_.empty()) return nullptr;
  const auto& [sequence, committed] = *committed_.begin();
  return begun_.empty() || sequence <= *begun_.begin() ? committed : nullptr;
}

void CommitOrder::MakeCalls(Committed* committed,
                            absl::FunctionRef<void(const absl::Status&)> report) {
  has_caller_ = true;
  mutex_.Unlock();
  is_calling_ = true;
  for (const Call& call : *committed->calls) {
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
  changed_.SignalAll();
}

}  // namespace bigtable
